/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * capture_usage.h owns who had how much of the machine while a capture was taken: the processes that matter
 * by any measure, and the sum of all others.
 */
#ifndef BOURDON_CONSUMER_CAPTURE_CAPTURE_USAGE_H
#define BOURDON_CONSUMER_CAPTURE_CAPTURE_USAGE_H

#include "consumer/target/usage.h"

enum usage_role { USAGE_TARGET, USAGE_OTHER, USAGE_REST, USAGE_ROLES };
extern const char *const usage_role_names[USAGE_ROLES];

/* So many by each measure have a row of their own. */
#define USAGE_ROWS_A_MEASURE 100U

struct usage_row {
	enum usage_role role;
	struct usage_process
		process; /* its sums are what it had in the span; of USAGE_REST nothing else is set */
	char *cgroup;    /* path, or NULL where it is not known */
};

struct capture_usage {
	struct usage before; /* the walk before the capture */
	uint64_t to_ns;      /* the last one in it; 0: there was none, and there are no rows */
	struct usage_row *rows;
	uint32_t count;
	struct usage_sums rest_targets, rest_others; /* the two parts of the row of USAGE_REST */
};

/* Every measure of one to that of the other. */
void usage_sums_add(struct usage_sums *to, const struct usage_sums *more);

/* 0 or -ENOMEM. */
int capture_usage_begin(struct capture_usage *ret_usage, const struct usage *now);
void capture_usage_free(struct capture_usage *usage);

/* Whether the capture's rule applies to the process, and its cgroup's path (which is copied), or NULL. */
typedef bool (*capture_usage_describe)(void *user, const struct usage_process *process,
				       const char **ret_cgroup);

/* Makes the rows, of all that was used until the last walk. 0 or -ENOMEM: then there are none. */
int capture_usage_end(struct capture_usage *usage, const struct usage *now, capture_usage_describe describe,
		      void *user);

#endif
