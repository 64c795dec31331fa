/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * offcpu_budgets.h owns how much the kernel programs may record of intervals off CPU, and counts how long that did not suffice. The
 * recorder calls it, on the draining thread.
 */
#ifndef BOURDON_CONSUMER_OFFCPU_BUDGETS_H
#define BOURDON_CONSUMER_OFFCPU_BUDGETS_H

#include "consumer/process/kernel_objects.h"

#include <stdbool.h>
#include <stdint.h>

/* How often the rings are drained in a second while a capture is under way. */
#define RINGS_DRAINED_HZ 4U

/* The first two are since the start. */
struct offcpu_budgets {
	uint64_t joined_ns;    /* how long intervals were over budget: their time counted with later ones */
	uint64_t over_ns;      /* how long some were lost */
	uint64_t joined, over; /* the kernel's counters, when they were last read */
	uint64_t looked_ns; /* when that was; 0: while no capture, or another number of them, was under way */
};

/*
 * Sets the budgets: while captures are under way, or such that the rings hold the longest history of all rules while none is.
 */
void offcpu_budgets_set(const struct kernel_objects *kernel, bool capturing, uint64_t longest_history_ns);

/* From now on the programs keep slots of intervals that ended since then; 0: none. */
void offcpu_budgets_keep_unread(const struct kernel_objects *kernel, uint64_t since_ns);

/* Counts by steps how long more intervals off CPU ended than the programs have budgets for. */
void offcpu_budgets_look(struct offcpu_budgets *budgets, const struct kernel_objects *kernel, bool capturing,
			 uint64_t now_ns);

#endif
