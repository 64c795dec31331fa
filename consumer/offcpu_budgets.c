/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/offcpu_budgets.h"

#include "common/base/clock.h"
#include "common/protocol/counters.h"

/*
 * Budgets per CPU and second. A stack costs about 2 us: 0.1 % of a CPU while no capture is under way, at most
 * 0.8 % during a capture. The budget of slots is such that the ring does not wrap within the longest history,
 * or between two drains.
 */
#define STACKS_HZ_CALM 500U
#define STACKS_HZ_CAPTURING 4000U
#define DRAINS_A_RING 2U

/*
 * The shortest wait that gets a slot. It is longer while no capture is under way, so that the rings hold the
 * whole history.
 */
#define OFFCPU_MIN_CALM_NS 20000000U
#define OFFCPU_MIN_CAPTURING_NS 1000000U

void offcpu_budgets_set(const struct kernel_objects *kernel, bool capturing, uint64_t longest_history_ns)
{
	uint64_t slots = kernel->manifest.slots_per_cpu, slots_hz;

	slots_hz = capturing ? slots * RINGS_DRAINED_HZ / DRAINS_A_RING
			     : slots * CLOCK_SECOND_NS / (longest_history_ns + CLOCK_SECOND_NS);
	__atomic_store_n(&kernel->control->offcpu_slots_hz, (uint32_t)(slots_hz ? slots_hz : 1),
			 __ATOMIC_RELAXED);
	__atomic_store_n(&kernel->control->offcpu_min_ns,
			 capturing ? OFFCPU_MIN_CAPTURING_NS : OFFCPU_MIN_CALM_NS, __ATOMIC_RELAXED);
	__atomic_store_n(&kernel->control->offcpu_stacks_hz, capturing ? STACKS_HZ_CAPTURING : STACKS_HZ_CALM,
			 __ATOMIC_RELAXED);
}

void offcpu_budgets_keep_unread(const struct kernel_objects *kernel, uint64_t since_ns)
{
	__atomic_store_n(&kernel->control->offcpu_unread_ns, since_ns, __ATOMIC_RELEASE);
}

void offcpu_budgets_look(struct offcpu_budgets *budgets, const struct kernel_objects *kernel, bool capturing,
			 uint64_t now_ns)
{
	uint64_t counters[COUNTERS];

	if (counters_read(kernel->map_fds[PIN_COUNTERS], counters) < 0)
		return;
	if (capturing && budgets->looked_ns) {
		budgets->joined_ns +=
			counters[COUNTER_OFFCPU_JOINED] != budgets->joined ? now_ns - budgets->looked_ns : 0;
		budgets->over_ns +=
			counters[COUNTER_OFFCPU_UNSTACKED] != budgets->over ? now_ns - budgets->looked_ns : 0;
	}
	budgets->joined = counters[COUNTER_OFFCPU_JOINED];
	budgets->over = counters[COUNTER_OFFCPU_UNSTACKED];
	budgets->looked_ns = now_ns;
}
