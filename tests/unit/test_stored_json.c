/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that the JSON which bourdond stores is read, within the limit, and that every other value of a column is refused,
 * also where SQLite or a JSON parser would take it for the same.
 */
#include "common/base/cleanup.h"
#include "common/store/stored_json.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <stdlib.h>

static sqlite3 *sqlite;

static void set_up(void)
{
	ck_assert_int_eq(sqlite3_open(":memory:", &sqlite), SQLITE_OK);
}

static void tear_down(void)
{
	sqlite3_close(sqlite);
}

/* A statement at its only row, with the value of this expression. The caller finalizes it. */
static sqlite3_stmt *value_of(const char *expression)
{
	char *sql = sqlite3_mprintf("SELECT %s", expression);
	sqlite3_stmt *statement;

	ck_assert_msg(sqlite3_prepare_v2(sqlite, sql, -1, &statement, NULL) == SQLITE_OK, "%s", sql);
	ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
	sqlite3_free(sql);
	return statement;
}

static int read_frames(const char *expression, uint32_t most, struct frame_list *list)
{
	sqlite3_stmt *statement = value_of(expression);
	int result = stored_frames_read(statement, 0, most, list);

	sqlite3_finalize(statement);
	return result;
}

static bool times_are_valid(const char *expression, bool intervals, int64_t samples)
{
	sqlite3_stmt *statement = value_of(expression);
	bool valid = stored_times_are_valid(statement, 0, intervals, samples);

	sqlite3_finalize(statement);
	return valid;
}

START_TEST(frames_are_appended_in_their_order)
{
	const int64_t expected[] = { 12, 7, 0, -1, INT64_MAX, INT64_MIN, 3 };
	struct frame_list list = { 0 };

	ck_assert_int_eq(read_frames("'12,7,0,-1'", 4, &list), 0);
	ck_assert_int_eq(read_frames("''", 0, &list), 0);
	ck_assert_int_eq(read_frames("'[]'", 0, &list), 0);
	ck_assert_int_eq(read_frames("'[9223372036854775807,-9223372036854775808]'", 2, &list), 0);
	ck_assert_int_eq(read_frames("'[3]'", UINT32_MAX, &list), 0);
	ck_assert_uint_eq(list.count, ARRAY_SIZE(expected));
	for (uint32_t i = 0; i < list.count; i++)
		ck_assert_int_eq(list.frames[i], expected[i]);
	free(list.frames);
}
END_TEST

START_TEST(frames_beyond_the_limit_are_refused)
{
	struct frame_list list = { 0 };

	ck_assert_int_eq(read_frames("'[1,2,3]'", 3, &list), 0);
	ck_assert_int_eq(read_frames("'[1,2,3]'", 2, &list), -EFBIG);
	ck_assert_uint_eq(list.count, 5);
	ck_assert_int_eq(read_frames("'[1]'", 0, &list), -EFBIG);
	free(list.frames);
}
END_TEST

static const char *const no_frames[] = {
	"NULL",
	"1",
	"1.5",
	"x'5b315d'", /* [1] as a blob */
	"']'",
	"'1]'",
	"','",
	"'1,'",
	"'1 '",
	"'1, 2'",
	"'['",
	"'[,]'",
	"'[1'",
	"'[1,'",
	"'[1,]'",
	"'[1]]'",
	"'[1] '",
	"' [1]'",
	"'[ 1]'",
	"'[1 ,2]'",
	"'[1, 2]'",
	"'[1,2]' || char(0)",
	"'[1' || char(0) || ',2]'",
	"'[1]' || char(0) || ']'",
	"'[+1]'",
	"'[01]'",
	"'[00]'",
	"'[-]'",
	"'[-0]'",
	"'[--1]'",
	"'[1.0]'",
	"'[1e3]'",
	"'[0x1]'",
	"'[null]'",
	"'[\"1\"]'",
	"'[[1]]'",
	"'{}'",
	"'[1x2]'",
	"'[9223372036854775808]'",
	"'[-9223372036854775809]'",
	"'[99999999999999999999999999]'",
};

START_TEST(what_is_no_array_of_numbers_is_refused)
{
	struct frame_list list = { 0 };
	int result = read_frames(no_frames[_i], 100, &list);

	ck_assert_msg(result == -EUCLEAN, "%s gave %d", no_frames[_i], result);
	free(list.frames);
}
END_TEST

static int read_steps(const char *expression, uint32_t steps, struct step_list *list)
{
	sqlite3_stmt *statement = value_of(expression);
	int result = stored_steps_read(statement, 0, steps, list);

	sqlite3_finalize(statement);
	return result;
}

START_TEST(steps_ascend)
{
	struct step_list list = { 0 };

	ck_assert_int_eq(read_steps("'[[0,3],[7,4294967295],[59,0]]'", 60, &list), 0);
	ck_assert_uint_eq(list.count, 3);
	ck_assert_uint_eq(list.steps[1].step, 7);
	ck_assert_uint_eq(list.steps[1].number, UINT32_MAX);
	ck_assert_uint_eq(list.steps[2].step, 59);
	ck_assert_uint_eq(list.steps[2].number, 0);
	/* those of before are gone */
	ck_assert_int_eq(read_steps("'[[5,1]]'", 6, &list), 0);
	ck_assert_uint_eq(list.count, 1);
	ck_assert_uint_eq(list.steps[0].step, 5);
	free(list.steps);
}
END_TEST

static const char *const no_steps[] = {
	"NULL",
	"0",
	"''",
	"'[]'",
	"'[[]]'",
	"'[[0]]'",
	"'[[0,1,2]]'",
	"'[[0,1]'",
	"'[[0,1],]'",
	"'[[0,1]] '",
	"'[[0, 1]]'",
	"'[[60,1]]'",
	"'[[7,1],[7,2]]'",
	"'[[7,1],[6,2]]'",
	"'[[-1,1]]'",
	"'[[0,-1]]'",
	"'[[0,4294967296]]'",
	"'[[4294967296,1]]'",
	"'[[0,null]]'",
	"'[[0,1.5]]'",
	"'[[0,1]]' || char(0)",
	"x'5b5b302c315d5d'",
};

START_TEST(what_is_no_array_of_steps_is_refused)
{
	struct step_list list = { 0 };
	int result = read_steps(no_steps[_i], 60, &list);

	ck_assert_msg(result == -EUCLEAN, "%s gave %d", no_steps[_i], result);
	free(list.steps);
}
END_TEST

START_TEST(times_have_two_numbers_or_three)
{
	ck_assert(times_are_valid("NULL", false, 0));
	ck_assert(times_are_valid("'[[1,0],[2,null]]'", false, 2));
	ck_assert(times_are_valid("'[[-4,12,0],[3,5,null]]'", true, 3));
	ck_assert(!times_are_valid("'[[1,0],[2,null]]'", true, 2));
	ck_assert(!times_are_valid("'[[-4,12,0]]'", false, 1));
	ck_assert(!times_are_valid("'[[1,0],[2,null]]'", false, 1));
}
END_TEST

static const char *const no_times[] = {
	"1",
	"''",
	"x'5b5b312c305d5d'",
	"'[]'",
	"'[[]]'",
	"'[1,0]'",
	"'[[null,0]]'",
	"'[[1,0]'",
	"'[[1,0],]'",
	"'[[1,0]]]'",
	"'[[1,0]] '",
	"'[[1,0,]]'",
	"'[[1,nulls]]'",
	"'[[1,0]]' || char(0)",
};

START_TEST(what_is_no_array_of_times_is_refused)
{
	ck_assert_msg(!times_are_valid(no_times[_i], false, 100), "%s", no_times[_i]);
}
END_TEST

START_TEST(steps_come_one_behind_the_other)
{
	static const struct {
		const char *value;
		bool is_valid;
	} cases[] = {
		{ "NULL", true },
		{ "'[[0,1]]'", true },
		{ "'[[0,1],[3,0]]'", true },
		{ "'[[3,9223372036854775807]]'", true },
		{ "'[[4,1]]'", false },
		{ "'[[1,1],[1,2]]'", false },
		{ "'[[2,1],[1,2]]'", false },
		{ "'[[-1,1]]'", false },
		{ "'[[0,-1]]'", false },
		{ "'[]'", false },
		{ "'[[0,1]'", false },
		{ "'[[0,1]]x'", false },
		{ "'[[0,1],]'", false },
		{ "'[[0]]'", false },
		{ "'[[0,1,2]]'", false },
		{ "'[[0,null]]'", false },
		{ "'[[0, 1]]'", false },
		{ "'[[00,1]]'", false },
		{ "'[[0,1]]' || char(0)", false },
		{ "7", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		sqlite3_stmt *statement = value_of(cases[i].value);

		ck_assert_msg(stored_steps_are_valid(statement, 0, 4) == cases[i].is_valid, "%s",
			      cases[i].value);
		sqlite3_finalize(statement);
	}
}
END_TEST

static int read_times(const char *expression, bool intervals, uint32_t most, struct time_list *list)
{
	sqlite3_stmt *statement = value_of(expression);
	int result = stored_times_read(statement, 0, intervals, most, list);

	sqlite3_finalize(statement);
	return result;
}

START_TEST(times_are_appended_in_their_order)
{
	struct time_list list = { 0 };

	ck_assert_int_eq(read_times("'[[13,0],[34,null]]'", false, 2, &list), 0);
	ck_assert_int_eq(read_times("'[[-40,110,1]]'", true, 1, &list), 0);
	ck_assert_int_eq(read_times("NULL", true, 0, &list), 0);
	ck_assert_uint_eq(list.count, 3);
	ck_assert(list.times[0].begin_ms == 13 && list.times[0].end_ms == 13 && list.times[0].cpu == 0);
	ck_assert(list.times[1].begin_ms == 34 && list.times[1].cpu < 0);
	ck_assert(list.times[2].begin_ms == -40 && list.times[2].end_ms == 110 && list.times[2].cpu == 1);
	ck_assert_int_eq(read_times("'[[1,0],[2,0]]'", false, 1, &list), -EFBIG);
	ck_assert_int_eq(read_times("'[[1,0],[2]]'", false, 9, &list), -EUCLEAN);
	ck_assert_int_eq(read_times("'[[1,0]]'", true, 9, &list), -EUCLEAN);
	ck_assert_int_eq(read_times("'[[1,2,0]]'", false, 9, &list), -EUCLEAN);
	ck_assert_int_eq(read_times("'[[1,0]] '", false, 9, &list), -EUCLEAN);
	ck_assert_int_eq(read_times("'[]'", false, 9, &list), -EUCLEAN);
	ck_assert_int_eq(read_times("7", false, 9, &list), -EUCLEAN);
	free(list.times);
}
END_TEST

SUITE(stored_json)
{
	Suite *suite = suite_create("stored_json");
	TCase *tests = tcase_create("columns");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, frames_are_appended_in_their_order);
	tcase_add_test(tests, frames_beyond_the_limit_are_refused);
	tcase_add_loop_test(tests, what_is_no_array_of_numbers_is_refused, 0, ARRAY_SIZE(no_frames));
	tcase_add_test(tests, steps_ascend);
	tcase_add_loop_test(tests, what_is_no_array_of_steps_is_refused, 0, ARRAY_SIZE(no_steps));
	tcase_add_test(tests, times_have_two_numbers_or_three);
	tcase_add_loop_test(tests, what_is_no_array_of_times_is_refused, 0, ARRAY_SIZE(no_times));
	tcase_add_test(tests, steps_come_one_behind_the_other);
	tcase_add_test(tests, times_are_appended_in_their_order);
	suite_add_tcase(suite, tests);
	return suite;
}
