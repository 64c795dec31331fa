/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * histograms.h reads the histograms of latencies that the kernel programs keep (common/abi/latency.h), and switches their groups on
 * and off. The draining thread calls it. A reading copies a megabyte and a half for each group, in a millisecond.
 */
#ifndef BOURDON_CONSUMER_HOST_HISTOGRAMS_H
#define BOURDON_CONSUMER_HOST_HISTOGRAMS_H

#include "consumer/process/kernel_objects.h"

#include <stdint.h>

/* Which groups are on, and since when (CLOCK_MONOTONIC). Begins as zeros. */
struct histograms_on {
	uint32_t groups; /* a bit for each LATENCY_* */
	uint64_t since_ns[LATENCY_GROUPS];
};

/* Has the programs measure these groups, as far as the loader offers them, and no others. Returns those that it does not offer. */
uint32_t histograms_switch(struct histograms_on *on, const struct kernel_objects *kernel, uint32_t groups,
			   uint64_t now_ns);

/* What one epoch has of one bucket. There may be two of the same key and epoch: add them up. */
struct histogram_count {
	struct histogram_key key; /* with the bucket */
	uint64_t epoch, count, sum;
};

/* Of all CPUs; epoch 0: nothing happened in that one. */
struct histogram_events {
	uint64_t epoch, events, overflow, unpaired, absurd;
};

/* Begins as zeros. */
struct histogram_reading {
	struct histogram_count *counts;
	uint32_t count, room;
	struct histogram_events tallies[METRICS][TALLY_EPOCHS]; /* by epoch % TALLY_EPOCHS */
};

/*
 * Reads all tallies, and what the groups have of the epochs since `from_epoch`: it takes the time of those in which something happened.
 * 0 or -errno; the caller calls histograms_free() in either case.
 */
int histograms_read(struct histogram_reading *reading, const struct kernel_objects *kernel,
		    uint64_t from_epoch, uint32_t groups);
void histograms_free(struct histogram_reading *reading);

/* The parts of histograms_read() that need no kernel, for tests. 0 or -ENOMEM. */
int histograms_add_set(struct histogram_reading *reading, const struct histogram_set *set,
		       uint64_t from_epoch);
void histograms_add_tally(struct histogram_reading *reading, uint32_t position,
			  const struct histogram_tally *of_cpus, unsigned int cpus);

#endif
