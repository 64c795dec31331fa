/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/store/schema.h"
#include "consumer/store/store_accounts.h"
#include "tests/unit/suites.h"

#include <string.h>

static sqlite3_int64 number(sqlite3 *db, const char *query)
{
	sqlite3_stmt *statement;
	sqlite3_int64 result;

	ck_assert_int_eq(sqlite3_prepare_v2(db, query, -1, &statement, NULL), SQLITE_OK);
	ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
	result = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	return result;
}

/* Whoever names a program `a in /x`, or a cgroup, does not keep a capture from being stored. */
START_TEST(victims_of_equal_text_are_one)
{
	struct account_victim victims[] = {
		{ .comm = "a in /x", .place.cgroup = "/y", .is_covered = true, .threads = 1 },
		{ .comm = "a", .place.cgroup = "/x in /y", .is_covered = true, .threads = 2 },
	};
	struct capture capture = { .accounts = {
					   .victims = victims, .victims_count = 2, .is_complete = true } };
	struct accounts_statements statements = { 0 };
	struct resolved resolved = { 0 };
	struct sql sql = { 0 };

	victims[0].ns[ACCOUNT_RAN] = 5;
	victims[1].ns[ACCOUNT_RAN] = 7;
	ck_assert_int_eq(sqlite3_open(":memory:", &sql.db), SQLITE_OK);
	ck_assert_int_eq(sql_execute(&sql, schema_sql), 0);
	ck_assert_int_eq(store_accounts_write(&sql, &statements, 1, &capture, &resolved), 0);
	ck_assert_int_eq(number(sql.db, "SELECT ns FROM account WHERE victim = 'a in /x in /y'"), 12);
	ck_assert_int_eq(number(sql.db, "SELECT threads FROM account"), 3);
	sql_close(&sql);
}
END_TEST

SUITE(store_accounts)
{
	Suite *suite = suite_create("store_accounts");
	TCase *rows = tcase_create("rows");

	tcase_add_test(rows, victims_of_equal_text_are_one);
	suite_add_tcase(suite, rows);
	return suite;
}
