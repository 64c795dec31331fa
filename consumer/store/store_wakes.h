/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * store_wakes.h owns the rows of wake_row: who ended the waits of a capture's threads.
 */
#ifndef BOURDON_CONSUMER_STORE_STORE_WAKES_H
#define BOURDON_CONSUMER_STORE_STORE_WAKES_H

#include "common/sql/sql.h"
#include "common/store/stack_tree.h"
#include "consumer/capture/capture.h"
#include "consumer/store/store_threads.h"

/* Each is made when its first row is written. */
struct wakes_statements {
	sqlite3_stmt *add_wake, *add_thread;
};

/* The ids that the capture's processes and stacks have in the database, by their position. */
struct wakes_ids {
	int64_t capture_id;
	const sqlite3_int64 *processes;
	const struct stack_path *stacks;
	struct store_threads *threads;
};

/* Returns 0 or -errno, as all functions of sql.h do. */
int store_wakes_write(struct sql *sql, struct wakes_statements *statements, const struct wakes *wakes,
		      const struct wakes_ids *ids);

#endif
