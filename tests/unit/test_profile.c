/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tests of profiles: what is computed from them is what the SQL views say, for random captures; and a damaged database
 * makes neither endless work nor a wrong reference.
 */
#include "common/base/cleanup.h"
#include "common/store/schema.h"
#include "report/answer/top.h"
#include "report/export/folded.h"
#include "report/model/profile.h"
#include "report/model/query.h"
#include "report/model/sums.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <check.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <string.h>

#define RANDOM_DATABASES 5
#define NODES 400
#define FRAMES 60
#define FUNCTIONS 20
#define SAMPLE_ROWS 1500

/*
 * Modules have paths in the order of their ids, because ties are decided by the id, which the views do not have. Frames
 * without offset in a function have no name.
 */
static const char facts_sql[] =
	"INSERT INTO run(run_id, started_at, version, abi, kernel, hostname, cpus, hz)"
	" VALUES(1, 1, '0.1.0', 1, '6.18', 'host', 8, 47);"
	"INSERT INTO capture(capture_id, run_id, rule, resource, kind, stall_us, window_us, trigger_mode, triggered_at,"
	" began_at, ended_at, history_ns, state, observed_us, hz) VALUES"
	" (1, 1, 'web', 'io', 'some', 1000, 1000000, 'sampled', 100, 0, 200, 100, 'complete', 2000, 47),"
	" (2, 1, 'web', 'cpu', 'some', 1000, 1000000, 'sampled', 300, 0, 400, 100, 'complete', 2000, 47);"
	"INSERT INTO module(module_id, path, version, kind) VALUES(1, '/1', '', 'file'), (2, '/lib/2', '', 'file'),"
	" (3, '/lib/3', '', 'module'), (4, '[jit]', '', 'jit'), (5, '[kernel]', '', 'kernel');"
	"INSERT INTO stack_class VALUES(1, 0, 'eh-frame', 'root'), (2, 1, 'eh-frame', 'depth'),"
	" (3, 0, 'frame-pointer', 'root');"
	"INSERT INTO process VALUES(1, 1, 11, 1, 'web', '/usr/bin/web', 33, '/web', NULL, NULL, NULL, NULL), (2, 1, 12, 1, 'web', NULL, NULL, NULL, NULL, NULL, NULL, NULL),"
	" (3, 1, 9, 1, 'data base', '/usr/bin/db', 0, '/db', NULL, NULL, NULL, NULL);"
	"INSERT INTO thread VALUES(1, 1, 11, 'web'), (2, 1, 12, 'worker'), (3, 1, 12, 'renamed'), (4, 2, 21, 'web'),"
	" (5, 3, 31, 'db');"
	"INSERT INTO sample_class(class, kind, stall) VALUES(1, 'on-cpu', 'none'), (2, 'on-cpu', 'memory'), (3, 'off-cpu', 'none'),"
	" (4, 'off-cpu', 'io'), (5, 'off-cpu', 'memory+io'), (6, 'off-cpu', 'cpu');";

static char *directory, *path;
static struct database database;

static void execute(sqlite3 *sqlite, const char *format, ...)
{
	char *sql, *message = NULL;
	va_list arguments;

	va_start(arguments, format);
	sql = sqlite3_vmprintf(format, arguments);
	va_end(arguments);
	sqlite3_exec(sqlite, sql, NULL, NULL, &message);
	ck_assert_msg(!message, "%s: %s", sql, message);
	sqlite3_free(sql);
}

/* The caller closes it. */
static sqlite3 *create(void)
{
	sqlite3 *sqlite;

	ck_assert_int_eq(sqlite3_open(path, &sqlite), SQLITE_OK);
	execute(sqlite, "PRAGMA application_id = %d; PRAGMA user_version = %d", SCHEMA_APPLICATION_ID,
		SCHEMA_VERSION);
	execute(sqlite, "%s", schema_sql);
	execute(sqlite, "BEGIN");
	execute(sqlite, "%s", facts_sql);
	return sqlite;
}

static void finish(sqlite3 *sqlite)
{
	if (!sqlite3_get_autocommit(sqlite))
		execute(sqlite, "COMMIT");
	sqlite3_close(sqlite);
	database = (struct database){ .path = path };
	ck_assert_int_eq(database_open(path, &database), 0);
}

static void set_up(void)
{
	directory = directory_make();
	path = path_join(directory, "bourdon.db");
	database = (struct database){ 0 };
}

static void tear_down(void)
{
	database_close(&database);
	directory_remove(directory);
	free(path);
	free(directory);
}

/* ---- random captures ---- */

static void add_frames(sqlite3 *sqlite, struct dice *dice)
{
	for (int i = 1; i <= FRAMES; i++) {
		int module = 1 + (int)dice_below(dice, 5), function = (int)dice_below(dice, FUNCTIONS);

		if (dice_below(dice, 4))
			execute(sqlite,
				"INSERT INTO frame_row(frame_id, module_id, offset, function, function_offset, file, line, inlined) VALUES(%d, %d, %d, 'f%d', 0, %s, %s, 0)",
				i, module, i, function, i % 2 ? "'/src/f.c'" : "NULL", i % 2 ? "7" : "NULL");
		else
			execute(sqlite,
				"INSERT INTO frame_row(frame_id, module_id, offset, function, function_offset, file, line, inlined) VALUES(%d, %d, %d, 'm%d+0x%x', NULL, NULL, NULL, 0)",
				i, module, i, module, i);
	}
}

/* Nodes of up to four frames below an earlier node, or at the root; a path may have a function several times. */
static void add_nodes(sqlite3 *sqlite, struct dice *dice)
{
	int depths[NODES + 1] = { 0 };

	for (int i = 1; i <= NODES; i++) {
		int parent = (int)dice_below(dice, 4) ? (int)dice_below(dice, (uint32_t)i) : 0;
		int count = (int)dice_below(dice, 5), class = (int)dice_below(dice, 4);
		char frames[64] = "[", *at = frames + 1;

		for (int j = 0; j < count; j++)
			at += sprintf(at, "%s%u", j ? "," : "", 1 + dice_below(dice, FRAMES));
		strcpy(at, "]");
		depths[i] = depths[parent] + count;
		if (class)
			execute(sqlite,
				"INSERT INTO stack_node VALUES(%d, nullif(%d, 0), %Q, %d, %d, x'%08x')", i,
				parent, frames, class, depths[i], i);
		else
			execute(sqlite,
				"INSERT INTO stack_node(node_id, parent_id, frames) VALUES(%d, nullif(%d, 0), %Q)",
				i, parent, frames);
	}
}

static void add_samples(sqlite3 *sqlite, struct dice *dice)
{
	for (int i = 0; i < SAMPLE_ROWS; i++)
		execute(sqlite,
			"INSERT OR IGNORE INTO sample_row SELECT %d, node_id, %d, %d, %d, %d, %d, NULL FROM stack_node "
			"WHERE node_id >= %d AND class IS NOT NULL LIMIT 1",
			1 + (int)(dice_below(dice, 4) == 0), 1 + (int)dice_below(dice, 5),
			1 + (int)dice_below(dice, 6), (int)dice_below(dice, 8) - 4, (int)dice_below(dice, 4),
			(int)dice_below(dice, 1000), 1 + (int)dice_below(dice, NODES));
}

static void make_random(int salt)
{
	struct dice dice = dice_new((uint64_t)salt);
	sqlite3 *sqlite = create();

	add_frames(sqlite, &dice);
	add_nodes(sqlite, &dice);
	add_samples(sqlite, &dice);
	for (int i = 0; i < 12; i++)
		execute(sqlite, "INSERT INTO pressure VALUES(1, %d, 'system', '%s', %d, NULL)", 100 + i / 3,
			i % 3 == 0   ? "cpu"
			: i % 3 == 1 ? "io"
				     : "memory",
			i * 10);
	finish(sqlite);
}

static void assert_value(struct value value, struct value wanted, const char *column, int row)
{
	ck_assert_msg(value.type == wanted.type, "%s of row %d has type %d, not %d", column, row, value.type,
		      wanted.type);
	if (value.type == VALUE_NUMBER)
		ck_assert_msg(value.number == wanted.number, "%s of row %d is %lld, not %lld", column, row,
			      (long long)value.number, (long long)wanted.number);
	if (value.type == VALUE_REAL)
		ck_assert_msg(value.real == wanted.real, "%s of row %d is %.17g, not %.17g", column, row,
			      value.real, wanted.real);
	if (value.type == VALUE_TEXT)
		ck_assert_msg(!strcmp(value.text, wanted.text), "%s of row %d is '%s', not '%s'", column, row,
			      value.text, wanted.text);
}

/* Asserts that the rows are those of `sql`, in its order, in all columns that it has. At least one. */
static void assert_rows(struct rows *rows, const char *sql, int64_t capture_id, int64_t limit)
{
	_cleanup_query_ struct query wanted = query_begin(&database, sql, capture_id, limit);
	struct query query = query_of_rows(&database, rows);
	int count = 0;

	for (; query_next(&wanted); count++) {
		ck_assert_msg(query_next(&query), "there are only %d rows of %s", count, sql);
		for (int i = 0; i < query_columns(&wanted); i++) {
			ck_assert_str_eq(query_column_name(&query, i), query_column_name(&wanted, i));
			assert_value(query_value(&query, i), query_value(&wanted, i),
				     query_column_name(&wanted, i), count);
		}
	}
	ck_assert(!database.failed);
	ck_assert_int_gt(count, 0);
	ck_assert(!query_next(&query));
	rows_free(rows);
}

static const char leaders_sql[] =
	"WITH per_stack AS (SELECT stack_id, sum(samples) AS samples FROM sample WHERE capture_id = ?1 AND kind = 'on-cpu'"
	" GROUP BY stack_id), in_stack AS ("
	" SELECT iif(f.function_offset IS NULL, NULL, f.function) AS function, f.module_id, p.samples,"
	" min(sf.position) = 0 AS is_leaf FROM per_stack p JOIN stack_frame sf USING(stack_id) JOIN frame f USING(frame_id)"
	" GROUP BY p.stack_id, 1, f.module_id"
	"), per_function AS (SELECT function, module_id, sum(samples * is_leaf) AS samples, sum(samples) AS total_samples"
	" FROM in_stack GROUP BY function, module_id), leader AS ("
	" SELECT * FROM (SELECT 0 AS by_total, * FROM per_function WHERE samples > 0"
	" ORDER BY samples DESC, total_samples DESC, function, module_id LIMIT ?2)"
	" UNION ALL SELECT * FROM (SELECT 1 AS by_total, * FROM per_function"
	" ORDER BY total_samples DESC, samples DESC, function, module_id LIMIT ?2)) "
	"SELECT l.by_total, l.function IS NOT NULL AS resolved, m.path AS module, m.kind AS module_kind, l.samples,"
	" l.total_samples, ifnull(l.function, '[unresolved] in ' ||"
	" replace(m.path, rtrim(m.path, replace(m.path, '/', '')), '')) AS function,"
	" round(100.0 * l.samples / (SELECT sum(samples) FROM per_stack), 1) AS percent,"
	" round(100.0 * l.total_samples / (SELECT sum(samples) FROM per_stack), 1) AS total_percent "
	"FROM leader l JOIN module m USING(module_id) "
	"ORDER BY l.by_total, iif(l.by_total, l.total_samples, l.samples) DESC,"
	" iif(l.by_total, l.samples, l.total_samples) DESC, l.function, l.module_id";

#define STACKS_SQL(filter, measure)                                                                               \
	"WITH per_stack AS (SELECT s.stack_id, p.comm, sum(s.samples) AS samples, sum(s.weight_ns) AS weight_ns " \
	"FROM sample s JOIN process p USING(process_id) WHERE s.capture_id = ?1 AND " filter                      \
	" GROUP BY s.stack_id, p.comm), named AS (SELECT p.*, (SELECT group_concat(function, x'00') FROM"         \
	" (SELECT f.function FROM stack_frame sf JOIN frame f USING(frame_id)"                                    \
	" WHERE sf.stack_id = p.stack_id ORDER BY sf.position)) AS names FROM per_stack p) "                      \
	"SELECT g.stack_id, g.comm, g.samples, g.weight_ns, g.percent, s.unwinder, g.truncated FROM ("            \
	"SELECT min(stack_id) AS stack_id, comm, sum(samples) AS samples, sum(weight_ns) AS weight_ns,"           \
	" round(100.0 * sum(" measure ") / sum(sum(" measure ")) OVER (), 1) AS percent,"                         \
	" max(truncated) AS truncated, sum(" measure ") AS measure FROM named JOIN stack USING(stack_id) "        \
	"GROUP BY comm, names) g JOIN stack s USING(stack_id) ORDER BY g.measure DESC, stack_id, comm LIMIT ?2"

static const char folded_sql[] =
	"SELECT group_concat(line || char(10), '') AS lines FROM (SELECT line || ' ' || sum(samples) AS line FROM ("
	" SELECT comm || ifnull(';' || stack, '') AS line, samples FROM folded WHERE capture_id = ?1 AND kind = 'on-cpu')"
	" GROUP BY line ORDER BY line)";

static void assert_folded(int64_t capture_id)
{
	_cleanup_query_ struct query wanted = query_begin(&database, folded_sql, capture_id, 0);
	_cleanup_free_ char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	_cleanup_profile_ struct profile profile = { 0 };

	ck_assert_int_eq(profile_load(&database, capture_id, PROFILE_OF_TARGETS, &profile), 0);
	ck_assert_int_eq(folded_write(&profile, false, out), 0);
	fclose(out);
	ck_assert(query_next(&wanted) && !database.failed);
	ck_assert_str_eq(text, query_text(&wanted, "lines"));
}

static void assert_stalled(const struct profile *profile, int64_t capture_id)
{
	_cleanup_query_ struct query wanted = query_begin(
		&database, "SELECT resource, targets_ns FROM reconciliation WHERE capture_id = ?1",
		capture_id, 0);
	int count = 0;

	for (; query_next(&wanted); count++)
		ck_assert_int_eq(sums_stalled_ns(profile, query_text(&wanted, "resource")),
				 query_number(&wanted, "targets_ns"));
	ck_assert_int_eq(count, capture_id == 1 ? 3 : 0);
	ck_assert_int_eq(sums_stalled_ns(profile, ""), 0);
	ck_assert_int_eq(sums_stalled_ns(profile, "mem"), 0);
}

/* Asserts that each pass over a profile gives what SQL gives. */
static void assert_profile(int64_t capture_id)
{
	_cleanup_profile_ struct profile profile = { 0 };
	struct rows rows;

	ck_assert_int_eq(profile_load(&database, capture_id, PROFILE_OF_TARGETS, &profile), 0);
	ck_assert_int_eq(top_functions(&profile, false, -1, &rows), 0);
	assert_rows(
		&rows,
		"SELECT function, module, module_kind, samples, total_samples, weight_ns, percent, total_percent "
		"FROM hot_function WHERE capture_id = ?1 ORDER BY samples DESC, total_samples DESC, function, module",
		capture_id, 0);
	ck_assert_int_eq(top_leaders(&profile, TOP_BY_BOTH, 7, &rows), 0);
	assert_rows(&rows, leaders_sql, capture_id, 7);
	ck_assert_int_eq(sums_of_stacks(&profile, NULL, 50, &rows), 0);
	assert_rows(&rows, STACKS_SQL("s.kind = 'on-cpu'", "samples"), capture_id, 50);
	ck_assert_int_eq(sums_of_stacks(&profile, "io", 50, &rows), 0);
	assert_rows(&rows,
		    STACKS_SQL("s.kind = 'off-cpu' AND instr('+' || s.stall || '+', '+io+')", "weight_ns"),
		    capture_id, 50);
	ck_assert_int_eq(sums_of_processes(&profile, 2, &rows), 0);
	assert_rows(
		&rows,
		"SELECT p.comm, p.tgid, p.uid, p.exe, p.cgroup, sum(s.samples) AS samples,"
		" round(100.0 * sum(s.samples) / sum(sum(s.samples)) OVER (), 1) AS percent, sum(s.weight_ns) AS cpu_ns "
		"FROM sample s JOIN process p USING(process_id) WHERE s.capture_id = ?1 AND s.kind = 'on-cpu' "
		"GROUP BY s.process_id ORDER BY sum(s.samples) DESC, p.tgid LIMIT ?2",
		capture_id, 2);
	ck_assert_int_eq(sums_of_stalls(&profile, &rows), 0);
	assert_rows(
		&rows,
		"SELECT stall, sum(weight_ns) AS weight_ns, sum(samples) AS intervals,"
		" round(100.0 * sum(weight_ns) / sum(sum(weight_ns)) OVER (), 1) AS percent "
		"FROM sample WHERE capture_id = ?1 AND kind = 'off-cpu' GROUP BY stall ORDER BY 2 DESC, 1",
		capture_id, 0);
	ck_assert_int_eq(sums_of_seconds(&profile, &rows), 0);
	assert_rows(&rows,
		    "SELECT second, sum(samples) AS samples, sum(weight_ns) AS weight_ns FROM sample "
		    "WHERE capture_id = ?1 AND kind = 'on-cpu' GROUP BY second ORDER BY second",
		    capture_id, 0);
	assert_stalled(&profile, capture_id);
	assert_folded(capture_id);
}

START_TEST(each_pass_agrees_with_sql)
{
	make_random(_i);
	assert_profile(1);
	assert_profile(2);
}
END_TEST

START_TEST(percent_is_rounded_as_sql_rounds)
{
	struct dice dice = dice_new(0);

	finish(create());
	for (int i = 0; i < 20000; i++) {
		int64_t part = dice_below(&dice, 2000), whole = dice_below(&dice, 2000);
		_cleanup_query_ struct query query =
			query_begin(&database, "SELECT round(100.0 * ?1 / ?2, 1)", part, whole);

		HOLDS(query_next(&query));
		assert_value(value_percent(part, whole), query_value(&query, 0), "percent", i);
	}
}
END_TEST

START_TEST(sums_stay_within_their_type)
{
	ck_assert_int_eq(add_saturated(INT64_MAX, 1), INT64_MAX);
	ck_assert_int_eq(add_saturated(INT64_MIN, -1), INT64_MIN);
	ck_assert_int_eq(add_saturated(INT64_MAX, INT64_MIN), -1);
}
END_TEST

/* ---- damaged databases ---- */

/* Opens a database with these rows beside the facts. */
static void make(const char *rows)
{
	sqlite3 *sqlite = create();

	execute(sqlite, "%s", rows);
	finish(sqlite);
}

static uint32_t depth_of(const struct profile *profile, uint32_t stack)
{
	struct profile_walk walk = profile_walk_of(profile, &profile->stacks[stack]);
	uint32_t depth = 0;

	while (profile_walk_next(&walk))
		depth++;
	return depth;
}

#define TWO_FRAMES                                                                                           \
	"INSERT INTO frame_row(frame_id, module_id, offset, function, function_offset, file, line, inlined) VALUES(1, 1, 1, 'f', 0, NULL, NULL, 0), (2, 1, 2, 'g', 0, NULL, NULL, 0);"
#define A_SAMPLE "INSERT INTO sample_row VALUES(1, 1, 1, 1, 0, 1, 1, NULL);"

START_TEST(a_circle_of_nodes_is_cut)
{
	_cleanup_profile_ struct profile profile = { 0 };
	struct rows rows;

	make(TWO_FRAMES A_SAMPLE
	     "INSERT INTO stack_node VALUES(1, 3, '[1]', 1, 2, NULL), (2, 1, '[2]', NULL, NULL, NULL),"
	     " (3, 2, '[2]', NULL, NULL, NULL), (4, 4, '[2]', 1, 1, NULL);"
	     "INSERT INTO sample_row VALUES(1, 4, 1, 1, 0, 1, 1, NULL);");
	ck_assert_int_eq(profile_load(&database, 1, PROFILE_OF_TARGETS, &profile), 0);
	ck_assert_uint_eq(profile.nodes_count, 4);
	for (uint32_t i = 0; i < profile.nodes_count; i++)
		ck_assert(profile.nodes[i].parent == PROFILE_NONE || profile.nodes[i].parent < i);
	ck_assert_uint_eq(depth_of(&profile, 0), 3);
	ck_assert_uint_eq(depth_of(&profile, 1), 1);
	ck_assert_int_eq(top_functions(&profile, false, -1, &rows), 0);
	ck_assert_uint_eq(rows.count, 2);
	rows_free(&rows);
}
END_TEST

START_TEST(outer_frames_of_an_absurdly_deep_stack_are_left_out)
{
	_cleanup_profile_ struct profile profile = { 0 };
	struct rows rows;

	make(TWO_FRAMES A_SAMPLE
	     "INSERT INTO stack_node VALUES(1, 2, '[1]', 1, 15000, NULL);"
	     "WITH n(i) AS (VALUES(2) UNION ALL SELECT i + 1 FROM n WHERE i < 15000) INSERT INTO stack_node "
	     "SELECT i, i + 1, '[2]', NULL, NULL, NULL FROM n;");
	ck_assert_int_eq(profile_load(&database, 1, PROFILE_OF_TARGETS, &profile), 0);
	ck_assert_uint_eq(profile.nodes_count, 15000);
	ck_assert_uint_eq(depth_of(&profile, 0), 5000);
	ck_assert_int_eq(top_functions(&profile, false, -1, &rows), 0);
	ck_assert_uint_eq(rows.count, 2);
	rows_free(&rows);
}
END_TEST

START_TEST(what_is_missing_is_left_out)
{
	_cleanup_profile_ struct profile profile = { 0 };
	struct rows rows;

	make(TWO_FRAMES A_SAMPLE
	     "INSERT INTO frame_row(frame_id, module_id, offset, function, function_offset, file, line, inlined) VALUES(3, 99, 1, 'no module', 0, NULL, NULL, 0);"
	     "INSERT INTO thread VALUES(9, 99, 1, 'no process');"
	     "INSERT INTO stack_node VALUES(1, 77, '[3,1,66,2]', 1, 4, NULL);"
	     "INSERT INTO sample_row VALUES(1, 88, 1, 1, 0, 1, 1, NULL), (1, 1, 9, 1, 0, 1, 1, NULL);");
	ck_assert_int_eq(profile_load(&database, 1, PROFILE_OF_TARGETS, &profile), 0);
	ck_assert_uint_eq(profile.samples_count, 3);
	ck_assert_uint_eq(depth_of(&profile, 0), 2);
	ck_assert_int_eq(sums_of_stacks(&profile, NULL, 9, &rows), 0);
	ck_assert_uint_eq(rows.count, 1);
	rows_free(&rows);
	ck_assert_int_eq(sums_of_processes(&profile, 9, &rows), 0);
	ck_assert_uint_eq(rows.count, 1);
	rows_free(&rows);
	assert_folded(1);
}
END_TEST

START_TEST(damage_is_refused)
{
	static const struct {
		const char *rows, *part;
	} cases[] = {
		{ "INSERT INTO stack_node VALUES(1, NULL, '[[1],2]', 1, 2, NULL);", "no array of numbers" },
		{ "INSERT INTO stack_node VALUES(1, NULL, '[1,]', 1, 2, NULL);", "no array of numbers" },
		{ "INSERT INTO stack_node VALUES(1, NULL, '[1,2', 1, 2, NULL);", "no array of numbers" },
		{ "INSERT INTO stack_node VALUES(1, NULL, ',1', 1, 2, NULL);", "no array of numbers" },
		{ "DROP VIEW sample; CREATE VIEW sample AS WITH n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n) "
		  "SELECT 1 AS capture_id, 1 AS process_id, 1 AS tid, 't' AS thread, 1 AS stack_id, 'on-cpu' AS kind,"
		  " 'none' AS stall, 0 AS second, i AS samples, 1 AS weight_ns FROM n;",
		  "far larger" },
		{ "DROP VIEW sample; CREATE VIEW sample AS SELECT 1 AS capture_id;", "no such column" },
	};
	_cleanup_free_ char *text = NULL;
	struct profile profile;
	int saved;

	make(A_SAMPLE);
	database_close(&database);
	{
		sqlite3 *sqlite;

		ck_assert_int_eq(sqlite3_open(path, &sqlite), SQLITE_OK);
		execute(sqlite, "%s", cases[_i].rows);
		finish(sqlite);
	}
	saved = log_divert();
	ck_assert_int_lt(profile_load(&database, 1, PROFILE_OF_TARGETS, &profile), 0);
	text = log_diverted(saved);
	ck_assert(database.failed);
	ck_assert_msg(strstr(text, cases[_i].part), "'%s' is not in: %s", cases[_i].part, text);
}
END_TEST

SUITE(profile)
{
	Suite *suite = suite_create("profile");
	TCase *tests = tcase_create("profile");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_loop_test(tests, each_pass_agrees_with_sql, 0, RANDOM_DATABASES);
	tcase_add_test(tests, percent_is_rounded_as_sql_rounds);
	tcase_add_test(tests, sums_stay_within_their_type);
	tcase_add_test(tests, a_circle_of_nodes_is_cut);
	tcase_add_test(tests, outer_frames_of_an_absurdly_deep_stack_are_left_out);
	tcase_add_test(tests, what_is_missing_is_left_out);
	tcase_add_loop_test(tests, damage_is_refused, 0, 6);
	suite_add_tcase(suite, tests);
	return suite;
}
