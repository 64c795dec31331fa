/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * store_wakes.h owns the rows of wake_row: who ended the waits of a capture's threads.
 */
#ifndef BOURDON_CONSUMER_STORE_STORE_WAKES_H
#define BOURDON_CONSUMER_STORE_STORE_WAKES_H

#include "common/sql/sql.h"
#include "consumer/capture/capture.h"
#include "consumer/store/store_threads.h"

/* It is made when the first row is written. */
struct wakes_statements {
	sqlite3_stmt *add_wake;
};

/* Returns 0 or -errno, as all functions of sql.h do. */
int store_wakes_write(struct sql *sql, struct wakes_statements *statements, const struct wakes *wakes,
		      const struct capture_ids *ids);

#endif
