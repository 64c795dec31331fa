/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that stacks go into the tree and come out of the view as they were, whatever they share and in whatever order
 * they come, that what they share is stored once, and that a stack is found again.
 */
#include "common/store/schema.h"
#include "common/store/stack_tree.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PATHS_MAX 512
#define DEPTH_MAX 40

struct tree_fixture {
	struct sql sql;
	atomic_uint_fast64_t give_up_ns;
	struct stack_tree tree;
	const struct stack_path *paths; /* being added */
	uint8_t names;                  /* another value stands for other names, and gives other hashes */
};

static void note_hash(void *user, uint32_t path, uint8_t hash[STACK_HASH_BYTES])
{
	const struct tree_fixture *fixture = user;

	memset(hash, fixture->names, STACK_HASH_BYTES);
	hash[0] = (uint8_t)fixture->paths[path].count;
}

static void tree_open(struct tree_fixture *fixture)
{
	*fixture = (struct tree_fixture){ .sql.give_up_ns = &fixture->give_up_ns };
	ck_assert_int_eq(sql_open(&fixture->sql, ":memory:"), 0);
	ck_assert_int_eq(sql_execute(&fixture->sql, "PRAGMA trusted_schema = OFF"), 0);
	ck_assert_int_eq(sql_execute(&fixture->sql, schema_sql), 0);
	ck_assert_int_eq(
		sql_execute(
			&fixture->sql,
			"INSERT INTO stack_class VALUES(1, 0, 'eh-frame', 'root'), (2, 1, 'mixed', 'depth')"),
		0);
	ck_assert_int_eq(stack_tree_prepare(&fixture->sql, &fixture->tree), 0);
}

static void add(struct tree_fixture *fixture, struct stack_path *paths, uint32_t count)
{
	fixture->paths = paths;
	ck_assert_int_eq(stack_tree_add(&fixture->sql, &fixture->tree, paths, count, note_hash, fixture), 0);
}

static int64_t number_of(struct tree_fixture *fixture, const char *text)
{
	sqlite3_int64 number = -1;

	ck_assert_msg(!sql_run_once(&fixture->sql, &number, text, ""), "%s: %s", text, fixture->sql.error);
	return number;
}

/* The stack of each path has its frames, and its class. */
static void expect_paths(struct tree_fixture *fixture, const struct stack_path *paths, uint32_t count)
{
	sqlite3_stmt *frames, *stack;
	const uint8_t *hash;

	ck_assert_int_eq(
		sql_prepare(
			&fixture->sql, &frames,
			"SELECT position, frame_id FROM stack_frame WHERE stack_id = ? ORDER BY position DESC"),
		0);
	ck_assert_int_eq(sql_prepare(&fixture->sql, &stack,
				     "SELECT depth, truncated, hash FROM stack WHERE stack_id = ?"),
			 0);
	for (uint32_t i = 0; i < count; i++) {
		sqlite3_bind_int64(frames, 1, paths[i].stack_id);
		for (uint32_t j = 0; j < paths[i].count; j++) {
			ck_assert_int_eq(sqlite3_step(frames), SQLITE_ROW);
			ck_assert_int_eq(sqlite3_column_int64(frames, 0), paths[i].count - 1 - j);
			ck_assert_int_eq(sqlite3_column_int64(frames, 1), paths[i].frames[j]);
		}
		ck_assert_int_eq(sqlite3_step(frames), SQLITE_DONE);
		sqlite3_reset(frames);
		sqlite3_bind_int64(stack, 1, paths[i].stack_id);
		ck_assert_int_eq(sqlite3_step(stack), SQLITE_ROW);
		ck_assert_int_eq(sqlite3_column_int64(stack, 0), paths[i].count);
		ck_assert_int_eq(sqlite3_column_int64(stack, 1) + 1, paths[i].class);
		ck_assert_int_eq(sqlite3_column_bytes(stack, 2), STACK_HASH_BYTES);
		hash = sqlite3_column_blob(stack, 2);
		ck_assert_uint_eq(hash[0], paths[i].count);
		ck_assert_uint_eq(hash[1], fixture->names);
		sqlite3_reset(stack);
	}
	sqlite3_finalize(frames);
	sqlite3_finalize(stack);
}

/* Nothing is stored twice: siblings part with their first frame, and a node without a stack has several children. */
static void expect_radix_tree(struct tree_fixture *fixture)
{
	ck_assert_int_eq(
		number_of(fixture,
			  "SELECT count(*) FROM (SELECT 1 FROM stack_node WHERE frames <> '' GROUP BY "
			  "ifnull(parent_id, 0), CAST(frames AS INTEGER) HAVING count(*) > 1)"),
		0);
	ck_assert_int_eq(
		number_of(fixture,
			  "SELECT count(*) FROM stack_node n WHERE class IS NULL AND (SELECT count(*) FROM "
			  "stack_node c WHERE c.parent_id = n.node_id) < 2"),
		0);
	ck_assert_int_eq(
		number_of(fixture,
			  "SELECT count(*) FROM (SELECT 1 FROM stack_node WHERE frames = '' GROUP BY "
			  "ifnull(parent_id, 0), class HAVING count(*) > 1)"),
		0);
	ck_assert_int_eq(
		number_of(fixture,
			  "SELECT count(*) FROM stack_node WHERE NOT json_valid('[' || frames || ']')"),
		0);
}

static unsigned int draw(unsigned int *state, unsigned int below)
{
	*state = *state * 1103515245U + 12345U;
	return (*state >> 16) % below;
}

/* Paths that share beginnings of any length: each goes on from a part of an earlier one. */
static void make_paths(unsigned int seed, struct stack_path *paths, uint32_t count,
		       int64_t (*frames)[DEPTH_MAX])
{
	for (uint32_t i = 0; i < count; i++) {
		uint32_t depth = 0, from = i ? draw(&seed, i) : 0, more = draw(&seed, 6);

		if (i && draw(&seed, 10))
			depth = draw(&seed, paths[from].count + 1);
		memcpy(frames[i], frames[from], depth * sizeof(frames[0][0]));
		for (; more && depth < DEPTH_MAX; more--)
			frames[i][depth++] = 1 + draw(&seed, 4);
		paths[i] = (struct stack_path){ .frames = frames[i],
						.count = depth,
						.class = 1 + draw(&seed, 2) };
	}
}

START_TEST(stacks_come_out_as_they_went_in)
{
	static int64_t frames[PATHS_MAX][DEPTH_MAX];
	static struct stack_path paths[PATHS_MAX];
	struct tree_fixture fixture;
	uint32_t batch = _i % 3 == 0 ? 1 : _i % 3 == 1 ? 37 : PATHS_MAX;

	tree_open(&fixture);
	make_paths((unsigned int)_i + 1, paths, PATHS_MAX, frames);
	for (uint32_t i = 0; i < PATHS_MAX; i += batch)
		add(&fixture, paths + i, batch < PATHS_MAX - i ? batch : PATHS_MAX - i);
	expect_paths(&fixture, paths, PATHS_MAX);
	expect_radix_tree(&fixture);
	/* equal stacks are one, also in one batch, and only those */
	for (uint32_t i = 0; i < PATHS_MAX; i++)
		for (uint32_t j = 0; j < i; j++)
			ck_assert_int_eq(
				paths[i].stack_id == paths[j].stack_id,
				paths[i].class == paths[j].class && paths[i].count == paths[j].count &&
					!memcmp(frames[i], frames[j], paths[i].count * sizeof(frames[0][0])));
	sql_close(&fixture.sql);
}
END_TEST

START_TEST(known_stacks_write_nothing)
{
	static int64_t frames[PATHS_MAX][DEPTH_MAX];
	static struct stack_path paths[PATHS_MAX], again[PATHS_MAX];
	struct tree_fixture fixture;
	int changes;

	tree_open(&fixture);
	make_paths(7, paths, PATHS_MAX, frames);
	memcpy(again, paths, sizeof(paths));
	add(&fixture, paths, PATHS_MAX);
	changes = sqlite3_total_changes(fixture.sql.db);
	add(&fixture, again, PATHS_MAX);
	ck_assert_int_eq(sqlite3_total_changes(fixture.sql.db), changes);
	for (uint32_t i = 0; i < PATHS_MAX; i++)
		ck_assert_int_eq(again[i].stack_id, paths[i].stack_id);
	sql_close(&fixture.sql);
}
END_TEST

/* Functions got their names, or others, since the stacks were stored. */
START_TEST(known_stacks_get_their_new_hashes)
{
	static int64_t frames[PATHS_MAX][DEPTH_MAX];
	static struct stack_path paths[PATHS_MAX];
	struct tree_fixture fixture;
	int64_t nodes;

	tree_open(&fixture);
	make_paths(8, paths, PATHS_MAX, frames);
	add(&fixture, paths, PATHS_MAX);
	nodes = number_of(&fixture, "SELECT count(*) FROM stack_node");
	fixture.names = 1;
	add(&fixture, paths, PATHS_MAX);
	ck_assert_int_eq(number_of(&fixture, "SELECT count(*) FROM stack_node"), nodes);
	expect_paths(&fixture, paths, PATHS_MAX);
	sql_close(&fixture.sql);
}
END_TEST

/* A stack that parts from a stored one within a piece divides it; the id of the stored one stays. */
START_TEST(a_piece_is_divided_where_paths_part)
{
	const int64_t one[] = { 1, 2, 3, 4 }, other[] = { 1, 2, 5 }, prefix[] = { 1 };
	struct stack_path first = { one, 4, 1, 0 }, second = { other, 3, 1, 0 }, third = { prefix, 1, 1, 0 };
	struct tree_fixture fixture;
	int64_t id;

	tree_open(&fixture);
	add(&fixture, &first, 1);
	ck_assert_int_eq(number_of(&fixture, "SELECT count(*) FROM stack_node"), 1);
	id = first.stack_id;
	add(&fixture, &second, 1);
	ck_assert_int_eq(number_of(&fixture, "SELECT count(*) FROM stack_node"), 3);
	add(&fixture, &third, 1);
	ck_assert_int_eq(number_of(&fixture, "SELECT count(*) FROM stack_node"), 4);
	ck_assert_int_eq(first.stack_id, id);
	expect_paths(&fixture, (struct stack_path[]){ first, second, third }, 3);
	expect_radix_tree(&fixture);
	sql_close(&fixture.sql);
}
END_TEST

START_TEST(a_damaged_array_is_an_error)
{
	const int64_t one[] = { 1, 2 };
	struct stack_path path = { one, 2, 1, 0 };
	struct tree_fixture fixture;

	tree_open(&fixture);
	ck_assert_int_eq(
		sql_execute(&fixture.sql, "INSERT INTO stack_node(parent_id, frames) VALUES(NULL, '[1x')"),
		0);
	fixture.paths = &path;
	ck_assert_int_eq(stack_tree_add(&fixture.sql, &fixture.tree, &path, 1, note_hash, &fixture),
			 -EUCLEAN);
	sql_close(&fixture.sql);
}
END_TEST

SUITE(stack_tree)
{
	Suite *suite = suite_create("stack_tree");
	TCase *tree = tcase_create("tree");

	tcase_add_loop_test(tree, stacks_come_out_as_they_went_in, 0, 12);
	tcase_add_test(tree, known_stacks_write_nothing);
	tcase_add_test(tree, known_stacks_get_their_new_hashes);
	tcase_add_test(tree, a_piece_is_divided_where_paths_part);
	tcase_add_test(tree, a_damaged_array_is_an_error);
	suite_add_tcase(suite, tree);
	return suite;
}
