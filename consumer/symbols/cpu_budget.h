/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cpu_budget.h owns how much CPU time the symbolizers may use at the daemon's own priority (`[symbols] budget`): a share of the
 * machine's CPU time, saved up for some seconds while none is used. For one thread.
 */
#ifndef BOURDON_CONSUMER_SYMBOLS_CPU_BUDGET_H
#define BOURDON_CONSUMER_SYMBOLS_CPU_BUDGET_H

#include "common/symbolizer/spawner.h"

#include <stdint.h>

/* Zeros are a budget that is full at the first use. */
struct cpu_budget {
	uint32_t ppm;    /* of the machine's CPU time; set it at any time */
	uint32_t cpus;   /* of the machine */
	int64_t left_ns; /* negative: more was used than there was */
	uint64_t filled_ns;
};

/* Returns SYMBOLIZER_NOW while there is CPU time left, else SYMBOLIZER_SOON. */
enum symbolizer_priority cpu_budget_priority(struct cpu_budget *budget, uint64_t now_ns);

/* Takes off CPU time that was used at SYMBOLIZER_NOW. */
void cpu_budget_take(struct cpu_budget *budget, uint64_t used_ns);

#endif
