/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/recorder.h"

#include "common/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct describing {
	const struct recorder *recorder;
	const struct active *active;
};

static bool describe(void *user, const struct sample *sample, struct capture_process *process)
{
	const struct describing *describing = user;
	const struct active *active = describing->active;
	const struct target_process *target =
		targets_find(describing->recorder->targets, sample->tgid, sample->started_ns);
	const char *cgroup = cgroups_path(describing->recorder->cgroups, sample->cgroup_id);

	/* a cgroup that is not known yet may be known at the next sample: better a counted loss than a guess
	 */
	if (!target || (!cgroup && (active->rule->cgroup || active->cgroup)))
		return false;
	process->uid = target->uid;
	memcpy(process->comm, target->comm, sizeof(process->comm));
	process->cgroup = cgroup ? strdup(cgroup) : NULL;
	process->included = rule_applies(active->rule, target->comm, cgroup ? cgroup : "") &&
			    (!active->cgroup || cgroup_is_within(cgroup, active->cgroup));
	return true;
}

static void drain(const struct recorder *recorder, const struct active *active)
{
	struct describing describing = { recorder, active };

	capture_drain(active->capture, describe, &describing);
}

static uint64_t grown(const struct active *active, const uint64_t now[COUNTERS], size_t counter)
{
	return now[counter] - active->counters_at_begin[counter];
}

/* Closes the ledger and hands the capture over. */
static void end_capture(struct recorder *recorder, size_t position, bool interrupted)
{
	struct active *active = &recorder->active[position];
	uint64_t counters[COUNTERS];

	capture_end(active->capture, clock_monotonic_ns(), interrupted);
	if (!counters_read(recorder->pinned->map_fds[PIN_COUNTERS], counters)) {
		active->capture->losses[LOSS_NOT_TAKEN] = grown(active, counters, COUNTER_SAMPLES_QUIET);
		active->capture->losses[LOSS_TARGETS_FULL] = grown(active, counters, COUNTER_TARGETS_FULL);
		active->capture->losses[LOSS_EVENTS] = grown(active, counters, COUNTER_EVENTS_LOST);
	}
	active->capture->losses[LOSS_STALE_EVENTS] =
		own_counted(recorder->own_counters, OWN_STALE_EVENTS) - active->stale_at_begin;
	store_thread_commit(recorder->store, active->capture);
	free(active->cgroup);
	*active = recorder->active[--recorder->active_count];
}

int recorder_begin(struct recorder *recorder, const struct configuration *configuration,
		   const struct watch *watch, uint64_t observed_us, uint64_t now_ns)
{
	struct active *active = &recorder->active[recorder->active_count];
	struct capture_cause cause = { .rule_id = watch->rule->id,
				       .trigger = *watch->trigger,
				       .mode = watch->mode,
				       .observed_us = observed_us,
				       .triggered_ns = now_ns,
				       .triggered_at = clock_wall_ns(),
				       .history_ns = watch->rule->history_ns,
				       .capture_ns = watch->rule->capture_ns,
				       .hz = recorder->pinned->manifest.hz };

	if (recorder->active_count == STORE_CAPTURES_MAX)
		return -EBUSY;
	*active = (struct active){ .configuration = configuration,
				   .rule = watch->rule,
				   .stale_at_begin = own_counted(recorder->own_counters, OWN_STALE_EVENTS) };
	memcpy(cause.rule, watch->rule->name, sizeof(cause.rule));
	cause.cgroup = watch->cgroup ? strdup(watch->cgroup) : NULL;
	active->cgroup = watch->cgroup ? strdup(watch->cgroup) : NULL;
	if (!watch->cgroup || (cause.cgroup && active->cgroup))
		active->capture = capture_begin(&cause, &recorder->rings, recorder->seed);
	if (!active->capture) {
		free(cause.cgroup);
		free(active->cgroup);
		return -ENOMEM;
	}
	counters_read(recorder->pinned->map_fds[PIN_COUNTERS], active->counters_at_begin);
	active->capture->losses[LOSS_WATCH_SUPPRESSED] = watch->suppressed;
	if (!store_thread_begin(recorder->store, active->capture)) {
		capture_free(active->capture);
		free(active->cgroup);
		return -EBUSY;
	}
	recorder->active_count++;
	own_count(recorder->own_counters, OWN_CAPTURES);
	return 0;
}

void recorder_drain_newest(struct recorder *recorder)
{
	drain(recorder, &recorder->active[recorder->active_count - 1]);
}

void recorder_tick(struct recorder *recorder, uint64_t now_ns)
{
	for (size_t i = recorder->active_count; i-- > 0;) {
		drain(recorder, &recorder->active[i]);
		if (capture_is_over(recorder->active[i].capture, now_ns))
			end_capture(recorder, i, false);
	}
}

void recorder_note_unsampled(struct recorder *recorder, unsigned int cpus)
{
	for (size_t i = 0; i < recorder->active_count; i++) {
		uint64_t *worst = &recorder->active[i].capture->losses[LOSS_CPUS_UNSAMPLED];

		if (cpus > *worst)
			*worst = cpus;
	}
}

void recorder_interrupt(struct recorder *recorder)
{
	while (recorder->active_count) {
		drain(recorder, &recorder->active[0]);
		end_capture(recorder, 0, true);
	}
}

bool recorder_uses(const struct recorder *recorder, const struct configuration *configuration)
{
	for (size_t i = 0; i < recorder->active_count; i++)
		if (recorder->active[i].configuration == configuration)
			return true;
	return false;
}
