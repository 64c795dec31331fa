/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows, on real files, that a new database has the schema and the file modes that readers rely on, that a
 * foreign file is refused and left as it is, and that a database survives a restart and a crash.
 */
#include "common/protocol/counters.h"
#include "common/store/schema.h"
#include "tests/unit/store_fixture.h"
#include "tests/unit/suites.h"

#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

static unsigned int mode_of(const char *path)
{
	struct stat at;

	ck_assert_msg(!stat(path, &at), "%s is missing", path);
	return at.st_mode & 07777;
}

START_TEST(a_new_database_has_the_schema_and_the_modes)
{
	static const char everything[] =
		"SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name";
	_cleanup_free_ char *expected = NULL, *shm = NULL;
	struct store_fixture fixture;
	sqlite3 *memory;

	store_fixture_start(&fixture);
	shm = path_join(fixture.directory, DATABASE_FILE "-shm");
	ck_assert_uint_eq(mode_of(fixture.path), 0640);
	ck_assert_uint_eq(mode_of(fixture.wal), 0640);
	ck_assert_uint_eq(mode_of(shm), 0640);
	ck_assert_int_eq(sqlite3_open(":memory:", &memory), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(memory, schema_sql, NULL, NULL, NULL), SQLITE_OK);
	expected = rows_in(memory, everything);
	sqlite3_close(memory);
	expect_rows(&fixture, everything, expected);
	expect_rows(&fixture, "PRAGMA application_id", "1650749294\n");
	expect_rows(&fixture, "PRAGMA user_version", "12\n");
	expect_rows(&fixture, "PRAGMA journal_mode", "wal\n");
	expect_rows(&fixture, "PRAGMA auto_vacuum", "2\n");
	store_fixture_close(&fixture);
	ck_assert_uint_eq(mode_of(fixture.wal), 0640); /* stays, for readers that may not create files here */
	store_fixture_free(&fixture);
}
END_TEST

/* Queries that others have written rely on these names. */
START_TEST(tables_and_views_have_their_names)
{
	struct store_fixture fixture;

	store_fixture_make(&fixture);
	store_fixture_open(&fixture, 64 * MIB);
	expect_rows(
		&fixture,
		"SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER "
		"BY name",
		"account\nactivity\nactivity_key\nactivity_minute\nblame\ncapture\ncgroup\ncgroup_memory\ncounter\ndatabase\nended\nframe_row\ngrowth_row\nhistogram_label\nhistogram_row\nincident\ninterrupt\nkilled\nlatency_measured\nloss\nmachine_bytes\nmachine_time\n"
		"module\npressure\nprocess\n"
		"rule\nrun\nsample_class\nsample_row\nstack_class\nstack_node\nstatistic\nthread\n"
		"thread_look\nthread_state\nusage\nwake_row\n");
	expect_rows(
		&fixture, "SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY name",
		"activity_minutes\nactivity_steps\nblame_share\ncapture_summary\nculprit\nculprit_group\nculprit_stack\ndata_quality\nfolded\nframe\ngrowth_stack\nhistogram\nhot_function\nhot_stack\nincident_capture\nincident_summary\n"
		"latency_percentile\nlock_holder\nmemory_group\nother_sample\nreconciliation\nsample\nsample_time\nstack\nstack_frame\nstack_place\n"
		"stall_stack\nthread_states\nunwind_quality\nwaker\n");
	store_fixture_free(&fixture);
}
END_TEST

START_TEST(each_start_is_a_run_with_new_rule_ids)
{
	struct store_fixture fixture;
	struct rule_ids ids;

	store_fixture_make(&fixture);
	for (uint32_t round = 0; round < 3; round++) {
		store_fixture_open(&fixture, 64 * MIB);
		ck_assert_int_eq(store_next_ids(fixture.store, &ids), 0);
		ck_assert_uint_eq(ids.rule, 1 + 2 * round);
		ck_assert_uint_eq(ids.pattern, 1 + 2 * round);
		begin_run(&fixture);
		ck_assert_int_eq(store_end_run(fixture.store), 0);
		store_fixture_close(&fixture);
	}
	expect_rows(&fixture,
		    "SELECT run_id, version <> '', abi, kernel, hostname <> '', cpus, hz, ended_at >= "
		    "started_at FROM run",
		    "1|1|1|6.1.0-test|1|4|47|1\n2|1|1|6.1.0-test|1|4|47|1\n3|1|1|6.1.0-test|1|4|47|1\n");
	expect_rows(
		&fixture,
		"SELECT rule_id, run_id, rule, source, comm, cgroup, unit, watch, pattern_id, history_ns, "
		"capture_ns, cooldown_ns FROM rule WHERE run_id = 2",
		"3|2|web|r.conf:1|nginx*|/system.slice/*|web*.service|slice|3|10000000000|5000000000|60000000000\n"
		"4|2|all|r.conf:7|*|NULL|NULL|system|4|3000000000|5000000000|60000000000\n");
	store_fixture_free(&fixture);
}
END_TEST

struct refused_case {
	const char *what;
	const char *sql;  /* statements that make the file; or */
	const char *text; /* the contents of the file */
	const char *says;
	int result;
};

static const struct refused_case refused_cases[] = {
	{ "another program's", "CREATE TABLE a(b); INSERT INTO a VALUES(1)", NULL, "another program's",
	  -EUCLEAN },
	{ "another program's with an id", "PRAGMA application_id = 7; CREATE TABLE a(b)", NULL,
	  "another program's", -EUCLEAN },
	{ "another program's with a log", "PRAGMA journal_mode = WAL; CREATE TABLE capture(a)", NULL,
	  "another program's", -EUCLEAN },
	{ "a later schema", "PRAGMA application_id = 1650749294; PRAGMA user_version = 13; CREATE TABLE a(b)",
	  NULL, "its schema has version 13", -EPROTO },
	{ "a text", NULL, "This is no database at all, but it is somebody's.\n", "not a database", -EUCLEAN },
};

/* Opens a store in `directory` and returns what that logs; the caller frees. */
static char *open_logged(struct store_fixture *fixture, const char *directory, struct store **ret_store,
			 int *ret_result)
{
	int saved = log_divert();

	*ret_result = store_open(ret_store, directory, &(struct store_limits){ .bytes_max = 64 * MIB },
				 TEST_MACHINE, &clock_of_kernel, &fixture->give_up_ns);
	return log_diverted(saved);
}

/* At most `room` bytes of a file; returns how many. */
static size_t file_read(const char *path, char *into, size_t room)
{
	_cleanup_file_ FILE *file = fopen(path, "re");

	ck_assert_ptr_nonnull(file);
	return fread(into, 1, room, file);
}

START_TEST(a_foreign_file_is_refused_and_not_changed)
{
	const struct refused_case *one = &refused_cases[_i];
	_cleanup_free_ char *said = NULL;
	struct store_fixture fixture;
	char before[16384], after[16384];
	size_t bytes;
	int result;

	store_fixture_make(&fixture);
	if (one->text) {
		file_put(fixture.path, one->text, strlen(one->text));
	} else {
		sqlite3 *db;

		ck_assert_int_eq(sqlite3_open(fixture.path, &db), SQLITE_OK);
		free(rows_in(db, one->sql));
		sqlite3_close(db);
	}
	bytes = file_read(fixture.path, before, sizeof(before));
	said = open_logged(&fixture, fixture.directory, &fixture.store, &result);
	ck_assert_int_eq(result, one->result);
	ck_assert_msg(strstr(said, one->says) && strstr(said, fixture.path), "%s", said);
	ck_assert_uint_eq(file_read(fixture.path, after, sizeof(after)), bytes);
	ck_assert_mem_eq(before, after, bytes);
	store_fixture_discard(&fixture);
}
END_TEST

START_TEST(a_missing_directory_or_a_database_behind_a_link_is_refused)
{
	struct store_fixture fixture;
	struct store *store = (struct store *)1;
	_cleanup_free_ char *none = NULL, *other = NULL;
	int result;

	store_fixture_make(&fixture);
	none = path_join(fixture.directory, "none");
	other = path_join(fixture.directory, "other.db");
	free(open_logged(&fixture, none, &store, &result));
	ck_assert_int_lt(result, 0);
	ck_assert_int_eq(symlink(other, fixture.path), 0);
	free(open_logged(&fixture, fixture.directory, &store, &result));
	ck_assert_int_eq(result, -EACCES);
	ck_assert_ptr_eq(store, (struct store *)1);
	ck_assert_int_ne(access(other, F_OK), 0);
	store_close(NULL);
	store_fixture_discard(&fixture);
}
END_TEST

/* An administrator may have made a directory above the database a link. */
START_TEST(the_directory_may_lie_behind_a_link)
{
	struct store_fixture fixture;
	_cleanup_free_ char *link = NULL, *real = NULL, *said = NULL;
	struct store *store = NULL;
	int result;

	store_fixture_make(&fixture);
	real = path_join(fixture.directory, "real");
	link = path_join(fixture.directory, "link");
	ck_assert_int_eq(mkdir(real, 0750), 0);
	ck_assert_int_eq(symlink("real", link), 0);
	said = open_logged(&fixture, link, &store, &result);
	ck_assert_msg(!result, "%s", said);
	store_close(store);
	store_fixture_discard(&fixture);
}
END_TEST

/* Two daemons on one database would mark each other's captures as interrupted. */
START_TEST(a_directory_has_one_store_at_a_time)
{
	_cleanup_free_ char *said = NULL;
	struct store *second = NULL;
	struct store_fixture fixture;
	int result;

	store_fixture_make(&fixture);
	store_fixture_open(&fixture, 64 * MIB);
	said = open_logged(&fixture, fixture.directory, &second, &result);
	ck_assert_int_lt(result, 0);
	ck_assert_ptr_null(second);
	ck_assert_msg(strstr(said, "another bourdond") != NULL, "%s", said);
	store_fixture_close(&fixture);
	store_fixture_open(&fixture, 64 * MIB);
	store_fixture_free(&fixture);
}
END_TEST

/* After SIGKILL the state `recording` stands only in the write-ahead log. */
START_TEST(a_recording_left_by_a_crash_becomes_interrupted)
{
	_cleanup_capture_ struct capture *capture = capture_of_stack(1, 1, 1);
	struct store_fixture fixture;
	pid_t child;
	int status;

	store_fixture_make(&fixture);
	child = fork();
	if (!child) {
		int64_t capture_id;

		store_fixture_open(&fixture, 64 * MIB);
		begin_run(&fixture);
		store_begin_capture(fixture.store, &capture->trigger, capture_available_history_ns(capture),
				    &capture_id);
		commit(&fixture, capture, false);
		raise(SIGKILL);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFSIGNALED(status));
	expect_rows(&fixture, "SELECT capture_id, state FROM capture", "1|recording\n2|complete\n");
	store_fixture_open(&fixture, 64 * MIB);
	expect_rows(&fixture, "SELECT capture_id, state, ended_at FROM capture WHERE capture_id = 1",
		    "1|interrupted|NULL\n");
	expect_rows(&fixture, "SELECT state FROM capture WHERE capture_id = 2", "complete\n");
	store_fixture_free(&fixture);
}
END_TEST

START_TEST(each_counter_is_a_row)
{
	uint64_t values[COUNTERS];
	struct store_fixture fixture;

	for (uint64_t i = 0; i < COUNTERS; i++)
		values[i] = 1000 + i;
	store_fixture_start(&fixture);
	ck_assert_int_eq(store_add_counters(fixture.store, counter_names, values, COUNTERS), 0);
	expect_count(&fixture, "counter WHERE run_id = 1", COUNTERS);
	ck_assert_int_eq(number(&fixture, "SELECT count(DISTINCT at) FROM counter"), 1);
	expect_rows(&fixture, "SELECT value FROM counter WHERE name = 'samples-oncpu'", "1000\n");
	expect_rows(&fixture, "SELECT value FROM counter WHERE name = 'matches'", "1008\n");
	store_fixture_free(&fixture);
}
END_TEST

SUITE(store)
{
	Suite *suite = suite_create("store");
	TCase *opening = tcase_create("opening");

	tcase_add_test(opening, a_new_database_has_the_schema_and_the_modes);
	tcase_add_test(opening, tables_and_views_have_their_names);
	tcase_add_test(opening, each_start_is_a_run_with_new_rule_ids);
	tcase_add_loop_test(opening, a_foreign_file_is_refused_and_not_changed, 0, ARRAY_SIZE(refused_cases));
	tcase_add_test(opening, a_missing_directory_or_a_database_behind_a_link_is_refused);
	tcase_add_test(opening, the_directory_may_lie_behind_a_link);
	tcase_add_test(opening, a_directory_has_one_store_at_a_time);
	tcase_add_test(opening, a_recording_left_by_a_crash_becomes_interrupted);
	tcase_add_test(opening, each_counter_is_a_row);
	suite_add_tcase(suite, opening);
	return suite;
}
