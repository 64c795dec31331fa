/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that the rows of incidents are those of their captures, whatever begins, ends, fails, is removed, migrated, copied
 * or merged; which verdict an incident has; and what 'bourdon list' and 'bourdon why' say of it.
 */
#include "common/store/incidents.h"
#include "common/store/retention.h"
#include "report/text/format.h"
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
	const char *captures; /* VALUES of resource, onset in s, waited_ns, blamed_percent, verdict */
	const char *verdict;  /* resource that came first, capture that explains, its verdict and share */
};

static const struct verdict_case verdict_cases[] = {
	/* the only one */
	{ "('io', 5, 1000, 80, 'own I/O')", "io|1|own I/O|80.0\n" },
	/* the largest blamed wait, whatever came first */
	{ "('io', 5, 1000, 80, 'own I/O'), ('cpu', 4, 1000, 60, 'neighbour')", "cpu|1|own I/O|80.0\n" },
	{ "('io', 5, 1000, 80, 'own I/O'), ('memory', 6, 2000, 60, 'limit')", "io|2|limit|60.0\n" },
	/* a share of little is little */
	{ "('cpu', 1, 9000, 50, 'crowd'), ('io', 2, 4000, 100, 'device')", "cpu|1|crowd|50.0\n" },
	/* a kill comes first, with or without accounts */
	{ "('cpu', 1, 9000, 90, 'neighbour'), (NULL, 2, NULL, NULL, 'kill')", "cpu|2|kill|NULL\n" },
	/* what blames comes first, then undetermined, then negligible */
	{ "('cpu', 1, 9000, NULL, 'undetermined'), ('cpu', 2, 10, 30, 'neighbours')",
	  "cpu|2|neighbours|30.0\n" },
	{ "('cpu', 1, 9000, NULL, 'negligible'), ('io', 2, 10, NULL, 'undetermined')",
	  "cpu|2|undetermined|NULL\n" },
	/* none is known yet */
	{ "('cpu', 1, NULL, NULL, NULL)", "cpu|NULL|NULL|NULL\n" },
	{ "('cpu', 1, NULL, NULL, NULL), ('io', 2, 1000, 80, 'own I/O')", "cpu|2|own I/O|80.0\n" },
	/* equals: by the begin of the stall, then by id */
	{ "('io', 2, 1000, 80, 'own I/O'), ('cpu', 1, 1000, 80, 'own threads')", "cpu|2|own threads|80.0\n" },
	{ "('io', 1, 1000, 80, 'own I/O'), ('cpu', 1, 1000, 80, 'own threads')", "io|1|own I/O|80.0\n" },
	/* a capture that does not know its onset knows how long it was stalled when it fired: from 9.9 s on, at least */
	{ "('io', NULL, 1000, 80, 'own I/O'), ('cpu', 9, 1000, 80, 'own threads')",
	  "cpu|2|own threads|80.0\n" },
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
			"began_at, history_ns, state, observed_us, hz, incident_id, onset_at, waited_ns, blamed_percent, verdict) "
			"SELECT 1, 'web', column1, 'some', 1, 2000000, 'sampled', 10000000000, 1, 0, iif(column5 IS NULL, "
			"'recording', 'complete'), 100000, 47, 1, column2 * 1000000000, column3, column4, column5 FROM (VALUES %s)",
			one->captures),
		0);
	run_sql(&fixture, sql);
	with_sql(settle_all);
	expect_rows(&fixture, "SELECT resource, explained_by, verdict, blamed_percent FROM incident",
		    one->verdict);
}
END_TEST

/* Pressure since the trigger counts beside the window that fired. */
START_TEST(the_readings_tell_how_much_was_stalled)
{
	run_sql(&fixture,
		"INSERT INTO incident(incident_id, run_id, number, captures, began_at, resource) VALUES(1, 1, 1, 0, 0, '');"
		"INSERT INTO capture(run_id, rule, resource, kind, stall_us, window_us, trigger_mode, cgroup, triggered_at, "
		"began_at, history_ns, state, observed_us, hz, incident_id, onset_at) VALUES"
		"(1, 'a', 'cpu', 'some', 1, 2000000, 'sampled', '/a', 10, 1, 0, 'complete', 600000, 47, 1, 5),"
		"(1, 'b', 'cpu', 'full', 1, 2000000, 'sampled', '/b', 10, 1, 0, 'complete', 200000, 47, 1, 6),"
		"(1, 'c', 'cpu', 'some', 1, 2000000, 'sampled', NULL, 10, 1, 0, 'complete', 200000, 47, 1, 7);"
		/* of b: some 90 %, full 40 %; other scopes and resources 100 %. Of c: 20 % */
		"INSERT INTO pressure VALUES(2, 1000000000, '/b', 'cpu', 0, 0), (2, 2000000000, '/b', 'cpu', 900000, 400000),"
		"(2, 1000000000, '/b', 'io', 0, 0), (2, 2000000000, '/b', 'io', 1000000, 1000000),"
		"(2, 1000000000, 'system', 'cpu', 0, 0), (2, 2000000000, 'system', 'cpu', 1000000, 1000000),"
		"(3, 1000000000, 'system', 'cpu', 5, 0), (3, 2000000000, 'system', 'cpu', 200005, 0)");
	with_sql(settle_all);
	expect_rows(&fixture,
		    "SELECT capture_id, stalled_percent, explains FROM incident_capture ORDER BY capture_id",
		    "1|30.0|1\n2|40.0|0\n3|20.0|0\n");
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
		"(ended_at - 1700000000123456789) / 1000000000, resource, explained_by, verdict FROM incident",
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
	expect_rows(&fixture, "SELECT number, ended_at, verdict FROM incident",
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

	return retention_expire(sql, RETENTION_OF_ALL, TRIGGERED_AT + 1, &removed);
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

/* A source that is no database of bourdond: a capture in the incident of another run, or in none that exists. */
START_TEST(an_incident_of_another_run_is_refused)
{
	_cleanup_free_ char *directory = directory_make(), *path = path_join(directory, "out.db");

	commit_of(1, -3, 0);
	begin_run(&fixture);
	run_sql(&fixture, _i ? "UPDATE incident SET run_id = 2" : "UPDATE capture SET incident_id = 77");
	store_fixture_close(&fixture);
	expect_command_fails("capture 1: ", "db merge %s %s", path, fixture.path);
	ck_assert_int_eq(access(path, F_OK), -1);
	run_sql(&fixture, "UPDATE capture SET incident_id = 1");
	store_fixture_open(&fixture, 64 * MIB);
	directory_remove(directory);
}
END_TEST

/* ---- what bourdon says ---- */

static const char told_sql[] =
	"INSERT INTO incident(incident_id, run_id, number, captures, began_at, resource) VALUES(7, 1, 1, 0, 0, ''), "
	"(8, 1, 2, 0, 0, '');"
	"INSERT INTO capture(capture_id, run_id, rule, resource, kind, stall_us, window_us, trigger_mode, cgroup, triggered_at, "
	"began_at, ended_at, history_ns, state, observed_us, hz, incident_id, onset_at, verdict, waited_ns, blamed_percent) VALUES"
	"(11, 1, 'we' || char(27) || 'b', 'cpu', 'some', 200000, 2000000, 'sampled', '/web', 1700000012000000000, 1, "
	"1700000017000000000, 10000000000, 'complete', 1500000, 47, 7, 1700000010000000000, 'neighbour', "
	"4000000000, 90),"
	"(12, 1, 'db', 'io', 'full', 200000, 2000000, 'sampled', '/db', 1700000015000000000, 1, 1700000020000000000, 10000000000, "
	"'complete', 400000, 47, 7, 1700000013100000000, 'own I/O', 2500000000, 100),"
	"(13, 1, 'all', 'cpu', 'some', 200000, 2000000, 'kernel', NULL, 1700000019000000000, 1, 1700000024000000000, 10000000000, "
	"'complete', 900000, 47, 7, 1700000018000000000, 'own threads', 2000000000, 70),"
	"(14, 1, 'db', 'io', 'full', 200000, 2000000, 'sampled', '/db', 1700000300000000000, 1, 1700000305000000000, 10000000000, "
	"'complete', 400000, 47, 8, 1700000299000000000, 'own I/O', 2500000000, 100);"
	"INSERT INTO account VALUES(11, 'nginx in web.service', 'ran', 1, 1000000000), (11, 'nginx in web.service', 'queued', 1, 4000000000);"
	"INSERT INTO blame VALUES(11, 'nginx in web.service', 'queued', 'other', 'batch', NULL, '/batch', NULL, 2, 3600000000, NULL, NULL), "
	"(11, 'nginx in web.service', 'queued', 'own', 'nginx', 'web.service', '/web', 100, 1, 400000000, NULL, NULL);"
	"INSERT INTO process(process_id, run_id, tgid, started_ns, comm, cgroup, unit) VALUES(1, 1, 100, 1, 'nginx', '/web', "
	"'web.service'), (2, 1, 101, 1, 'batch', '/batch', NULL), (3, 1, 102, 1, 'postgres', '/db', NULL), "
	"(4, 1, 103, 1, 'batch', '/batch', NULL);"
	"INSERT INTO usage(capture_id, process_id, role, from_at, to_at, cpu_ns, stalled_cpu_ns, stalled_memory_ns, "
	"stalled_io_ns, read_bytes, write_bytes, rss_bytes) VALUES"
	"(11, 1, 'target', 1, 2, 1000000000, 4000000000, 0, 0, 0, 0, 1048576),"
	"(11, 2, 'other', 1, 2, 5000000000, 0, 0, 0, 0, 0, 1048576), (11, 4, 'other', 1, 2, 3500000000, 0, 0, 0, 0, 0, 1048576),"
	"(12, 3, 'target', 1, 2, 1000000, 0, 0, 2500000000, 73400320, 0, 1048576),"
	/* its span overlaps that of the first: the same programs, and less of them */
	"(13, 1, 'target', 1, 2, 500000000, 1000000000, 0, 0, 0, 0, 1048576),"
	"(13, 2, 'target', 1, 2, 3000000000, 2000000000, 0, 0, 0, 0, 1048576)";

static void tell(void)
{
	run_sql(&fixture, told_sql);
	with_sql(settle_all);
}

static void expect_text(const char *command, const char *wanted)
{
	_cleanup_command_ran_ struct command_ran ran = command_run_words("--db %s %s", fixture.path, command);

	ck_assert_msg(!ran.status, "%s", ran.err);
	ck_assert_msg(strstr(ran.out, wanted), "%s gave\n%s-- not\n%s", command, ran.out, wanted);
	for (char *line = strtok(ran.out, "\n"); line; line = strtok(NULL, "\n"))
		ck_assert_msg(strstr(command, "json") || !strncmp(line, "  look at ", 10) ||
				      format_columns(line) <= REPORT_COLUMNS,
			      "too wide: %s", line);
}

START_TEST(an_incident_is_explained_as_a_whole)
{
	static const char wanted[] =
		"incident 7 (complete), 3 captures over 14 s, 2023-11-14T22:13:30Z\n"
		"  first     cpu, capture 11, rule we\\x1bb, on cgroup /web\n"
		"  verdict   neighbour: batch ×2 in /batch took 90 % of the wait for a CPU (of capture 11)\n"
		"\n"
		"its captures, in the order in which their stalls began\n"
		"   BEGAN  RESOURCE  KIND  STALLED     ID  RULE          VERDICT          WHERE\n"
		"   +0 ns  cpu       some   75.0 %     11  we\\x1bb       neighbour        /web\n"
		"  +3.1 s  io        full   20.0 %     12  db            own I/O          /db\n"
		"    +8 s  cpu       some   45.0 %     13  all           own threads      system\n"
		"\n"
		"targets that stalled, by program; of each program, the capture in which it stalled longest\n"
		"RESOURCE  PROGRAM           STALLED     ID  UNIT OR CGROUP\n"
		"cpu       nginx                 4 s     11  web.service\n"
		"io        postgres            2.5 s     12  /db\n"
		"cpu       batch                 2 s     13  /batch\n"
		"\n"
		"who used most of each resource, by program; of each program, the capture in which it used most\n"
		"RESOURCE  PROGRAM          COUNT  CPU TIME      READ   WRITTEN    SHARE     ID  UNIT OR CGROUP\n"
		"cpu       batch                2     8.5 s       0 B       0 B   89.5 %     11  /batch\n"
		"cpu       nginx                1       1 s       0 B       0 B   10.5 %     11  web.service\n"
		"io        postgres             1      1 ms    70 MiB       0 B  100.0 %     12  /db\n";

	tell();
	expect_text("why --incident 7", wanted);
	/* the newest */
	expect_text("why --incident", "incident 8 (complete), 1 capture over 6 s, ");
	expect_command_fails("no incident 9 in '", "--db %s why --incident 9", fixture.path);
	expect_text("why --incident 7 --json", "\"explained_by\": 11");
	expect_text("why --incident 7 --json", "\"captures\": [\n{");
}
END_TEST

START_TEST(a_capture_tells_its_incident)
{
	static const char wanted[] =
		"\nincident 7: 3 captures over 14 s\n"
		"  order     cpu came first, at 2023-11-14T22:13:30Z (rule we\\x1bb), then io after 3.1 s (rule db)\n"
		"  verdict   neighbour: batch ×2 in /batch took 90 % of the wait for a CPU (of capture 11)\n"
		"  as whole  bourdon why --incident 7\n\n";
	_cleanup_command_ran_ struct command_ran alone = { 0 };

	tell();
	expect_text("why 13 --full", wanted);
	expect_text("why 11 --full", wanted);
	alone = command_run_words("--db %s why 14 --full", fixture.path);
	ck_assert_int_eq(alone.status, 0);
	ck_assert_ptr_null(strstr(alone.out, "incident"));
	expect_command("\"incident\": null", "--db %s why 14 --json", fixture.path);
	expect_command("\"verdict\": \"neighbour\"", "--db %s why 12 --json", fixture.path);
}
END_TEST

/* Captures of another host, in between by time, do not part those of an incident. */
START_TEST(list_keeps_an_incident_together)
{
	_cleanup_command_ran_ struct command_ran ran = { 0 };
	static const char *const order[] = { "    14         8  ", "\n    13         7  ",
					     "\n    12         7  ", "\n    11         7  ",
					     "\n    15         -  " };
	const char *at;

	tell();
	run_sql(&fixture,
		"INSERT INTO capture(capture_id, run_id, rule, resource, kind, stall_us, window_us, trigger_mode, triggered_at, "
		"began_at, history_ns, state, observed_us, hz) VALUES(15, 1, 'old', 'cpu', 'some', 1, 2000000, 'sampled', "
		"1700000016000000000, 1, 0, 'complete', 1, 47)");
	ran = command_run_words("--db %s list", fixture.path);
	at = ran.out;
	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		ck_assert_msg(strstr(at, order[i]), "'%s' is not in:\n%s", order[i], at);
		at = strstr(at, order[i]);
	}
	expect_command("[\n{\"capture_id\": 14,", "--db %s list --json --limit 2", fixture.path);
}
END_TEST

static const char *const hostile[] = {
	"UPDATE capture SET onset_at = -9223372036854775807, triggered_at = 9223372036854775807, observed_us = "
	"9223372036854775807, window_us = -1",
	"UPDATE incident SET began_at = -9223372036854775807 - 1, ended_at = 9223372036854775807, captures = "
	"-9223372036854775807 - 1, explained_by = 9223372036854775807",
	"UPDATE usage SET stalled_cpu_ns = 9223372036854775807, stalled_io_ns = -9223372036854775807, cpu_ns = 9223372036854775807",
	"UPDATE incident SET resource = char(27) || '[2J', verdict = printf('%.9999c', 'c'), blamed_percent = -9e999",
	"UPDATE process SET comm = char(27) || ']0;t' || char(7), cgroup = printf('%.9999c', 'g'), unit = NULL",
	"UPDATE capture SET incident_id = 7; INSERT INTO capture(run_id, rule, resource, kind, stall_us, window_us, trigger_mode, "
	"triggered_at, began_at, history_ns, state, observed_us, hz, incident_id) SELECT 1, 'web', 'r' || value, 'k', 1, 2, 'sampled', "
	"1, 1, 0, 'complete', 1, 47, 7 FROM json_each('[' || rtrim(replace(hex(zeroblob(2000)), '00', '1,'), ',') || ']')",
	"DROP VIEW incident_capture; CREATE VIEW incident_capture AS SELECT 7 AS incident_id, 'x' AS capture_id, x'00' AS resource, "
	"9e999 AS after_ns",
	"DROP VIEW incident_summary; CREATE VIEW incident_summary AS SELECT 7 AS incident_id",
	"DELETE FROM capture; DELETE FROM usage",
};

START_TEST(a_hostile_incident_does_no_harm)
{
	static const char *const lines[] = {
		"list",          "why 11", "why 11 --json", "why --incident 7", "why --incident 7 --json",
		"why --incident"
	};

	tell();
	store_fixture_close(&fixture);
	run_sql(&fixture, hostile[_i]);
	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		_cleanup_command_ran_ struct command_ran ran =
			command_run_words("--db %s %s", fixture.path, lines[i]);

		ck_assert_msg(ran.status == 0 || ran.status == 1, "%s gave %d", lines[i], ran.status);
		ck_assert_msg((ran.status == 1) == (*ran.err != '\0'), "%s: %s", lines[i], ran.err);
		for (const char *at = ran.out; *at; at++)
			ck_assert_msg(*at == '\n' || (unsigned char)*at >= 0x20, "byte %d in:\n%.2000s", *at,
				      ran.out);
	}
	store_fixture_discard(&fixture);
}
END_TEST

SUITE(incidents)
{
	Suite *suite = suite_create("incidents");
	TCase *verdict = tcase_create("verdict"), *life = tcase_create("life"), *told = tcase_create("told"),
	      *damaged = tcase_create("damaged");

	tcase_add_checked_fixture(verdict, set_up, tear_down);
	tcase_add_loop_test(verdict, an_incident_has_one_verdict, 0, (int)ARRAY_SIZE(verdict_cases));
	tcase_add_test(verdict, the_readings_tell_how_much_was_stalled);
	suite_add_tcase(suite, verdict);
	tcase_add_checked_fixture(life, set_up, tear_down);
	tcase_add_test(life, captures_with_one_number_are_one_incident);
	tcase_add_test(life, another_run_has_other_incidents);
	tcase_add_test(life, an_incident_lasts_while_a_capture_is_recorded);
	tcase_add_test(life, a_crash_or_a_capture_given_up_ends_an_incident);
	tcase_add_test(life, without_a_capture_there_is_no_incident);
	tcase_add_test(life, an_incident_goes_with_its_last_capture);
	tcase_add_test(life, a_copied_capture_takes_its_incident_along);
	tcase_add_test(life, incidents_of_two_hosts_stay_apart);
	tcase_add_loop_test(life, an_incident_of_another_run_is_refused, 0, 2);
	suite_add_tcase(suite, life);
	tcase_add_checked_fixture(told, set_up, tear_down);
	tcase_add_test(told, an_incident_is_explained_as_a_whole);
	tcase_add_test(told, a_capture_tells_its_incident);
	tcase_add_test(told, list_keeps_an_incident_together);
	suite_add_tcase(suite, told);
	tcase_add_checked_fixture(damaged, set_up, NULL);
	tcase_add_loop_test(damaged, a_hostile_incident_does_no_harm, 0, (int)ARRAY_SIZE(hostile));
	suite_add_tcase(suite, damaged);
	return suite;
}
