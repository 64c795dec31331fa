/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that a copy, of the whole or of single captures, has what the database has, in one file that can be read where
 * nothing can be written; that nothing half done is left; and that 'db compact' gives space back and loses nothing.
 */
#include "common/store/schema.h"
#include "report/files/db_output.h"
#include "tests/unit/command_fixture.h"
#include "tests/unit/store_fixture.h"
#include "tests/unit/suites.h"

#include <glob.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static struct store_fixture fixture;
static char *out_directory;
/* Only its path is used. */
static struct store_fixture out;

static void set_up(void)
{
	struct dice dice = dice_new(7);

	out_directory = directory_make();
	out = (struct store_fixture){ .path = path_join(out_directory, "out.db") };
	store_fixture_start(&fixture);
	expect_commit_large(&fixture, &dice, 4, 60);
}

static void tear_down(void)
{
	store_fixture_close(&fixture);
	store_fixture_discard(&fixture);
	directory_remove(out_directory);
	free(out.path);
	free(out_directory);
}

/* Asserts which files are in the directory of the copy, each followed by a blank. */
static void expect_files(const char *wanted)
{
	_cleanup_free_ char *pattern = path_join(out_directory, "*");
	char names[512] = "";
	glob_t found;

	if (!glob(pattern, 0, NULL, &found))
		for (size_t i = 0; i < found.gl_pathc; i++) {
			strcat(names, strrchr(found.gl_pathv[i], '/') + 1);
			strcat(names, " ");
		}
	globfree(&found);
	ck_assert_str_eq(names, wanted);
}

/* Asserts that a query gives the same of both. */
static void expect_same(const char *sql)
{
	_cleanup_free_ char *wanted = rows(&fixture, sql);

	ck_assert_msg(*wanted, "nothing to compare: %s", sql);
	expect_rows(&out, sql, wanted);
}

static const char stacks_of_2[] =
	"SELECT s.thread, s.second, s.samples, s.times, hex(k.hash), (SELECT group_concat(function || path) FROM stack_frame "
	"JOIN frame USING(frame_id) JOIN module USING(module_id) WHERE stack_id = s.stack_id) FROM sample s JOIN stack k "
	"USING(stack_id) WHERE capture_id = 2 ORDER BY 1, 2, 5, 6";

START_TEST(a_copy_is_whole_and_one_file)
{
	expect_command("copied to ", "--db %s db copy %s", fixture.path, out.path);
	expect_files("out.db ");
	expect_same("SELECT * FROM stack_node");
	expect_same("SELECT * FROM sample_row");
	expect_same("SELECT * FROM capture");
	expect_same("SELECT * FROM database");
	expect_same("SELECT type, name, sql FROM sqlite_schema");
	expect_rows(&out, "PRAGMA journal_mode", "delete\n");
	expect_command("ok: ", "--db %s db check", out.path);
	expect_files("out.db ");
}
END_TEST

START_TEST(a_copy_does_not_replace)
{
	file_put(out.path, "mine", 4);
	expect_command_fails("name a file that does not exist", "--db %s db copy %s", fixture.path, out.path);
	expect_command_fails("name a file that does not exist", "--db %s db copy %s 1", fixture.path,
			     out.path);
	ck_assert_uint_eq(file_bytes(out.path), 4);
	ck_assert_int_eq(unlink(out.path), 0);
	ck_assert_int_eq(symlink("/nowhere", out.path), 0);
	expect_command_fails("name a file that does not exist", "--db %s db copy %s", fixture.path, out.path);
	expect_command_fails("name another file", "--db %s db copy %s/none/x.db", fixture.path,
			     out_directory);
	expect_files("out.db ");
}
END_TEST

START_TEST(nobody_else_may_read_a_copy)
{
	struct stat at;

	umask(0);
	expect_command("copied to ", "--db %s db copy %s", fixture.path, out.path);
	ck_assert_int_eq(stat(out.path, &at), 0);
	ck_assert_uint_eq(at.st_mode & 0777, 0600);
}
END_TEST

START_TEST(single_captures_are_copied_with_all_they_refer_to)
{
	run_sql(&fixture,
		"INSERT INTO thread_state(capture_id, process_id, tid, thread, state, syscall, stack_id, "
		"samples) SELECT 2, process_id, 7, 'idle', 'S', 'read', NULL, 3 FROM process LIMIT 1;"
		"INSERT INTO usage(capture_id, process_id, role, from_at, to_at) SELECT 2, process_id, 'target', 5, 6 FROM "
		"process LIMIT 1;"
		/* the waker's thread is in no sample, and its stack in one of another capture */
		"INSERT INTO thread(process_id, tid, thread) SELECT process_id, 9, 'waker' FROM process LIMIT 1;"
		"INSERT INTO wake_row SELECT 2, thread_id, stack_id, 'io', '00000000000000ab', 'target', (SELECT thread_id FROM "
		"thread WHERE tid = 9), (SELECT max(stack_id) FROM sample_row WHERE capture_id NOT IN (2, 4)), 1, 5, 6 FROM sample_row "
		"WHERE capture_id = 2 LIMIT 1;"
		/* the same of who grew */
		"INSERT INTO process(run_id, tgid, started_ns, comm) VALUES(1, 77, 1, 'grows');"
		"INSERT INTO growth_row SELECT 2, (SELECT max(process_id) FROM process), (SELECT min(stack_id) FROM sample_row WHERE "
		"capture_id NOT IN (2, 4)), 3, 4096;"
		"INSERT INTO histogram_label VALUES(7, 'lock', 'of 2'), (9, 'lock', 'of 3');"
		"INSERT INTO histogram_row VALUES(2, 7, 'during', 99, 5, 6), (3, 9, 'during', 99, 5, 6);"
		"INSERT INTO latency_measured VALUES(2, 'lock', 'during', 1, 2, 3, 5, 0, 0, 0), (3, 'lock', 'during', 1, 2, 3, 5, 0, 0, 0);"
		"INSERT INTO counter SELECT 1, began_at - 1, 'early', 1 FROM capture WHERE capture_id = 2;"
		"INSERT INTO counter SELECT 1, began_at - 1, 'samples', 1 FROM capture WHERE capture_id = 2;"
		"INSERT INTO counter SELECT 1, triggered_at, 'samples', 2 FROM capture WHERE capture_id = 2;"
		"INSERT INTO counter SELECT 1, ended_at + 1, 'samples', 3 FROM capture WHERE capture_id = 2");
	expect_command("copied 2 captures to ", "--db %s db copy %s 4 2", fixture.path, out.path);
	expect_rows(&out, "SELECT capture_id, recorded_as FROM capture", "2|NULL\n4|NULL\n");
	expect_same(stacks_of_2);
	expect_same(
		"SELECT c.rule, c.triggered_at, r.hostname, r.started_at, u.comm, u.unit, u.watch, d.id FROM capture c JOIN run r "
		"USING(run_id) JOIN rule u USING(rule_id) JOIN database d USING(database_id) WHERE capture_id = 2");
	expect_same("SELECT * FROM capture_summary WHERE capture_id = 2");
	expect_same("SELECT * FROM data_quality WHERE capture_id = 4");
	expect_same("SELECT tid, thread FROM thread_state WHERE capture_id = 2");
	expect_same(
		"SELECT w.tid, w.stall, lock, waker_role, waker_tid, waker_comm, w.waited_ns, hex(k.hash), hex(o.hash) FROM "
		"waker w JOIN stack k USING(stack_id) JOIN stack o ON o.stack_id = waker_stack_id WHERE capture_id = 2");
	expect_rows(&out, "SELECT waker_comm, held_ns FROM lock_holder JOIN waker USING(capture_id, lock)",
		    "waker|6\n");
	expect_same(
		"SELECT g.bytes, p.tgid, hex(k.hash) FROM growth_stack g JOIN process p USING(process_id) JOIN stack k "
		"USING(stack_id)");
	expect_same("SELECT * FROM latency_percentile WHERE capture_id = 2");
	expect_rows(&out, "SELECT metric, label FROM histogram_label", "lock|of 2\n");
	expect_same("SELECT from_at, comm FROM usage JOIN process USING(process_id) WHERE capture_id = 2");
	/* those of the span, and the last ones, which 'bourdon status' shows */
	expect_rows(&out, "SELECT name, value FROM counter", "early|1\nsamples|2\nsamples|3\n");
	expect_rows(&out, "SELECT count(*) FROM rule", "1\n");
	expect_sound(&out);
	expect_command("ok: ", "--db %s db check", out.path);
	expect_files("out.db ");
	/* where it came from, nothing is new in it */
	store_fixture_close(&fixture);
	expect_command("0 captures added, 2 known before", "db merge %s %s", fixture.path, out.path);
}
END_TEST

START_TEST(activity_is_copied_with_the_whole_alone)
{
	run_sql(&fixture, "INSERT INTO activity_key(key_id, state, kernel, hash) VALUES(5, 'D', 0, 7);"
			  "INSERT INTO activity_minute VALUES(3, 1, 60, 10, 3, 2, '[[1,1]]', 7, 100);"
			  "INSERT INTO activity VALUES(3, 5, 7, 2, 5, '[[0,5],[2,2]]')");
	expect_command("copied 1 capture to ", "--db %s db copy %s 2", fixture.path, out.path);
	expect_rows(
		&out,
		"SELECT (SELECT count(*) FROM activity) + (SELECT count(*) FROM activity_minute) + (SELECT count(*) FROM "
		"activity_key)",
		"0\n");
	ck_assert(!unlink(out.path));
	expect_command("copied to ", "--db %s db copy %s", fixture.path, out.path);
	expect_same("SELECT * FROM activity");
	expect_same("SELECT * FROM activity_minute");
	expect_same("SELECT * FROM activity_key");
	/* it keeps the run to which it belongs */
	run_sql(&fixture,
		"WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 4) INSERT INTO run SELECT i, "
		"started_at + i, ended_at, version, abi, kernel, hostname, cpus, hz, policy, object_sha256, attachments, "
		"ring_bytes, database_id, recorded_as FROM n, run; UPDATE activity_minute SET run_id = 2");
	expect_command("now", "--db %s db compact", fixture.path);
	expect_rows(&fixture, "SELECT run_id FROM run", "1\n2\n4\n");
	expect_command("ok: ", "--db %s db check", fixture.path);
}
END_TEST

START_TEST(an_unknown_capture_is_named_and_nothing_written)
{
	expect_command_fails("no capture 77 in ", "--db %s db copy %s 1 77", fixture.path, out.path);
	expect_files("");
}
END_TEST

START_TEST(a_capture_that_is_recorded_is_refused)
{
	_cleanup_capture_ struct capture *capture = capture_of_stack(1, 2, 5);
	int64_t id;

	ck_assert_int_eq(store_begin_capture(fixture.store, &capture->trigger, SECOND, &id), 0);
	expect_command_fails("capture 5 is still recording", "--db %s db copy %s 1 5", fixture.path,
			     out.path);
	expect_files("");
}
END_TEST

/* A file that may not grow is what a full disk is to SQLite. */
static void limit_files(rlim_t bytes)
{
	const struct rlimit limit = { bytes, RLIM_INFINITY };

	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

START_TEST(a_full_disk_leaves_nothing)
{
	_cleanup_command_ran_ struct command_ran whole = { 0 }, one = { 0 };
	int child = fork(), status;

	if (!child) {
		limit_files(64 << 10);
		whole = command_run_words("--db %s db copy %s", fixture.path, out.path);
		one = command_run_words("--db %s db copy %s 1 2 3 4", fixture.path, out.path);
		_exit(whole.status != 1 || one.status != 1 || !strstr(whole.err, "cannot write '") ||
		      !strstr(one.err, "cannot write '"));
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	expect_files("");
}
END_TEST

START_TEST(an_unfinished_copy_says_what_it_is)
{
	struct db_output output;
	char wanted[64];

	ck_assert_int_eq(db_output_make(&output, out.path), 0);
	snprintf(wanted, sizeof(wanted), "out.db.unfinished-%d ", getpid());
	expect_files(wanted);
	db_output_end(&output);
	expect_files("");
}
END_TEST

/* ---- compact ---- */

/* Returns the size of a database without a capture: each table and index has a page. */
static uint64_t empty_bytes(void)
{
	sqlite3_stmt *statement;
	sqlite3 *memory;
	uint64_t bytes;

	ck_assert_int_eq(sqlite3_open(":memory:", &memory), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(memory, schema_sql, NULL, NULL, NULL), SQLITE_OK);
	ck_assert_int_eq(
		sqlite3_prepare_v2(memory,
				   "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
				   -1, &statement, NULL),
		SQLITE_OK);
	ck_assert_int_eq(sqlite3_step(statement), SQLITE_ROW);
	bytes = (uint64_t)sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	sqlite3_close(memory);
	return bytes;
}

START_TEST(compact_gives_space_back_and_loses_nothing)
{
	_cleanup_free_ char *before = NULL, *after = NULL;
	uint64_t bytes, empty = empty_bytes();

	run_sql(&fixture,
		"INSERT INTO growth_row SELECT 2, (SELECT min(process_id) FROM thread), (SELECT max(stack_id) FROM sample_row WHERE "
		"capture_id <> 2), 3, 4096;"
		"INSERT INTO histogram_label VALUES(7, 'lock', 'of none');"
		"DELETE FROM sample_row WHERE capture_id <> 2; DELETE FROM loss WHERE capture_id <> 2; DELETE FROM "
		"pressure WHERE capture_id <> 2; DELETE FROM capture WHERE capture_id <> 2");
	store_fixture_close(&fixture);
	bytes = file_bytes(fixture.path);
	before = rows(&fixture, stacks_of_2);
	expect_command(" before, ", "--db %s db compact", fixture.path);
	/* a reader without write access needs the log's file */
	ck_assert_int_eq(access(fixture.wal, F_OK), 0);
	after = rows(&fixture, stacks_of_2);
	ck_assert_str_eq(before, after);
	/* half of what its captures took */
	ck_assert_msg(2 * (file_bytes(fixture.path) - empty) < bytes - empty, "%lu, %lu before, %lu empty",
		      file_bytes(fixture.path), bytes, empty);
	ck_assert_uint_eq(file_bytes(fixture.wal), 0);
	expect_sound(&fixture);
	expect_command("ok: ", "--db %s db check", fixture.path);
	expect_rows(&fixture, "PRAGMA auto_vacuum; PRAGMA freelist_count", "2\n0\n");
}
END_TEST

START_TEST(compact_keeps_what_a_daemon_uses)
{
	struct dice dice = dice_new(8);

	run_sql(&fixture,
		"INSERT INTO run(started_at, version, abi, kernel, hostname, cpus, hz, database_id) VALUES(5, '1', 1, "
		"'k', 'h', 1, 47, 1); INSERT INTO counter VALUES(2, 5, 'x', 1)");
	store_fixture_close(&fixture);
	store_fixture_open(&fixture, 64 * MIB);
	begin_run(&fixture);
	expect_command(" before, ", "--db %s db compact", fixture.path);
	expect_rows(&fixture, "SELECT run_id FROM run", "1\n3\n");
	expect_rows(&fixture, "SELECT rule_id FROM rule", "1\n3\n4\n");
	expect_count(&fixture, "counter", 0);
	expect_commit_large(&fixture, &dice, 1, 60);
	expect_count(&fixture, "capture", 5);
	expect_sound(&fixture);
}
END_TEST

/* Waits in another process with a transaction, and returns its pid. A byte in *ret_pipe ends it. */
static pid_t hold(const char *begin, int *ret_pipe)
{
	int ready[2], end[2];
	char byte;
	pid_t child;

	ck_assert_int_eq(pipe(ready), 0);
	ck_assert_int_eq(pipe(end), 0);
	child = fork();
	if (!child) {
		sqlite3 *db = reader_open(&fixture);

		free(rows_in(db, begin));
		_exit(write(ready[1], "", 1) != 1 || read(end[0], &byte, 1) != 1);
	}
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	*ret_pipe = end[1];
	return child;
}

static void release(pid_t child, int pipe_end)
{
	ck_assert_int_eq(write(pipe_end, "", 1), 1);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
}

START_TEST(compact_names_who_holds_it_up)
{
	char wanted[64];
	int pipe_end;
	pid_t child;

	store_fixture_close(&fixture);
	child = hold("BEGIN IMMEDIATE; SELECT 1", &pipe_end);
	snprintf(wanted, sizeof(wanted), "process %d (", child);
	expect_command_fails(wanted, "--db %s db compact", fixture.path);
	release(child, pipe_end);
	run_sql(&fixture, "UPDATE run SET ended_at = 1");
	child = hold("BEGIN; SELECT count(*) FROM capture", &pipe_end);
	snprintf(wanted, sizeof(wanted), "process %d (", child);
	expect_command_fails(wanted, "--db %s db compact", fixture.path);
	expect_command_fails("reads an older state of it", "--db %s db compact", fixture.path);
	release(child, pipe_end);
	expect_command(" before, ", "--db %s db compact", fixture.path);
	ck_assert_uint_eq(file_bytes(fixture.wal), 0);
}
END_TEST

START_TEST(compact_on_a_full_disk_loses_nothing)
{
	_cleanup_free_ char *before = rows(&fixture, stacks_of_2);
	int child, status;

	store_fixture_close(&fixture);
	child = fork();
	if (!child) {
		_cleanup_command_ran_ struct command_ran ran = { 0 };

		limit_files(32 << 10);
		ran = command_run_words("--db %s db compact", fixture.path);
		_exit(ran.status != 1 || !strstr(ran.err, "cannot compact '"));
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	expect_rows(&fixture, stacks_of_2, before);
	expect_command("ok: ", "--db %s db check", fixture.path);
}
END_TEST

SUITE(db_copy)
{
	Suite *suite = suite_create("db_copy");
	TCase *copy = tcase_create("copy"), *compact = tcase_create("compact");

	tcase_add_checked_fixture(copy, set_up, tear_down);
	tcase_add_checked_fixture(compact, set_up, tear_down);
	tcase_add_test(copy, a_copy_is_whole_and_one_file);
	tcase_add_test(copy, a_copy_does_not_replace);
	tcase_add_test(copy, nobody_else_may_read_a_copy);
	tcase_add_test(copy, single_captures_are_copied_with_all_they_refer_to);
	tcase_add_test(copy, activity_is_copied_with_the_whole_alone);
	tcase_add_test(copy, an_unknown_capture_is_named_and_nothing_written);
	tcase_add_test(copy, a_capture_that_is_recorded_is_refused);
	tcase_add_test(copy, a_full_disk_leaves_nothing);
	tcase_add_test(copy, an_unfinished_copy_says_what_it_is);
	tcase_add_test(compact, compact_gives_space_back_and_loses_nothing);
	tcase_add_test(compact, compact_keeps_what_a_daemon_uses);
	tcase_add_test(compact, compact_names_who_holds_it_up);
	tcase_add_test(compact, compact_on_a_full_disk_loses_nothing);
	suite_add_tcase(suite, copy);
	suite_add_tcase(suite, compact);
	return suite;
}
