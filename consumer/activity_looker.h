/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * activity_looker.h owns when the activity of all threads is looked at: at the configured interval, for as long as looks take
 * no more than a hundredth of a CPU. It collects the looks minute by minute of the wall clock, for the worker thread to write.
 */
#ifndef BOURDON_CONSUMER_ACTIVITY_LOOKER_H
#define BOURDON_CONSUMER_ACTIVITY_LOOKER_H

#include "common/base/clock.h"
#include "common/system/log.h"
#include "consumer/host/activity_minute.h"
#include "consumer/process/cpu_budget.h"
#include "consumer/process/own_counters.h"
#include "consumer/worker/worker.h"

struct activity_looker {
	const struct kernel_objects *kernel;
	struct cgroups *cgroups;
	struct own_counters *own_counters;
	struct worker *worker;
	const struct clock *clock;
	uint64_t interval_ns; /* 0: off */
	uint64_t due_ns;      /* of the next step, CLOCK_MONOTONIC; 0: none is due */
	struct activity_counts counts;
	struct activity_minute *minute; /* NULL: the next step begins one */
	uint32_t step, steps_max;       /* of the minute: the next one, and how many it may have */
	struct cpu_budget budget;       /* of looks */
	bool has_warned;                /* of skipped looks, since the interval was set */
	struct log_limit failed_limit, lost_limit;
};

void activity_looker_open(struct activity_looker *looker, const struct kernel_objects *kernel,
			  struct cgroups *cgroups, struct own_counters *own_counters,
			  const struct clock *clock);

/* Accepts a zeroed structure that was never opened. */
void activity_looker_close(struct activity_looker *looker);

void activity_looker_start(struct activity_looker *looker, struct worker *worker);

/* From one look to the next; 0: none. Another interval ends the minute. */
void activity_looker_set_interval(struct activity_looker *looker, uint64_t interval_ns);

/* Takes the step that is due, if one is. */
void activity_looker_look(struct activity_looker *looker);

/* Hands what there is of the minute to the worker thread. */
void activity_looker_interrupt(struct activity_looker *looker);

#endif
