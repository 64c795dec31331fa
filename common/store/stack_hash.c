/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/store/stack_hash.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- of frames ---- */

/* Half of a SHA-256: a hostile process cannot make a stack that collides with another one. */
static void end_hash(struct sha256_ctx *context, uint8_t hash[STACK_HASH_BYTES])
{
	uint8_t digest[SHA256_DIGEST_SIZE];

	sha256_digest(context, sizeof(digest), digest);
	memcpy(hash, digest, STACK_HASH_BYTES);
}

static void hash_text(struct sha256_ctx *context, const char *text)
{
	sha256_update(context, strlen(text) + 1, (const uint8_t *)text);
}

static void hash_number(struct sha256_ctx *context, int64_t number)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, number);
	hash_text(context, text);
}

/* The offsets in a kernel module depend on its load, those of other memory on the process. */
static bool has_portable_offset(const char *kind)
{
	return !strcmp(kind, "kernel") || !strcmp(kind, "file") || !strcmp(kind, "vdso");
}

bool stack_hash_frame(const struct hashed_frame *frame, uint8_t hash[STACK_HASH_BYTES])
{
	bool has_build_id = frame->build_id && *frame->build_id,
	     portable_offset = has_portable_offset(frame->kind);
	/*
	 * The build id and the offset tell which functions are there, whether they have names yet or not. Of a file
	 * that may lie about its build id (it has a version, too), the functions' names count.
	 */
	bool names_count = !has_build_id || !portable_offset || *frame->version;
	struct sha256_ctx context;

	if (frame->inlined && !names_count)
		return false;
	sha256_init(&context);
	hash_text(&context, frame->kind);
	hash_text(&context, has_build_id ? frame->build_id : frame->path);
	hash_text(&context, has_build_id || !portable_offset ? "" : frame->version);
	if (portable_offset)
		hash_number(&context, frame->offset);
	if (names_count) {
		hash_text(&context, frame->function ? frame->function : "");
		hash_number(&context, frame->inlined);
	}
	end_hash(&context, hash);
	return true;
}

/* ---- of stacks ---- */

void stack_hash_begin(struct stack_hash *stack)
{
	sha256_init(&stack->context);
}

void stack_hash_add(struct stack_hash *stack, const uint8_t frame[STACK_HASH_BYTES])
{
	sha256_update(&stack->context, STACK_HASH_BYTES, frame);
}

void stack_hash_end(struct stack_hash *stack, uint8_t hash[STACK_HASH_BYTES])
{
	end_hash(&stack->context, hash);
}

/* ---- of frames in a database ---- */

struct frame_hash {
	int64_t frame_id;
	bool counts;
	uint8_t hash[STACK_HASH_BYTES];
};

int frame_hashes_prepare(struct sql *sql, struct frame_hashes *ret_hashes)
{
	*ret_hashes = (struct frame_hashes){ 0 };
	return sql_prepare(
		sql, &ret_hashes->find,
		"SELECT m.kind, m.path, m.version, m.build_id, "
		"CASE WHEN f.inlined OR f.function_offset IS NOT NULL THEN ifnull(f.function, n.function) END, f.offset, "
		"f.inlined FROM frame_row f JOIN module m USING(module_id) LEFT JOIN frame_row n ON n.frame_id = "
		"f.named_by WHERE f.frame_id = ?");
}

static int read_frame(struct sql *sql, struct frame_hashes *hashes, struct frame_hash *frame)
{
	sqlite3_stmt *find = hashes->find;
	int result = 0, step;

	sqlite3_bind_int64(find, 1, frame->frame_id);
	step = sqlite3_step(find);
	if (step == SQLITE_ROW) {
		_cleanup_free_ char *path = sql_column_text(find, 1), *function = sql_column_text(find, 4);
		const struct hashed_frame row = {
			.kind = (const char *)sqlite3_column_text(find, 0),
			.path = path,
			.version = (const char *)sqlite3_column_text(find, 2),
			.build_id = (const char *)sqlite3_column_text(find, 3),
			.function = function,
			.offset = sqlite3_column_int64(find, 5),
			.inlined = sqlite3_column_int64(find, 6),
		};

		if (row.kind && path && row.version)
			frame->counts = stack_hash_frame(&row, frame->hash);
		else
			result = -ENOMEM;
	} else {
		result = step == SQLITE_DONE ? -ENOENT : sql_failed(sql);
	}
	sqlite3_reset(find);
	return result;
}

int frame_hashes_add(struct sql *sql, struct frame_hashes *hashes, int64_t frame_id, struct stack_hash *stack)
{
	uint32_t found = hash_index_find_key(&hashes->index, HASH_KEYS(hashes->frames, frame_id), &frame_id);
	struct frame_hash *frame;
	int result = 0;

	if (array_make_room(hashes->frames, hashes->count, hashes->room, 1U))
		return -ENOMEM;
	frame = &hashes->frames[found == HASH_INDEX_NONE ? hashes->count : found];
	if (found == HASH_INDEX_NONE) {
		*frame = (struct frame_hash){ .frame_id = frame_id };
		result = read_frame(sql, hashes, frame);
		if (!result)
			result = hash_index_add_key(&hashes->index, HASH_KEYS(hashes->frames, frame_id),
						    hashes->count);
		if (!result)
			hashes->count++;
	}
	if (!result && frame->counts)
		stack_hash_add(stack, frame->hash);
	return result;
}

void frame_hashes_free(struct frame_hashes *hashes)
{
	free(hashes->frames);
	hash_index_free(&hashes->index);
	hashes->frames = NULL;
	hashes->count = hashes->room = 0;
}
