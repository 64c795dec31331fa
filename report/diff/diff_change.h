/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * diff_change.h owns what changed from A to B: of each function and each stack the time a second and the share of all, and
 * whether chance explains the change (significance.h). A rate is the time of all threads together for each second that
 * was recorded, so that recordings of any length compare, and so do those of another sampling rate.
 * Room: `diff`: two sets of captures, and whether what differs is chance. It reads one or two databases.
 */
#ifndef BOURDON_REPORT_DIFF_DIFF_CHANGE_H
#define BOURDON_REPORT_DIFF_DIFF_CHANGE_H

#include "report/diff/diff_samples.h"
#include "report/diff/significance.h"

/* A change whose P is below this is no chance. Of all rows together: no such row in 99 of 100 pairs that do not differ. */
#define DIFF_LEVEL 0.01

/* Of a function, a stack, or all samples. */
struct diff_row {
	uint32_t function;             /* of a function's row */
	uint32_t comm, stack;          /* of a stack's: one of those that the row stands for */
	int64_t samples[DIFF_SIDES];   /* or intervals off CPU that ended */
	int64_t weight_ns[DIFF_SIDES]; /* time of all threads */
	double ns_per_s[DIFF_SIDES];
	double percent[DIFF_SIDES]; /* of all samples of the side; negative: it has none */
	double p, share_p; /* that chance changes the rate, or the share, as much; negative: not judged */
	bool is_changed;   /* one of them is below DIFF_LEVEL and, of waiting, the change is not tiny */
	/* of a stack's row: the stack with most time of each side; PROFILE_NONE: none */
	uint32_t largest[DIFF_SIDES];
};

struct diff_change {
	struct diff_row all;
	struct diff_row *functions, *stacks; /* the changed ones first, then by how much the rate changed */
	uint32_t functions_count, stacks_count;
	uint32_t functions_changed, stacks_changed;
	double span_s[DIFF_SIDES];  /* that was recorded */
	uint32_t units[DIFF_SIDES]; /* of time, for the test; each `unit_s` seconds long */
	uint32_t unit_s;
	uint32_t tested; /* functions and stacks whose numbers are large enough to tell anything */
	struct significance_test test;
};

/* By functions with their callees, or themselves. Returns 0 or -ENOMEM; the caller frees with diff_change_free(). */
int diff_change_find(const struct diff_samples *samples, bool off_cpu, bool by_total,
		     struct diff_change *ret_change);
void diff_change_free(struct diff_change *change);
#define _cleanup_diff_change_ _cleanup_(diff_change_free)

#endif
