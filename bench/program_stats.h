/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * program_stats.h reads the kernel's statistics of in-kernel programs: number of runs and CPU time. Runs that
 * return early count, too.
 */
#ifndef BOURDON_BENCH_PROGRAM_STATS_H
#define BOURDON_BENCH_PROGRAM_STATS_H

#include <stdint.h>

struct program_stats {
	uint64_t runs;
	uint64_t run_ns;
};

/* The kernel counts while the descriptor is open. Returns it, or -errno after logging the error. */
int program_stats_enable(void);

/* Adds the program's statistics so far. Returns 0 or -errno. */
int program_stats_add(int program_fd, struct program_stats *stats);

#endif
