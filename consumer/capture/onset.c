/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/capture/onset.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"

/* Of history: longer ones are not looked at. */
#define SECONDS_MAX 3600U

/* The stall classes that count for the resource. */
static uint8_t stall_of(enum psi_resource resource)
{
	static const uint8_t stalls[PSI_RESOURCES] = {
		[PSI_CPU] = STALL_CPU, [PSI_MEMORY] = STALL_MEMORY, [PSI_IO] = STALL_IO
	};

	return stalls[resource];
}

/* Adds up the waiting of each second before the trigger: waited_ns[0] is the last one. */
static void add_up(const struct capture *capture, uint64_t *waited_ns, uint32_t seconds)
{
	uint8_t stall = stall_of(capture->trigger.psi.resource);

	for (uint32_t i = 0; i < capture->rows_count; i++) {
		const struct capture_row *row = &capture->rows[i];

		if (row->stall & stall && row->second < 0 && row->second >= -(int32_t)seconds &&
		    capture->processes[row->process].role == USAGE_TARGET)
			waited_ns[-row->second - 1] += row->weight_ns;
	}
}

struct onset onset_find(const struct capture *capture)
{
	uint64_t history_ns = capture_available_offcpu_history_ns(capture),
		 whole = history_ns / CLOCK_SECOND_NS;
	uint32_t seconds = whole < SECONDS_MAX ? (uint32_t)whole : SECONDS_MAX, before = 0;
	const struct trigger *psi = &capture->trigger.psi;
	_cleanup_free_ uint64_t *waited_ns = calloc(seconds + 1UL, sizeof(*waited_ns));
	uint64_t least_ns;

	if (!waited_ns || !psi->window_us)
		return (struct onset){ 0 };
	add_up(capture, waited_ns, seconds);
	least_ns = psi->stall_us * CLOCK_SECOND_NS / psi->window_us / 2;
	while (before < seconds && waited_ns[before] && waited_ns[before] >= least_ns)
		before++;
	return (struct onset){ before, before && before == seconds };
}
