/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that bourdon finds in a database of an older schema every name and column of the newer one, that it does not write
 * it, and what it says of a version that it does not read.
 */
#include "common/base/cleanup.h"
#include "common/base/version.h"
#include "common/store/migrate.h"
#include "common/system/log.h"
#include "report/model/database.h"
#include "report/model/older_schema.h"
#include "tests/unit/helpers.h"
#include "tests/unit/schema_fixture.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *directory, *path;

static void set_up(void)
{
	directory = directory_make();
	path = path_join(directory, "older.db");
	example_put(path);
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

static void change(const char *sql)
{
	sqlite3 *sqlite;

	ck_assert_int_eq(sqlite3_open(path, &sqlite), SQLITE_OK);
	execute(sqlite, sql);
	sqlite3_close(sqlite);
}

/* Opens the file as database_open() does, but for the schema. */
static sqlite3 *open_file(void)
{
	sqlite3 *sqlite;

	ck_assert_int_eq(sqlite3_open_v2(path, &sqlite, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	database_protect(sqlite);
	execute(sqlite, "PRAGMA trusted_schema = OFF; BEGIN");
	return sqlite;
}

/* With the names of next_schema. */
static sqlite3 *open_older(void)
{
	sqlite3 *older = open_file();

	ck_assert_msg(!older_schema_read(older, &next_schema), "%s", sqlite3_errmsg(older));
	execute(older, "PRAGMA query_only = ON");
	return older;
}

static sqlite3 *open_model(void)
{
	sqlite3 *model;

	ck_assert_int_eq(sqlite3_open(":memory:", &model), SQLITE_OK);
	execute(model, next_schema.sql);
	return model;
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

/* The first column of the first row. The caller frees. */
static char *text_of(sqlite3 *sqlite, const char *sql)
{
	sqlite3_stmt *statement;
	const char *found;
	char *text;

	ck_assert_msg(!sqlite3_prepare_v2(sqlite, sql, -1, &statement, NULL), "%s: %s", sql,
		      sqlite3_errmsg(sqlite));
	ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
	found = (const char *)sqlite3_column_text(statement, 0);
	text = strdup(found ? found : "NULL");
	sqlite3_finalize(statement);
	return text;
}

static void expect_text(sqlite3 *sqlite, const char *sql, const char *expected)
{
	_cleanup_free_ char *text = text_of(sqlite, sql);

	ck_assert_msg(!strcmp(text, expected), "%s: '%s', not '%s'", sql, text, expected);
}

START_TEST(an_older_database_has_every_name_and_column)
{
	sqlite3 *older = open_older(), *model = open_model();
	char here[1024], there[1024];
	sqlite3_stmt *names;
	int count = 0;

	ck_assert_int_eq(sqlite3_prepare_v2(model,
					    "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')",
					    -1, &names, NULL),
			 SQLITE_OK);
	for (; sqlite3_step(names) == SQLITE_ROW; count++) {
		const char *name = (const char *)sqlite3_column_text(names, 0);

		columns_of(model, name, here, sizeof(here));
		columns_of(older, name, there, sizeof(there));
		ck_assert_msg(!strcmp(here, there), "%s has%s, not%s", name, there, here);
	}
	ck_assert_int_ge(count, 50);
	sqlite3_finalize(names);
	sqlite3_close(model);
	sqlite3_close(older);
}
END_TEST

START_TEST(what_is_not_there_has_its_default)
{
	sqlite3 *older = open_older();

	expect_text(older, "SELECT group_concat(DISTINCT grade || ifnull(score, '-')) FROM capture", "none-");
	expect_text(older, "SELECT count(*) FROM remark", "0");
	/* through views of the newer schema, whose names the file has with another meaning */
	expect_text(older, "SELECT count(*) || min(grade) FROM graded", "5none");
	expect_text(older, "SELECT min(grade) || (count(*) > 20) FROM hot_function", "none1");
	/* all else is read as it is */
	expect_text(older, "SELECT count(*) FROM capture_summary WHERE state = 'complete'", "4");
	expect_text(older, "SELECT count(*) FROM sample JOIN stack USING(stack_id)", "207");
	sqlite3_close(older);
}
END_TEST

START_TEST(an_older_database_is_not_written)
{
	sqlite3 *older = open_older();

	ck_assert_int_eq(sqlite3_db_readonly(older, "main"), 1);
	ck_assert_int_eq(sqlite3_exec(older, "CREATE TEMP TABLE t(a)", NULL, NULL, NULL), SQLITE_READONLY);
	sqlite3_close(older);
}
END_TEST

/* In place of a table, a hostile file may have anything: a view that would use an unsafe function. */
START_TEST(a_hostile_file_runs_no_code)
{
	sqlite3 *older;

	change("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET type = 'view', rootpage = 0, sql = 'CREATE VIEW "
	       "capture AS SELECT load_extension(''/nonexistent'') AS rule' WHERE name = 'capture' AND type = 'table'; "
	       "DELETE FROM sqlite_schema WHERE tbl_name = 'capture' AND type = 'index'");
	older = open_file();
	ck_assert_int_eq(older_schema_read(older, &next_schema), -EIO);
	ck_assert_ptr_nonnull(strstr(sqlite3_errmsg(older), "unsafe use of load_extension"));
	sqlite3_close(older);
}
END_TEST

/* A daemon migrates the database while bourdon reads it: the transaction goes on with the older one. */
START_TEST(a_database_that_is_migrated_meanwhile)
{
	const atomic_uint_fast64_t never = 0;
	struct sql writer = { .give_up_ns = &never };
	sqlite3 *older;

	change("PRAGMA journal_mode = WAL");
	ck_assert_int_eq(sql_open(&writer, path), 0);
	older = open_older();
	ck_assert_int_eq(migrate_database(&writer, &next_schema, NULL, NULL), 0);
	expect_text(writer.db, "SELECT count(*) FROM pragma_table_info('capture') WHERE name = 'grade'", "1");
	expect_text(older, "SELECT count(*) FROM pragma_table_info('capture', 'main') WHERE name = 'grade'",
		    "0");
	expect_text(older, "SELECT count(*) || min(grade) FROM capture", "5none");
	sqlite3_close(older);
	sql_close(&writer);
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
		 "1000, and bourdon %s reads none after version %d: install bourdon 3.1.4~rc1 or newer",
		 BOURDON_VERSION, SCHEMA_VERSION);
	change("PRAGMA user_version = 1000; UPDATE run SET version = '3.1.4~rc1'");
	expect_refusal(database_open, ending);
	expect_refusal(database_open_to_write, ending);
	snprintf(
		ending, sizeof(ending),
		"1000, and bourdon %s reads none after version %d: install a newer bourdon, that of the bourdond that wrote it",
		BOURDON_VERSION, SCHEMA_VERSION);
	change("UPDATE run SET version = 'a; rm'");
	expect_refusal(database_open, ending);
	change("DROP TABLE run");
	expect_refusal(database_open, ending);
	snprintf(
		ending, sizeof(ending),
		"%d, and bourdon %s reads none before version %d: move it elsewhere; only the bourdon that wrote it reads it",
		9, BOURDON_VERSION, SCHEMA_OLDEST);
	change("PRAGMA user_version = 9");
	expect_refusal(database_open, ending);
	expect_refusal(database_open_to_write, ending);
}
END_TEST

SUITE(older_schema)
{
	Suite *suite = suite_create("older_schema");
	TCase *older = tcase_create("older");

	tcase_add_checked_fixture(older, set_up, tear_down);
	tcase_add_test(older, an_older_database_has_every_name_and_column);
	tcase_add_test(older, what_is_not_there_has_its_default);
	tcase_add_test(older, an_older_database_is_not_written);
	tcase_add_test(older, a_hostile_file_runs_no_code);
	tcase_add_test(older, a_database_that_is_migrated_meanwhile);
	tcase_add_test(older, a_version_that_is_not_read);
	suite_add_tcase(suite, older);
	return suite;
}
