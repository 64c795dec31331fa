/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cpu_budget.h owns how much CPU time something may use: a share of the machine's CPU time, or of one CPU's, saved up for some seconds
 * while none is used. For one thread.
 */
#ifndef BOURDON_CONSUMER_PROCESS_CPU_BUDGET_H
#define BOURDON_CONSUMER_PROCESS_CPU_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#define CPU_BUDGET_SAVED_S 20U

/* Zeros are a budget that is full at the first use. */
struct cpu_budget {
	uint32_t ppm;     /* of the CPUs' time; set it at any time */
	uint32_t cpus;    /* how many there are */
	uint32_t saved_s; /* the time of so many seconds is saved up; 0: of CPU_BUDGET_SAVED_S */
	int64_t left_ns;  /* negative: more was used than there was */
	uint64_t filled_ns;
};

/* Whether there is CPU time left. */
bool cpu_budget_has_time(struct cpu_budget *budget, uint64_t now_ns);

/* Takes off CPU time that was used. */
void cpu_budget_take(struct cpu_budget *budget, uint64_t used_ns);

#endif
