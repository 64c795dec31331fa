/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * store_capture.h owns the rows of one capture, and writes them in the order that row ids need.
 */
#ifndef BOURDON_CONSUMER_STORE_STORE_CAPTURE_H
#define BOURDON_CONSUMER_STORE_STORE_CAPTURE_H

#include "common/sql/sql.h"
#include "common/store/store_verdict.h"
#include "consumer/capture/capture.h"
#include "consumer/store/store_accounts.h"
#include "consumer/store/store_latency.h"
#include "consumer/store/store_samples.h"
#include "consumer/store/store_stacks.h"
#include "consumer/store/store_thread_states.h"
#include "consumer/store/store_usage.h"
#include "consumer/store/store_wakes.h"
#include "consumer/symbols/mappings.h"
#include "consumer/symbols/resolved.h"

struct capture_statements {
	/* each of these is made when it is first run */
	sqlite3_stmt *add_thread, *add_loss, *add_cgroup, *add_pressure, *add_statistic, *finish_capture,
		*write_verdict, *add_growth;
	struct stacks_statements stacks;
	struct samples_statements samples;
	struct usage_statements usage;
	struct wakes_statements wakes;
	struct thread_states_statements thread_states;
	struct accounts_statements accounts;
	struct latency_statements latency;
};

/* Return 0 or -errno, as all functions of sql.h do. */

/* Writes the row of a capture that has just begun, and its incident's. The caller begins and ends the transaction. */
int store_capture_announce(struct sql *sql, int64_t run_id, const struct capture_trigger *trigger,
			   uint64_t history_ns, int64_t *ret_capture_id);

/*
 * Writes everything of a capture that has ended. The caller begins and ends the transaction. Stores the id of its row, and
 * the verdict.
 */
int store_capture_write(struct sql *sql, struct capture_statements *statements, int64_t run_id,
			const struct capture *capture, const struct resolved *resolved,
			const struct mappings *mappings, int64_t *ret_capture_id,
			struct stored_verdict *ret_verdict);

#endif
