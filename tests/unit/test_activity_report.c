/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that `bourdon activity` adds up what looks saw, and only that: averages, the most at one look, and sparklines of known
 * minutes; spans that begin and end within a minute; missed looks and gaps; rows that are damaged or hostile.
 */
#include "common/base/cleanup.h"
#include "common/store/schema.h"
#include "common/system/log.h"
#include "common/system/options.h"
#include "report/live/activity_load.h"
#include "report/live/threads.h"
#include "tests/unit/command_fixture.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <check.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#define SECOND 1000000000LL
#define BEGAN (1790000000 * SECOND) /* 2026-09-21T14:13:20Z */
#define AT_BEGAN "2026-09-21T14:13:20Z"
#define SPAN "--since 2026-09-21T14:00:00Z --until 2026-09-21T14:20:00Z"

/* A whole minute, one that misses five looks, and after three minutes without a look the 20 seconds until bourdond ended. */
static const char rows_sql[] =
	"INSERT INTO run(run_id, started_at, version, abi, kernel, hostname, cpus, hz)"
	" VALUES(1, 1, '0.1.0', 9, '6.18', 'host', 8, 47);"
	"INSERT INTO activity_key(key_id, state, comm, kernel, syscall, function, uid, cgroup, unit, container, hash) VALUES"
	" (1, 'D', 'mysqld', 0, 'pwrite64', 'folio_wait_bit_common', 101, '/system.slice/mysql.service', 'mysql.service', NULL, 0),"
	" (2, 'running', 'nginx', 0, NULL, NULL, 33, '/system.slice/nginx.service', 'nginx.service', NULL, 0),"
	" (3, 'S', 'idle', 0, 'futex', 'futex_do_wait', 0, '/', NULL, NULL, 0),"
	" (4, 'D', 'e\"v,' || char(27) || '[31m' || char(10), 0, 'fsync', 'jbd2_log_wait_commit', NULL, '/docker/abc', NULL, 'abc', 0),"
	" (5, 'queued', NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, 0),"
	" (6, 'D', 'kworker/0', 1, NULL, 'worker_thread', 0, '/', NULL, NULL, 0);"
	"INSERT INTO activity_minute VALUES"
	" (1, 1, 1790000000000000000, 1000000000, 60, 60, NULL, 900, 0),"
	" (2, 1, 1790000060000000000, 1000000000, 60, 55, '[[10,5]]', 220, 0),"
	" (3, 1, 1790000300000000000, 1000000000, 20, 20, NULL, 40, 0);"
	"INSERT INTO activity VALUES"
	" (1, 1, 180, 2, 4, '[[0,2],[30,4]]'), (1, 4, 60, 0, 3, '[[20,3],[40,0]]'), (1, 2, 60, 1, 1, NULL), (1, 3, 600, 10, 10, '[[0,10]]'),"
	" (2, 1, 110, 0, 7, NULL), (2, 4, 55, 1, 1, '[[0,1]]'), (2, 5, 55, 1, 1, '[[0,1]]'),"
	" (3, 6, 20, 1, 1, '[[0,1]]'), (3, 2, 20, 1, 1, '[[0,1]]');";

static char *directory, *database;

static void write_database(const char *sql)
{
	char *message = NULL;
	sqlite3 *sqlite;

	ck_assert_int_eq(sqlite3_open(database, &sqlite), SQLITE_OK);
	sqlite3_exec(sqlite, sql, NULL, NULL, &message);
	ck_assert_msg(!message, "%s", message);
	sqlite3_close(sqlite);
}

static void set_up(void)
{
	char *sql = sqlite3_mprintf(
		"PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA application_id = %d; PRAGMA user_version = %d; %s",
		SCHEMA_APPLICATION_ID, SCHEMA_VERSION, schema_sql);

	directory = directory_make();
	database = path_join(directory, "bourdon.db");
	write_database(sql);
	sqlite3_free(sql);
	setenv("COLUMNS", "80", 1);
}

static void set_up_rows(void)
{
	set_up();
	write_database(rows_sql);
}

static void tear_down(void)
{
	directory_remove(directory);
	free(database);
	free(directory);
}

static void load(const char *group_by, bool all, int64_t from, int64_t until,
		 struct activity_groups *ret_groups)
{
	const struct columns_word columns = { "--group-by", group_by };
	const struct activity_span span = { BEGAN + from * SECOND, BEGAN + until * SECOND };
	_cleanup_database_ struct database opened = { 0 };
	struct thread_view view = { .all_states = all };

	ck_assert_int_eq(thread_view_read(&columns, NULL, THREADS_STORED, &view), OPTIONS_RUN);
	ck_assert_int_eq(database_open(database, &opened), 0);
	ck_assert_int_eq(activity_load(&opened, &view, &span, ret_groups), 0);
}

static void expect_group(const struct activity_groups *groups, uint32_t i, const char *value, double average,
			 double most, bool is_bound)
{
	const struct thread_group *group = &groups->threads.groups[i];

	ck_assert_uint_lt(i, groups->threads.count);
	ck_assert_pstr_eq(group->values[0], value);
	ck_assert_double_eq_tol(group->average, average, 1e-9);
	ck_assert_double_eq_tol(group->most, most, 1e-9);
	ck_assert_int_eq(group->is_bound, is_bound);
}

START_TEST(averages_are_over_the_looks_that_were_taken)
{
	_cleanup_activity_groups_ struct activity_groups groups = { 0 };

	load("state", false, -600, 600, &groups);
	ck_assert_uint_eq(groups.steps, 140);
	ck_assert_uint_eq(groups.threads.looks, 135);
	ck_assert_uint_eq(groups.threads.count, 3);
	/* two rows of D in the second minute, and when one of them had its 7 threads is not known: at most 8 at once */
	expect_group(&groups, 0, "D", (180 + 60 + 110 + 55 + 20) / 135.0, 8, true);
	expect_group(&groups, 1, "running", 80 / 135.0, 1, false);
	expect_group(&groups, 2, "queued", 55 / 135.0, 1, false);
	ck_assert_double_eq_tol(groups.threads.groups[0].share, 425 / 560.0, 1e-9);
	ck_assert_double_eq_tol(groups.threads.average, 560 / 135.0, 1e-9);
	ck_assert_double_eq_tol(groups.threads.all, 1160 / 135.0, 1e-9);
	ck_assert_double_eq_tol(groups.threads.states[ACTIVITY_DISK], 425 / 135.0, 1e-9);
	ck_assert_double_eq_tol(groups.threads.states[ACTIVITY_OTHERS], 600 / 135.0, 1e-9);
	ck_assert_double_eq_tol(groups.rest, 55 / 135.0, 1e-9);
	ck_assert_uint_eq(groups.damaged, 0);
	ck_assert_uint_eq(groups.overlaps, 0);
}
END_TEST

START_TEST(the_span_is_what_minutes_reach)
{
	_cleanup_activity_groups_ struct activity_groups groups = { 0 };

	load("state", false, -600, 600, &groups);
	ck_assert_int_eq(groups.span.from_ns, BEGAN);
	ck_assert_int_eq(groups.span.until_ns, BEGAN + 320 * SECOND);
	ck_assert_uint_eq(groups.gaps_count, 1);
	ck_assert_int_eq(groups.gaps[0].from_ns, BEGAN + 120 * SECOND);
	ck_assert_int_eq(groups.gaps[0].until_ns, BEGAN + 300 * SECOND);
	ck_assert_int_eq(groups.all_gaps_ns, 180 * SECOND);
}
END_TEST

START_TEST(cells_without_a_look_have_no_average)
{
	_cleanup_activity_groups_ struct activity_groups groups = { 0 };
	const struct thread_group *disk;

	load("state", false, -600, 600, &groups);
	disk = &groups.threads.groups[0];
	ck_assert_int_eq(groups.cell_ns, 10 * SECOND);
	ck_assert_uint_eq(groups.threads.cells_count, 32);
	ck_assert_double_eq_tol(thread_groups_cell(&groups.threads, disk, 0, 1), 2, 1e-9);
	ck_assert_double_eq_tol(thread_groups_cell(&groups.threads, disk, 2, 3), 5, 1e-9);
	ck_assert_double_eq_tol(thread_groups_cell(&groups.threads, disk, 3, 4), 7, 1e-9);
	/* all looks of the first minute */
	ck_assert_double_eq_tol(thread_groups_cell(&groups.threads, disk, 0, 6), 4, 1e-9);
	ck_assert_uint_eq(groups.threads.cell_looks[7], 5);
	ck_assert_double_eq_tol(thread_groups_cell(&groups.threads, disk, 7, 8), 3, 1e-9);
	ck_assert_uint_eq(groups.threads.cell_looks[12], 0);
	ck_assert_double_lt(thread_groups_cell(&groups.threads, disk, 12, 30), 0);
	ck_assert_double_eq_tol(thread_groups_cell(&groups.threads, disk, 31, 32), 1, 1e-9);
	/* the looks of a gap count nowhere */
	ck_assert_double_eq_tol(thread_groups_cell(&groups.threads, disk, 11, 31), (30 + 10) / 20.0, 1e-9);
}
END_TEST

START_TEST(a_span_may_begin_and_end_within_a_minute)
{
	_cleanup_activity_groups_ struct activity_groups groups = { 0 };

	/* steps 25 to 44 */
	load("state", true, 25, 45, &groups);
	ck_assert_uint_eq(groups.threads.looks, 20);
	expect_group(&groups, 0, "S", 10, 10, false);
	expect_group(&groups, 1, "D", (5 * 5 + 10 * 7 + 5 * 4) / 20.0, 7, false);
	expect_group(&groups, 2, "running", 1, 1, false);
	ck_assert_int_eq(groups.cell_ns, 2 * SECOND); /* not shorter than two looks */
	ck_assert_double_eq_tol(thread_groups_cell(&groups.threads, &groups.threads.groups[1], 0, 1), 5,
				1e-9);
	ck_assert_double_eq_tol(groups.threads.all, (200 + 115 + 20) / 20.0, 1e-9);
	activity_groups_free(&groups);
	/* of the second minute, from after the missed looks: when the row without times had its threads is not known */
	load("comm", false, 75, 85, &groups);
	expect_group(&groups, 0, "mysqld", 2, 7, true);
	ck_assert_uint_eq(groups.threads.looks, 10);
	activity_groups_free(&groups);
	/* looks that were missed, and nothing else */
	load("comm", false, 70, 75, &groups);
	ck_assert_uint_eq(groups.steps, 5);
	ck_assert_uint_eq(groups.threads.looks, 0);
	ck_assert_uint_eq(groups.threads.count, 0);
}
END_TEST

START_TEST(the_most_of_a_single_row_is_exact)
{
	_cleanup_activity_groups_ struct activity_groups groups = { 0 };

	load("comm", false, -600, 600, &groups);
	expect_group(&groups, 0, "mysqld", 290 / 135.0, 7, false);
	expect_group(&groups, 1, "e\"v,\033[31m\n", 115 / 135.0, 3, false);
	expect_group(&groups, 2, "nginx", 80 / 135.0, 1, false);
	expect_group(&groups, 3, NULL, 55 / 135.0, 1, false);
	expect_group(&groups, 4, "kworker/0", 20 / 135.0, 1, false);
}
END_TEST

static const struct {
	const char *sql;
	double average, most;
	uint64_t damaged, looks;
} damaged[] = {
	{ "", 180, 4, 0, 60 },
	{ "UPDATE activity SET times = '[[0,2],[30,5]]'", 180, 4, 0, 60 },
	{ "UPDATE activity SET times = '[[30,4],[0,2]]'", 180, 4, 0, 60 },
	{ "UPDATE activity SET times = '[[0,2],[60,4]]'", 180, 4, 0, 60 },
	{ "UPDATE activity SET times = '[[0,-2]]'", 180, 4, 0, 60 },
	{ "UPDATE activity SET times = '[[0,99999999999999999999]]'", 180, 4, 0, 60 },
	{ "UPDATE activity SET threads = -1", 0, 0, 1, 60 },
	{ "UPDATE activity SET threads = 9223372036854775807", 0, 0, 1, 60 },
	{ "UPDATE activity SET most = 9223372036854775807", 0, 0, 1, 60 },
	{ "UPDATE activity SET most = 1", 0, 0, 1, 60 },
	{ "UPDATE activity SET key_id = 4711", 0, 0, 1, 60 },
	{ "UPDATE activity_minute SET interval_ns = 0 WHERE minute_id = 1", 0, 0, 1, 55 },
	{ "UPDATE activity_minute SET steps = 9223372036854775807 WHERE minute_id = 1", 0, 0, 1, 55 },
	{ "UPDATE activity_minute SET looks = 61 WHERE minute_id = 1", 0, 0, 1, 55 },
	{ "UPDATE activity_minute SET looks = 59 WHERE minute_id = 1", 0, 0, 1, 55 },
	{ "UPDATE activity_minute SET looks = 59, missed = '[[60,1]]' WHERE minute_id = 1", 0, 0, 1, 55 },
	{ "UPDATE activity_minute SET looks = 0, missed = '[[30,60]]' WHERE minute_id = 1", 0, 0, 1, 55 },
	{ "UPDATE activity_minute SET looks = 50, missed = '[[0,9],[5,1]]' WHERE minute_id = 1", 0, 0, 1,
	  55 },
};

/* Times that do not add up to the sum are no times; a minute whose missing looks are others than it says is left out. */
START_TEST(damaged_rows)
{
	_cleanup_activity_groups_ struct activity_groups groups = { 0 };

	write_database("DELETE FROM activity WHERE NOT (minute_id = 1 AND key_id = 1);"
		       "DELETE FROM activity_minute WHERE minute_id = 3");
	write_database(damaged[_i].sql);
	load("comm", false, 0, damaged[_i].looks == 60 ? 60 : 120, &groups);
	ck_assert_uint_eq(groups.damaged, damaged[_i].damaged);
	ck_assert_uint_eq(groups.threads.looks, damaged[_i].looks);
	ck_assert_uint_eq(groups.threads.count, damaged[_i].average > 0);
	if (groups.threads.count)
		expect_group(&groups, 0, "mysqld", damaged[_i].average / 60.0, damaged[_i].most, false);
}
END_TEST

START_TEST(minutes_of_two_machines_overlap)
{
	_cleanup_activity_groups_ struct activity_groups groups = { 0 };

	write_database(
		"INSERT INTO activity_minute VALUES(9, 1, 1790000010000000000, 1000000000, 60, 60, NULL, 120, 0);"
		"INSERT INTO activity VALUES(9, 2, 120, 2, 2, '[[0,2]]')");
	load("comm", false, 0, 60, &groups);
	ck_assert_uint_eq(groups.overlaps, 1);
	ck_assert_uint_eq(groups.threads.looks, 60 + 50);
	ck_assert_uint_eq(groups.gaps_count, 0);
}
END_TEST

/* ---- the command ---- */

START_TEST(as_text)
{
	_cleanup_command_ran_ struct command_ran ran = command_run_words("--db %s activity " SPAN, database);

	ck_assert_int_eq(ran.status, EXIT_DONE);
	ck_assert_str_eq(ran.out,
			 "2026-09-21T14:13:20Z to 2026-09-21T14:18:40Z: 135 looks, one each 1 s\n"
			 "  5 more were missed\n"
			 "  no look from 2026-09-21T14:00:00Z to 2026-09-21T14:13:20Z, 13 min 20 s\n"
			 "  no look from 2026-09-21T14:15:20Z to 2026-09-21T14:18:20Z, 3 min\n"
			 "8.6 threads on average: 0.6 running, 0.4 queued, 3.1 in D\n"
			 "  of 0.41 of them the state alone is known: too many were different\n"
			 "\n"
			 "AVERAGE SHARE        MOST STATE   SYSCALL   COMM      FUNCTION        OVER TIME\n"
			 "   2.15  52% ██         7 D       pwrite64  mysqld    folio_wait_bit… ▆█▅···· \n"
			 "   0.85  21% █          3 D       fsync     e\"v,\\x1b… jbd2_log_wait_… █▂▅···· \n"
			 "   0.59  14% █          1 running -         nginx     -               █▅ ····█\n"
			 "   0.41  10% █          1 queued  -         -         -                ▃█···· \n"
			 "   0.15   4% █          1 D       -         kworker/0 worker_thread      ····█\n"
			 "\n"
			 "each character of the last column is 40 s; in · there was no look\n");
}
END_TEST

START_TEST(as_json)
{
	_cleanup_command_ran_ struct command_ran ran = command_run_words(
		"--db %s activity --json --group-by comm,kernel,uid --limit 2 " SPAN, database);

	ck_assert_int_eq(ran.status, EXIT_DONE);
	ck_assert_str_eq(
		ran.out,
		"{\"from\": \"2026-09-21T14:13:20Z\", \"until\": \"2026-09-21T14:18:40Z\", \"steps\": 140, \"looks\": 135, \"interval_seconds\": 1, \"gaps_seconds\": 180, \"overlaps\": 0, \"damaged\": 0, \"gaps\": [{\"from\": \"2026-09-21T14:15:20Z\", \"until\": \"2026-09-21T14:18:20Z\"}], \"cell_seconds\": 10, \"cell_looks\": [10, 10, 10, 10, 10, 10, 10, 5, 10, 10, 10, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 10], \"threads\": 8.593, \"running\": 0.593, \"queued\": 0.407, \"in_d\": 3.148, \"without_row\": 0.407, \"groups\": [\n"
		"{\"comm\": \"mysqld\", \"kernel\": false, \"uid\": 101, \"average\": 2.148, \"share\": 0.5179, \"most\": 7, \"most_is_bound\": false, \"cells\": [2.000, 2.000, 2.000, 4.000, 4.000, 4.000, 2.000, 2.000, 2.000, 2.000, 2.000, 2.000, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, 0.000, 0.000]},\n"
		"{\"comm\": \"e\\\"v,\\u001b[31m\\u000a\", \"kernel\": false, \"uid\": null, \"average\": 0.852, \"share\": 0.2054, \"most\": 3, \"most_is_bound\": false, \"cells\": [0.000, 0.000, 3.000, 3.000, 0.000, 0.000, 1.000, 1.000, 1.000, 1.000, 1.000, 1.000, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, 0.000, 0.000]}]}\n");
}
END_TEST

START_TEST(as_csv)
{
	_cleanup_command_ran_ struct command_ran ran =
		command_run_words("--db %s activity --csv --columns comm,kernel,uid " SPAN, database);

	ck_assert_int_eq(ran.status, EXIT_DONE);
	ck_assert_str_eq(
		ran.out,
		"from,until,steps,looks,average,share,most,most_is_bound,comm,kernel,uid\r\n"
		"2026-09-21T14:13:20Z,2026-09-21T14:18:40Z,140,135,2.148,0.5179,7,0,\"mysqld\",\"no\",\"101\"\r\n"
		"2026-09-21T14:13:20Z,2026-09-21T14:18:40Z,140,135,0.852,0.2054,3,0,\"e\"\"v,\\x1b[31m\\x0a\",\"no\",\r\n"
		"2026-09-21T14:13:20Z,2026-09-21T14:18:40Z,140,135,0.593,0.1429,1,0,\"nginx\",\"no\",\"33\"\r\n"
		"2026-09-21T14:13:20Z,2026-09-21T14:18:40Z,140,135,0.407,0.0982,1,0,,\"no\",\r\n"
		"2026-09-21T14:13:20Z,2026-09-21T14:18:40Z,140,135,0.148,0.0357,1,0,\"kworker/0\",\"yes\",\"0\"\r\n");
}
END_TEST

static const struct {
	const char *words, *has, *has_not;
} choices[] = {
	{ "--group-by state", "\n   3.15  76% ███       ≤8 D ", " S " },
	{ "--all --group-by state", "\n   4.44  52%", "--all" },
	{ "--match state=S", "idle", "mysqld" },
	{ "--match unit=nginx.service", "nginx", "mysqld" },
	{ "--match comm=nobody", "none of them ran", "AVERAGE" },
	{ "--match comm=nobody --all", "no thread matches", "AVERAGE" },
	{ "--match kernel=yes", "kworker/0", "mysqld" },
	{ "--match container=abc", "fsync", "mysqld" },
	{ "--limit 1 --group-by state", "and 2 more; --limit shows them", "running " },
};

START_TEST(what_is_chosen)
{
	_cleanup_command_ran_ struct command_ran ran =
		command_run_words("--db %s activity %s " SPAN, database, choices[_i].words);

	ck_assert_int_eq(ran.status, EXIT_DONE);
	ck_assert_msg(strstr(ran.out, choices[_i].has) && !strstr(ran.out, choices[_i].has_not),
		      "%s gave\n%s", choices[_i].words, ran.out);
}
END_TEST

static const struct {
	const char *words, *message;
} wrong[] = {
	{ "--since yesterday", "--since 'yesterday' is no time" },
	{ "--until 2026-02-30T00:00:00Z", "--until '2026-02-30T00:00:00Z' is no time" },
	{ "--since 1h --until 400d --group-by tid",
	  "'bourdon activity' has no column 'tid', but 'bourdon threads' has; there are state" },
	{ "--group-by colour", "no column 'colour'" },
	{ "--group-by comm,comm", "'comm' is there twice" },
	{ "--group-by comm --columns state", "mean the same" },
	{ "--match fd=3", "'fd' is not known here" },
	{ "--since 2026-09-21T14:00:00Z --until 2026-09-21T14:00:00Z", "is not before --until" },
};

/* Each is an error, and says what to do. */
START_TEST(mistakes)
{
	_cleanup_command_ran_ struct command_ran ran =
		command_run_words("--db %s activity %s", database, wrong[_i].words);

	ck_assert_int_eq(ran.status, EXIT_USAGE);
	ck_assert_msg(strstr(ran.err, wrong[_i].message), "'%s' is not in:\n%s", wrong[_i].message, ran.err);
}
END_TEST

START_TEST(a_span_without_a_minute)
{
	expect_command_fails("it has looks from " AT_BEGAN " to 2026-09-21T14:18:40Z",
			     "--db %s activity --since 2026-09-21T13:00:00Z --until 2026-09-21T14:00:00Z",
			     database);
}
END_TEST

START_TEST(a_database_without_activity)
{
	expect_command_fails("has 'interval = 1s' below '[activity]'", "--db %s activity", database);
}
END_TEST

/* The parts of a span are found by the index of times, and the rows of a minute by their key. */
START_TEST(plan)
{
	static const char *const statements[] = {
		"SELECT minute_id FROM activity_minute WHERE at > 1 AND at < 2 ORDER BY at, minute_id",
		"SELECT key_id, threads, least, most, times FROM activity WHERE minute_id = 1",
		"SELECT state FROM activity_key WHERE key_id = 1",
		"SELECT min(at) FROM activity_minute",
		"SELECT at FROM activity_minute ORDER BY at DESC LIMIT 1",
	};
	sqlite3 *sqlite;

	ck_assert_int_eq(sqlite3_open(database, &sqlite), SQLITE_OK);
	for (size_t i = 0; i < ARRAY_SIZE(statements); i++) {
		char *explain = sqlite3_mprintf("EXPLAIN QUERY PLAN %s", statements[i]);
		sqlite3_stmt *statement;
		const char *step;

		ck_assert_int_eq(sqlite3_prepare_v2(sqlite, explain, -1, &statement, NULL), SQLITE_OK);
		ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
		step = (const char *)sqlite3_column_text(statement, 3);
		ck_assert_msg(strstr(step, "INDEX") || strstr(step, "PRIMARY KEY"), "%s: %s", statements[i],
			      step);
		ck_assert_int_eq(sqlite3_step(statement), SQLITE_DONE);
		sqlite3_finalize(statement);
		sqlite3_free(explain);
	}
	sqlite3_close(sqlite);
}
END_TEST

SUITE(activity_report)
{
	Suite *suite = suite_create("activity_report");
	TCase *sums = tcase_create("sums"), *command = tcase_create("command"),
	      *empty = tcase_create("empty");

	tcase_add_checked_fixture(sums, set_up_rows, tear_down);
	tcase_add_test(sums, averages_are_over_the_looks_that_were_taken);
	tcase_add_test(sums, the_span_is_what_minutes_reach);
	tcase_add_test(sums, cells_without_a_look_have_no_average);
	tcase_add_test(sums, a_span_may_begin_and_end_within_a_minute);
	tcase_add_test(sums, the_most_of_a_single_row_is_exact);
	tcase_add_loop_test(sums, damaged_rows, 0, ARRAY_SIZE(damaged));
	tcase_add_test(sums, minutes_of_two_machines_overlap);
	suite_add_tcase(suite, sums);
	tcase_add_checked_fixture(command, set_up_rows, tear_down);
	tcase_add_test(command, as_text);
	tcase_add_test(command, as_json);
	tcase_add_test(command, as_csv);
	tcase_add_loop_test(command, what_is_chosen, 0, ARRAY_SIZE(choices));
	tcase_add_loop_test(command, mistakes, 0, ARRAY_SIZE(wrong));
	tcase_add_test(command, a_span_without_a_minute);
	suite_add_tcase(suite, command);
	tcase_add_checked_fixture(empty, set_up, tear_down);
	tcase_add_test(empty, a_database_without_activity);
	tcase_add_test(empty, plan);
	suite_add_tcase(suite, empty);
	return suite;
}
