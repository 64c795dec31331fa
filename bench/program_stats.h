/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * program_stats.h owns the kernel's statistics of a BPF program while they are enabled: how many times it
 * ran, and how long. A run that returns early counts as a run.
 */
#ifndef BOURDON_BENCH_PROGRAM_STATS_H
#define BOURDON_BENCH_PROGRAM_STATS_H

#include <stdint.h>

struct program_stats {
	uint64_t runs;
	uint64_t run_ns;
};

/* The kernel counts while the descriptor is open. Returns it or -errno, which it logs. */
int program_stats_enable(void);

/* Adds the counts of a program. Returns 0 or -errno. */
int program_stats_add(int program_fd, struct program_stats *stats);

#endif
