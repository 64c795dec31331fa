/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that a database is migrated to a newer schema without losing a row, that a crash leaves the old database or the
 * new one, and that other versions stay as they are.
 */
#include "common/store/migrate.h"
#include "common/system/files.h"
#include "tests/unit/schema_fixture.h"
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

static struct store_fixture fixture;
static struct sql migrating;
static int64_t old_version;
/* Statements that print all rows of the tables that both schemas have, in the columns that both have; and what they print. */
static char *selects, *before;

/* The caller frees. */
static char *make_selects(void)
{
	static const char selects_sql[] =
		"SELECT printf('SELECT %s FROM \"%w\" ORDER BY %s', columns, name, columns) FROM (SELECT name, (SELECT "
		"group_concat('\"' || p.name || '\"') FROM pragma_table_info(s.name, 'main') p JOIN "
		"pragma_table_info(s.name, 'next') n USING(name)) AS columns FROM main.sqlite_schema s WHERE type = 'table' "
		"AND name NOT LIKE 'sqlite%') WHERE columns IS NOT NULL ORDER BY name";
	_cleanup_free_ char *path = path_join(fixture.directory, "next.db"), *attach = NULL;
	sqlite3 *db;
	char *text;

	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, "PRAGMA synchronous = OFF; BEGIN", NULL, NULL, NULL), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, next_schema.sql, NULL, NULL, NULL), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	ck_assert_int_gt(asprintf(&attach, "ATTACH '%s' AS next", path), 0);
	db = reader_open(&fixture);
	ck_assert_int_eq(sqlite3_exec(db, attach, NULL, NULL, NULL), SQLITE_OK);
	text = rows_in(db, selects_sql);
	sqlite3_close(db);
	unlink(path);
	return text;
}

/* The caller frees. */
static char *dump(void)
{
	_cleanup_free_ char *statements = strdup(selects);
	sqlite3 *db = reader_open(&fixture);
	char *text = NULL, *rest = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);

	for (char *select = strtok_r(statements, "\n", &rest); select; select = strtok_r(NULL, "\n", &rest)) {
		_cleanup_free_ char *of_table = rows_in(db, select);

		fprintf(stream, "%s\n%s", select, of_table);
	}
	fclose(stream);
	sqlite3_close(db);
	return text;
}

static void expect_kept(void)
{
	_cleanup_free_ char *after = dump();
	size_t same = 0;

	while (after[same] && after[same] == before[same])
		same++;
	ck_assert_msg(!strcmp(after, before), "parts here:\n%.300s\n-- expected\n%.300s",
		      after + (same > 100 ? same - 100 : 0), before + (same > 100 ? same - 100 : 0));
}

static int64_t version(void)
{
	return number(&fixture, "PRAGMA user_version");
}

static void set_up(void)
{
	store_fixture_make(&fixture);
	example_put(fixture.path);
	run_sql(&fixture, "PRAGMA journal_mode = WAL");
	old_version = version();
	selects = make_selects();
	before = dump();
	migrating = (struct sql){ .give_up_ns = &fixture.give_up_ns };
	ck_assert_int_eq(sql_open(&migrating, fixture.path), 0);
}

static void tear_down(void)
{
	sql_close(&migrating);
	free(selects);
	free(before);
	store_fixture_discard(&fixture);
}

static int migrate(void)
{
	return migrate_database(&migrating, &next_schema, NULL, NULL);
}

static void expect_migrated(void)
{
	ck_assert_msg(!migrate(), "%s", migrating.error);
	ck_assert_int_eq(version(), next_schema.version);
	expect_kept();
}

START_TEST(every_row_is_kept)
{
	ck_assert_ptr_nonnull(strstr(before, "FROM \"sample_row\""));
	expect_migrated();
	expect_rows(&fixture, "PRAGMA integrity_check", "ok\n");
	expect_rows(&fixture, "PRAGMA foreign_key_check", "");
	expect_rows(&fixture, "PRAGMA freelist_count", "0\n");
	/* ids of captures are never used again */
	expect_rows(&fixture, "SELECT name, seq FROM sqlite_sequence WHERE seq ORDER BY name",
		    "capture|5\nincident|2\n");
}
END_TEST

START_TEST(what_is_new_has_its_default)
{
	expect_migrated();
	expect_rows(&fixture, "SELECT DISTINCT grade, score FROM capture", "none|NULL\n");
	expect_count(&fixture, "remark", 0);
	expect_rows(&fixture, "SELECT count(*), min(grade) FROM graded", "5|none\n");
	expect_rows(&fixture, "SELECT count(*) > 20, min(grade) FROM hot_function", "1|none\n");
	expect_rows(&fixture, "SELECT count(*) FROM pragma_table_info('capture') WHERE name = 'note'", "0\n");
}
END_TEST

/* The caller frees. */
static char *schema_of(sqlite3 *db)
{
	return rows_in(db, "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY 1, 2");
}

START_TEST(the_schema_becomes_that_of_a_new_database)
{
	_cleanup_free_ char *there = NULL, *expected = NULL;
	sqlite3 *fresh;

	expect_migrated();
	ck_assert_int_eq(sqlite3_open(":memory:", &fresh), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(fresh, next_schema.sql, NULL, NULL, NULL), SQLITE_OK);
	there = schema_of(migrating.db);
	expected = schema_of(fresh);
	ck_assert_str_eq(there, expected);
	sqlite3_close(fresh);
}
END_TEST

START_TEST(what_somebody_added_stays)
{
	run_sql(&fixture,
		"CREATE VIEW mine AS SELECT count(*) AS samples FROM sample; CREATE TABLE note(text TEXT);"
		"INSERT INTO note VALUES('kept')");
	ck_assert_int_eq(migrate(), 0);
	expect_rows(&fixture, "SELECT samples > 0, text FROM mine, note", "1|kept\n");
}
END_TEST

/* A view is restored by the text that the file has for it. */
START_TEST(a_hostile_text_of_a_view_is_one_statement)
{
	run_sql(&fixture, "CREATE VIEW extra AS SELECT 1; PRAGMA writable_schema = ON; UPDATE sqlite_schema "
			  "SET sql = sql || '; DELETE FROM capture' WHERE name = 'extra'");
	sql_close(&migrating);
	ck_assert_int_eq(sql_open(&migrating, fixture.path), 0);
	expect_migrated();
	expect_rows(&fixture, "SELECT * FROM extra", "1\n");
}
END_TEST

static const int other_versions[] = { 0, 9, SCHEMA_VERSION + 1, SCHEMA_VERSION + 2 };

START_TEST(other_versions_stay_as_they_are)
{
	_cleanup_free_ char *schema = NULL, *after = NULL, *sql = NULL;

	ck_assert_int_gt(asprintf(&sql, "PRAGMA user_version = %d", other_versions[_i]), 0);
	run_sql(&fixture, sql);
	schema = schema_of(migrating.db);
	ck_assert_int_eq(migrate(), 0);
	after = schema_of(migrating.db);
	ck_assert_str_eq(schema, after);
	ck_assert_int_eq(version(), other_versions[_i]);
	expect_kept();
}
END_TEST

/* ---- disturbed ---- */

/* Many captures of the example's samples, so that the migration takes a while. */
static void grow(void)
{
	run_sql(&fixture,
		"CREATE TEMP TABLE more AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40) "
		"SELECT 1000 * i AS by, c.* FROM n, capture c;"
		"UPDATE more SET capture_id = capture_id + by; ALTER TABLE more DROP COLUMN by;"
		"INSERT INTO capture SELECT * FROM more;"
		"CREATE TEMP TABLE row AS SELECT c.capture_id AS into_id, r.* FROM more c JOIN sample_row r ON "
		"r.capture_id = c.capture_id % 1000; UPDATE row SET capture_id = into_id; ALTER TABLE row DROP COLUMN "
		"into_id; INSERT INTO sample_row SELECT * FROM row");
	free(before);
	before = dump();
}

#define KILLS (SANITIZED ? 5 : 24) /* a sanitizer makes each ten times slower */

/*
 * Migrates in a child process, which is killed when it has run for so many microseconds, 0: never. Its own CPU time,
 * so that the load of the machine does not move the kills to after the end. Returns for how long it ran.
 */
static uint64_t migrate_and_die(uint64_t after_us)
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
		_exit(sql_open(&migrating, fixture.path) || migrate());
	}
	ck_assert_int_eq(wait4(child, NULL, 0, &usage), child);
	timeradd(&usage.ru_utime, &usage.ru_stime, &ran);
	return (uint64_t)(ran.tv_sec * 1000000 + ran.tv_usec);
}

START_TEST(a_crash_leaves_the_old_database_or_the_new_one)
{
	struct dice dice = dice_new(90);
	_cleanup_free_ char *grown = NULL;
	unsigned int old = 0, new = 0;
	uint64_t within_us;
	size_t length;

	sql_close(&migrating);
	grow();
	run_sql(&fixture, "PRAGMA wal_checkpoint(TRUNCATE)");
	ck_assert_int_eq(file_read_text(AT_FDCWD, fixture.path, 64 * MIB, &grown, &length), 0);
	within_us = migrate_and_die(0) * 3 / 2; /* some come too late */
	ck_assert_int_eq(version(), next_schema.version);
	for (unsigned int i = 0; i < KILLS; i++) {
		int64_t left;

		if (version() == next_schema.version) {
			unlink(fixture.wal);
			file_put(fixture.path, grown, length);
		}
		/* somewhere in the i-th part of the time: even a few kills are spread over all of it */
		migrate_and_die(1 + (i * within_us + dice_below(&dice, (uint32_t)within_us)) / KILLS);
		left = version();
		ck_assert(left == old_version || left == next_schema.version);
		old += left == old_version;
		new += left == next_schema.version;
		expect_rows(&fixture, "PRAGMA integrity_check", "ok\n");
		expect_kept();
	}
	printf("migrate: %u kills within %" PRIu64 " us left %u old and %u new databases of %zu KiB\n", KILLS,
	       within_us, old, new, length / 1024);
	ck_assert_uint_gt(old, 0);
	ck_assert_int_eq(sql_open(&migrating, fixture.path), 0);
	expect_migrated();
}
END_TEST

/* Another process holds the lock: the migration waits, and gives up when it is told to, with nothing changed. */
START_TEST(a_lock_that_stays_leaves_the_old_database)
{
	sqlite3 *writer = reader_open(&fixture);

	ck_assert_int_eq(sqlite3_exec(writer, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	atomic_store(&fixture.give_up_ns, 1);
	ck_assert_int_eq(migrate(), -EBUSY);
	sqlite3_close(writer);
	ck_assert_int_eq(migrate(), -EINTR);
	ck_assert_int_eq(version(), old_version);
	expect_kept();
	atomic_store(&fixture.give_up_ns, 0);
	expect_migrated();
}
END_TEST

/* A row that the new schema does not take stops the migration: nothing is left out. */
START_TEST(a_row_that_does_not_fit_leaves_the_old_database)
{
	run_sql(&fixture,
		"PRAGMA ignore_check_constraints = ON; UPDATE capture SET state = 'other' WHERE capture_id = 3");
	free(before);
	before = dump();
	ck_assert_int_lt(migrate(), 0);
	ck_assert_msg(strstr(migrating.error, "CHECK constraint failed: state"), "%s", migrating.error);
	ck_assert_int_eq(version(), old_version);
	expect_kept();
}
END_TEST

SUITE(migrate)
{
	Suite *suite = suite_create("migrate");
	TCase *whole = tcase_create("whole"), *disturbed = tcase_create("disturbed");

	tcase_add_checked_fixture(whole, set_up, tear_down);
	tcase_add_test(whole, every_row_is_kept);
	tcase_add_test(whole, what_is_new_has_its_default);
	tcase_add_test(whole, the_schema_becomes_that_of_a_new_database);
	tcase_add_test(whole, what_somebody_added_stays);
	tcase_add_test(whole, a_hostile_text_of_a_view_is_one_statement);
	tcase_add_loop_test(whole, other_versions_stay_as_they_are, 0, ARRAY_SIZE(other_versions));
	suite_add_tcase(suite, whole);
	tcase_add_checked_fixture(disturbed, set_up, tear_down);
	tcase_add_test(disturbed, a_crash_leaves_the_old_database_or_the_new_one);
	tcase_add_test(disturbed, a_lock_that_stays_leaves_the_old_database);
	tcase_add_test(disturbed, a_row_that_does_not_fit_leaves_the_old_database);
	suite_add_tcase(suite, disturbed);
	return suite;
}
