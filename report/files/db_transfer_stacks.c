/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/files/db_transfer_stacks.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The climb from a leaf ends here, as that of the view stack_frame does. */
#define LEVELS_MAX 10000
/* bourdond stores 254 frames and the functions that are inlined there. */
#define STACK_FRAMES_MAX 65536U
/* The stacks that are in memory at once, 16 MiB of them. */
#define BATCH_FRAMES (1U << 20)
#define BATCH_STACKS (1U << 16)
/* The frame ids that are in memory at once, 32 MiB of them. */
#define FRAME_IDS_MAX (1U << 20)

/* ---- ids of frames ---- */

struct frame_id {
	int64_t was, id;
};

static void forget_frame_ids(struct frame_ids *ids)
{
	free(ids->ids);
	hash_index_free(&ids->index);
	*ids = (struct frame_ids){ 0 };
}

/* Changes a frame's id to that in the output. */
static int translate_frame(struct stack_transfer *transfer, int64_t *frame)
{
	struct frame_ids *ids = &transfer->frame_ids;
	uint32_t found = hash_index_find_key(&ids->index, HASH_KEYS(ids->ids, was), frame);
	sqlite3_int64 id = 0;
	int result;

	if (found != HASH_INDEX_NONE) {
		*frame = ids->ids[found].id;
		return 0;
	}
	result = sql_run(transfer->sql, transfer->frame, &id, "i", *frame);
	if (result < 0)
		return result;
	if (!id) {
		snprintf(transfer->sql->error, sizeof(transfer->sql->error), "there is no frame %" PRId64,
			 *frame);
		return -EUCLEAN;
	}
	if (ids->count == FRAME_IDS_MAX)
		forget_frame_ids(ids);
	result = hash_index_intern(&ids->index, HASH_KEYS(ids->ids, was), ids->ids, ids->count, ids->room,
				   frame, &found);
	if (result < 0)
		return result;
	*frame = ids->ids[found].id = id;
	return 0;
}

/* ---- paths ---- */

/* Turns the order of the frames from `first` on. */
static void reverse(struct frame_list *list, uint32_t first)
{
	for (uint32_t i = first, j = list->count; i + 1 < j; i++) {
		int64_t frame = list->frames[i];

		list->frames[i] = list->frames[--j];
		list->frames[j] = frame;
	}
}

static int refuse_stacks(struct stack_transfer *transfer, const char *why)
{
	snprintf(transfer->sql->error, sizeof(transfer->sql->error), "%s", why);
	return -EUCLEAN;
}

/* Appends the frames of a node, the innermost first; and stores its parent, 0 for none, and its class, 0 for none. */
static int read_node(struct stack_transfer *transfer, int64_t node_id, uint32_t most, int64_t *ret_parent,
		     int64_t *ret_class)
{
	struct frame_list *frames = &transfer->frames;
	sqlite3_stmt *node = transfer->node;
	uint32_t first = frames->count;
	int result, step;

	sqlite3_bind_int64(node, 1, node_id);
	step = sqlite3_step(node);
	if (step == SQLITE_ROW) {
		result = stored_frames_read(node, 1, most, frames);
		if (result == -EUCLEAN)
			result = refuse_stacks(transfer, "the frames of a node are not an array of numbers");
		else if (result == -EFBIG)
			result =
				refuse_stacks(transfer, "it has too many frames, or its nodes form a circle");
		*ret_parent = sqlite3_column_int64(node, 0);
		*ret_class = sqlite3_column_int64(node, 2);
	} else if (step == SQLITE_DONE) {
		result = refuse_stacks(transfer, "a node of it does not exist");
	} else {
		result = sql_failed(transfer->sql);
	}
	sqlite3_reset(node);
	reverse(frames, first);
	return result;
}

/* Appends the path of a stack to those at hand. */
static int read_path(struct stack_transfer *transfer, int64_t stack_id)
{
	uint32_t first = transfer->frames.count;
	int64_t node_id = stack_id, class = 0, ignored;
	int levels = 0, result = 0;

	while (node_id && !result) {
		uint32_t count = transfer->frames.count - first;

		if (levels == LEVELS_MAX)
			return refuse_stacks(transfer, "its nodes form a circle, or are too many");
		result = read_node(transfer, node_id, STACK_FRAMES_MAX - count, &node_id,
				   levels++ ? &ignored : &class);
	}
	if (!result && !class)
		result = refuse_stacks(transfer, "no stack ends at this node");
	if (!result)
		reverse(&transfer->frames, first);
	for (uint32_t i = first; i < transfer->frames.count && !result; i++)
		result = translate_frame(transfer, &transfer->frames.frames[i]);
	if (!result && (array_make_room(transfer->paths, transfer->paths_count, transfer->paths_room, 1U) ||
			array_make_room(transfer->were, transfer->were_count, transfer->were_room, 1U)))
		result = -ENOMEM;
	if (result < 0)
		return result;
	transfer->paths[transfer->paths_count++] =
		(struct stack_path){ .count = transfer->frames.count - first, .class = class };
	transfer->were[transfer->were_count++] = stack_id;
	return 0;
}

/* A stack_tree_hash. */
static void hash_path(void *user, uint32_t path, uint8_t hash[STACK_HASH_BYTES])
{
	struct stack_transfer *transfer = user;
	const struct stack_path *here = &transfer->paths[path];
	struct stack_hash sum;

	if (transfer->hashes.count >= FRAME_IDS_MAX)
		frame_hashes_free(&transfer->hashes);
	stack_hash_begin(&sum);
	for (uint32_t i = 0; i < here->count && !transfer->hash_result; i++)
		transfer->hash_result =
			frame_hashes_add(transfer->sql, &transfer->hashes, here->frames[i], &sum);
	stack_hash_end(&sum, hash);
}

/* Adds the stacks at hand to the output. */
static int write_paths(struct stack_transfer *transfer)
{
	uint32_t first = 0;
	int result;

	for (uint32_t i = 0; i < transfer->paths_count; first += transfer->paths[i++].count)
		if (transfer->paths[i].count)
			transfer->paths[i].frames = &transfer->frames.frames[first];
	result = stack_tree_add(transfer->sql, &transfer->tree, transfer->paths, transfer->paths_count,
				hash_path, transfer);
	if (!result)
		result = transfer->hash_result;
	for (uint32_t i = 0; i < transfer->paths_count && !result; i++)
		result = sql_run(transfer->sql, transfer->note, NULL, "ii", transfer->were[i],
				 transfer->paths[i].stack_id);
	transfer->paths_count = transfer->were_count = transfer->frames.count = 0;
	return result;
}

/* ---- captures ---- */

int stack_transfer_begin(struct stack_transfer *transfer, struct sql *sql)
{
	const struct sql_prepared statements[] = {
		{ &transfer->node,
		  "SELECT parent_id, frames, (SELECT id FROM stack_class_map WHERE was = n.class) "
		  "FROM given.stack_node n WHERE node_id = ?" },
		{ &transfer->frame, "SELECT id FROM frame_row_map WHERE was = ?" },
		{ &transfer->note, "INSERT INTO stack_node_map(was, id) VALUES(?, ?)" },
	};
	int result;

	*transfer = (struct stack_transfer){ .sql = sql };
	result = stack_tree_prepare(sql, &transfer->tree);
	if (!result)
		result = frame_hashes_prepare(sql, &transfer->hashes);
	return result ? result : sql_prepare_all(sql, statements, ARRAY_SIZE(statements));
}

/* Begins the error with the stack that it is about. */
static int blame(struct stack_transfer *transfer, int64_t stack_id, int result)
{
	char why[sizeof(transfer->sql->error)];

	snprintf(why, sizeof(why), "%s", result == -ENOMEM ? strerror(ENOMEM) : transfer->sql->error);
	snprintf(transfer->sql->error, sizeof(transfer->sql->error), "stack %" PRId64 ": %.200s", stack_id,
		 why);
	return result;
}

int stack_transfer_capture(struct stack_transfer *transfer, int64_t capture_id)
{
	sqlite3_stmt *stacks;
	int result = sql_prepare(
		    transfer->sql, &stacks,
		    "SELECT stack_id FROM (SELECT stack_id FROM given.sample_row WHERE capture_id = ?1 "
		    "UNION SELECT stack_id FROM given.thread_state WHERE capture_id = ?1 AND stack_id "
		    "IS NOT NULL UNION SELECT stack_id FROM given.wake_row WHERE capture_id = ?1 "
		    "UNION SELECT waker_stack_id FROM given.wake_row WHERE capture_id = ?1 AND waker_stack_id "
		    "IS NOT NULL UNION SELECT stack_id FROM given.growth_row WHERE capture_id = ?1) "
		    "WHERE stack_id NOT IN (SELECT was FROM stack_node_map) ORDER BY 1"),
	    step = SQLITE_DONE;

	if (result < 0)
		return result;
	sqlite3_bind_int64(stacks, 1, capture_id);
	while (!result && (step = sqlite3_step(stacks)) == SQLITE_ROW) {
		int64_t stack_id = sqlite3_column_int64(stacks, 0);

		result = read_path(transfer, stack_id);
		if (result < 0)
			result = blame(transfer, stack_id, result);
		else if (transfer->frames.count >= BATCH_FRAMES || transfer->paths_count >= BATCH_STACKS)
			result = write_paths(transfer);
	}
	if (!result && step != SQLITE_DONE)
		result = sql_failed(transfer->sql);
	if (!result)
		result = write_paths(transfer);
	sqlite3_finalize(stacks);
	return result;
}

void stack_transfer_end(struct stack_transfer *transfer)
{
	stack_tree_finalize(&transfer->tree);
	sqlite3_finalize(transfer->hashes.find);
	sqlite3_finalize(transfer->node);
	sqlite3_finalize(transfer->frame);
	sqlite3_finalize(transfer->note);
	frame_hashes_free(&transfer->hashes);
	forget_frame_ids(&transfer->frame_ids);
	free(transfer->paths);
	free(transfer->were);
	free(transfer->frames.frames);
}
