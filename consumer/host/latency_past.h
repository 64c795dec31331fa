/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * latency_past.h owns what rules on latencies look back to: the counts of the epochs that ended, by metric and owner. The kernel's
 * table keeps three epochs for certain, and windows may be longer. For the draining thread.
 */
#ifndef BOURDON_CONSUMER_HOST_LATENCY_PAST_H
#define BOURDON_CONSUMER_HOST_LATENCY_PAST_H

#include "common/protocol/latency_metrics.h"

#include <stdbool.h>
#include <stdint.h>

/* Of all buckets of a metric. A group's storm loses the oldest epochs first. */
#define LATENCY_PAST_MAX 65536U

struct latency_entry {
	uint64_t owner; /* the id of a cgroup; 0: not told */
	uint64_t count;
	uint32_t epoch;
	uint16_t bucket;
	uint8_t metric;
};

/* Begins as zeros. Entries are in the order of epochs, and within one of metric, owner and bucket, each of which is there once. */
struct latency_past {
	struct latency_entry *entries;
	uint32_t count, room;
	uint32_t fresh; /* since the last latency_past_settle() */
};

void latency_past_free(struct latency_past *past);

/* Adds the count of an epoch that ended, which was not added before. 0 or -ENOMEM; then it is left out. */
int latency_past_add(struct latency_past *past, const struct latency_entry *entry);

/* Call it after those of one reading: puts them in order, and forgets the epochs before `from_epoch`. */
void latency_past_settle(struct latency_past *past, uint64_t from_epoch);

/* A window's values of one owner. */
struct latency_run {
	uint64_t owner;
	uint64_t count;
	uint64_t above;                      /* in buckets that begin at the limit or beyond */
	bool is_above_last;                  /* some of them are of the window's last epoch */
	const struct latency_entry *entries; /* by bucket, of several epochs */
	uint32_t entries_count;
};

struct latency_runs {
	struct latency_entry *entries;
	struct latency_run *each; /* by owner */
	uint32_t count;
};

/*
 * Takes a window's values apart: those of `metric` of the epochs `from` to `last`, by their owners. 0 or -ENOMEM; the caller calls
 * latency_runs_free() after 0.
 */
int latency_past_runs(const struct latency_past *past, uint32_t metric, uint64_t limit_ns, uint64_t from,
		      uint64_t last, struct latency_runs *ret_runs);
void latency_runs_free(struct latency_runs *runs);

#endif
