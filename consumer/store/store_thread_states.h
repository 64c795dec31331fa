/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * store_thread_states.h owns the rows of thread_state and thread_look: what a capture's looks have seen of threads.
 */
#ifndef BOURDON_CONSUMER_STORE_STORE_THREAD_STATES_H
#define BOURDON_CONSUMER_STORE_STORE_THREAD_STATES_H

#include "common/sql/sql.h"
#include "consumer/capture/capture.h"
#include "consumer/store/store_wakes.h"

/* Each is made when its first row is written. */
struct thread_states_statements {
	sqlite3_stmt *add_state, *add_second;
};

/* Returns 0 or -errno, as all functions of sql.h do. */
int store_thread_states_write(struct sql *sql, struct thread_states_statements *statements,
			      const struct capture *capture, const struct capture_ids *ids);

#endif
