/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * looker.h owns when the threads are looked at: at the configured rate while captures are under way, or more seldom where
 * looks would take more than their share of a CPU.
 */
#ifndef BOURDON_CONSUMER_LOOKER_H
#define BOURDON_CONSUMER_LOOKER_H

#include "common/base/clock.h"
#include "common/system/log.h"
#include "consumer/host/looks.h"

struct looker {
	const struct kernel_objects *kernel;
	const struct clock *clock;
	uint32_t hz;      /* 0: none */
	bool is_wanted;   /* a capture is under way */
	uint64_t due_ns;  /* of the next look, CLOCK_MONOTONIC; 0: none is due */
	uint64_t from_ns; /* CPU time of this thread when the last look began */
	struct looks looks;
	struct log_limit failed_limit;
};

void looker_open(struct looker *looker, const struct kernel_objects *kernel, const struct clock *clock);

/* Accepts a zeroed structure that was never opened. */
void looker_close(struct looker *looker);

/* Looks a second, from the next one on. */
void looker_set_rate(struct looker *looker, uint32_t hz);

/* Captures are under way, or no more. The first look is due at once. */
void looker_want(struct looker *looker, bool is_wanted);

/* Returns true if a look was due and was taken, which is in looker->looks; then call looker_rest() after its use. */
bool looker_take(struct looker *looker);

/* Sets the time of the next look, by what this one has taken of this thread's CPU time. */
void looker_rest(struct looker *looker);

#endif
