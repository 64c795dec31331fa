/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rate.h limits events: so many at once, and so many a second on average. The state of a limit is one time,
 * so that it can be kept in a file: the time at which `burst` events are possible again, 0 at first. All times
 * are of one clock, in ns.
 */
#ifndef BOURDON_COMMON_BASE_RATE_H
#define BOURDON_COMMON_BASE_RATE_H

#include "common/base/clock.h"

#include <stdint.h>

struct rate {
	uint32_t burst, per_second; /* neither is 0 */
};

static inline uint64_t rate_interval_ns(struct rate rate)
{
	return CLOCK_SECOND_NS / rate.per_second;
}

/* The number of events that are possible now. */
static inline uint32_t rate_left(struct rate rate, uint64_t full_ns, uint64_t now_ns)
{
	uint64_t interval_ns = rate_interval_ns(rate);
	uint64_t missing = full_ns > now_ns ? (full_ns - now_ns + interval_ns - 1) / interval_ns : 0;

	return missing < rate.burst ? rate.burst - (uint32_t)missing : 0;
}

/* Notes one event; only if one is left. */
static inline void rate_take(struct rate rate, uint64_t *full_ns, uint64_t now_ns)
{
	*full_ns = (*full_ns > now_ns ? *full_ns : now_ns) + rate_interval_ns(rate);
}

/* The latest state that events can have led to. A later one is damaged, or from before a restart of the clock. */
static inline uint64_t rate_full_most_ns(struct rate rate, uint64_t now_ns)
{
	return now_ns + rate.burst * rate_interval_ns(rate);
}

#endif
