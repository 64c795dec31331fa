/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/capture/cause_cpu.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Interrupts that the sentence names, if each took a quarter of the time of all. */
#define BUSIEST_NAMED 2U

/* "8.50 s of CPU time, 39 % of the machine's" */
static const char *cpu_text(const struct facts *facts, uint64_t cpu_ns, char *into, size_t into_bytes)
{
	uint64_t total_ns = facts->capture->usage.machine.total_ns;
	size_t used = (size_t)snprintf(into, into_bytes, "%.2f s of CPU time", facts_seconds(cpu_ns));

	if (total_ns)
		snprintf(into + used, into_bytes - used, ", %.0f %% of the machine's",
			 100 * (double)cpu_ns / (double)total_ns);
	return into;
}

struct cause cause_cpu_throttled(const struct facts *facts)
{
	const struct kernel_stat *throttled = facts_most_grown(facts, "cpu.stat", "throttled_usec");
	uint64_t throttled_ns, periods, of_periods, quota_us, period_us;
	char quota[64] = "";

	if (!throttled || !facts->stalled_ns)
		return facts_no_verdict;
	throttled_ns = facts_growth(throttled) * 1000;
	periods = facts_grown(facts, throttled->scope, "cpu.stat", "nr_throttled");
	of_periods = facts_grown(facts, throttled->scope, "cpu.stat", "nr_periods");
	if (throttled_ns < facts->stalled_ns / 2 || periods < of_periods / 4)
		return facts_no_verdict;
	quota_us = facts_limit(facts, throttled->scope, "cpu.max", "quota_usec");
	period_us = facts_limit(facts, throttled->scope, "cpu.max", "period_usec");
	if (quota_us && period_us)
		snprintf(quota, sizeof(quota), ", by its cpu.max of %.2f CPUs",
			 (double)quota_us / (double)period_us);
	return facts_verdict(CAUSE_THROTTLED,
			     "%.*s was throttled for %.2f s, summed over its CPUs, in %" PRIu64 " of %" PRIu64
			     " periods%s, within %.2f s",
			     FACTS_SCOPE(facts, throttled), facts_seconds(throttled_ns), periods, of_periods,
			     quota, facts_seconds(facts_span_ns(facts)));
}

/* The CPU time of everything that ran: the root cgroup counts also processes that have ended. */
static uint64_t machine_cpu_ns(const struct facts *facts)
{
	const struct kernel_stats *stats = &facts->capture->kernel_stats;
	const char *cgroup = facts->capture->trigger.cgroup;
	uint64_t sum_us = 0;

	for (uint32_t i = 0; i < stats->count; i++) {
		const struct kernel_stat *stat = &stats->stats[i];

		if (!strcmp(stat->source, "cpu.stat") &&
		    (!strcmp(stat->name, "user_usec") || !strcmp(stat->name, "system_usec")) &&
		    (stat->scope == KERNEL_STAT_SYSTEM ||
		     (cgroup && kernel_stat_scope_length(stat, cgroup) == 1)))
			sum_us += facts_growth(stat);
	}
	return sum_us * 1000;
}

/* ", 50 % of it on the targets' CPUs", or "" where that is all of it */
static const char *there_text(const struct facts *facts, const struct usage_group *culprit, char *into,
			      size_t into_bytes)
{
	double percent = culprit ? 100 * contention_share(&facts->contention, culprit) : 100;

	*into = '\0';
	if (percent < 95)
		snprintf(into, into_bytes, ", %.0f %% of it on the targets' CPUs", percent);
	return into;
}

/* `culprit` NULL: processes that root's policy denies. */
static struct cause competing_for_cpu(const struct facts *facts, const struct usage_group *culprit,
				      uint64_t took_ns, const char *victims, uint64_t ran_ns,
				      uint64_t queued_ns)
{
	char group[FACTS_GROUP_BYTES], used[64], hottest[FACTS_HOTTEST_BYTES], there[64];

	return facts_blame(
		facts_verdict(
			CAUSE_COMPETING,
			"%s took %s%s%s, while %s ran %.2f s and waited %.2f s for a CPU (%.0f %% of %s time), within %.2f s",
			culprit ? usage_group_text(culprit, group, sizeof(group))
				: "processes that root's policy denies",
			cpu_text(facts, took_ns, used, sizeof(used)),
			there_text(facts, culprit, there, sizeof(there)),
			facts_hottest_text(facts, culprit, hottest, sizeof(hottest)), victims,
			facts_seconds(ran_ns), facts_seconds(queued_ns),
			facts_waited_percent(queued_ns, ran_ns), facts_whose_time(facts),
			facts_seconds(facts->usage_ns)),
		culprit);
}

/*
 * A thread that waits for a CPU waits for the thread that runs there: another process's or its own process's.
 * Where the processes that are known ran for too short a time to explain the stall, the root cgroup tells whether
 * anything ran at all.
 */
struct cause cause_cpu_shared(const struct facts *facts)
{
	const struct usage_group *other = facts->first_other, *first = facts->first_target;
	uint64_t own_ns = facts->own.task.cpu_ns, others_ns = facts->others.task.cpu_ns,
		 competing_ns = facts->competing_ns, seen_ns = own_ns + others_ns,
		 machine_ns = machine_cpu_ns(facts), ran_ns = machine_ns > seen_ns ? machine_ns : seen_ns,
		 queued_ns = facts->own.stalled_cpu_ns,
		 denied_ns = facts->capture->usage.machine.parts_ns[MACHINE_DENIED];
	char group[FACTS_GROUP_BYTES], used[64], hottest[FACTS_HOTTEST_BYTES], victims[FACTS_VICTIMS_BYTES];
	const char *whom = facts_victims_text(facts, victims, sizeof(victims));

	/*
	 * No thread ran while they waited: a quota that is not visible from here. But the spans differ a little,
	 * and a hypervisor may take time from whoever runs, so a CPU that always runs may show less than the stall.
	 */
	if (!queued_ns || ran_ns < facts->stalled_ns / 10 * 9)
		return facts_no_verdict;
	if (denied_ns > (other ? other->sums.task.cpu_ns : 0) &&
	    (denied_ns >= queued_ns / 2 || denied_ns >= own_ns / 2))
		return competing_for_cpu(facts, NULL, denied_ns, whom, own_ns, queued_ns);
	if (other && (competing_ns >= queued_ns / 2 || competing_ns >= own_ns / 2))
		return competing_for_cpu(facts, other, other->sums.task.cpu_ns, whom, own_ns, queued_ns);
	if (facts->stalled_ns > seen_ns && machine_ns > seen_ns &&
	    (machine_ns - own_ns >= queued_ns / 2 || machine_ns - own_ns >= own_ns / 2))
		return facts_verdict(
			CAUSE_COMPETING,
			"processes whose names are not known ran %.2f s, all other processes %.2f s, while %s ran %.2f s and waited %.2f s, within %.2f s",
			facts_seconds(machine_ns - seen_ns), facts_seconds(machine_ns - own_ns), whom,
			facts_seconds(own_ns), facts_seconds(queued_ns), facts_seconds(facts->usage_ns));
	/* a rule for many programs: one of them may be the others' reason */
	if (first && facts->target_groups > 1 &&
	    facts_without(queued_ns, first->sums.stalled_cpu_ns) >= queued_ns / FACTS_VICTIMS_PART)
		return competing_for_cpu(facts, first, first->sums.task.cpu_ns, "the other targets",
					 facts_without(own_ns, first->sums.task.cpu_ns),
					 facts_without(queued_ns, first->sums.stalled_cpu_ns));
	return facts_blame(
		facts_verdict(
			CAUSE_OWN_THREADS,
			"%s took %s%s, and waited %.2f s (%.0f %% of the targets' time), mostly for each other: all other processes ran %.2f s, within %.2f s",
			first ? usage_group_text(first, group, sizeof(group)) : "the targets",
			cpu_text(facts, first ? first->sums.task.cpu_ns : own_ns, used, sizeof(used)),
			facts_hottest_text(facts, first, hottest, sizeof(hottest)), facts_seconds(queued_ns),
			facts_waited_percent(queued_ns, own_ns), facts_seconds(others_ns),
			facts_seconds(facts->usage_ns)),
		first);
}

/* ---- interrupts ---- */

static double of_machine(const struct facts *facts, uint64_t ns)
{
	return 100 * (double)ns / (double)facts->capture->usage.machine.total_ns;
}

/* As the programs measured it; without that, as the kernel did, perhaps in ticks. */
static uint64_t soft_ns(const struct facts *facts)
{
	const struct capture_usage *usage = &facts->capture->usage;

	return usage->interrupts.count ? usage->interrupts.soft_ns : usage->machine.parts_ns[MACHINE_SOFTIRQ];
}

static uint64_t hard_ns(const struct facts *facts)
{
	const struct capture_usage *usage = &facts->capture->usage;

	return usage->interrupts.count ? usage->interrupts.hard_ns : usage->machine.parts_ns[MACHINE_IRQ];
}

static uint64_t interrupts_ns(const struct facts *facts)
{
	return soft_ns(facts) + hard_ns(facts);
}

/* ": NET_RX 1.00 s (28.0 %), virtio0-input.0 0.20 s (5.6 %)": the busiest, and the next if it took a quarter or more */
static const char *busiest_text(const struct facts *facts, char *into, size_t into_bytes)
{
	const struct interrupt_time *interrupts = &facts->capture->usage.interrupts;
	size_t used = 0;

	*into = '\0';
	for (uint32_t i = 0; i < interrupts->count && i < BUSIEST_NAMED && used < into_bytes; i++) {
		const struct interrupt *row = &interrupts->rows[i];
		const char *name = interrupt_name(row);

		if (row->sums.ns < interrupts_ns(facts) / 4)
			break;
		used += (size_t)snprintf(into + used, into_bytes - used, "%s ", used ? "," : ":");
		if (used < into_bytes && name)
			used += (size_t)snprintf(into + used, into_bytes - used, "%s", name);
		else if (used < into_bytes)
			used += (size_t)snprintf(into + used, into_bytes - used, "interrupt %u",
						 row->key.number);
		if (used < into_bytes)
			used += (size_t)snprintf(into + used, into_bytes - used, " %.2f s (%.1f %%)",
						 facts_seconds(row->sums.ns),
						 of_machine(facts, row->sums.ns));
	}
	return into;
}

static struct cause interrupts_took(const struct facts *facts)
{
	char busiest[256];

	return facts_verdict(
		CAUSE_INTERRUPTS,
		"interrupts took %.2f s and soft interrupts %.2f s, %.1f %% of the machine's time%s, within %.2f s",
		facts_seconds(hard_ns(facts)), facts_seconds(soft_ns(facts)),
		of_machine(facts, interrupts_ns(facts)), busiest_text(facts, busiest, sizeof(busiest)),
		facts_seconds(facts->usage_ns));
}

/* Irq pressure is time in which interrupts kept threads from running. */
struct cause cause_irq_time(const struct facts *facts)
{
	const struct machine_time *machine = &facts->capture->usage.machine;
	const uint64_t *parts = machine->parts_ns;

	if (!machine->total_ns || !(interrupts_ns(facts) + parts[MACHINE_STEAL]))
		return facts_no_verdict;
	if (parts[MACHINE_STEAL] > interrupts_ns(facts))
		return facts_verdict(
			CAUSE_STEAL,
			"the hypervisor took %.2f s, %.1f %% of the machine's time, within %.2f s",
			facts_seconds(parts[MACHINE_STEAL]), of_machine(facts, parts[MACHINE_STEAL]),
			facts_seconds(facts->usage_ns));
	return interrupts_took(facts);
}

/* Threads that wait for a CPU that is in interrupts, and for nobody who takes more. */
struct cause cause_cpu_interrupted(const struct facts *facts)
{
	const struct machine_time *machine = &facts->capture->usage.machine;
	const struct usage_group *other = facts->first_other;
	/* it does nothing else */
	bool is_softirqd = other && other->role == USAGE_KERNEL && !strcmp(other->program, "ksoftirqd");

	if (!machine->total_ns || interrupts_ns(facts) < machine->total_ns / 4 ||
	    !facts->own.stalled_cpu_ns ||
	    (other && !is_softirqd && other->sums.task.cpu_ns > interrupts_ns(facts)))
		return facts_no_verdict;
	return interrupts_took(facts);
}

/* Threads that wait for a CPU on which nobody of this machine runs. */
struct cause cause_cpu_stolen(const struct facts *facts)
{
	const struct machine_time *machine = &facts->capture->usage.machine;
	uint64_t stolen_ns = machine->parts_ns[MACHINE_STEAL];

	if (!machine->total_ns || stolen_ns < machine->total_ns / 4 || !facts->own.stalled_cpu_ns)
		return facts_no_verdict;
	return facts_verdict(CAUSE_STEAL,
			     "the hypervisor took %.2f s, %.0f %% of the machine's time, within %.2f s",
			     facts_seconds(stolen_ns), 100 * (double)stolen_ns / (double)machine->total_ns,
			     facts_seconds(facts->usage_ns));
}
