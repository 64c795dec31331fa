/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stack_hash.h owns the portable hash of a stack, which is the same on every host for the same functions of the same
 * builds. docs/SCHEMA.md states what it is made of.
 */
#ifndef BOURDON_COMMON_STORE_STACK_HASH_H
#define BOURDON_COMMON_STORE_STACK_HASH_H

#include "common/base/hash_index.h"
#include "common/sql/sql.h"

#include <nettle/sha2.h>
#include <stdbool.h>
#include <stdint.h>

#define STACK_HASH_BYTES 16

/* A frame as the tables frame and module describe it. */
struct hashed_frame {
	const char *kind, *path, *version;
	const char *build_id; /* NULL or "": unknown */
	const char *function; /* NULL: no name */
	int64_t offset;
	int64_t inlined;
};

/* Stores the hash of a frame. Returns false if the frame does not count: the one that it is inlined in counts. */
bool stack_hash_frame(const struct hashed_frame *frame, uint8_t hash[STACK_HASH_BYTES]);

/* The hash of a stack is made of those of its frames, from the outermost inwards. */
struct stack_hash {
	struct sha256_ctx context;
};
void stack_hash_begin(struct stack_hash *stack);
void stack_hash_add(struct stack_hash *stack, const uint8_t frame[STACK_HASH_BYTES]);
void stack_hash_end(struct stack_hash *stack, uint8_t hash[STACK_HASH_BYTES]);

/* The hashes of frames that are in a database, read when they are first asked for. Zeroed: none. */
struct frame_hashes {
	sqlite3_stmt *find;
	struct frame_hash *frames;
	uint32_t count, room;
	struct hash_index index;
};

/* Returns 0 or -errno. sql_close() or frame_hashes_free() ends it. */
int frame_hashes_prepare(struct sql *sql, struct frame_hashes *ret_hashes);

/* Adds the frame, if it counts, to the stack. Returns 0; -ENOENT if there is no such frame; or -errno. */
int frame_hashes_add(struct sql *sql, struct frame_hashes *hashes, int64_t frame_id,
		     struct stack_hash *stack);

/* Forgets all frames, whose names may have changed. */
void frame_hashes_free(struct frame_hashes *hashes);

#endif
