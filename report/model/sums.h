/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sums.h owns the sections of why that add up the samples of a profile. Each function returns 0 or -ENOMEM; the caller
 * frees the rows, and the profile outlives them.
 */
#ifndef BOURDON_REPORT_MODEL_SUMS_H
#define BOURDON_REPORT_MODEL_SUMS_H

#include "report/model/profile.h"
#include "report/model/rows.h"

/* Time off CPU by what the threads waited for, the longest first. */
int sums_of_stalls(const struct profile *profile, struct rows *ret_rows);

/* At most `limit` processes with most samples on CPU. */
int sums_of_processes(const struct profile *profile, uint32_t limit, struct rows *ret_rows);

/* Samples on CPU by second. */
int sums_of_seconds(const struct profile *profile, struct rows *ret_rows);

/*
 * At most `limit` stacks with most samples on CPU or, if `resource` is not NULL, with most time off CPU in which their
 * threads stalled on it, or waited for whatever if it is "". Stacks with the same functions at different lines are one row, which has the frames of one of
 * them.
 */
int sums_of_stacks(const struct profile *profile, const char *resource, uint32_t limit,
		   struct rows *ret_rows);

/* Whether a stall, such as memory+io, is one on this resource. */
bool sums_stalls_on(const char *stall, const char *resource);

/* The time from the trigger on that threads stalled on the resource, all threads added up. */
int64_t sums_stalled_ns(const struct profile *profile, const char *resource);

/* Whether a stall, such as memory+io, is one on this resource. */
bool sums_stalls_on(const char *stall, const char *resource);

#endif
