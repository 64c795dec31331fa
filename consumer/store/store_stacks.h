/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * store_stacks.h owns the rows of modules, frames and stacks. Most frames and many stacks are known from earlier captures, and are not
 * written again.
 */
#ifndef BOURDON_CONSUMER_STORE_STORE_STACKS_H
#define BOURDON_CONSUMER_STORE_STORE_STACKS_H

#include "common/sql/sql.h"
#include "common/store/stack_tree.h"
#include "consumer/capture/capture.h"
#include "consumer/symbols/resolved.h"

struct stacks_statements {
	sqlite3_stmt *find_frame, *find_named, *complete_frame;
	/* each of these is made when it is first run */
	sqlite3_stmt *add_module, *add_frame, *add_stack_class;
	struct stack_tree tree;
};

/* Return 0 or -errno, as all functions of sql.h do. The statements were zeroed. */
int store_stacks_prepare(struct sql *sql, struct stacks_statements *ret_statements);

/* Stores the id of each stack of the capture. */
int store_stacks_write(struct sql *sql, struct stacks_statements *statements, const struct capture *capture,
		       const struct resolved *resolved, int64_t *ret_stack_ids);

#endif
