/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/process/cpu_budget.h"

#include "common/base/clock.h"

#define PPM 1000000U

static uint64_t share_of(const struct cpu_budget *budget, uint64_t span_ns)
{
	return span_ns / PPM * budget->ppm * budget->cpus + span_ns % PPM * budget->ppm * budget->cpus / PPM;
}

static void fill(struct cpu_budget *budget, uint64_t now_ns)
{
	uint64_t saved_ns = (budget->saved_s ? budget->saved_s : CPU_BUDGET_SAVED_S) * CLOCK_SECOND_NS;
	int64_t most_ns = (int64_t)share_of(budget, saved_ns);
	uint64_t span_ns = now_ns - budget->filled_ns;

	if (!budget->filled_ns || span_ns > 100 * saved_ns)
		budget->left_ns = most_ns;
	else
		budget->left_ns += (int64_t)share_of(budget, span_ns);
	if (budget->left_ns > most_ns)
		budget->left_ns = most_ns;
	budget->filled_ns = now_ns;
}

bool cpu_budget_has_time(struct cpu_budget *budget, uint64_t now_ns)
{
	fill(budget, now_ns);
	return budget->left_ns > 0;
}

void cpu_budget_take(struct cpu_budget *budget, uint64_t used_ns)
{
	budget->left_ns -= (int64_t)used_ns;
}
