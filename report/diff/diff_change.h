/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * diff_change.h owns what changed from A to B: of each function and each stack the time a second and the share of all, and
 * whether chance explains the change (significance.h). A rate is the time of all threads together for each second that
 * was recorded, so that recordings of any length compare, and so do those of another sampling rate.
 * Room: `diff`: two sets of captures, and whether what differs is chance. It reads one or two databases.
 */
#ifndef BOURDON_REPORT_DIFF_DIFF_CHANGE_H
#define BOURDON_REPORT_DIFF_DIFF_CHANGE_H

#include "report/diff/diff_rows.h"

/* By functions with their callees, or themselves. Returns 0 or -ENOMEM; the caller frees with diff_change_free(). */
int diff_change_find(const struct diff_samples *samples, bool off_cpu, bool by_total,
		     struct diff_change *ret_change);
void diff_change_free(struct diff_change *change);
#define _cleanup_diff_change_ _cleanup_(diff_change_free)

#endif
