/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/files/db_check_stacks.h"

#include "common/base/array.h"
#include "common/store/stack_hash.h"
#include "common/store/stored_json.h"
#include "common/system/log.h"
#include "report/model/query.h"

#include <inttypes.h>
#include <string.h>

/* As many as the view stack_frame climbs. */
#define LEVELS_MAX 10000U
/* bourdond stores 254 frames and the functions that are inlined there. */
#define NODE_FRAMES_MAX 65536U
/* The hashes that are in memory at once, 32 MiB of them. */
#define HASHES_MAX (1U << 20)

/* A node whose children are at hand. The first level has the roots. */
struct level {
	sqlite3_stmt *children;
	int64_t depth; /* frames of the path to that node */
	struct stack_hash hash;
	bool is_whole; /* all frames of the path were found */
};

struct checking {
	struct database *database;
	struct sql sql; /* the same connection */
	note_problem note;
	void *user;
	struct frame_hashes hashes;
	sqlite3_stmt *names_count;
	struct level *levels;
	uint32_t count, levels_count, levels_room; /* in use; prepared */
	struct frame_list frames;
	struct stacks_checked checked;
};

/* Goes down to the children of a node, 0 for the roots. `above` may move. */
static int enter(struct checking *checking, int64_t node_id, const struct level *state)
{
	struct level *level, copy = state ? *state : (struct level){ .is_whole = true };

	if (!state)
		stack_hash_begin(&copy.hash);
	if (checking->count == checking->levels_count) {
		if (array_make_room(checking->levels, checking->levels_count, checking->levels_room, 1U))
			return -ENOMEM;
		level = &checking->levels[checking->levels_count];
		level->children = NULL;
		if (sql_prepare(
			    &checking->sql, &level->children,
			    "SELECT node_id, frames, class, depth, hash FROM stack_node WHERE parent_id IS ?"))
			return -EIO;
		checking->levels_count++;
	}
	level = &checking->levels[checking->count++];
	copy.children = level->children;
	*level = copy;
	sqlite3_reset(level->children);
	if (node_id)
		sqlite3_bind_int64(level->children, 1, node_id);
	else
		sqlite3_bind_null(level->children, 1);
	return 0;
}

/* Adds the frames of the node at hand to the path. */
static int add_frames(struct checking *checking, sqlite3_stmt *node, struct level *path)
{
	int64_t node_id = sqlite3_column_int64(node, 0);
	int result;

	checking->frames.count = 0;
	result = stored_frames_read(node, 1, NODE_FRAMES_MAX, &checking->frames);
	if (result == -ENOMEM)
		return result;
	if (result < 0) {
		checking->note(checking->user,
			       "stack_node %" PRId64
			       ": frames is not an array of numbers, or has more than %u",
			       node_id, NODE_FRAMES_MAX);
		path->is_whole = false;
	}
	path->depth += checking->frames.count;
	for (uint32_t i = 0; i < checking->frames.count; i++) {
		int64_t frame_id = checking->frames.frames[i];

		if (checking->hashes.count >= HASHES_MAX)
			frame_hashes_free(&checking->hashes);
		result = frame_hashes_add(&checking->sql, &checking->hashes, frame_id, &path->hash);
		if (result == -ENOENT) {
			checking->note(checking->user, "stack_node %" PRId64 ": there is no frame %" PRId64,
				       node_id, frame_id);
			path->is_whole = false;
		} else if (result < 0) {
			return result;
		}
	}
	return 0;
}

/*
 * Whether a function's name counts in the hash of the stack, as in a kernel module or in JIT code: if it was found after
 * the stack was stored, the hash is the older one.
 */
static bool names_count(struct checking *checking, int64_t node_id)
{
	sqlite3_int64 counts = 0;

	sql_run(&checking->sql, checking->names_count, &counts, "i", node_id);
	return counts;
}

/* Checks the stack that ends at the node at hand. */
static void check_end(struct checking *checking, sqlite3_stmt *node, const struct level *path)
{
	int64_t node_id = sqlite3_column_int64(node, 0), depth = sqlite3_column_int64(node, 3);
	struct stack_hash sum = path->hash;
	uint8_t hash[STACK_HASH_BYTES];

	checking->checked.stacks++;
	if (!path->is_whole)
		return;
	if (sqlite3_column_type(node, 3) != SQLITE_INTEGER || depth != path->depth)
		checking->note(checking->user,
			       "stack_node %" PRId64 ": depth is %" PRId64 ", but the stack has %" PRId64
			       " frames",
			       node_id, depth, path->depth);
	stack_hash_end(&sum, hash);
	if ((sqlite3_column_bytes(node, 4) != STACK_HASH_BYTES ||
	     memcmp(sqlite3_column_blob(node, 4), hash, STACK_HASH_BYTES) != 0) &&
	    !names_count(checking, node_id))
		checking->note(checking->user, "stack_node %" PRId64 ": hash is not that of its frames",
			       node_id);
}

/* Checks the node at hand, and goes down to its children. */
static int check_node(struct checking *checking, sqlite3_stmt *node)
{
	struct level path = checking->levels[checking->count - 1];
	int64_t node_id = sqlite3_column_int64(node, 0);
	int result = add_frames(checking, node, &path);

	checking->checked.nodes++;
	if (result < 0)
		return result;
	if (sqlite3_column_type(node, 2) != SQLITE_NULL)
		check_end(checking, node, &path);
	if (checking->count < LEVELS_MAX)
		return enter(checking, node_id, &path);
	checking->note(checking->user, "stack_node %" PRId64 ": it is %u nodes below its root", node_id,
		       LEVELS_MAX);
	return 0;
}

static int check_tree(struct checking *checking)
{
	int result = enter(checking, 0, NULL);

	while (!result && checking->count) {
		sqlite3_stmt *children = checking->levels[checking->count - 1].children;
		int step = sqlite3_step(children);

		if (step == SQLITE_ROW) {
			result = check_node(checking, children);
		} else if (step == SQLITE_DONE) {
			sqlite3_reset(children);
			checking->count--;
		} else {
			result = -EIO;
		}
	}
	return result;
}

/* Nodes that no root leads to: in a circle, or below one, or below a node that does not exist. */
static void check_reached(struct checking *checking)
{
	_cleanup_query_ struct query query =
		query_begin(checking->database, "SELECT count(*) AS nodes FROM stack_node", 0, 0);

	if (query_next(&query) && query_number(&query, "nodes") != checking->checked.nodes)
		checking->note(
			checking->user,
			"stack_node: %" PRId64
			" nodes have no way up to a root: their parents form a circle, or do not exist",
			query_number(&query, "nodes") - checking->checked.nodes);
}

int db_check_stacks(struct database *database, note_problem note, void *user,
		    struct stacks_checked *ret_checked)
{
	struct checking checking = {
		.database = database, .sql = { .db = database->sqlite }, .note = note, .user = user
	};
	int result = frame_hashes_prepare(&checking.sql, &checking.hashes);

	if (!result)
		result = sql_prepare(
			&checking.sql, &checking.names_count,
			"SELECT count(*) FROM stack_frame JOIN frame USING(frame_id) JOIN module "
			"USING(module_id) WHERE stack_id = ? AND (ifnull(build_id, '') = '' OR version <> '' "
			"OR kind NOT IN ('kernel', 'file', 'vdso'))");
	if (!result)
		result = check_tree(&checking);
	if (result == -ENOMEM)
		log_error("out of memory");
	else if (result < 0)
		database_fail(database);
	else
		check_reached(&checking);
	for (uint32_t i = 0; i < checking.levels_count; i++)
		sqlite3_finalize(checking.levels[i].children);
	free(checking.levels);
	sqlite3_finalize(checking.hashes.find);
	sqlite3_finalize(checking.names_count);
	frame_hashes_free(&checking.hashes);
	free(checking.frames.frames);
	*ret_checked = checking.checked;
	return database->failed ? -EIO : result;
}
