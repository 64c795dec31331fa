/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tests of rows that are written by the names of their columns, and of statements that a query makes.
 */
#include "common/base/cleanup.h"
#include "common/sql/sql.h"
#include "tests/unit/suites.h"

#include <check.h>
#include <errno.h>
#include <string.h>

static atomic_uint_fast64_t never;
static struct sql sql;

static void set_up(void)
{
	sql = (struct sql){ .give_up_ns = &never };
	ck_assert_int_eq(sql_open(&sql, ":memory:"), 0);
	ck_assert_int_eq(
		sql_execute(
			&sql,
			"CREATE TABLE pair(id INTEGER PRIMARY KEY, name TEXT, n INTEGER DEFAULT 5, share REAL) "
			"STRICT"),
		0);
}

static void tear_down(void)
{
	sql_close(&sql);
}

/* Asserts that this expression is true of the tables. */
static void expect(const char *expression)
{
	_cleanup_free_ char *query = NULL;
	sqlite3_int64 holds = 0;

	ck_assert_int_gt(asprintf(&query, "SELECT %s", expression), 0);
	ck_assert_msg(!sql_run_once(&sql, &holds, query, "") && holds == 1, "not %s: %s", expression,
		      sql.error);
}

START_TEST(a_row_has_the_listed_columns)
{
	const struct pair {
		const char *name;
		uint64_t n;
	} pairs[] = { { "a\x1b", 1 }, { NULL, UINT32_MAX } }, *none = NULL;
	sqlite3_stmt *add = NULL, *add_name = NULL;
	sqlite3_int64 id = 0;

	for (size_t i = 0; i < 2; i++) {
		ck_assert_int_eq(
			sql_insert(&sql, &add, "pair", "RETURNING id", &id,
				   SQL_COLUMNS(SQL_NUMBER(n, pairs[i].n), SQL_TEXT(name, pairs[i].name),
					       SQL_REAL_IF(share, i, 0.5))),
			0);
		ck_assert_int_eq(id, (int64_t)i + 1);
	}
	/* what is not known is not looked at */
	ck_assert_int_eq(sql_insert(&sql, &add_name, "pair", NULL, NULL,
				    SQL_COLUMNS(SQL_NUMBER_IF(id, none, none->n), SQL_TEXT(name, "b"))),
			 0);
	expect("count(*) = 3 FROM pair");
	expect("name = 'a\\x1b' AND n = 1 AND share IS NULL FROM pair WHERE id = 1");
	expect("name IS NULL AND n = 4294967295 AND share = 0.5 FROM pair WHERE id = 2");
	expect("name = 'b' AND n = 5 FROM pair WHERE id = 3");
}
END_TEST

START_TEST(an_update_changes_the_listed_columns_of_one_row)
{
	sqlite3_stmt *update = NULL;

	ck_assert_int_eq(sql_execute(&sql, "INSERT INTO pair VALUES(1, 'a', 1, 1.0), (2, 'b', 2, 2.0)"), 0);
	for (int64_t id = 2; id < 4; id++)
		ck_assert_int_eq(sql_update(&sql, &update, "pair", "id", id,
					    SQL_COLUMNS(SQL_TEXT(name, "c"), SQL_NUMBER_IF(n, false, 0))),
				 0);
	expect("name = 'a' AND n = 1 AND share = 1.0 FROM pair WHERE id = 1");
	expect("name = 'c' AND n IS NULL AND share = 2.0 FROM pair WHERE id = 2");
	expect("count(*) = 2 FROM pair");
}
END_TEST

START_TEST(a_column_that_there_is_not_is_named)
{
	sqlite3_stmt *add = NULL;

	ck_assert_int_lt(sql_insert(&sql, &add, "pair", NULL, NULL, SQL_COLUMNS(SQL_NUMBER(other, 1))), 0);
	ck_assert_ptr_nonnull(strstr(sql.error, "no column named other"));
	ck_assert_ptr_null(add);
}
END_TEST

START_TEST(a_row_makes_one_statement)
{
	ck_assert_int_eq(
		sql_execute_made(&sql,
				 "SELECT 'INSERT INTO pair(name) VALUES(''a''); DELETE FROM pair' UNION ALL "
				 "SELECT 'INSERT INTO pair(name) VALUES(''b'')'"),
		0);
	expect("count(*) = 2 FROM pair");
	ck_assert_int_lt(sql_execute_made(&sql, "SELECT 'DELETE FROM other'"), 0);
	ck_assert_ptr_nonnull(strstr(sql.error, "no such table: other"));
}
END_TEST

SUITE(sql)
{
	Suite *suite = suite_create("sql");
	TCase *tests = tcase_create("sql");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, a_row_has_the_listed_columns);
	tcase_add_test(tests, an_update_changes_the_listed_columns_of_one_row);
	tcase_add_test(tests, a_column_that_there_is_not_is_named);
	tcase_add_test(tests, a_row_makes_one_statement);
	suite_add_tcase(suite, tests);
	return suite;
}
