/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/pressure_trigger.h"

#include "common/system/log.h"

#include <stdio.h>

static void log_fired(const struct watch *watch, uint64_t observed_us, uint64_t waited_us, bool is_worse)
{
	char before[128] = "";

	if (is_worse && waited_us != WATCH_NOT_KNOWN && watch->own_peak_us != WATCH_NOT_KNOWN)
		snprintf(before, sizeof(before),
			 "; its threads waited %llu ms, worse than the %llu ms that its last capture saw",
			 (unsigned long long)waited_us / 1000, (unsigned long long)watch->own_peak_us / 1000);
	else if (is_worse)
		snprintf(before, sizeof(before), ", worse than the %llu ms that its last capture saw",
			 (unsigned long long)watch->peak_us / 1000);
	log_info("rule %s fired: %s %s stalled %llu ms in %llu ms (%s)%s", watch->rule->name,
		 psi_resource_names[watch->trigger->resource], psi_kind_names[watch->trigger->kind],
		 (unsigned long long)observed_us / 1000, (unsigned long long)watch->trigger->window_us / 1000,
		 watch->cgroup ? watch->cgroup : "system", before);
}

void pressure_trigger_fire(struct recorder *recorder, const struct configuration *configuration,
			   struct watch *watch, uint64_t observed_us, uint64_t now_ns)
{
	struct tracking *tracking = recorder->sources.tracking;
	bool is_quiet = watch_is_quiet(watch, now_ns);
	uint64_t waited_us = waits_at_trigger(&recorder->waits, &recorder->sources, watch, now_ns);
	struct capture_trigger trigger = { .psi = *watch->trigger,
					   .observed_us = observed_us,
					   .triggered_ns = now_ns,
					   .onset_ns = psi_window_onset(&watch->window,
									watch->trigger->stall_us) };

	if (watch_is_captured(watch, now_ns))
		watch_note_own(watch, waited_us);
	if (is_quiet && !watch_is_worse(watch, observed_us, waited_us, now_ns)) {
		recorder_suppress(recorder, watch);
		return;
	}
	tracking_consume(tracking); /* a target may have begun or ended a moment ago */
	if (!tracking_has_target(tracking, watch, now_ns)) {
		own_count(recorder->sources.own_counters, OWN_WITHOUT_TARGET);
		return;
	}
	if (!recorder_begin(recorder, configuration, watch, &trigger, now_ns))
		return;
	log_fired(watch, observed_us, waited_us, is_quiet);
	watch_cool_down(watch, observed_us, waited_us, now_ns);
	recorder_read_history(recorder);
}
