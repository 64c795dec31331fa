/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that bourdon finds in a database of an older schema every name and column of this one, as strict as in a
 * database of this one, that it does not write it, and what it says of a version that it does not read.
 */
#include "common/cleanup.h"
#include "common/log.h"
#include "common/schema.h"
#include "common/version.h"
#include "report/database.h"
#include "tests/unit/helpers.h"
#include "tests/unit/kept_databases.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *directory, *path;

static void set_up(void)
{
	directory = directory_make();
	path = path_join(directory, "older.db");
}

static void tear_down(void)
{
	directory_remove(directory);
	free(path);
	free(directory);
}

static void execute(sqlite3 *sqlite, const char *sql)
{
	char *message = NULL;

	sqlite3_exec(sqlite, sql, NULL, NULL, &message);
	ck_assert_msg(!message, "%s: %s", sql, message);
}

/* Writes the kept database, and changes it. */
static void put(int kept, const char *change)
{
	sqlite3 *sqlite;

	kept_database_put(path, &kept_databases[kept]);
	ck_assert_int_eq(sqlite3_open(path, &sqlite), SQLITE_OK);
	execute(sqlite, change);
	sqlite3_close(sqlite);
}

static void columns_of(sqlite3 *sqlite, const char *name, char *into, size_t into_bytes)
{
	_cleanup_free_ char *sql = NULL;
	sqlite3_stmt *statement;
	size_t used = 0;

	ck_assert_int_gt(asprintf(&sql, "SELECT * FROM %s LIMIT 1", name), 0);
	ck_assert_msg(!sqlite3_prepare_v2(sqlite, sql, -1, &statement, NULL), "%s: %s", name,
		      sqlite3_errmsg(sqlite));
	ck_assert_int_ge(sqlite3_step(statement), SQLITE_ROW);
	*into = '\0';
	for (int i = 0; i < sqlite3_column_count(statement) && used < into_bytes; i++)
		used += (size_t)snprintf(into + used, into_bytes - used, " %s",
					 sqlite3_column_name(statement, i));
	sqlite3_finalize(statement);
}

static int64_t number_of(sqlite3 *sqlite, const char *sql)
{
	sqlite3_stmt *statement;
	int64_t number;

	ck_assert_msg(!sqlite3_prepare_v2(sqlite, sql, -1, &statement, NULL), "%s: %s", sql,
		      sqlite3_errmsg(sqlite));
	ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
	number = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return number;
}

START_TEST(an_older_database_has_every_name_and_column)
{
	static const char names_sql[] =
		"SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT IN "
		"('stack_node', 'stack_class', 'frame_row', 'sample_row', 'sample_class', 'thread', 'wake_row')";
	_cleanup_database_ struct database opened = { 0 };
	char here[1024], there[1024];
	sqlite3_stmt *names;
	sqlite3 *sqlite;
	int count = 0;

	put(_i, "");
	ck_assert_int_eq(sqlite3_open(":memory:", &sqlite), SQLITE_OK);
	execute(sqlite, schema_sql);
	ck_assert_int_eq(database_open(path, &opened), 0);
	ck_assert_int_eq(opened.version, kept_databases[_i].version);
	ck_assert_int_eq(sqlite3_prepare_v2(sqlite, names_sql, -1, &names, NULL), SQLITE_OK);
	for (; sqlite3_step(names) == SQLITE_ROW; count++) {
		const char *name = (const char *)sqlite3_column_text(names, 0);

		columns_of(sqlite, name, here, sizeof(here));
		columns_of(opened.sqlite, name, there, sizeof(there));
		ck_assert_msg(!strcmp(here, there), "%s has%s, not%s", name, there, here);
	}
	ck_assert_int_ge(count, 30);
	ck_assert_int_gt(number_of(opened.sqlite, "SELECT count(*) FROM sample s JOIN stack USING(stack_id)"),
			 100);
	sqlite3_finalize(names);
	sqlite3_close(sqlite);
}
END_TEST

START_TEST(an_older_database_is_read_as_strictly)
{
	_cleanup_database_ struct database opened = { 0 };
	int defensive = 0, triggers = 1;

	put(_i, "");
	ck_assert_int_eq(database_open(path, &opened), 0);
	sqlite3_db_config(opened.sqlite, SQLITE_DBCONFIG_DEFENSIVE, -1, &defensive);
	sqlite3_db_config(opened.sqlite, SQLITE_DBCONFIG_ENABLE_TRIGGER, -1, &triggers);
	ck_assert(defensive && !triggers);
	ck_assert_int_eq(number_of(opened.sqlite, "PRAGMA trusted_schema"), 0);
	ck_assert_int_eq(number_of(opened.sqlite, "PRAGMA cell_size_check"), 1);
	ck_assert_int_eq(number_of(opened.sqlite, "PRAGMA query_only"), 1);
	ck_assert_int_eq(sqlite3_db_readonly(opened.sqlite, "main"), 1);
	ck_assert_int_eq(sqlite3_exec(opened.sqlite, "CREATE TEMP TABLE t(a)", NULL, NULL, NULL),
			 SQLITE_READONLY);
}
END_TEST

/* In place of a table of the older schema, a hostile file may have anything: a view that would use an unsafe function. */
START_TEST(views_over_a_hostile_file_run_no_code)
{
	_cleanup_database_ struct database opened = { 0 };

	put(_i,
	    "DROP TABLE process; CREATE VIEW process AS SELECT 1 AS process_id, 1 AS run_id, 1 AS tgid, 1 AS started_ns,"
	    " load_extension('/nonexistent') AS comm, '' AS exe, 1 AS uid, '' AS cgroup");
	ck_assert_int_eq(database_open(path, &opened), 0);
	ck_assert_int_eq(sqlite3_exec(opened.sqlite, "SELECT * FROM process", NULL, NULL, NULL),
			 SQLITE_ERROR);
	ck_assert_ptr_nonnull(strstr(sqlite3_errmsg(opened.sqlite), "unsafe use of load_extension"));
}
END_TEST

/* A daemon converts the database while bourdon reads it: the transaction goes on with the older one. */
START_TEST(a_database_that_changes_its_version_meanwhile)
{
	_cleanup_database_ struct database opened = { 0 };
	int64_t processes;
	sqlite3 *writer;

	put(_i, "PRAGMA journal_mode = WAL");
	ck_assert_int_eq(sqlite3_open(path, &writer), SQLITE_OK);
	execute(writer, "SELECT 1 FROM run");
	ck_assert_int_eq(database_open(path, &opened), 0);
	execute(writer,
		"BEGIN; DROP TABLE process; CREATE TABLE process(mine); PRAGMA user_version = 10; COMMIT");
	processes = number_of(opened.sqlite, "SELECT count(*) FROM process WHERE unit IS NULL");
	ck_assert_int_gt(processes, 3);
	sqlite3_close(writer);
}
END_TEST

/* Opens with this function and asserts that it logs one line, which ends like this. */
static void expect_refusal(int (*opens)(const char *, struct database *), const char *ending)
{
	_cleanup_free_ char *expected = NULL, *said = NULL;
	struct database opened = { 0 };
	int saved = log_divert(), result = opens(path, &opened);

	said = log_diverted(saved);
	ck_assert_int_eq(result, -EPROTO);
	ck_assert_int_gt(asprintf(&expected, "'%s' has schema version %s\n", path, ending), 0);
	ck_assert_msg(strstr(said, expected) && strchr(said, '\n') == said + strlen(said) - 1, "%s\n%s", said,
		      expected);
	ck_assert_ptr_null(opened.sqlite);
}

START_TEST(a_version_that_is_not_read)
{
	char ending[256];

	snprintf(ending, sizeof(ending),
		 "11, and bourdon %s reads versions 6, 7, 8, 9 and %d: install bourdon 3.1.4~rc1 or newer",
		 BOURDON_VERSION, SCHEMA_VERSION);
	put(_i, "PRAGMA user_version = 11; UPDATE run SET version = '3.1.4~rc1'");
	expect_refusal(database_open, ending);
	expect_refusal(database_open_to_write, ending);
	snprintf(
		ending, sizeof(ending),
		"11, and bourdon %s reads versions 6, 7, 8, 9 and %d: install a newer bourdon, that of the bourdond that wrote it",
		BOURDON_VERSION, SCHEMA_VERSION);
	put(_i, "PRAGMA user_version = 11; UPDATE run SET version = 'a; rm'");
	expect_refusal(database_open, ending);
	put(_i, "PRAGMA user_version = 11; DROP TABLE run");
	expect_refusal(database_open, ending);
	snprintf(ending, sizeof(ending),
		 "5, and bourdon %s reads versions 6, 7, 8, 9 and %d: use bourdon 0.0.1", BOURDON_VERSION,
		 SCHEMA_VERSION);
	put(_i, "PRAGMA user_version = 5; UPDATE run SET version = '0.0.1'");
	expect_refusal(database_open, ending);
}
END_TEST

START_TEST(an_older_database_is_not_written)
{
	_cleanup_free_ char *ending = NULL;

	put(_i, "");
	ck_assert_int_gt(
		asprintf(
			&ending,
			"%d, and bourdon %s writes version %d: start bourdond once, which converts it, or write "
			"a copy with 'bourdon db merge NEW %s'",
			kept_databases[_i].version, BOURDON_VERSION, SCHEMA_VERSION, path),
		0);
	expect_refusal(database_open_to_write, ending);
}
END_TEST

SUITE(older_schema)
{
	Suite *suite = suite_create("older_schema");
	TCase *kept = tcase_create("kept");

	tcase_add_checked_fixture(kept, set_up, tear_down);
	tcase_add_loop_test(kept, an_older_database_has_every_name_and_column, 0, KEPT_DATABASES);
	tcase_add_loop_test(kept, an_older_database_is_read_as_strictly, 0, KEPT_DATABASES);
	tcase_add_loop_test(kept, views_over_a_hostile_file_run_no_code, 0, KEPT_DATABASES);
	tcase_add_loop_test(kept, a_database_that_changes_its_version_meanwhile, 0, KEPT_DATABASES);
	tcase_add_loop_test(kept, a_version_that_is_not_read, 0, KEPT_DATABASES);
	tcase_add_loop_test(kept, an_older_database_is_not_written, 0, KEPT_DATABASES);
	suite_add_tcase(suite, kept);
	return suite;
}
