/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * store_capture.h owns the rows of one capture: what is written for it, in the order that row ids need.
 */
#ifndef BOURDON_CONSUMER_STORE_STORE_CAPTURE_H
#define BOURDON_CONSUMER_STORE_STORE_CAPTURE_H

#include "consumer/capture/capture.h"
#include "consumer/store/sql.h"
#include "consumer/symbols/mappings.h"
#include "consumer/symbols/resolved.h"

struct capture_statements {
	sqlite3_stmt *add_module, *add_frame, *find_stack, *add_stack, *add_stack_frame, *add_process,
		*add_sample, *add_loss, *add_cgroup, *add_pressure, *add_statistic, *add_usage,
		*finish_capture;
};

/* 0 or -errno, as all of sql.h. */
int store_capture_prepare(struct sql *sql, struct capture_statements *ret_statements);

/* The row of a capture that has just fired. */
int store_capture_announce(struct sql *sql, int64_t run_id, const struct capture_trigger *trigger,
			   uint64_t history_ns, int64_t *ret_capture_id);

/* About how many bytes of the database it will take, rather more than less. */
uint64_t store_capture_bytes(const struct capture *capture, const struct resolved *resolved);

/* Everything of one that has ended. The caller has begun a transaction, and ends it. */
int store_capture_write(struct sql *sql, const struct capture_statements *statements, int64_t run_id,
			const struct capture *capture, const struct resolved *resolved,
			const struct mappings *mappings);

#endif
