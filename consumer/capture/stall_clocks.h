/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stall_clocks.h owns the consumer's end of the stall clocks (bpf/clocks.h): starting them for one capture at
 * a time, and PSI's own formula over what they count. PSI weighs the stall of each CPU by the time that the
 * CPU was not idle (kernel/sched/psi.c, collect_percpu_times()), every time that somebody reads: so do we,
 * when it is read.
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
	struct clock_sums *last;  /* a CPU each; NULL where nobody runs them */
	struct stall_clock *copy; /* likewise: room for what is read at once */
	uint32_t epoch;
	uint64_t started_ns;
	bool begun;                      /* `last` holds something */
	double some_ns[CLOCK_RESOURCES]; /* by the formula, since they began */
};

/*
 * Of a cgroup and those below it, `level` cgroups below the root; id 0: of all targets. False where they run
 * already.
 */
bool stall_clocks_start(struct stall_clocks *clocks, uint64_t cgroup_id, uint32_t level, uint64_t now_ns);

/*
 * How long targets stalled by PSI's formula, running totals in us. False in the first second, in which those
 * that run without a break are yet to be met.
 */
bool stall_clocks_read(struct stall_clocks *clocks, uint64_t now_ns, uint64_t ret_some_us[CLOCK_RESOURCES]);

void stall_clocks_stop(struct stall_clocks *clocks);

#endif
