/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * store_usage.h owns the rows of processes, and of who used what in the span of a capture: living processes, those
 * that ended, and the machine's time.
 */
#ifndef BOURDON_CONSUMER_STORE_STORE_USAGE_H
#define BOURDON_CONSUMER_STORE_STORE_USAGE_H

#include "common/sql/sql.h"
#include "consumer/capture/capture.h"
#include "consumer/symbols/mappings.h"

/* Each is made when its first row is written. */
struct usage_statements {
	sqlite3_stmt *find_process, *add_process, *add_usage, *add_ended, *add_machine_time,
		*add_machine_bytes, *add_interrupt, *add_killed, *add_cgroup_memory;
};

struct stored_process {
	uint32_t tgid;
	uint64_t started_ns;
	const char *comm, *exe; /* exe: NULL where it is unknown */
	uint32_t uid;
	const char *cgroup;                  /* or NULL */
	const struct mapped_process *mapped; /* or NULL */
};

/* All functions return 0 or -errno, as those of sql.h do. */
int store_process_write(struct sql *sql, struct usage_statements *statements, int64_t run_id,
			const struct stored_process *process, sqlite3_int64 *ret_process_id);

int store_usage_write(struct sql *sql, struct usage_statements *statements, int64_t run_id,
		      int64_t capture_id, const struct capture *capture, const struct mappings *mappings);

#endif
