/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that the store migrates a kept database of each older schema without losing a row, that a crash leaves the old
 * database or the new one, and that nothing is written before.
 */
#include "common/files.h"
#include "common/schema.h"
#include "consumer/store/migrate.h"
#include "tests/unit/kept_databases.h"
#include "tests/unit/store_fixture.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What the documented names say, in a form that the ids of stacks and threads do not change. */
static const char *const contents[] = {
	("SELECT s.capture_id, s.process_id, s.tid, s.thread, s.kind, s.stall, s.second, s.samples, s.weight_ns, k.depth, "
	 "k.truncated, k.unwinder, k.ended, (SELECT group_concat(position || ':' || frame_id) FROM (SELECT position, "
	 "frame_id FROM stack_frame f WHERE f.stack_id = s.stack_id ORDER BY position)) AS frames "
	 "FROM sample s JOIN stack k USING(stack_id) ORDER BY 1, 2, 3, 4, 5, 6, 7, 8, 9, frames"),
	"SELECT run_id, started_at, ended_at, version, abi, kernel, hostname, cpus, hz, policy FROM run ORDER BY 1",
	("SELECT rule_id, run_id, rule, source, comm, cgroup, watch, pattern_id, history_ns, capture_ns, cooldown_ns FROM "
	 "rule ORDER BY 1"),
	("SELECT capture_id, run_id, rule_id, rule, resource, kind, stall_us, window_us, trigger_mode, cgroup, triggered_at, "
	 "began_at, ended_at, history_ns, state, observed_us, hz, offcpu_history_ns, expected_samples, received_samples, "
	 "cause, because FROM capture ORDER BY 1"),
	"SELECT process_id, run_id, tgid, started_ns, comm, exe, uid, cgroup FROM process ORDER BY 1",
	"SELECT * FROM module ORDER BY 1",
	"SELECT * FROM frame ORDER BY 1",
	("SELECT capture_id, process_id, role, from_at, to_at, cpu_ns, run_delay_ns, io_delay_ns, stalled_cpu_ns, "
	 "stalled_memory_ns, stalled_io_ns, major_faults, minor_faults, read_bytes, write_bytes, voluntary_switches, "
	 "involuntary_switches, rss_bytes FROM usage ORDER BY capture_id, process_id, role"),
	"SELECT * FROM pressure ORDER BY capture_id, at, scope, resource",
	"SELECT * FROM statistic ORDER BY capture_id, scope, source, device, name",
	"SELECT * FROM loss ORDER BY capture_id, reason",
	"SELECT * FROM counter ORDER BY run_id, at, name",
	"SELECT path FROM cgroup ORDER BY path",
	"SELECT seq FROM sqlite_sequence WHERE name = 'capture'",
	"SELECT * FROM hot_function",
	"SELECT * FROM hot_stack ORDER BY 1, 2, 3, 4",
	"SELECT * FROM capture_summary",
	"SELECT * FROM unwind_quality ORDER BY 1, 2, 3, 4, 5",
};

/* The caller frees. */
static char *dump(const struct store_fixture *fixture)
{
	sqlite3 *db = reader_open(fixture);
	char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);

	for (size_t i = 0; i < ARRAY_SIZE(contents); i++) {
		_cleanup_free_ char *rows = rows_in(db, contents[i]);

		fprintf(stream, "%s\n%s", contents[i], rows);
	}
	fclose(stream);
	sqlite3_close(db);
	return text;
}

static void expect_contents(const struct store_fixture *fixture, const char *expected)
{
	_cleanup_free_ char *got = dump(fixture);
	size_t same = 0;

	while (got[same] && got[same] == expected[same])
		same++;
	ck_assert_msg(!strcmp(got, expected), "parts here:\n%.300s\n-- expected\n%.300s",
		      got + (same > 100 ? same - 100 : 0), expected + (same > 100 ? same - 100 : 0));
}

/* A directory with a kept database in it. */
static void place(struct store_fixture *fixture, const struct kept_database *kept)
{
	store_fixture_make(fixture);
	kept_database_put(fixture->path, kept);
}

/* Returns its contents, which the caller frees. */
static char *place_and_dump(struct store_fixture *fixture, const struct kept_database *kept)
{
	place(fixture, kept);
	return dump(fixture);
}

static int open_quietly(struct store_fixture *fixture, uint64_t bytes_max)
{
	int saved = log_divert(), result;

	result = store_open(&fixture->store, fixture->directory,
			    &(struct store_limits){ .bytes_max = bytes_max }, TEST_MACHINE, &clock_of_kernel,
			    &fixture->give_up_ns);
	free(log_diverted(saved));
	return result;
}

static int64_t version_of(const struct store_fixture *fixture)
{
	return number(fixture, "PRAGMA user_version");
}

START_TEST(an_older_database_is_migrated_whole)
{
	const struct kept_database *kept = &kept_databases[_i];
	struct store_fixture fixture;
	_cleanup_free_ char *before = place_and_dump(&fixture, kept);
	struct rule_ids ids;

	store_fixture_open(&fixture, 64 * MIB);
	ck_assert(store_is_outdated(fixture.store));
	ck_assert_int_eq(version_of(&fixture), kept->version);
	ck_assert_int_eq(store_next_ids(fixture.store, &ids), 0);
	ck_assert_int_eq(ids.rule, number(&fixture, "SELECT max(rule_id) + 1 FROM rule"));
	ck_assert_int_eq(store_migrate(fixture.store, NULL, NULL), 0);
	ck_assert(!store_is_outdated(fixture.store));
	ck_assert_int_eq(version_of(&fixture), SCHEMA_VERSION);
	expect_contents(&fixture, before);
	expect_sound(&fixture);
	/* the schema is that of a new database */
	expect_rows(&fixture, "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'old%' OR name = 'moved'",
		    "0\n");
	expect_rows(&fixture, "PRAGMA freelist_count", "0\n");
	expect_rows(&fixture, "SELECT count(*) FROM stack WHERE length(hash) IS NOT 16", "0\n");
	/* its captures have incidents: as docs/CAPTURES.md says; when a stall began is recorded since schema 9 */
	expect_rows(
		&fixture,
		"SELECT (SELECT count(*) FROM capture WHERE incident_id IS NULL), "
		"(SELECT sum(captures) FROM incident), (SELECT count(*) FROM incident WHERE ended_at IS NULL OR "
		"explained_by IS NULL OR cause IS NULL)",
		"0|5|0\n");
	expect_rows(&fixture, "SELECT count(onset_at) FROM capture", kept->version < 9 ? "0\n" : "5\n");
	/* it is used as any other */
	begin_run(&fixture);
	expect_rows(&fixture, "SELECT count(*) FROM database WHERE machine = '" TEST_MACHINE "'", "1\n");
	expect_rows(&fixture, "SELECT count(*) FROM run WHERE database_id IS NULL", "0\n");
	store_fixture_free(&fixture);
}
END_TEST

static char *schema_text(const struct store_fixture *fixture)
{
	return rows(fixture, "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY 1, 2");
}

START_TEST(the_schema_becomes_that_of_a_new_database)
{
	struct store_fixture fixture, fresh;
	_cleanup_free_ char *there = NULL, *expected = NULL;

	place(&fixture, &kept_databases[_i]);
	store_fixture_open(&fixture, 64 * MIB);
	ck_assert_int_eq(store_migrate(fixture.store, NULL, NULL), 0);
	store_fixture_make(&fresh);
	store_fixture_open(&fresh, 64 * MIB);
	there = schema_text(&fixture);
	expected = schema_text(&fresh);
	ck_assert_str_eq(there, expected);
	store_fixture_free(&fresh);
	store_fixture_free(&fixture);
}
END_TEST

START_TEST(views_that_somebody_added_stay)
{
	struct store_fixture fixture;
	_cleanup_free_ char *before = place_and_dump(&fixture, &kept_databases[_i]);

	run_sql(&fixture,
		"CREATE VIEW mine AS SELECT count(*) AS samples FROM sample; CREATE TABLE note(text TEXT);"
		"INSERT INTO note VALUES('kept')");
	store_fixture_open(&fixture, 64 * MIB);
	ck_assert_int_eq(store_migrate(fixture.store, NULL, NULL), 0);
	expect_contents(&fixture, before);
	expect_rows(&fixture, "SELECT samples > 0, text FROM mine, note", "1|kept\n");
	store_fixture_free(&fixture);
}
END_TEST

/* The caller frees. */
static char *id_after_migration(const struct kept_database *kept)
{
	struct store_fixture fixture;
	char *id;

	place(&fixture, kept);
	store_fixture_open(&fixture, 64 * MIB);
	ck_assert_int_eq(store_migrate(fixture.store, NULL, NULL), 0);
	id = rows(&fixture, "SELECT id FROM database");
	store_fixture_free(&fixture);
	return id;
}

/* The ids that copies of one database get are equal, so that their captures are known to be the same ones. */
START_TEST(two_copies_get_one_id)
{
	_cleanup_free_ char *first = id_after_migration(&kept_databases[_i]),
			    *second = id_after_migration(&kept_databases[_i]);

	ck_assert_uint_eq(strlen(first), 33);
	ck_assert_str_eq(first, second);
}
END_TEST

/* Many captures of the kept one's samples, so that the migration takes a while. */
static void grow(const struct store_fixture *fixture, int version)
{
	run_sql(fixture,
		"CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40) "
		"SELECT 1000 * i AS by FROM n;"
		"INSERT INTO capture(capture_id, run_id, rule_id, rule, resource, kind, stall_us, window_us, trigger_mode, "
		"cgroup, triggered_at, began_at, ended_at, history_ns, state, observed_us, hz, offcpu_history_ns, "
		"expected_samples, received_samples, cause, because) SELECT capture_id + by, run_id, rule_id, rule, resource, "
		"kind, stall_us, window_us, trigger_mode, cgroup, triggered_at, began_at, ended_at, history_ns, state, "
		"observed_us, hz, offcpu_history_ns, expected_samples, received_samples, cause, because FROM capture, n");
	/* the rows of a capture are those of these tables */
	if (version == 6)
		run_sql(fixture,
			"CREATE TEMP TABLE n AS SELECT DISTINCT capture_id / 1000 * 1000 AS by FROM capture WHERE capture_id > 999;"
			"INSERT INTO stack SELECT stack_id + by, depth, truncated, unwinder, ended, randomblob(16) FROM stack, n;"
			"INSERT INTO stack_frame SELECT stack_id + by, position, iif(position, frame_id, 1 + (frame_id + by / "
			"1000) % (SELECT max(frame_id) FROM frame)) FROM stack_frame, n WHERE stack_id < 1000;"
			"INSERT INTO sample SELECT capture_id + by, process_id, tid, thread, stack_id + by, kind, stall, "
			"second, samples, weight_ns FROM sample, n WHERE capture_id < 1000");
	else
		run_sql(fixture,
			"CREATE TEMP TABLE n AS SELECT DISTINCT capture_id / 1000 * 1000 AS by FROM capture WHERE capture_id > 999;"
			"INSERT INTO sample_row SELECT capture_id + by, stack_id, thread_id, class, second, samples, weight_ns, "
			"times FROM sample_row, n WHERE capture_id < 1000");
}

#define KILLS (SANITIZED ? 5 : 24) /* a sanitizer makes each ten times slower */

/*
 * Migrates in a child process, which is killed when it has run for so many microseconds, 0: never. Its own CPU time,
 * so that the load of the machine does not move the kills to after the end. Returns for how long it ran.
 */
static uint64_t migrate_and_die(struct store_fixture *fixture, uint64_t after_us)
{
	const struct itimerspec after = { .it_value = { .tv_sec = (time_t)(after_us / 1000000),
							.tv_nsec = (long)(after_us % 1000000 * 1000) } };
	struct sigevent with_kill = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL };
	struct rusage usage;
	struct timeval ran;
	timer_t timer;
	pid_t child;

	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child) {
		if (after_us && (timer_create(CLOCK_PROCESS_CPUTIME_ID, &with_kill, &timer) ||
				 timer_settime(timer, 0, &after, NULL)))
			_exit(EXIT_FAILURE);
		_exit(open_quietly(fixture, 64 * MIB) || store_migrate(fixture->store, NULL, NULL));
	}
	ck_assert_int_eq(wait4(child, NULL, 0, &usage), child);
	timeradd(&usage.ru_utime, &usage.ru_stime, &ran);
	return (uint64_t)(ran.tv_sec * 1000000 + ran.tv_usec);
}

START_TEST(a_crash_leaves_the_old_database_or_the_new_one)
{
	const struct kept_database *kept = &kept_databases[_i];
	struct dice dice = dice_new(90);
	struct store_fixture fixture;
	_cleanup_free_ char *before = NULL, *grown = NULL;
	unsigned int old = 0, new = 0;
	uint64_t within_us;
	int64_t version;
	size_t length;

	place(&fixture, kept);
	grow(&fixture, kept->version);
	before = dump(&fixture);
	ck_assert_int_eq(file_read_text(AT_FDCWD, fixture.path, 64 * MIB, &grown, &length), 0);
	within_us = migrate_and_die(&fixture, 0) * 3 / 2; /* some come too late */
	ck_assert_int_eq(version_of(&fixture), SCHEMA_VERSION);
	for (unsigned int i = 0; i < KILLS; i++) {
		if (version_of(&fixture) == SCHEMA_VERSION) {
			unlink(fixture.wal);
			file_put(fixture.path, grown, length);
		}
		/* somewhere in the i-th part of the time: even a few kills are spread over all of it */
		migrate_and_die(&fixture,
				1 + (i * within_us + dice_below(&dice, (uint32_t)within_us)) / KILLS);
		version = version_of(&fixture);
		ck_assert(version == kept->version || version == SCHEMA_VERSION);
		old += version == kept->version;
		new += version == SCHEMA_VERSION;
		expect_rows(&fixture, "PRAGMA integrity_check", "ok\n");
		expect_contents(&fixture, before);
	}
	printf("migrate: %u kills within %" PRIu64 " us left %u old and %u new databases of %zu KiB\n", KILLS,
	       within_us, old, new, length / 1024);
	ck_assert_uint_gt(old, 0);
	store_fixture_open(&fixture, 64 * MIB);
	if (store_is_outdated(fixture.store))
		ck_assert_int_eq(store_migrate(fixture.store, NULL, NULL), 0);
	expect_contents(&fixture, before);
	store_fixture_free(&fixture);
}
END_TEST

/* Another process holds the lock: the migration waits, and gives up when it is told to, with nothing changed. */
START_TEST(a_lock_that_stays_leaves_the_old_database)
{
	struct store_fixture fixture;
	_cleanup_free_ char *before = place_and_dump(&fixture, &kept_databases[_i]);
	sqlite3 *reader;

	store_fixture_open(&fixture, 64 * MIB);
	reader = reader_open(&fixture);
	ck_assert_int_eq(sqlite3_exec(reader, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	atomic_store(&fixture.give_up_ns, 1);
	ck_assert_int_eq(store_migrate(fixture.store, NULL, NULL), -EBUSY);
	sqlite3_close(reader);
	ck_assert_int_eq(store_migrate(fixture.store, NULL, NULL), -EINTR);
	ck_assert_int_eq(version_of(&fixture), kept_databases[_i].version);
	expect_contents(&fixture, before);
	atomic_store(&fixture.give_up_ns, 0);
	ck_assert_int_eq(store_migrate(fixture.store, NULL, NULL), 0);
	expect_contents(&fixture, before);
	store_fixture_free(&fixture);
}
END_TEST

/* A reader that has begun to read sees the old database until it ends. */
START_TEST(a_reader_meanwhile_keeps_what_it_reads)
{
	struct store_fixture fixture;
	_cleanup_free_ char *before = place_and_dump(&fixture, &kept_databases[_i]);
	sqlite3 *reader;
	_cleanup_free_ char *first = NULL, *second = NULL;

	store_fixture_open(&fixture, 64 * MIB);
	reader = reader_open(&fixture);
	free(rows_in(reader, "BEGIN"));
	first = rows_in(reader, contents[0]);
	ck_assert_int_eq(store_migrate(fixture.store, NULL, NULL), 0);
	second = rows_in(reader, contents[0]);
	ck_assert_str_eq(first, second);
	sqlite3_close(reader);
	expect_contents(&fixture, before);
	store_fixture_free(&fixture);
}
END_TEST

/* Until the database is migrated, nothing is written to it. */
START_TEST(an_older_database_is_not_written)
{
	struct dice dice = dice_new(91);
	_cleanup_capture_ struct capture *capture = large_capture(&dice, 10);
	struct rule_set rules = { 0 };
	struct store_fixture fixture;
	_cleanup_free_ char *before = place_and_dump(&fixture, &kept_databases[_i]);
	int64_t capture_id;

	store_fixture_open(&fixture, 64 * MIB);
	ck_assert_int_eq(commit(&fixture, capture, false), -EBUSY);
	ck_assert_ptr_nonnull(strstr(store_error(fixture.store), "not yet migrated"));
	ck_assert_int_eq(store_begin_capture(fixture.store, &capture->trigger, 0, &capture_id), -EBUSY);
	ck_assert_int_eq(store_add_rules(fixture.store, &rules, 0), -EBUSY);
	expect_contents(&fixture, before);
	ck_assert_int_eq(store_migrate(fixture.store, NULL, NULL), 0);
	begin_run(&fixture);
	expect_commit(&fixture, capture);
	store_fixture_free(&fixture);
}
END_TEST

START_TEST(a_stack_that_is_missing_stops_the_migration)
{
	struct store_fixture fixture;
	_cleanup_free_ char *damaged = NULL;

	place(&fixture, &kept_databases[0]);
	run_sql(&fixture, "DELETE FROM stack WHERE stack_id = (SELECT min(stack_id) FROM sample)");
	damaged = dump(&fixture);
	store_fixture_open(&fixture, 64 * MIB);
	ck_assert_int_eq(store_migrate(fixture.store, NULL, NULL), -EUCLEAN);
	ck_assert_ptr_nonnull(strstr(store_error(fixture.store), "damaged"));
	ck_assert_int_eq(version_of(&fixture), 6);
	expect_contents(&fixture, damaged);
	store_fixture_close(&fixture);
	store_fixture_discard(&fixture);
}
END_TEST

Suite *migrate_suite(void)
{
	Suite *suite = suite_create("migrate");
	TCase *whole = tcase_create("whole"), *disturbed = tcase_create("disturbed");
	int kept = KEPT_DATABASES;

	tcase_add_loop_test(whole, an_older_database_is_migrated_whole, 0, kept);
	tcase_add_loop_test(whole, the_schema_becomes_that_of_a_new_database, 0, kept);
	tcase_add_loop_test(whole, views_that_somebody_added_stay, 0, kept);
	tcase_add_loop_test(whole, two_copies_get_one_id, 0, kept);
	tcase_add_loop_test(whole, an_older_database_is_not_written, 0, kept);
	suite_add_tcase(suite, whole);
	tcase_set_timeout(disturbed, 300);
	tcase_add_loop_test(disturbed, a_crash_leaves_the_old_database_or_the_new_one, 0, kept);
	tcase_add_loop_test(disturbed, a_lock_that_stays_leaves_the_old_database, 0, kept);
	tcase_add_loop_test(disturbed, a_reader_meanwhile_keeps_what_it_reads, 0, kept);
	tcase_add_test(disturbed, a_stack_that_is_missing_stops_the_migration);
	suite_add_tcase(suite, disturbed);
	return suite;
}
