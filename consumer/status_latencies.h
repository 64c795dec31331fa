/* SPDX-License-Identifier: GPL-2.0-only */
/* status_latencies.h owns the part of the status (status.h) that tells which latencies are measured, and how well. */
#ifndef BOURDON_CONSUMER_STATUS_LATENCIES_H
#define BOURDON_CONSUMER_STATUS_LATENCIES_H

#include "consumer/measuring.h"

#include <stdio.h>

/* What became of a metric's events within the last TALLY_EPOCHS epochs. */
struct latency_state {
	uint64_t events, lost, unpaired, absurd;
};

/* Sums the tallies of a reading up. */
void latency_states_sum(const struct histogram_reading *reading, uint64_t now_epoch,
			struct latency_state ret_states[METRICS]);

/* Writes which groups are on, and of each metric that had events what became of them. */
void status_write_latencies(const struct measuring *latencies, const struct latency_state states[METRICS],
			    FILE *out);

/* What is wrong with so many percent of a metric's events, and what to do: constant texts. False: nothing. */
bool latency_state_is_bad(const struct latency_state *state, double *ret_percent, const char **ret_problem,
			  const char **ret_remedy);

/* Reads the tallies. 0 or -errno; then the states are zeros. */
int latency_states_read(const struct measuring *latencies, struct latency_state ret_states[METRICS]);

#endif
