/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/files/extend_stacks.h"

#include "common/abi/abi.h"
#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/sql/sql.h"
#include "common/store/stack_hash.h"
#include "common/store/stack_tree.h"
#include "common/store/stored_json.h"
#include "common/symbolizer/protocol.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More frames than any stack has: each recorded address may have as many functions as the symbolizer reports. */
#define FRAMES_MAX ((SAMPLE_KERNEL_FRAMES + SAMPLE_USER_FRAMES) * SYMBOLIZE_DEPTH)

/* More nodes than lead to any frame: stacks part at addresses, and at functions that an earlier capture did not name. */
#define LEVELS_MAX (4U * (SAMPLE_KERNEL_FRAMES + SAMPLE_USER_FRAMES))

#define ID_BYTES 21U /* of an id in a JSON array, with its comma */
#define TEXT_BYTES (FRAMES_MAX * ID_BYTES + 1U)

/* Hashes of frames that are kept, 2 MiB. */
#define HASHES_MAX 65536U

/* Returned beside 0 and -errno. */
#define DAMAGED 1 /* the node is */
#define HANDLED 2 /* all below a node above it was visited, or will be */

/* A node on the path from the outermost frame. */
struct level {
	int64_t node_id;
	int64_t child_first, child_id; /* the child that was visited last: its first frame, and its id */
	uint32_t frames;               /* of the path to its end */
	struct stack_hash hash;
};

struct extending {
	struct sql sql;
	struct frame_hashes hashes;
	sqlite3_stmt *scan, *find, *same_first, *greater_first, *update;
	const struct frame_extension *extensions;
	uint32_t extensions_count;
	struct level levels[LEVELS_MAX];
	int64_t above[LEVELS_MAX]; /* ids of nodes, outwards */
	struct frame_list frames;  /* of the current node */
	char text[TEXT_BYTES];
	uint64_t damaged;
};

static int prepare_statements(struct extending *extending)
{
	const struct sql_prepared statements[] = {
		{ &extending->scan,
		  "SELECT node_id, frames FROM stack_node WHERE node_id > ? ORDER BY node_id" },
		{ &extending->find,
		  "SELECT frames, parent_id, class, depth, hash FROM stack_node WHERE node_id = ?" },
		/* the conditions match the index stack_node_child */
		{ &extending->same_first,
		  "SELECT node_id, " NODE_FIRST_FRAME " FROM stack_node WHERE parent_id = ?1 "
		  "AND " NODE_FIRST_FRAME " = ?2 AND node_id > ?3 ORDER BY node_id LIMIT 1" },
		{ &extending->greater_first,
		  "SELECT node_id, " NODE_FIRST_FRAME " FROM stack_node WHERE parent_id = ?1 "
		  "AND " NODE_FIRST_FRAME " > ?2 "
		  "ORDER BY " NODE_FIRST_FRAME ", node_id LIMIT 1" },
		{ &extending->update,
		  "UPDATE stack_node SET frames = ?2, depth = iif(class IS NULL, depth, ?3), "
		  "hash = iif(class IS NULL, hash, ?4) WHERE node_id = ?1" },
	};
	int result = frame_hashes_prepare(&extending->sql, &extending->hashes);

	return result ? result : sql_prepare_all(&extending->sql, statements, ARRAY_SIZE(statements));
}

static void extending_free(struct extending *extending)
{
	frame_hashes_free(&extending->hashes);
	sqlite3_finalize(extending->hashes.find);
	sqlite3_finalize(extending->scan);
	sqlite3_finalize(extending->find);
	sqlite3_finalize(extending->same_first);
	sqlite3_finalize(extending->greater_first);
	sqlite3_finalize(extending->update);
	free(extending->frames.frames);
	free(extending);
}

/* ---- one node ---- */

/* Reads the frames of the current node. */
static int read_frames(struct extending *extending, sqlite3_stmt *statement, int column)
{
	int result;

	extending->frames.count = 0;
	result = stored_frames_read(statement, column, FRAMES_MAX, &extending->frames);
	return result == -EUCLEAN || result == -EFBIG ? DAMAGED : result;
}

/* The first extension of the frame, or NULL. */
static const struct frame_extension *find_extension(const struct extending *extending, int64_t frame_id)
{
	uint32_t from = array_partition_point(extending->extensions_count, i,
					      extending->extensions[i].frame_id < frame_id);

	return from < extending->extensions_count && extending->extensions[from].frame_id == frame_id
		       ? &extending->extensions[from]
		       : NULL;
}

static bool is_concerned(const struct extending *extending)
{
	for (uint32_t i = 0; i < extending->frames.count; i++)
		if (find_extension(extending, extending->frames.frames[i]))
			return true;
	return false;
}

/* Adds a frame to the path that ends with the level. */
static int add_frame(struct extending *extending, struct level *level, int64_t frame_id, size_t *text_bytes)
{
	int result;

	if (level->frames == FRAMES_MAX)
		return DAMAGED;
	level->frames++;
	*text_bytes += (size_t)snprintf(extending->text + *text_bytes, sizeof(extending->text) - *text_bytes,
					"%s%" PRId64, *text_bytes ? "," : "", frame_id);
	if (extending->hashes.count >= HASHES_MAX)
		frame_hashes_free(&extending->hashes);
	result = frame_hashes_add(&extending->sql, &extending->hashes, frame_id, &level->hash);
	return result == -ENOENT ? 0 : result; /* no such frame: nothing to hash */
}

/* Adds the frames of the current node, with what is inlined in them, to the level, and to the text. */
static int add_frames(struct extending *extending, struct level *level)
{
	const struct frame_extension *end = extending->extensions + extending->extensions_count;
	size_t text_bytes = 0;
	int result = 0;

	extending->text[0] = 0;
	for (uint32_t i = 0; i < extending->frames.count && !result; i++) {
		int64_t frame_id = extending->frames.frames[i];

		result = add_frame(extending, level, frame_id, &text_bytes);
		for (const struct frame_extension *inner = find_extension(extending, frame_id);
		     inner && inner < end && inner->frame_id == frame_id && inner->inner_id && !result;
		     inner++)
			result = add_frame(extending, level, inner->inner_id, &text_bytes);
	}
	return result;
}

/* The row that `find` is at differs from the text and the level. */
static bool differs(const struct extending *extending, const struct level *level,
		    const uint8_t hash[STACK_HASH_BYTES])
{
	sqlite3_stmt *find = extending->find;
	const char *text = (const char *)sqlite3_column_text(find, 0);
	const void *before = sqlite3_column_blob(find, 4);

	if (!text || strcmp(text, extending->text) != 0)
		return true;
	return sqlite3_column_type(find, 2) != SQLITE_NULL &&
	       (sqlite3_column_int64(find, 3) != level->frames ||
		sqlite3_column_bytes(find, 4) != STACK_HASH_BYTES ||
		memcmp(before, hash, STACK_HASH_BYTES) != 0);
}

/* Reads a node whose path goes on from `above` (NULL: it is the outermost), to `level`; writes it if it changes. */
static int visit(struct extending *extending, int64_t node_id, const struct level *above, struct level *level)
{
	struct stack_hash end;
	uint8_t hash[STACK_HASH_BYTES];
	bool changes = false;
	int result, step;

	if (above)
		*level = *above;
	else
		*level = (struct level){ 0 };
	if (!above)
		stack_hash_begin(&level->hash);
	level->node_id = node_id;
	level->child_first = level->child_id = INT64_MIN;
	sqlite3_bind_int64(extending->find, 1, node_id);
	step = sqlite3_step(extending->find);
	if (step == SQLITE_ROW) {
		result = read_frames(extending, extending->find, 0);
		if (!result)
			result = add_frames(extending, level);
		end = level->hash;
		stack_hash_end(&end, hash);
		changes = !result && differs(extending, level, hash);
	} else {
		result = step == SQLITE_DONE ? DAMAGED : sql_failed(&extending->sql);
	}
	sqlite3_reset(extending->find);
	if (changes)
		result = sql_run(&extending->sql, extending->update, NULL, "itib", node_id, extending->text,
				 (int64_t)level->frames, hash, sizeof(hash));
	return result;
}

/* ---- the tree ---- */

/* Finds the next child of the level's node. Returns 1 if there is one, 0, or -errno. */
static int next_child(struct extending *extending, struct level *level)
{
	sqlite3_stmt *statements[] = { extending->same_first, extending->greater_first };
	int step = SQLITE_DONE;

	for (size_t i = 0; i < ARRAY_SIZE(statements) && step == SQLITE_DONE; i++) {
		sqlite3_bind_int64(statements[i], 1, level->node_id);
		sqlite3_bind_int64(statements[i], 2, level->child_first);
		if (!i)
			sqlite3_bind_int64(statements[i], 3, level->child_id);
		step = sqlite3_step(statements[i]);
		if (step == SQLITE_ROW) {
			level->child_id = sqlite3_column_int64(statements[i], 0);
			level->child_first = sqlite3_column_int64(statements[i], 1);
		}
		sqlite3_reset(statements[i]);
	}
	return step == SQLITE_ROW ? 1 : step == SQLITE_DONE ? 0 : sql_failed(&extending->sql);
}

/* Visits the children of the node at levels[top], and all below them. */
static int descend(struct extending *extending, uint32_t top)
{
	uint32_t at = top;
	int result = 0;

	while (!result) {
		struct level *level = &extending->levels[at];

		result = next_child(extending, level);
		if (result < 0)
			return result;
		if (!result) {
			if (at == top)
				break;
			at--;
			continue;
		}
		result = at + 1 < LEVELS_MAX ? visit(extending, level->child_id, level, level + 1) : DAMAGED;
		if (!result)
			at++;
		extending->damaged += result == DAMAGED;
		if (result == DAMAGED)
			result = 0;
	}
	return result;
}

/* Reads a node of the path above a concerned one to extending->above. Stores the id of its parent, 0 for none. */
static int read_above(struct extending *extending, int64_t node_id, uint32_t position, int64_t *ret_parent,
		      bool *ret_outermost)
{
	sqlite3_stmt *find = extending->find;
	int result, step;

	sqlite3_bind_int64(find, 1, node_id);
	step = sqlite3_step(find);
	if (step == SQLITE_ROW) {
		result = read_frames(extending, find, 0);
		if (!result && is_concerned(extending) && position)
			result = HANDLED;
		extending->above[position] = node_id;
		*ret_parent = sqlite3_column_int64(find, 1);
		*ret_outermost = sqlite3_column_type(find, 1) == SQLITE_NULL;
	} else {
		result = step == SQLITE_DONE ? DAMAGED : sql_failed(&extending->sql);
	}
	sqlite3_reset(find);
	return result;
}

/*
 * Stores the path from a concerned node up to its outermost one in extending->above. Returns 0, DAMAGED, HANDLED or
 * -errno.
 */
static int find_above(struct extending *extending, int64_t node_id, uint32_t *ret_count)
{
	bool is_outermost = false;
	int result = 0;

	*ret_count = 0;
	while (!is_outermost && !result) {
		if (*ret_count == LEVELS_MAX)
			return DAMAGED;
		result = read_above(extending, node_id, *ret_count, &node_id, &is_outermost);
		++*ret_count;
	}
	return result;
}

/* Visits a concerned node and all below it, unless a node above it is concerned, too. */
static int extend_below(struct extending *extending, int64_t node_id)
{
	uint32_t count, at = 0;
	int result = find_above(extending, node_id, &count);

	for (; at < count && !result; at++)
		result = visit(extending, extending->above[count - 1 - at],
			       at ? &extending->levels[at - 1] : NULL, &extending->levels[at]);
	if (!result)
		result = descend(extending, count - 1);
	extending->damaged += result == DAMAGED;
	return result < 0 ? result : 0;
}

static int extend_all(struct extending *extending)
{
	sqlite3_stmt *scan = extending->scan;
	int result = 0, step = SQLITE_ROW;

	sqlite3_bind_int64(scan, 1, INT64_MIN);
	while (!result && step == SQLITE_ROW) {
		bool concerned = false;

		step = sqlite3_step(scan);
		if (step == SQLITE_ROW) {
			result = read_frames(extending, scan, 1);
			concerned = !result && is_concerned(extending);
			if (result == DAMAGED)
				result = 0;
		} else if (step != SQLITE_DONE) {
			result = sql_failed(&extending->sql);
		}
		if (concerned) {
			int64_t node_id = sqlite3_column_int64(scan, 0);

			/* no statement reads the table while another one changes it */
			sqlite3_reset(scan);
			sqlite3_bind_int64(scan, 1, node_id);
			result = extend_below(extending, node_id);
		}
	}
	sqlite3_reset(scan);
	return result;
}

int extend_stacks(sqlite3 *sqlite, const struct frame_extension *extensions, uint32_t count,
		  uint64_t *ret_damaged)
{
	struct extending *extending = calloc(1, sizeof(*extending));
	int result;

	if (!extending)
		return -ENOMEM;
	extending->sql.db = sqlite;
	extending->extensions = extensions;
	extending->extensions_count = count;
	result = prepare_statements(extending);
	if (!result && count)
		result = extend_all(extending);
	*ret_damaged = extending->damaged;
	extending_free(extending);
	return result == -ENOMEM ? result : result ? -EIO : 0;
}
