/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that the rows of incidents are those of their captures, whatever begins, ends, fails, is removed, migrated, copied
 * or merged; and which cause an incident has.
 */
#include "consumer/store/incidents.h"
#include "consumer/store/retention.h"
#include "tests/unit/command_fixture.h"
#include "tests/unit/store_fixture.h"
#include "tests/unit/suites.h"

#include <string.h>

static struct store_fixture fixture;

static void set_up(void)
{
	store_fixture_start(&fixture);
}

static void tear_down(void)
{
	store_fixture_free(&fixture);
}

/* Works on the database as the store does. */
static void with_sql(int (*work)(struct sql *sql))
{
	atomic_uint_fast64_t give_up_ns = 0;
	struct sql sql = { .give_up_ns = &give_up_ns };

	ck_assert_int_eq(sql_open(&sql, fixture.path), 0);
	ck_assert_msg(!work(&sql), "%s", sql.error);
	sql_close(&sql);
}

static int settle_all(struct sql *sql)
{
	return incidents_settle_where(sql, "1");
}

/* A complete capture of incident `number`, whose stall began and which fired so many seconds after TRIGGERED_AT. */
static struct capture *capture_of(uint32_t number, int onset_s, int triggered_s)
{
	struct capture *capture = capture_of_stack(1, 2, 7);

	capture->trigger.incident = number;
	capture->trigger.triggered_at += triggered_s * (int64_t)SECOND;
	capture->trigger.onset_ns =
		(uint64_t)((int64_t)TRIGGERED + (onset_s - triggered_s) * (int64_t)SECOND);
	return capture;
}

static void commit_of(uint32_t number, int onset_s, int triggered_s)
{
	_cleanup_capture_ struct capture *capture = capture_of(number, onset_s, triggered_s);

	expect_commit(&fixture, capture);
}

/* ---- the verdict ---- */

struct verdict_case {
	const char *captures; /* VALUES of resource, onset in s, observed_us of 2 s, cause */
	const char *verdict;  /* resource that came first, capture that explains, its cause */
};

static const struct verdict_case verdict_cases[] = {
	/* the only one */
	{ "('io', 5, 100000, 'its own I/O')", "io|1|its own I/O\n" },
	/* what came first, although it was stalled less */
	{ "('io', 5, 1900000, 'its own I/O'), ('cpu', 4, 100000, 'competing processes')",
	  "cpu|2|competing processes\n" },
	/* of the resource that came first, what was stalled most */
	{ "('cpu', 1, 100000, 'its own threads'), ('io', 2, 1900000, 'its own I/O'), ('cpu', 3, 900000, 'competing processes')",
	  "cpu|3|competing processes\n" },
	/* of the resource that came first, what names a cause */
	{ "('cpu', 1, 1900000, 'undetermined'), ('cpu', 2, 100000, 'competing processes')",
	  "cpu|2|competing processes\n" },
	/* what came first is no cause: what was stalled most is */
	{ "('cpu', 1, 1900000, 'negligible'), ('io', 2, 100000, 'its own I/O'), ('memory', 3, 200000, 'global memory shortage')",
	  "cpu|3|global memory shortage\n" },
	/* without any cause, undetermined says more than negligible */
	{ "('cpu', 1, 1900000, 'negligible'), ('io', 2, 100000, 'undetermined')", "cpu|2|undetermined\n" },
	/* none is known yet */
	{ "('cpu', 1, 1900000, NULL)", "cpu|NULL|NULL\n" },
	{ "('cpu', 1, 1900000, NULL), ('io', 2, 100000, 'its own I/O')", "cpu|2|its own I/O\n" },
	/* equals: by id */
	{ "('io', 1, 100000, 'its own I/O'), ('cpu', 1, 100000, 'its own threads')", "io|1|its own I/O\n" },
	/* an older capture does not know its onset, but how long it was stalled when it fired: from 9.9 s on, at least */
	{ "('io', NULL, 100000, 'its own I/O'), ('cpu', 9, 100000, 'its own threads')",
	  "cpu|2|its own threads\n" },
	{ "('io', NULL, 1900000, 'its own I/O'), ('cpu', 9, 100000, 'its own threads')",
	  "io|1|its own I/O\n" },
};

START_TEST(an_incident_has_one_verdict)
{
	const struct verdict_case *one = &verdict_cases[_i];
	_cleanup_free_ char *sql = NULL;

	ck_assert_int_gt(
		asprintf(
			&sql,
			"INSERT INTO incident(incident_id, run_id, number, captures, began_at, resource) VALUES(1, 1, 1, 0, 0, '');"
			"INSERT INTO capture(run_id, rule, resource, kind, stall_us, window_us, trigger_mode, triggered_at, "
			"began_at, history_ns, state, observed_us, hz, incident_id, onset_at, cause, because) "
			"SELECT 1, 'web', column1, 'some', 1, 2000000, 'sampled', 10000000000, 1, 0, iif(column4 IS NULL, "
			"'recording', 'complete'), column3, 47, 1, column2 * 1000000000, column4, 'because' FROM (VALUES %s)",
			one->captures),
		0);
	run_sql(&fixture, sql);
	with_sql(settle_all);
	expect_rows(&fixture, "SELECT resource, explained_by, cause FROM incident", one->verdict);
}
END_TEST

/* Pressure since the trigger counts beside the window that fired. */
START_TEST(the_readings_tell_what_was_stalled_most)
{
	run_sql(&fixture,
		"INSERT INTO incident(incident_id, run_id, number, captures, began_at, resource) VALUES(1, 1, 1, 0, 0, '');"
		"INSERT INTO capture(run_id, rule, resource, kind, stall_us, window_us, trigger_mode, cgroup, triggered_at, "
		"began_at, history_ns, state, observed_us, hz, incident_id, onset_at, cause, because) VALUES"
		"(1, 'a', 'cpu', 'some', 1, 2000000, 'sampled', '/a', 10, 1, 0, 'complete', 600000, 47, 1, 5, 'a', ''),"
		"(1, 'b', 'cpu', 'full', 1, 2000000, 'sampled', '/b', 10, 1, 0, 'complete', 200000, 47, 1, 6, 'b', ''),"
		"(1, 'c', 'cpu', 'some', 1, 2000000, 'sampled', NULL, 10, 1, 0, 'complete', 200000, 47, 1, 7, 'c', '');"
		/* of b: some 90 %, full 40 %; other scopes and resources 100 %. Of c: 20 % */
		"INSERT INTO pressure VALUES(2, 1000000000, '/b', 'cpu', 0, 0), (2, 2000000000, '/b', 'cpu', 900000, 400000),"
		"(2, 1000000000, '/b', 'io', 0, 0), (2, 2000000000, '/b', 'io', 1000000, 1000000),"
		"(2, 1000000000, 'system', 'cpu', 0, 0), (2, 2000000000, 'system', 'cpu', 1000000, 1000000),"
		"(3, 1000000000, 'system', 'cpu', 5, 0), (3, 2000000000, 'system', 'cpu', 200005, 0)");
	with_sql(settle_all);
	expect_rows(&fixture,
		    "SELECT capture_id, stalled_percent, explains FROM incident_capture ORDER BY capture_id",
		    "1|30.0|0\n2|40.0|1\n3|20.0|0\n");
	expect_rows(&fixture, "SELECT cause, captures, began_at FROM incident", "b|3|5\n");
	/* for the checks of store_fixture_free() */
	run_sql(&fixture, "DELETE FROM pressure");
}
END_TEST

/* ---- what happens to its captures ---- */

START_TEST(captures_with_one_number_are_one_incident)
{
	commit_of(1, -3, 0);
	commit_of(1, -4, 20);
	commit_of(2, 99, 100);
	expect_rows(
		&fixture,
		"SELECT incident_id, number, captures, (began_at - 1700000000123456789) / 1000000000, "
		"(ended_at - 1700000000123456789) / 1000000000, resource, explained_by, cause FROM incident",
		"1|1|2|-4|25|memory|2|undetermined\n2|2|1|99|105|memory|3|undetermined\n");
	expect_rows(&fixture, "SELECT capture_id, incident_id FROM capture", "1|1\n2|1\n3|2\n");
	expect_rows(
		&fixture,
		"SELECT incident_id, capture_id, after_ns / 1000000000 FROM incident_capture WHERE incident_id = 1",
		"1|2|0\n1|1|1\n");
	expect_command("ok: ", "--db %s db check", fixture.path);
}
END_TEST

START_TEST(another_run_has_other_incidents)
{
	commit_of(1, -3, 0);
	begin_run(&fixture);
	commit_of(1, 7, 10);
	expect_rows(&fixture, "SELECT run_id, number, captures FROM incident", "1|1|1\n2|1|1\n");
}
END_TEST

START_TEST(an_incident_lasts_while_a_capture_is_recorded)
{
	_cleanup_capture_ struct capture *first = capture_of(1, -3, 0), *second = capture_of(1, 2, 3);

	ck_assert_int_eq(store_begin_capture(fixture.store, &first->trigger, 0, &first->capture_id), 0);
	expect_rows(&fixture, "SELECT captures, ended_at, explained_by FROM incident", "1|NULL|NULL\n");
	ck_assert_int_eq(store_begin_capture(fixture.store, &second->trigger, 0, &second->capture_id), 0);
	expect_commit(&fixture, first);
	expect_rows(&fixture, "SELECT captures, ended_at, explained_by FROM incident", "2|NULL|1\n");
	expect_rows(&fixture, "SELECT state FROM incident_summary", "recording\n");
	expect_commit(&fixture, second);
	expect_rows(&fixture, "SELECT captures, ended_at IS NOT NULL, explained_by FROM incident", "2|1|1\n");
	expect_rows(&fixture, "SELECT state FROM incident_summary", "complete\n");
}
END_TEST

START_TEST(a_crash_or_a_capture_given_up_ends_an_incident)
{
	_cleanup_capture_ struct capture *first = capture_of(1, -3, 0), *second = capture_of(2, 2, 3);

	ck_assert_int_eq(store_begin_capture(fixture.store, &first->trigger, 0, &first->capture_id), 0);
	ck_assert_int_eq(store_begin_capture(fixture.store, &second->trigger, 0, &second->capture_id), 0);
	ck_assert_int_eq(store_give_up_capture(fixture.store, first->capture_id), 0);
	expect_rows(&fixture, "SELECT number, ended_at FROM incident", "1|1700000000123456789\n2|NULL\n");
	store_fixture_close(&fixture);
	store_fixture_open(&fixture, 64 * MIB);
	expect_rows(&fixture, "SELECT number, ended_at, cause FROM incident",
		    "1|1700000000123456789|NULL\n2|1700000003123456789|NULL\n");
	expect_command("ok: ", "--db %s db check", fixture.path);
}
END_TEST

START_TEST(without_a_capture_there_is_no_incident)
{
	_cleanup_capture_ struct capture *capture = capture_of(1, -3, 0);

	run_sql(&fixture,
		"CREATE TRIGGER refuse BEFORE INSERT ON capture BEGIN SELECT RAISE(ABORT, 'refused'); END");
	ck_assert_int_lt(store_begin_capture(fixture.store, &capture->trigger, 0, &capture->capture_id), 0);
	ck_assert_int_eq(capture->capture_id, 0);
	ck_assert_int_lt(commit(&fixture, capture, false), 0);
	expect_count(&fixture, "incident", 0);
	run_sql(&fixture, "DROP TRIGGER refuse");
	expect_commit(&fixture, capture);
	expect_rows(&fixture, "SELECT captures, explained_by FROM incident", "1|1\n");
}
END_TEST

static int expire_first(struct sql *sql)
{
	struct retention_removed removed;

	return retention_expire(sql, TRIGGERED_AT + 1, &removed);
}

START_TEST(an_incident_goes_with_its_last_capture)
{
	commit_of(1, -3, 0);
	commit_of(1, 10, 20);
	with_sql(expire_first);
	expect_rows(
		&fixture,
		"SELECT captures, (began_at - 1700000000123456789) / 1000000000, explained_by FROM incident",
		"1|10|2\n");
	run_sql(&fixture, "UPDATE capture SET triggered_at = 5");
	with_sql(expire_first);
	expect_count(&fixture, "incident", 0);
	/* ids are not used again */
	commit_of(2, -3, 0);
	expect_rows(&fixture, "SELECT incident_id FROM incident", "2\n");
}
END_TEST

/* ---- a database from before there were incidents ---- */

/* Captures of run 1: id, rule, from, triggered, ended, in seconds. The rules' captures last 5 s, their cooldown is 60 s. */
static const char older_sql[] =
	"UPDATE rule SET capture_ns = 5000000000, cooldown_ns = 60000000000;"
	"INSERT INTO capture(capture_id, run_id, rule_id, rule, resource, kind, stall_us, window_us, trigger_mode, triggered_at, "
	"began_at, ended_at, history_ns, state, observed_us, hz, cause, because) SELECT column1, column2, 1, 'web', 'cpu', "
	"'some', 1, 2000000, 'sampled', column4 * 1000000000, column3 * 1000000000, column5 * 1000000000, "
	"(column4 - column3) * 1000000000, 'complete', 500000, 47, 'its own threads', 'they ran' FROM (VALUES "
	"(1, 1, 90, 100, 105),"   /* the first */
	"(3, 1, 160, 164, 169),"  /* within the cooldown */
	"(4, 1, 160, 235, 240),"  /* after it, but with history from its end on */
	"(5, 1, 299, 300, 305),"  /* alone: the cooldown of the one before ended at 300 s */
	"(7, 1, 302, 303, NULL)," /* while it was under way; a crash left no end */
	"(9, 2, 303, 304, 309)"   /* in another run */
	")";

START_TEST(older_captures_are_put_together)
{
	begin_run(&fixture);
	run_sql(&fixture, older_sql);
	with_sql(incidents_form);
	expect_rows(
		&fixture,
		"SELECT incident_id, run_id, number, captures, began_at, ended_at, resource, explained_by, cause FROM incident",
		"1|1|1|3|99500000000|240000000000|cpu|1|its own threads\n"
		"2|1|5|2|299500000000|305000000000|cpu|5|its own threads\n"
		"3|2|9|1|303500000000|309000000000|cpu|9|its own threads\n");
	expect_rows(&fixture, "SELECT capture_id, incident_id FROM capture",
		    "1|1\n3|1\n4|1\n5|2\n7|2\n9|3\n");
	expect_command("ok: ", "--db %s db check", fixture.path);
}
END_TEST

START_TEST(older_captures_without_end_are_cut)
{
	run_sql(&fixture,
		"INSERT INTO capture(run_id, rule, resource, kind, stall_us, window_us, trigger_mode, triggered_at, began_at, "
		"ended_at, history_ns, state, observed_us, hz) SELECT 1, 'web', 'cpu', 'some', 1, 2000000, 'sampled', value * "
		"1000000000, value * 1000000000, (value + 5) * 1000000000, 0, 'complete', 500000, 47 FROM "
		"json_each('[' || rtrim(replace(hex(zeroblob(70)), '00', '1,'), ',') || ']')");
	run_sql(&fixture,
		"UPDATE capture SET triggered_at = capture_id * 1000000000, ended_at = (capture_id + 5) * 1000000000");
	with_sql(incidents_form);
	expect_rows(&fixture, "SELECT number, captures FROM incident", "1|32\n33|32\n65|6\n");
}
END_TEST

/* ---- copies and merges ---- */

START_TEST(a_copied_capture_takes_its_incident_along)
{
	_cleanup_free_ char *directory = directory_make(), *path = path_join(directory, "out.db");
	struct store_fixture out = { .path = path };

	commit_of(1, -3, 0);
	commit_of(1, -5, 20);
	commit_of(2, 99, 100);
	expect_command("copied 1 capture", "--db %s db copy %s 2", fixture.path, path);
	expect_rows(
		&out,
		"SELECT i.incident_id, number, captures, explained_by, capture_id, c.onset_at = i.began_at FROM incident i "
		"JOIN capture c USING(incident_id)",
		"1|1|1|2|2|1\n");
	expect_command("ok: ", "--db %s db check", path);
	/* the others of it join it */
	store_fixture_close(&fixture);
	expect_command("2 captures added, 1 known before", "db merge %s %s", path, fixture.path);
	expect_rows(&out, "SELECT incident_id, number, captures, explained_by FROM incident",
		    "1|1|2|2\n2|2|1|4\n");
	expect_rows(&out, "SELECT capture_id, recorded_as, incident_id FROM capture ORDER BY 1",
		    "2|NULL|1\n3|1|1\n4|3|2\n");
	expect_command("ok: ", "--db %s db check", path);
	expect_command("0 captures added, 3 known before", "db merge %s %s", path, fixture.path);
	expect_rows(&out, "SELECT count(*), sum(captures) FROM incident", "2|3\n");
	store_fixture_open(&fixture, 64 * MIB);
	directory_remove(directory);
}
END_TEST

START_TEST(incidents_of_two_hosts_stay_apart)
{
	_cleanup_free_ char *directory = directory_make(), *path = path_join(directory, "fleet.db");
	struct store_fixture out = { .path = path }, other;

	commit_of(1, -3, 0);
	store_fixture_close(&fixture);
	store_fixture_start(&other);
	ck_assert_ptr_nonnull(other.store);
	{
		_cleanup_capture_ struct capture *capture = capture_of(1, -2, 1);

		expect_commit(&other, capture);
	}
	store_fixture_close(&other);
	expect_command("1 capture added", "db merge %s %s %s", path, fixture.path, other.path);
	expect_rows(&out, "SELECT incident_id, number, captures, explained_by FROM incident",
		    "1|1|1|1\n2|1|1|2\n");
	expect_command("ok: ", "--db %s db check", path);
	store_fixture_discard(&other);
	store_fixture_open(&fixture, 64 * MIB);
	directory_remove(directory);
}
END_TEST

Suite *incidents_suite(void)
{
	Suite *suite = suite_create("incidents");
	TCase *verdict = tcase_create("verdict"), *life = tcase_create("life");

	tcase_add_checked_fixture(verdict, set_up, tear_down);
	tcase_add_loop_test(verdict, an_incident_has_one_verdict, 0, (int)ARRAY_SIZE(verdict_cases));
	tcase_add_test(verdict, the_readings_tell_what_was_stalled_most);
	suite_add_tcase(suite, verdict);
	tcase_add_checked_fixture(life, set_up, tear_down);
	tcase_add_test(life, captures_with_one_number_are_one_incident);
	tcase_add_test(life, another_run_has_other_incidents);
	tcase_add_test(life, an_incident_lasts_while_a_capture_is_recorded);
	tcase_add_test(life, a_crash_or_a_capture_given_up_ends_an_incident);
	tcase_add_test(life, without_a_capture_there_is_no_incident);
	tcase_add_test(life, an_incident_goes_with_its_last_capture);
	tcase_add_test(life, older_captures_are_put_together);
	tcase_add_test(life, older_captures_without_end_are_cut);
	tcase_add_test(life, a_copied_capture_takes_its_incident_along);
	tcase_add_test(life, incidents_of_two_hosts_stay_apart);
	suite_add_tcase(suite, life);
	return suite;
}
