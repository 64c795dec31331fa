/* SPDX-License-Identifier: GPL-2.0-only */
/* migrate_stacks.h puts the stacks of schema 6, a row for each frame, into the tree of stacks. */
#ifndef BOURDON_CONSUMER_STORE_MIGRATE_STACKS_H
#define BOURDON_CONSUMER_STORE_MIGRATE_STACKS_H

#include "consumer/sql/sql.h"

/*
 * Reads old_stack, old_stack_frame and old_sample, and writes the tables that replaced them. Nothing to do without
 * these tables. Within the caller's transaction. Returns 0 or -errno.
 */
int migrate_stacks(struct sql *sql);

#endif
