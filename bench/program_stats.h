/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * program_stats.h owns what the kernel counts of an in-kernel program while somebody asks it to: how often it
 * ran, and how long. A run that left early counts as one.
 */
#ifndef BOURDON_BENCH_PROGRAM_STATS_H
#define BOURDON_BENCH_PROGRAM_STATS_H

#include <stdint.h>

struct program_stats {
	uint64_t runs;
	uint64_t run_ns;
};

/* The kernel counts for as long as the descriptor is open. Returns it or -errno, logged. */
int program_stats_enable(void);

/* Adds what it has counted so far of a program. 0 or -errno. */
int program_stats_add(int program_fd, struct program_stats *stats);

#endif
