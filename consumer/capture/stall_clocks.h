/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stall_clocks.h owns the consumer's side of the stall clocks (bpf/clocks.h): it starts them for one capture
 * at a time and applies PSI's formula to their counts. PSI weighs the stall of each CPU by that CPU's
 * non-idle time at every reading (kernel/sched/psi.c, collect_percpu_times()); so does this module.
 */
#ifndef BOURDON_CONSUMER_CAPTURE_STALL_CLOCKS_H
#define BOURDON_CONSUMER_CAPTURE_STALL_CLOCKS_H

#include "consumer/process/kernel_objects.h"

#include <stdbool.h>

struct clock_sums {
	uint64_t nonidle_ns, some_ns[CLOCK_RESOURCES];
};

struct stall_clocks {
	const struct kernel_objects *kernel;
	struct clock_sums *last;  /* one for each CPU; NULL while the clocks do not run */
	struct stall_clock *copy; /* likewise: room for one reading */
	uint32_t epoch;
	uint64_t started_ns;
	bool begun;                      /* `last` is valid */
	double some_ns[CLOCK_RESOURCES]; /* running totals by the formula, since the clocks started */
};

/*
 * Starts the clocks for the targets in a cgroup and its descendants, `level` cgroups below the root; id 0:
 * for all targets. Returns false where they run already.
 */
bool stall_clocks_start(struct stall_clocks *clocks, uint64_t cgroup_id, uint32_t level, uint64_t now_ns);

/*
 * Reads how long the targets stalled, by PSI's formula: running totals in us. Returns false in the first
 * second, until threads that run without a break have been seen.
 */
bool stall_clocks_read(struct stall_clocks *clocks, uint64_t now_ns, uint64_t ret_some_us[CLOCK_RESOURCES]);

void stall_clocks_stop(struct stall_clocks *clocks);

#endif
