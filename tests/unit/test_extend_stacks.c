/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that stacks whose frames get inlined functions later are those that a capture stores with the names from the
 * start: the same frames, depths and hashes, in a tree of the same form, in which the daemon finds them; and that a
 * damaged tree ends the work and stays as it is.
 */
#include "common/base/cleanup.h"
#include "common/store/schema.h"
#include "common/store/stack_tree.h"
#include "report/files/extend_stacks.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PATHS_MAX 400
#define DEPTH_MAX 30
#define LONGEST (DEPTH_MAX * 3)

/* Module 1 has a build id; that of module 2 may lie: it has a version, so names count in hashes. */
static const char modules_sql[] =
	"INSERT INTO module(module_id, path, build_id, version, kind) VALUES"
	"(1, '/usr/bin/one', 'aabbccdd', '', 'file'), (2, '/usr/bin/two', 'aabbccdd', 'of 33', 'file');"
	"INSERT INTO stack_class VALUES(1, 0, 'eh-frame', 'root'), (2, 1, 'mixed', 'depth')";
static const char unnamed_sql[] = "INSERT INTO frame_row(frame_id, module_id, offset, function) VALUES"
				  "(1, 1, 16, 'one+0x10'), (2, 1, 32, 'one+0x20'), (3, 2, 16, 'two+0x10'),"
				  "(4, 2, 32, 'two+0x20'), (9, 1, 48, 'one+0x30')";
/* Functions 5 and 6 are inlined in 1, 7 in 3; nothing is in 2 and 4. */
static const char names_sql[] =
	"UPDATE frame_row SET function = 'f' || frame_id, function_offset = 0 WHERE frame_id < 5;"
	"INSERT INTO frame_row(frame_id, module_id, offset, function, function_offset, inlined) VALUES"
	"(5, 1, 16, 'f5', 0, 1), (6, 1, 16, 'f6', 0, 2), (7, 2, 16, 'f7', 0, 1)";
static const struct frame_extension extensions[] = { { 1, 5 }, { 1, 6 }, { 3, 7 }, { 4, 0 } };

struct tree {
	struct sql sql;
	atomic_uint_fast64_t give_up_ns;
	struct stack_tree tree;
	struct frame_hashes hashes;
	const struct stack_path *paths; /* that are added */
};

static void tree_open(struct tree *tree, const char *more_sql)
{
	*tree = (struct tree){ .sql.give_up_ns = &tree->give_up_ns };
	ck_assert_int_eq(sql_open(&tree->sql, ":memory:"), 0);
	ck_assert_int_eq(sql_execute(&tree->sql, schema_sql), 0);
	ck_assert_int_eq(sql_execute(&tree->sql, modules_sql), 0);
	ck_assert_int_eq(sql_execute(&tree->sql, unnamed_sql), 0);
	ck_assert_msg(!sql_execute(&tree->sql, more_sql), "%s", tree->sql.error);
	ck_assert_int_eq(stack_tree_prepare(&tree->sql, &tree->tree), 0);
	ck_assert_int_eq(frame_hashes_prepare(&tree->sql, &tree->hashes), 0);
}

static void tree_close(struct tree *tree)
{
	frame_hashes_free(&tree->hashes);
	sql_close(&tree->sql);
}

static void hash_path(void *user, uint32_t path, uint8_t hash[STACK_HASH_BYTES])
{
	struct tree *tree = user;
	struct stack_hash stack;

	stack_hash_begin(&stack);
	for (uint32_t i = 0; i < tree->paths[path].count; i++)
		ck_assert_int_eq(
			frame_hashes_add(&tree->sql, &tree->hashes, tree->paths[path].frames[i], &stack), 0);
	stack_hash_end(&stack, hash);
}

static void add(struct tree *tree, struct stack_path *paths, uint32_t count)
{
	tree->paths = paths;
	ck_assert_int_eq(stack_tree_add(&tree->sql, &tree->tree, paths, count, hash_path, tree), 0);
}

static void extend(struct tree *tree, uint64_t expect_damaged)
{
	uint64_t damaged = 0;

	ck_assert_int_eq(
		extend_stacks(tree->sql.db, extensions, sizeof(extensions) / sizeof(*extensions), &damaged),
		0);
	ck_assert_uint_eq(damaged, expect_damaged);
}

/* The first column of the first row, as text. The caller frees. */
static char *text_of(struct tree *tree, const char *sql, int64_t id)
{
	sqlite3_stmt *statement;
	char *text;

	ck_assert_msg(!sql_prepare(&tree->sql, &statement, sql), "%s: %s", sql, tree->sql.error);
	sqlite3_bind_int64(statement, 1, id);
	ck_assert_msg(sqlite3_step(statement) == SQLITE_ROW, "%s: %" PRId64, sql, id);
	text = strdup((const char *)sqlite3_column_text(statement, 0));
	sqlite3_finalize(statement);
	return text;
}

static int64_t number_of(struct tree *tree, const char *sql)
{
	_cleanup_free_ char *text = text_of(tree, sql, 0);

	return atoll(text);
}

/* A stack as a reader sees it: its frames from the leaf, and all columns. */
static char *stack_of(struct tree *tree, int64_t stack_id)
{
	return text_of(
		tree,
		"SELECT group_concat(frame_id) || ' ' || depth || ' ' || truncated || ' ' || hex(hash) FROM "
		"(SELECT * FROM stack JOIN stack_frame USING(stack_id) WHERE stack_id = ?1 ORDER BY position)",
		stack_id);
}

static void make_paths(struct dice *dice, struct stack_path *paths, int64_t (*frames)[DEPTH_MAX])
{
	for (uint32_t i = 0; i < PATHS_MAX; i++) {
		uint32_t from = i ? dice_below(dice, i) : 0, more = 1 + dice_below(dice, 6), depth = 0;

		if (i && dice_below(dice, 10))
			depth = dice_below(dice, paths[from].count + 1);
		memcpy(frames[i], frames[from], depth * sizeof(frames[0][0]));
		for (; more && depth < DEPTH_MAX; more--)
			frames[i][depth++] = 1 + dice_below(dice, 4);
		paths[i] = (struct stack_path){ frames[i], depth, 1 + dice_below(dice, 2), 0 };
	}
}

/* The paths with names from the start. */
static void name_paths(const struct stack_path *paths, struct stack_path *named, int64_t (*frames)[LONGEST])
{
	for (uint32_t i = 0; i < PATHS_MAX; i++) {
		uint32_t count = 0;

		for (uint32_t j = 0; j < paths[i].count; j++) {
			frames[i][count++] = paths[i].frames[j];
			for (size_t k = 0; k < sizeof(extensions) / sizeof(*extensions); k++)
				if (extensions[k].frame_id == paths[i].frames[j] && extensions[k].inner_id)
					frames[i][count++] = extensions[k].inner_id;
		}
		named[i] = (struct stack_path){ frames[i], count, paths[i].class, 0 };
	}
}

START_TEST(as_if_names_had_been_there_from_the_start)
{
	static int64_t frames[PATHS_MAX][DEPTH_MAX], named_frames[PATHS_MAX][LONGEST];
	static struct stack_path paths[PATHS_MAX], named[PATHS_MAX];
	struct dice dice = dice_new((uint64_t)_i);
	struct tree later, fresh;
	int64_t nodes;
	int changes;

	tree_open(&later, "");
	tree_open(&fresh, names_sql);
	make_paths(&dice, paths, frames);
	name_paths(paths, named, named_frames);
	add(&later, paths, PATHS_MAX);
	add(&fresh, named, PATHS_MAX);
	ck_assert_int_eq(sql_execute(&later.sql, names_sql), 0);
	extend(&later, 0);
	nodes = number_of(&later, "SELECT count(*) FROM stack_node");
	ck_assert_int_eq(number_of(&fresh, "SELECT count(*) FROM stack_node"), nodes);
	/* the ids of stacks, to which samples refer, have stayed */
	for (uint32_t i = 0; i < PATHS_MAX; i++) {
		_cleanup_free_ char *one = stack_of(&later, paths[i].stack_id),
				    *other = stack_of(&fresh, named[i].stack_id);

		ck_assert_str_eq(one, other);
	}
	ck_assert_int_eq(
		number_of(&later,
			  "SELECT count(*) FROM (SELECT 1 FROM stack_node WHERE frames <> '' GROUP BY "
			  "ifnull(parent_id, 0), CAST(frames AS INTEGER) HAVING count(*) > 1)"),
		0);
	/* the daemon finds each of them, with the hash that it computes itself */
	frame_hashes_free(&later.hashes);
	changes = sqlite3_total_changes(later.sql.db);
	add(&later, named, PATHS_MAX);
	for (uint32_t i = 0; i < PATHS_MAX; i++)
		ck_assert_int_eq(named[i].stack_id, paths[i].stack_id);
	ck_assert_int_eq(number_of(&later, "SELECT count(*) FROM stack_node"), nodes);
	ck_assert_int_eq(sqlite3_total_changes(later.sql.db), changes);
	tree_close(&later);
	tree_close(&fresh);
}
END_TEST

/* Names of a file with a build id alone change no hash; those of one that may lie do. */
START_TEST(the_hash_changes_where_names_count)
{
	const int64_t one[] = { 1, 2 }, two[] = { 2, 4 };
	struct stack_path paths[] = { { one, 2, 1, 0 }, { two, 2, 1, 0 } };
	_cleanup_free_ char *one_before = NULL, *two_before = NULL, *one_after = NULL, *two_after = NULL;
	static const char hash_sql[] = "SELECT hex(hash) FROM stack WHERE stack_id = ?";
	struct tree tree;

	tree_open(&tree, "");
	add(&tree, paths, 2);
	one_before = text_of(&tree, hash_sql, paths[0].stack_id);
	two_before = text_of(&tree, hash_sql, paths[1].stack_id);
	ck_assert_int_eq(sql_execute(&tree.sql, names_sql), 0);
	extend(&tree, 0);
	one_after = text_of(&tree, hash_sql, paths[0].stack_id);
	two_after = text_of(&tree, hash_sql, paths[1].stack_id);
	ck_assert_str_eq(one_before, one_after);
	ck_assert_str_ne(two_before, two_after);
	ck_assert_int_eq(number_of(&tree, "SELECT depth FROM stack WHERE stack_id = 1"), 4);
	tree_close(&tree);
}
END_TEST

/* All rows of the tree but the first: what damage leaves as it is. */
static char *others_of(struct tree *tree)
{
	return text_of(
		tree,
		"SELECT group_concat(quote(node_id) || quote(parent_id) || quote(frames) || quote(class) || "
		"quote(depth) || quote(hash)) FROM stack_node WHERE node_id <> 1",
		0);
}

/* Beside one good stack, node 1, each has nodes that no stack ends at; the number is how many are met. */
START_TEST(a_damaged_tree_stays_as_it_is)
{
	static const struct {
		const char *nodes;
		uint64_t damaged;
	} damages[] = {
		/* circles, with and without concerned nodes, and a node that is its own parent */
		{ "(2, 3, '[2]', NULL, NULL, NULL), (3, 4, '[2,9]', NULL, NULL, NULL), (4, 2, '[1]', 1, 3, x'00')",
		  0 },
		{ "(2, 3, '[2]', NULL, NULL, NULL), (3, 2, '[2,9]', NULL, NULL, NULL), (4, 2, '[1]', 1, 3, x'00')",
		  1 },
		{ "(2, 3, '[1]', 1, 1, x'00'), (3, 2, '[1]', 1, 1, x'00'), (4, 4, '[3]', 1, 1, x'00')", 0 },
		/* no parent */
		{ "(2, 77, '[1]', 1, 1, x'00')", 1 },
		/* no array of numbers */
		{ "(2, NULL, '[2', NULL, NULL, NULL), (3, 2, '[1]', 1, 2, x'00')", 1 },
		{ "(2, NULL, '', 1, 1, x'00'), (3, NULL, '[1,]', 1, 1, x'00'), (4, NULL, '[,1]', 1, 1, x'00'),"
		  "(5, NULL, '[1] ', 1, 1, x'00'), (6, NULL, '[[1]]', 1, 1, x'00'), (7, NULL, '[1.5,1]', 1, 1, x'00'),"
		  "(8, NULL, CAST(x'5b312c00315d' AS TEXT), 1, 1, x'00')",
		  0 },
		/* below a good node */
		{ "(2, 1, '[x', NULL, NULL, NULL), (3, 2, '[1]', 1, 9, x'00')", 2 },
		/* no such frame, and absurd ids */
		{ "(2, NULL, '[99999999999999999999,-1]', 1, -5, x'00'), (3, NULL, '[-99999999999999999999]', NULL, NULL, NULL)",
		  0 },
	};
	const int64_t frames[] = { 1 };
	struct stack_path path = { frames, 1, 1, 0 };
	_cleanup_free_ char *sql = NULL, *before = NULL, *after = NULL, *good = NULL;
	struct tree tree;

	tree_open(&tree, "PRAGMA foreign_keys = OFF");
	add(&tree, &path, 1);
	ck_assert_int_eq(path.stack_id, 1);
	ck_assert_int_gt(
		asprintf(&sql,
			 "INSERT INTO stack_node(node_id, parent_id, frames, class, depth, hash) VALUES%s",
			 damages[_i].nodes),
		0);
	ck_assert_msg(!sql_execute(&tree.sql, sql), "%s", tree.sql.error);
	ck_assert_int_eq(sql_execute(&tree.sql, names_sql), 0);
	before = others_of(&tree);
	extend(&tree, damages[_i].damaged);
	after = others_of(&tree);
	ck_assert_str_eq(before, after);
	good = text_of(&tree, "SELECT frames || depth FROM stack_node WHERE node_id = ?", 1);
	ck_assert_str_eq(good, "1,5,63");
	tree_close(&tree);
}
END_TEST

/* A chain of more nodes, and an array of more frames, than any stack has: the work ends, in bounded memory. */
START_TEST(more_than_any_stack_has)
{
	struct tree tree;
	uint64_t damaged;

	tree_open(
		&tree,
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) "
		"INSERT INTO stack_node(node_id, parent_id, frames, class, depth, hash) "
		"SELECT i, nullif(i - 1, 0), iif(i % 2, '2', '9,1'), 1, i, x'00' FROM n;"
		"WITH RECURSIVE n(i, text) AS (SELECT 1, '[1' UNION ALL SELECT i + 1, text || ',1' FROM n WHERE i < 8000) "
		"INSERT INTO stack_node(node_id, frames, class, depth, hash) "
		"SELECT 6000, text || ']', 1, 1, x'00' FROM n WHERE i = 8000");
	ck_assert_int_eq(sql_execute(&tree.sql, names_sql), 0);
	ck_assert_int_eq(
		extend_stacks(tree.sql.db, extensions, sizeof(extensions) / sizeof(*extensions), &damaged),
		0);
	ck_assert_uint_gt(damaged, 0);
	ck_assert_int_eq(
		number_of(&tree, "SELECT frames = '9,1,5,6' AND depth = 5 FROM stack_node WHERE node_id = 2"),
		1);
	ck_assert_int_eq(number_of(&tree, "SELECT frames = '9,1' FROM stack_node WHERE node_id = 5000"), 1);
	ck_assert_int_eq(number_of(&tree, "SELECT depth FROM stack_node WHERE node_id = 6000"), 1);
	tree_close(&tree);
}
END_TEST

/* A table that is not the one that bourdond made: an error, and no crash. */
START_TEST(a_foreign_table_is_an_error)
{
	static const char *const foreign[] = {
		"DROP VIEW stack_frame; DROP VIEW stack; DROP TABLE stack_node; CREATE TABLE stack_node(node_id)",
		"DROP TABLE stack_node; CREATE VIEW stack_node AS SELECT 1 AS node_id, NULL AS parent_id, '[1]' AS frames,"
		" 1 AS class, 1 AS depth, x'00' AS hash",
	};
	struct tree tree;
	uint64_t damaged = 0;

	tree_open(&tree, names_sql);
	ck_assert_int_eq(sqlite3_exec(tree.sql.db, foreign[_i], NULL, NULL, NULL), SQLITE_OK);
	ck_assert_int_eq(
		extend_stacks(tree.sql.db, extensions, sizeof(extensions) / sizeof(*extensions), &damaged),
		-EIO);
	tree_close(&tree);
}
END_TEST

SUITE(extend_stacks)
{
	Suite *suite = suite_create("extend_stacks");
	TCase *tree = tcase_create("tree"), *damage = tcase_create("damage");

	tcase_add_loop_test(tree, as_if_names_had_been_there_from_the_start, 0, 10);
	tcase_add_test(tree, the_hash_changes_where_names_count);
	suite_add_tcase(suite, tree);
	tcase_add_loop_test(damage, a_damaged_tree_stays_as_it_is, 0, 8);
	tcase_add_test(damage, more_than_any_stack_has);
	tcase_add_loop_test(damage, a_foreign_table_is_an_error, 0, 2);
	suite_add_tcase(suite, damage);
	return suite;
}
