/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * db_transfer_stacks.h owns the stacks of a transfer: it reads each path from the source's tree, which may have circles
 * and dangling ids, and adds it to the output's.
 */
#ifndef BOURDON_REPORT_FILES_DB_TRANSFER_STACKS_H
#define BOURDON_REPORT_FILES_DB_TRANSFER_STACKS_H

#include "common/base/hash_index.h"
#include "common/store/stack_tree.h"
#include "common/store/stored_json.h"

/* Frame ids of the source, and what they are in the output. */
struct frame_ids {
	struct frame_id *ids;
	uint32_t count, room;
	struct hash_index index;
};

struct stack_transfer {
	struct sql *sql;
	struct stack_tree tree;
	struct frame_hashes hashes;
	sqlite3_stmt *node, *frame, *note;
	struct frame_ids frame_ids;
	/* the stacks at hand */
	struct stack_path *paths;
	uint32_t paths_count, paths_room;
	int64_t *were; /* their ids in the source */
	uint32_t were_count, were_room;
	struct frame_list frames; /* of all of them */
	int hash_result;
};

/* The frames and the classes of the source are in the output, and frame_row_map and stack_class_map have their ids. */
int stack_transfer_begin(struct stack_transfer *transfer, struct sql *sql);

/*
 * Adds the stacks of a capture of the source that stack_node_map does not have, and notes them there. Returns 0; or -errno,
 * and sql->error says which stack is to blame.
 */
int stack_transfer_capture(struct stack_transfer *transfer, int64_t capture_id);

void stack_transfer_end(struct stack_transfer *transfer);

#endif
