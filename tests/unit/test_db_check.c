/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that 'db check' finds nothing wrong with what the store writes, and each thing that a damaged or hostile database
 * has wrong; and that it writes nothing.
 */
#include "common/store/schema.h"
#include "tests/unit/command_fixture.h"
#include "tests/unit/store_fixture.h"
#include "tests/unit/suites.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static struct store_fixture fixture;

static void expect_commit_stack(int kernel_depth, int user_depth, uint64_t frames)
{
	_cleanup_capture_ struct capture *capture = capture_of_stack(kernel_depth, user_depth, frames);

	expect_commit(&fixture, capture);
}

static void set_up(void)
{
	struct dice dice = dice_new(5);

	store_fixture_start(&fixture);
	expect_commit_large(&fixture, &dice, 2, 60);
	/* stacks that share their outer frames; and one whose hash counts no names */
	expect_commit_stack(0, 4, 10);
	expect_commit_stack(1, 3, 11);
	expect_commit_stack(4, 0, 10);
	store_fixture_close(&fixture);
}

static void tear_down(void)
{
	store_fixture_discard(&fixture);
}

static void damage(const char *sql)
{
	char all[1200];

	snprintf(all, sizeof(all), "PRAGMA ignore_check_constraints = ON; %s", sql);
	run_sql(&fixture, all);
}

/* Asserts the exit status 1, and a line of the output that has `part`. */
static void expect_problem(const char *part)
{
	_cleanup_command_ran_ struct command_ran ran = command_run_words("--db %s db check", fixture.path);

	ck_assert_msg(ran.status == 1, "%d: %s", ran.status, ran.out);
	ck_assert_msg(strstr(ran.out, part), "'%s' is not in:\n%s%s", part, ran.out, ran.err);
	ck_assert_msg(strstr(ran.out, " is damaged: "), "%s", ran.out);
}

START_TEST(what_the_store_writes_is_well)
{
	char wanted[128];

	snprintf(wanted, sizeof(wanted), "5 captures, %d stacks in ",
		 (int)number(&fixture, "SELECT count(*) FROM stack"));
	expect_command(wanted, "--db %s db check", fixture.path);
	expect_command("123 rows of samples", "--db %s db check", fixture.path);
}
END_TEST

START_TEST(an_empty_database_is_well)
{
	struct store_fixture empty;

	store_fixture_start(&empty);
	expect_command("0 captures, 0 stacks in 0 nodes, 0 rows of samples", "--db %s db check", empty.path);
	store_fixture_free(&empty);
}
END_TEST

#define ACTIVITY                                                                                             \
	"INSERT INTO activity_key(key_id, state, kernel, hash) VALUES(1, 'D', 0, 7);"                        \
	"INSERT INTO activity_minute VALUES(1, 1, 60, 10, 3, 2, '[[1,1]]', 7, 100);"                         \
	"INSERT INTO activity VALUES(1, 1, 7, 2, 5, '[[0,5],[2,2]]');"

/* Both are well. */
#define LATENCIES                                                                                            \
	"INSERT INTO histogram_label VALUES(1, 'runqueue', 'web.service');"                                  \
	"INSERT INTO histogram_row VALUES(1, 1, 'during', 100, 3, 5000);"                                    \
	"INSERT INTO latency_measured VALUES(1, 'runqueue', 'during', 1, 2, 3, 4, 1, 0, 0);"                 \
	"INSERT INTO growth_row SELECT 1, 1, min(stack_id), 3, 4096 FROM sample_row;"

static const struct {
	const char *sql, *problem;
} damages[] = {
	{ "UPDATE sample_row SET stack_id = 424242 WHERE stack_id = (SELECT max(stack_id) FROM sample_row)",
	  "sample_row: a row refers to a row of stack_node that does not exist" },
	{ "UPDATE capture SET run_id = 77", "capture: row 1 refers to a row of run that does not exist" },
	{ "UPDATE capture SET state = 'lost'",
	  "capture: a row is not as it must be: state IN ('recording', 'complete', 'interrupted')" },
	{ "UPDATE stack_node SET frames = '[1,424242]' WHERE node_id = 1",
	  "stack_node 1: there is no frame 424242" },
	{ "UPDATE stack_node SET frames = '{}' WHERE node_id = 1",
	  "stack_node 1: frames is not an array of numbers" },
	{ "UPDATE stack_node SET frames = '[\"1\"]' WHERE node_id = 1",
	  "stack_node 1: frames is not an array of numbers" },
	{ "UPDATE stack_node SET depth = 99 WHERE node_id = (SELECT max(stack_id) FROM sample_row)",
	  ": depth is 99, but the stack has 4 frames" },
	{ "UPDATE stack_node SET hash = zeroblob(16) WHERE node_id = (SELECT stack_id FROM sample_row WHERE capture_id = 5)",
	  ": hash is not that of its frames" },
	{ "UPDATE stack_node SET hash = NULL WHERE node_id = (SELECT stack_id FROM sample_row WHERE capture_id = 5)",
	  ": hash is not that of its frames" },
	/* two nodes above each other */
	{ "UPDATE stack_node SET parent_id = (SELECT stack_id FROM sample_row WHERE capture_id = 4) WHERE node_id = (SELECT "
	  "parent_id FROM stack_node WHERE node_id = (SELECT stack_id FROM sample_row WHERE capture_id = 4))",
	  "have no way up to a root" },
	{ "UPDATE stack_node SET class = NULL WHERE node_id = (SELECT max(stack_id) FROM sample_row)",
	  ": no stack ends at stack_node " },
	{ "INSERT INTO thread_state(capture_id, process_id, tid, thread, state, syscall, stack_id, samples) "
	  "SELECT 1, 1, 1, 't', 'S', NULL, min(node_id), 1 FROM stack_node WHERE class IS NULL",
	  "thread_state of capture 1: no stack ends at stack_node " },
	{ "INSERT INTO wake_row SELECT 1, 1, min(node_id), 'none', NULL, 'none', NULL, NULL, 0, 1, 1 FROM stack_node WHERE "
	  "class IS NULL",
	  "wake_row of capture 1: no stack ends at stack_node " },
	{ "INSERT INTO wake_row SELECT 1, 1, (SELECT min(stack_id) FROM sample_row), 'none', NULL, 'target', 1, min(node_id), "
	  "0, 1, 1 FROM stack_node WHERE class IS NULL",
	  "wake_row of capture 1: no stack ends at stack_node " },
	{ "UPDATE sample_row SET times = '1,2],[3,4],[5,6'",
	  "times is not an array of one element a sample" },
	{ "UPDATE sample_row SET times = '[1]'", "times is not an array" },
	{ "UPDATE sample_row SET times = '1.5,2'", "times is not an array" },
	{ "UPDATE sample_row SET times = '1,2]'", "times is not an array" },
	{ "UPDATE sample_row SET times = '1,2 '", "times is not an array" },
	{ "UPDATE sample_row SET times = '1,2' || char(0)", "times is not an array" },
	{ "UPDATE sample_row SET times = ''", "times is not an array" },
	{ "UPDATE capture SET sample_count = sample_count + 1 WHERE capture_id = 2",
	  "capture 2: its numbers of processes, stacks and samples are not those of its rows" },
	{ ACTIVITY "UPDATE activity_minute SET threads = 8",
	  "activity_minute 1: its row does not agree with those of activity" },
	{ ACTIVITY "UPDATE activity_minute SET looks = 4", "activity_minute 1: its row does not agree" },
	{ ACTIVITY "UPDATE activity_minute SET missed = '[[3,1]]'",
	  "activity_minute 1: missed is not an array of steps" },
	{ ACTIVITY "UPDATE activity SET times = '[[0,5] ]'",
	  "activity of minute 1, key 1: times is not an array of steps" },
	{ ACTIVITY "DELETE FROM activity_key",
	  "activity: a row refers to a row of activity_key that does not exist" },
	{ "UPDATE incident SET captures = captures + 1", "its row does not agree with its " },
	{ "UPDATE incident SET blamed_percent = 99.5", "its row does not agree with its " },
	{ "UPDATE incident SET ended_at = NULL", "its row does not agree with its " },
	{ "UPDATE capture SET incident_id = NULL", ": its row does not agree with its 0 captures" },
	{ "UPDATE capture SET incident_id = 77 WHERE capture_id = 3",
	  "capture: row 3 refers to a row of incident that does not exist" },
	{ "DROP VIEW culprit", "culprit: there is no column capture_id" },
	{ "DROP VIEW folded; CREATE VIEW folded AS SELECT capture_id, absent AS process_id FROM capture",
	  "folded cannot be queried: no such column: absent" },
	{ "DROP VIEW histogram", "histogram: there is no column capture_id" },
	{ "DROP TABLE latency_measured", "latency_measured: there is no column capture_id" },
	{ LATENCIES "UPDATE histogram_row SET bucket = 512", "histogram_row: a row is not as it must be" },
	{ LATENCIES "UPDATE histogram_row SET count = 0",
	  "histogram_row of capture 1: runqueue during has a row without events" },
	{ LATENCIES "UPDATE latency_measured SET span = 'before'",
	  "histogram_row of capture 1: runqueue during has a row without events, or was not measured" },
	{ LATENCIES "UPDATE latency_measured SET lost = 5",
	  "latency_measured of capture 1: the numbers of runqueue during cannot be" },
	{ LATENCIES "DELETE FROM histogram_label",
	  "histogram_row: a row refers to a row of histogram_label that does not exist" },
	{ LATENCIES
	  "UPDATE growth_row SET stack_id = (SELECT min(node_id) FROM stack_node WHERE class IS NULL)",
	  "growth_row of capture 1: no stack ends at stack_node " },
	{ "ALTER TABLE loss RENAME COLUMN unit TO kind", "loss: there is no column unit" },
	{ "CREATE TABLE other AS SELECT * FROM counter; DROP TABLE counter; ALTER TABLE other RENAME TO counter",
	  "counter: column run_id refers to no table" },
};

START_TEST(damage_is_found)
{
	damage(damages[_i].sql);
	expect_problem(damages[_i].problem);
}
END_TEST

START_TEST(activity_is_well)
{
	run_sql(&fixture, ACTIVITY);
	expect_command("ok: ", "--db %s db check", fixture.path);
}
END_TEST

START_TEST(latencies_and_growth_are_well)
{
	run_sql(&fixture, LATENCIES);
	expect_command("ok: ", "--db %s db check", fixture.path);
}
END_TEST

START_TEST(times_of_intervals_have_three_numbers)
{
	damage("UPDATE capture SET sample_count = NULL; UPDATE sample_class SET kind = 'off-cpu'; UPDATE sample_row SET times = '-5,2,null'");
	expect_command("ok: ", "--db %s db check", fixture.path);
	damage("UPDATE sample_row SET times = '1,2'");
	expect_problem("times is not an array");
}
END_TEST

START_TEST(a_function_that_was_named_later_is_no_damage)
{
	damage("UPDATE module SET kind = 'jit', build_id = NULL WHERE module_id = 2;"
	       "UPDATE frame_row SET function = 'later' WHERE module_id = 2");
	expect_command("ok: ", "--db %s db check", fixture.path);
}
END_TEST

START_TEST(the_lines_are_bounded)
{
	_cleanup_command_ran_ struct command_ran ran = { 0 };
	int lines = 0;

	damage("UPDATE sample_row SET times = 'x'; UPDATE capture SET sample_count = NULL");
	damage("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) INSERT INTO sample_row SELECT "
	       "1, (SELECT max(stack_id) FROM sample_row), 1, 1, 1000 + i, 1, 1, 'x' FROM n");
	ran = command_run_words("--db %s db check", fixture.path);
	for (const char *at = ran.out; *at; at++)
		lines += *at == '\n';
	ck_assert_int_eq(lines, 102);
	ck_assert_msg(strstr(ran.out, "and 323 more\n"), "%.1000s", ran.out + strlen(ran.out) / 2);
	ck_assert_msg(strstr(ran.out, "is damaged: 423 problems\n"), "%.1000s",
		      ran.out + strlen(ran.out) / 2);
}
END_TEST

START_TEST(a_damaged_page_is_found)
{
	int fd = open(fixture.path, O_RDWR | O_CLOEXEC);
	struct stat at;

	/* the log's pages go to the file first */
	run_sql(&fixture, "PRAGMA wal_checkpoint(TRUNCATE)");
	ck_assert_int_eq(fstat(fd, &at), 0);
	for (off_t page = 20 * 4096L; page < 24 * 4096L; page += 4096)
		ck_assert_int_eq(pwrite(fd, "\377\377\377\377\377\377\377\377\377\377", 10, page), 10);
	close(fd);
	{
		_cleanup_command_ran_ struct command_ran ran =
			command_run_words("--db %s db check", fixture.path);

		ck_assert_msg(ran.status == 1, "%d: %s", ran.status, ran.out);
	}
}
END_TEST

START_TEST(nothing_is_written)
{
	struct stat before, after;

	ck_assert_int_eq(stat(fixture.path, &before), 0);
	expect_command("ok: ", "--db %s db check", fixture.path);
	ck_assert_int_eq(stat(fixture.path, &after), 0);
	ck_assert_int_eq(before.st_mtim.tv_sec, after.st_mtim.tv_sec);
	ck_assert_int_eq(before.st_mtim.tv_nsec, after.st_mtim.tv_nsec);
	ck_assert_uint_eq(before.st_ino, after.st_ino);
}
END_TEST

START_TEST(what_cannot_be_read_is_a_failure)
{
	expect_command_fails("start bourdond, or name another file", "--db %s.none db check", fixture.path);
}
END_TEST

SUITE(db_check)
{
	Suite *suite = suite_create("db_check");
	TCase *tests = tcase_create("check");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, what_the_store_writes_is_well);
	tcase_add_test(tests, an_empty_database_is_well);
	tcase_add_loop_test(tests, damage_is_found, 0, (int)ARRAY_SIZE(damages));
	tcase_add_test(tests, activity_is_well);
	tcase_add_test(tests, latencies_and_growth_are_well);
	tcase_add_test(tests, times_of_intervals_have_three_numbers);
	tcase_add_test(tests, a_function_that_was_named_later_is_no_damage);
	tcase_add_test(tests, the_lines_are_bounded);
	tcase_add_test(tests, a_damaged_page_is_found);
	tcase_add_test(tests, nothing_is_written);
	tcase_add_test(tests, what_cannot_be_read_is_a_failure);
	suite_add_tcase(suite, tests);
	return suite;
}
