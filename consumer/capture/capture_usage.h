/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * capture_usage.h owns the resource usage of a capture's span: a row for each process that matters by some
 * measure, and one row for the sum of all others.
 */
#ifndef BOURDON_CONSUMER_CAPTURE_CAPTURE_USAGE_H
#define BOURDON_CONSUMER_CAPTURE_CAPTURE_USAGE_H

#include "consumer/capture/interrupt_time.h"
#include "consumer/capture/kill_rows.h"
#include "consumer/capture/machine_bytes.h"
#include "consumer/capture/machine_time.h"
#include "consumer/host/usage.h"

enum usage_role { USAGE_TARGET, USAGE_OTHER, USAGE_KERNEL, USAGE_REST, USAGE_ROLES };
extern const char *const usage_role_names[USAGE_ROLES];

/* The number of processes with a row of their own, for each measure. */
#define USAGE_ROWS_A_MEASURE 100U

struct usage_row {
	enum usage_role role;
	struct usage_process process; /* its sums are the usage within the span; USAGE_REST has only sums */
	const char *cgroup;           /* path, of shared_text.h, or NULL where it is unknown */
};

/* Processes that began and ended within the span, between two walks, with one name, parent and cgroup. */
struct ended_row {
	enum usage_role role;
	struct ended_key
		key; /* without a name: those that have no row of their own, or that root's policy denies */
	struct ended_sums sums;
	const char *cgroup; /* path, of shared_text.h, or NULL where it is unknown */
};

/* With a row of their own; the others are summed in one row with ENDED_OVERFLOW. */
#define ENDED_ROWS_MAX 256U

struct capture_usage {
	struct usage before; /* the last walk before the capture; capture_usage_end() leaves only its time */
	uint64_t to_ns;      /* the last walk in the capture; 0: no walk, and no rows */
	struct usage_row *rows;
	uint32_t count;
	struct usage_sums rest_targets, rest_others, rest_kernel; /* the parts of the USAGE_REST row */
	struct ended_row *ended;                                  /* the largest first */
	uint32_t ended_count;
	struct machine_time machine;
	struct machine_bytes bytes;
	struct interrupt_time interrupts;
	struct kill_rows kills;
};

/* Adds every measure of `more` to `to`. */
void usage_sums_add(struct usage_sums *to, const struct usage_sums *more);

/* Who describes the processes of a capture: targets, or whom else. */
struct capture_usage_scope {
	/*
	 * Returns whether the capture's rule applies to the process. Stores its cgroup's path, which is copied, or
	 * NULL.
	 */
	bool (*describe)(void *user, const struct usage_process *process, const char **ret_cgroup);
	/* The same of processes that have ended. */
	bool (*describe_ended)(void *user, const struct ended_key *key, const char **ret_cgroup);
	void *user;
};

/* 0 or -ENOMEM. */
int capture_usage_begin(struct capture_usage *ret_usage, const struct usage *now);
void capture_usage_free(struct capture_usage *usage);

/*
 * Adds the usage of the processes that are about to be removed (usage_choose()) to the rest: they get no rows.
 */
void capture_usage_settle(struct capture_usage *usage, const struct usage *now,
			  const struct capture_usage_scope *scope);

/* Makes the rows from the usage up to the last walk, and of kills up to now. 0 or -ENOMEM: then there are no rows. */
int capture_usage_end(struct capture_usage *usage, const struct usage *now,
		      const struct capture_usage_scope *scope);

#endif
