/* SPDX-License-Identifier: GPL-2.0-only */
/* kill_rows.h owns who was killed in a capture's span. */
#ifndef BOURDON_CONSUMER_CAPTURE_KILL_ROWS_H
#define BOURDON_CONSUMER_CAPTURE_KILL_ROWS_H

#include "consumer/host/kills.h"

#include <stdbool.h>

/* Kills with a row of their own, chosen as kills.h chooses what it keeps. The rest is a row of each KILL_*. */
#define KILL_ROWS_MAX 100U

struct kill_row {
	struct kill_record record; /* of the rest: time_ns of the latest, and nobody's name */
	bool is_target;            /* the victim */
	bool is_by_oomd;
	char *cgroup, *by_cgroup; /* paths, or NULL where they are unknown */
	char *limit_cgroup; /* path in cgroup2, or name of a cgroup of version 1; NULL: none, or not known */
	bool is_rest;
	uint32_t processes; /* that the row stands for: 1, or the number of the rest */
};

/* Begins as zeros. */
struct kill_rows {
	struct kill_row *rows; /* in the order of time, the rest last */
	uint32_t count;
};

/* Whether the capture's rule applies to a process of this name and cgroup. Stores the cgroup's path, or NULL. */
typedef bool (*kill_describe)(void *user, const char comm[ABI_COMM_BYTES], uint64_t cgroup_id,
			      const char **ret_cgroup);

/* Makes rows of the kills from `from_ns` to `to_ns` (CLOCK_MONOTONIC). 0 or -ENOMEM; then there are none. */
int kill_rows_make(const struct kills *kills, uint64_t from_ns, uint64_t to_ns, kill_describe describe,
		   void *user, struct kill_rows *ret_rows);
void kill_rows_free(struct kill_rows *rows);

/* By whom, in the words of the database: oom, oomd or signal. */
const char *kill_row_how(const struct kill_row *row);

#endif
