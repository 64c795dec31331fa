/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * capture_usage.h owns the resource usage of a capture's span: a row for each process that matters by some
 * measure, and one row for the sum of all others.
 */
#ifndef BOURDON_CONSUMER_CAPTURE_CAPTURE_USAGE_H
#define BOURDON_CONSUMER_CAPTURE_CAPTURE_USAGE_H

#include "consumer/target/usage.h"

enum usage_role { USAGE_TARGET, USAGE_OTHER, USAGE_REST, USAGE_ROLES };
extern const char *const usage_role_names[USAGE_ROLES];

/* The number of processes with a row of their own, for each measure. */
#define USAGE_ROWS_A_MEASURE 100U

struct usage_row {
	enum usage_role role;
	struct usage_process process; /* its sums are the usage within the span; USAGE_REST has only sums */
	char *cgroup;                 /* path, or NULL where it is unknown */
	bool shares_cgroup;           /* the string belongs to an earlier row of this cgroup */
};

struct capture_usage {
	struct usage before; /* the last walk before the capture; capture_usage_end() leaves only its time */
	uint64_t to_ns;      /* the last walk in the capture; 0: no walk, and no rows */
	struct usage_row *rows;
	uint32_t count;
	struct usage_sums rest_targets, rest_others; /* the two parts of the USAGE_REST row */
};

/* Adds every measure of `more` to `to`. */
void usage_sums_add(struct usage_sums *to, const struct usage_sums *more);

/* 0 or -ENOMEM. */
int capture_usage_begin(struct capture_usage *ret_usage, const struct usage *now);
void capture_usage_free(struct capture_usage *usage);

/*
 * Returns whether the capture's rule applies to the process. Stores its cgroup's path, which is copied, or
 * NULL.
 */
typedef bool (*capture_usage_describe)(void *user, const struct usage_process *process,
				       const char **ret_cgroup);

/*
 * Adds the usage of the processes that are about to be removed (usage_choose()) to the rest: they get no rows.
 */
void capture_usage_settle(struct capture_usage *usage, const struct usage *now,
			  capture_usage_describe describe, void *user);

/* Makes the rows from the usage up to the last walk. 0 or -ENOMEM: then there are no rows. */
int capture_usage_end(struct capture_usage *usage, const struct usage *now, capture_usage_describe describe,
		      void *user);

#endif
