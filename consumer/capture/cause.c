/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/capture/cause.h"

#include "consumer/capture/cause_cpu.h"
#include "consumer/capture/cause_io.h"
#include "consumer/capture/cause_memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Targets that waited less than this are not hurt. */
#define NEGLIGIBLE_PERCENT 5

#define QUOTA_NOT_EXAMINED                                                                                   \
	"; the CPU controller is not that of cgroup v2: a quota of cgroup v1 would not be seen"

/*
 * Adds what may be the reason besides those who ran: with a quota, threads wait while CPUs are idle, and a wait for a CPU
 * looks the same.
 */
static void add_unexamined(struct cause *cause, const struct capture *capture)
{
	const struct machine_time *machine = &capture->usage.machine;
	size_t used = strlen(cause->because);

	if ((!strcmp(cause->verdict, CAUSE_COMPETING) || !strcmp(cause->verdict, CAUSE_OWN_THREADS)) &&
	    capture->trigger.psi.resource == PSI_CPU && !capture->kernel_stats.counts_quotas &&
	    machine->parts_ns[MACHINE_IDLE] > machine->total_ns / 10)
		snprintf(cause->because + used, sizeof(cause->because) - used, "%s", QUOTA_NOT_EXAMINED);
}

/* Adds since when the resource is short. */
static void add_onset(struct cause *cause, struct onset onset)
{
	size_t used = strlen(cause->because);

	if (onset.before_s)
		snprintf(cause->because + used, sizeof(cause->because) - used,
			 onset.at_least ? "; the stall is older than the %" PRIu32 " s of history"
					: "; the stall began %" PRIu32 " s before the trigger",
			 onset.before_s);
}

/* The share of its window in which the trigger saw a stall, or of the time since then: the larger one. */
static double stalled_share(const struct facts *facts)
{
	const struct capture_trigger *trigger = &facts->capture->trigger;
	double before = trigger->psi.window_us ? (double)trigger->observed_us / (double)trigger->psi.window_us
					       : 0;
	double since = facts_span_ns(facts) ? (double)facts->stalled_ns / (double)facts_span_ns(facts) : 0;

	return before > since ? before : since;
}

/* Whoever used most is not to blame where nobody is hurt. */
static struct cause negligible(const struct facts *facts)
{
	static const char *const resources[PSI_RESOURCES] = {
		[PSI_CPU] = "a CPU", [PSI_MEMORY] = "memory", [PSI_IO] = "a disk"
	};
	enum psi_resource resource = facts->capture->trigger.psi.resource;
	uint64_t waited_ns = facts_waited(&facts->own, resource), ran_ns = facts->own.task.cpu_ns;
	char victims[FACTS_VICTIMS_BYTES];

	if (!waited_ns || facts_waited_percent(waited_ns, ran_ns) >= NEGLIGIBLE_PERCENT ||
	    100 * stalled_share(facts) >= NEGLIGIBLE_PERCENT)
		return facts_no_verdict;
	return facts_verdict(CAUSE_NEGLIGIBLE,
			     "%s waited %.1f %% of %s time for %s: %.2f s, and ran %.2f s, within %.2f s",
			     facts_victims_text(facts, victims, sizeof(victims)),
			     facts_waited_percent(waited_ns, ran_ns), facts_whose_time(facts),
			     resources[resource], facts_seconds(waited_ns), facts_seconds(ran_ns),
			     facts_seconds(facts->usage_ns));
}

/* What a verdict would need and this machine does not tell; "": nothing is missing. */
static const char *not_examined(const struct facts *facts)
{
	switch (facts->capture->trigger.psi.resource) {
	case PSI_CPU:
		return facts->capture->kernel_stats.counts_quotas ? "" : QUOTA_NOT_EXAMINED;
	case PSI_MEMORY:
		return facts_has_stat(facts, "memory.current") || facts->capture->cgroup_memory.count
			       ? ""
			       : "; the memory controller is not that of cgroup v2: a limit of cgroup v1 would not be seen";
	case PSI_IO:
		return facts_has_stat(facts, "diskstats")
			       ? "; limits of the I/O controller (io.max) are not examined"
			       : "; no block device is known";
	default:
		return facts->capture->usage.machine.total_ns ? "" : "; the time of interrupts is not known";
	}
}

/* The verdict where no number explains the stall, with what was not looked at. */
static struct cause undetermined(const struct facts *facts)
{
	char victims[FACTS_VICTIMS_BYTES];

	return facts_verdict(
		CAUSE_UNDETERMINED,
		"%s ran %.2f s, waited %.2f s for a CPU, %.2f s for a disk and spent %.2f s in reclaim, within %.2f s%s",
		facts_victims_text(facts, victims, sizeof(victims)), facts_seconds(facts->own.task.cpu_ns),
		facts_seconds(facts->own.stalled_cpu_ns), facts_seconds(facts->own.stalled_io_ns),
		facts_seconds(facts->own.stalled_memory_ns), facts_seconds(facts->usage_ns),
		not_examined(facts));
}

struct cause cause_find(const struct capture *capture, cause_hottest hottest, void *user)
{
	static struct cause (*const of_cpu[])(const struct facts *) = {
		negligible, cause_cpu_throttled, cause_cpu_stolen, cause_cpu_interrupted, cause_cpu_shared,
		NULL
	};
	static struct cause (*const of_memory[])(const struct facts *) = {
		negligible,           cause_memory_limit,        cause_memory_shortage,
		cause_memory_evicted, cause_memory_limit_unseen, NULL
	};
	static struct cause (*const of_io[])(const struct facts *) = { negligible,        cause_io_shared,
								       cause_io_refaults, cause_io_own,
								       cause_io_device,   NULL };
	static struct cause (*const of_irq[])(const struct facts *) = { cause_irq_time, NULL };
	static struct cause (*const *const of[PSI_RESOURCES])(const struct facts *) = {
		[PSI_CPU] = of_cpu, [PSI_MEMORY] = of_memory, [PSI_IO] = of_io, [PSI_IRQ] = of_irq
	};
	struct facts facts = facts_gather(capture, hottest, user);
	struct cause cause = { 0 };

	if (capture->trigger.mode == TRIGGER_KILL) {
		cause = cause_memory_kill(&facts);
		facts_free(&facts);
		return cause;
	}
	for (size_t i = 0; of[capture->trigger.psi.resource][i] && !cause.verdict; i++)
		cause = of[capture->trigger.psi.resource][i](&facts);
	if (!cause.verdict)
		cause = undetermined(&facts);
	add_unexamined(&cause, capture);
	cause.onset = onset_find(capture);
	add_onset(&cause, cause.onset);
	facts_free(&facts);
	return cause;
}
