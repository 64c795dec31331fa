/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stack_tree.h owns the rows of stack_node: the stacks of all captures as a radix tree, in which a piece of path
 * that several stacks share is stored once.
 */
#ifndef BOURDON_COMMON_STORE_STACK_TREE_H
#define BOURDON_COMMON_STORE_STACK_TREE_H

#include "common/sql/sql.h"
#include "common/store/stack_hash.h"

#include <stdint.h>

/* Of a node: its first frame, or 0, as the index stack_node_child has it; and its frames, for json_each(). */
#define NODE_FIRST_FRAME "CAST(ltrim(frames, '[') AS INTEGER)"
#define NODE_FRAMES "'[' || trim(frames, '[]') || ']'"

struct stack_tree {
	sqlite3_stmt *find_child, *find_variant, *end_at, *add_node, *set_upper, *set_end;
};

struct stack_path {
	const int64_t *frames; /* ids, the outermost first */
	uint32_t count;
	int64_t class;    /* row of stack_class */
	int64_t stack_id; /* set by stack_tree_add() */
};

/* Stores the portable hash of a stack. */
typedef void (*stack_tree_hash)(void *user, uint32_t path, uint8_t hash[STACK_HASH_BYTES]);

/* Returns 0 or -errno, as all functions of sql.h do. */
int stack_tree_prepare(struct sql *sql, struct stack_tree *ret_tree);

/* Call it before sql_close() only if the statements are in the way. */
void stack_tree_finalize(struct stack_tree *tree);

/*
 * Finds or adds each stack, with its hash. Stacks of equal frames and class become one. The caller begins and ends the
 * transaction.
 */
int stack_tree_add(struct sql *sql, const struct stack_tree *tree, struct stack_path *paths, uint32_t count,
		   stack_tree_hash hash, void *user);

#endif
