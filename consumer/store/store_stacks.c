/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/store/store_stacks.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/base/hash_index.h"
#include "common/base/numbers.h"

#include <stdlib.h>
#include <string.h>

#define STACK_UNWINDERS 4
#define STACK_ENDS 16

/* The stacks of one capture, with the row ids that were given so far. */
struct stacks_writing {
	struct sql *sql;
	struct stacks_statements *statements;
	const struct capture *capture;
	const struct resolved *resolved;
	sqlite3_int64 *modules, *frames;
	struct stack_path *paths;
	int64_t *path_frames; /* of all stacks */
	uint32_t path_frames_count, path_frames_room;
	uint8_t (*frame_hashes)[STACK_HASH_BYTES];
	bool *frame_counts; /* in the hash of a stack */
	sqlite3_int64 stack_classes[2][STACK_UNWINDERS]
				   [STACK_ENDS]; /* by truncated, unwinder, end; 0: not yet known */
	struct hash_index names_index;           /* of frames */
};

int store_stacks_prepare(struct sql *sql, struct stacks_statements *ret_statements)
{
	const struct sql_prepared statements[] = {
		/* negative: this capture has found a name or a line that the frame lacks */
		{ &ret_statements->find_frame,
		  "SELECT iif(function_offset IS NULL AND ?4 >= 0 OR file IS NULL AND ?5, -frame_id, frame_id) "
		  "FROM frame WHERE module_id = ?1 AND offset = ?2 AND inlined = ?3" },
		/* the frame that has the name and the file of frame ?1, if these are still so */
		{ &ret_statements->find_named,
		  "SELECT n.frame_id FROM frame_row f JOIN frame_row n ON n.frame_id = ifnull(f.named_by, f.frame_id) "
		  "WHERE f.frame_id = ?1 AND n.named_by IS NULL AND n.function_offset IS NOT NULL AND n.function = ?2 "
		  "AND n.file IS ?3" },
		/* a name that was found later applies to all captures */
		{ &ret_statements->complete_frame,
		  "UPDATE frame_row SET function = iif(function_offset IS NULL, ?2, function), "
		  "function_offset = ifnull(function_offset, nullif(?3, -1)), "
		  "line = iif(file IS NULL, nullif(?5, 0), line), file = ifnull(file, ?4) WHERE frame_id = ?1" },
	};
	int result = sql_prepare_all(sql, statements, ARRAY_SIZE(statements));

	return result < 0 ? result : stack_tree_prepare(sql, &ret_statements->tree);
}

struct wanted_name {
	const struct resolved *resolved;
	const struct resolved_frame *frame;
};

static bool has_name(const void *user, uint32_t position)
{
	const struct wanted_name *wanted = user;
	const struct resolved_frame *frame = wanted->frame, *there = &wanted->resolved->frames[position];

	return there->module == frame->module && !strcmp(there->function, frame->function) &&
	       !there->file == !frame->file && (!frame->file || !strcmp(there->file, frame->file));
}

/* Stores the position of the first written frame of the same function and file, or HASH_INDEX_NONE. */
static int find_named(struct stacks_writing *writing, uint32_t position, uint32_t *ret_position)
{
	const struct resolved_frame *frame = &writing->resolved->frames[position];
	const struct wanted_name wanted = { writing->resolved, frame };
	uint32_t hash;

	*ret_position = HASH_INDEX_NONE;
	if (frame->function_offset < 0 || (frame->line && !frame->file))
		return 0;
	hash = hash_number_and_bytes(frame->module, frame->function, strlen(frame->function));
	*ret_position = hash_index_find(&writing->names_index, hash, has_name, &wanted);
	return *ret_position == HASH_INDEX_NONE ? hash_index_add(&writing->names_index, hash, position) : 0;
}

/* Most frames are known from earlier captures, and are not written again. */
static int write_frame(struct stacks_writing *writing, uint32_t position)
{
	const struct resolved_frame *frame = &writing->resolved->frames[position];
	struct stacks_statements *statements = writing->statements;
	int64_t module_id = writing->modules[frame->module];
	sqlite3_int64 frame_id = 0, named = 0;
	uint32_t other;
	int result = find_named(writing, position, &other);

	if (!result)
		result = sql_run(writing->sql, statements->find_frame, &frame_id, "iiiii", module_id,
				 frame->offset, (int64_t)frame->inlined, frame->function_offset,
				 (int64_t)(frame->file != NULL));
	if (!result && !frame_id) {
		if (other != HASH_INDEX_NONE)
			result = sql_run(writing->sql, statements->find_named, &named, "itt",
					 (int64_t)writing->frames[other], frame->function, frame->file);
		if (!result)
			result = sql_insert(
				writing->sql, &statements->add_frame, "frame_row", NULL, &frame_id,
				SQL_COLUMNS(SQL_NUMBER(module_id, module_id),
					    SQL_NUMBER(offset, frame->offset),
					    SQL_NUMBER(inlined, frame->inlined),
					    SQL_TEXT(function, named ? NULL : frame->function),
					    SQL_NUMBER_IF(function_offset, frame->function_offset != -1,
							  frame->function_offset),
					    SQL_TEXT(file, named && frame->line ? NULL : frame->file),
					    SQL_NUMBER_IF(line, frame->line, frame->line),
					    SQL_NUMBER_IF(named_by, named, named)));
	} else if (!result && frame_id < 0) {
		frame_id = -frame_id;
		result = sql_run(writing->sql, statements->complete_frame, NULL, "ititi", (int64_t)frame_id,
				 frame->function, frame->function_offset, frame->file, (int64_t)frame->line);
	}
	writing->frames[position] = frame_id;
	return result;
}

struct frame_use {
	uint32_t position, uses;
};

static int most_used_first(const void *a, const void *b)
{
	const struct frame_use *left = a, *right = b;

	return COMPARE(right->uses, left->uses) ?: COMPARE(left->position, right->position);
}

/* Those in most stacks come first and get the shortest ids: the text of stack_node.frames repeats them. */
static struct frame_use *order_frames(const struct stacks_writing *writing)
{
	const struct resolved *resolved = writing->resolved;
	struct frame_use *order = calloc(resolved->frames_count + 1UL, sizeof(*order));

	if (!order)
		return NULL;
	for (uint32_t i = 0; i < resolved->frames_count; i++)
		order[i].position = i;
	for (uint32_t i = 0; i < writing->capture->stacks.count; i++)
		for (uint32_t j = 0; j < resolved->depths[i]; j++) {
			uint32_t at = resolved->of_stack_frame[writing->capture->stacks.stacks[i].first + j];

			do
				order[at].uses++;
			while ((at = resolved->frames[at].inner));
		}
	qsort(order, resolved->frames_count, sizeof(*order), most_used_first);
	return order;
}

static int write_frames(struct stacks_writing *writing)
{
	const struct resolved *resolved = writing->resolved;
	_cleanup_free_ struct frame_use *order = order_frames(writing);
	int result = order ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < resolved->modules_count && !result; i++) {
		const struct resolved_module *module = &resolved->modules[i];

		if (module->kind == MODULE_NONE)
			continue;
		result = sql_insert(
			writing->sql, &writing->statements->add_module, "module",
			"ON CONFLICT DO UPDATE SET bias = ifnull(bias, excluded.bias) RETURNING module_id",
			&writing->modules[i],
			SQL_COLUMNS(SQL_TEXT(path, module->path),
				    SQL_TEXT(build_id, *module->build_id ? module->build_id : NULL),
				    SQL_TEXT(version, module->version),
				    SQL_TEXT(kind, module_kind_names[module->kind]),
				    SQL_NUMBER_IF(bias, module->has_bias, module->bias)));
	}
	for (uint32_t i = 0; i < resolved->frames_count && !result; i++)
		result = write_frame(writing, order[i].position);
	return result;
}

static const char *unwinder_name(const struct stack *stack)
{
	static const char *const names[] = { "none", "frame-pointer", "eh-frame", "mixed" };

	return names[stack->unwinder & (UNWINDER_FRAME_POINTER | UNWINDER_EH_FRAME)];
}

/* NULL for a stack without user frames. */
static const char *ended_name(const struct stack *stack)
{
	static const char *const names[] = { NULL,
					     [UNWIND_ENDED_ROOT] = "root",
					     [UNWIND_ENDED_DEPTH] = "depth",
					     [UNWIND_ENDED_MEMORY] = "memory",
					     [UNWIND_ENDED_UNMAPPED] = "unmapped",
					     [UNWIND_ENDED_NO_RULE] = "no-rule",
					     [UNWIND_ENDED_EXPRESSION] = "expression",
					     [UNWIND_ENDED_REGISTER] = "register",
					     [UNWIND_ENDED_POLICY] = "policy",
					     [UNWIND_ENDED_CHANGED] = "mapping-changed",
					     [UNWIND_ENDED_EXITING] = "exiting" };

	return stack->ended < ARRAY_SIZE(names) ? names[stack->ended] : NULL;
}

static void hash_frame(struct stacks_writing *writing, uint32_t position)
{
	const struct resolved_frame *frame = &writing->resolved->frames[position];
	const struct resolved_module *module = &writing->resolved->modules[frame->module];
	const struct hashed_frame hashed = {
		.kind = module_kind_names[module->kind],
		.path = module->path,
		.version = module->version,
		.build_id = module->build_id,
		.function = frame->inlined || frame->function_offset >= 0 ? frame->function : NULL,
		.offset = frame->offset,
		.inlined = frame->inlined,
	};

	if (module->kind != MODULE_NONE)
		writing->frame_counts[position] = stack_hash_frame(&hashed, writing->frame_hashes[position]);
}

static void hash_path(void *user, uint32_t path, uint8_t hash[STACK_HASH_BYTES])
{
	const struct stacks_writing *writing = user;
	const struct resolved_frame *frames = writing->resolved->frames;
	const struct stack *stack = &writing->capture->stacks.stacks[path];
	struct stack_hash sum;

	stack_hash_begin(&sum);
	for (uint32_t i = writing->resolved->depths[path]; i-- > 0;) {
		uint32_t at = writing->resolved->of_stack_frame[stack->first + i];

		do {
			if (writing->frame_counts[at])
				stack_hash_add(&sum, writing->frame_hashes[at]);
		} while ((at = frames[at].inner));
	}
	stack_hash_end(&sum, hash);
}

/* Adds the frames of a stack, the outermost first. */
static int add_path(struct stacks_writing *writing, uint32_t position)
{
	const struct resolved_frame *frames = writing->resolved->frames;
	const struct stack *stack = &writing->capture->stacks.stacks[position];
	uint32_t count = 0;

	for (uint32_t i = writing->resolved->depths[position]; i-- > 0;) {
		uint32_t at = writing->resolved->of_stack_frame[stack->first + i];

		do {
			if (array_make_room(writing->path_frames, writing->path_frames_count,
					    writing->path_frames_room, 1U))
				return -ENOMEM;
			writing->path_frames[writing->path_frames_count++] = writing->frames[at];
			count++;
		} while ((at = frames[at].inner));
	}
	writing->paths[position].count = count;
	return 0;
}

static int class_of_stack(struct stacks_writing *writing, uint32_t position)
{
	const struct stack *stack = &writing->capture->stacks.stacks[position];
	bool truncated = stack->truncated || writing->resolved->depths[position] <
						     (uint32_t)stack->kernel_depth + stack->user_depth;
	sqlite3_int64 *class = &writing->stack_classes[truncated][stack->unwinder % STACK_UNWINDERS]
						      [stack->ended % STACK_ENDS];
	int result = 0;

	if (!*class)
		result = sql_insert(writing->sql, &writing->statements->add_stack_class, "stack_class",
				    "ON CONFLICT DO UPDATE SET ended = excluded.ended RETURNING class", class,
				    SQL_COLUMNS(SQL_NUMBER(truncated, truncated),
						SQL_TEXT(unwinder, unwinder_name(stack)),
						SQL_TEXT(ended, ended_name(stack))));
	writing->paths[position].class = *class;
	return result;
}

static int write_stacks(struct stacks_writing *writing)
{
	uint32_t count = writing->capture->stacks.count, first = 0;
	int result = 0;

	for (uint32_t i = 0; i < writing->resolved->frames_count; i++)
		hash_frame(writing, i);
	for (uint32_t i = 0; i < count && !result; i++) {
		result = class_of_stack(writing, i);
		if (!result)
			result = add_path(writing, i);
	}
	if (result < 0)
		return result;
	for (uint32_t i = 0; i < count; first += writing->paths[i++].count)
		writing->paths[i].frames = writing->path_frames + first;
	return stack_tree_add(writing->sql, &writing->statements->tree, writing->paths, count, hash_path,
			      writing);
}

int store_stacks_write(struct sql *sql, struct stacks_statements *statements, const struct capture *capture,
		       const struct resolved *resolved, int64_t *ret_stack_ids)
{
	_cleanup_free_ sqlite3_int64 *modules = calloc(resolved->modules_count + 1UL, sizeof(*modules));
	_cleanup_free_ sqlite3_int64 *frames = calloc(resolved->frames_count + 1UL, sizeof(*frames));
	_cleanup_free_ struct stack_path *paths = calloc(capture->stacks.count + 1UL, sizeof(*paths));
	_cleanup_free_ uint8_t(*hashes)[STACK_HASH_BYTES] =
		calloc(resolved->frames_count + 1UL, sizeof(*hashes));
	_cleanup_free_ bool *counts = calloc(resolved->frames_count + 1UL, sizeof(*counts));
	struct stacks_writing writing = { .sql = sql,
					  .statements = statements,
					  .capture = capture,
					  .resolved = resolved,
					  .modules = modules,
					  .frames = frames,
					  .paths = paths,
					  .frame_hashes = hashes,
					  .frame_counts = counts };
	int result = modules && frames && paths && hashes && counts ? write_frames(&writing) : -ENOMEM;

	if (!result)
		result = write_stacks(&writing);
	for (uint32_t i = 0; i < capture->stacks.count && !result; i++)
		ret_stack_ids[i] = paths[i].stack_id;
	free(writing.path_frames);
	hash_index_free(&writing.names_index);
	return result;
}
