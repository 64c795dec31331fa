/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/capture/cause.h"

#include "common/cleanup.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MILLISECOND_NS 1000000U
#define PAGE_BYTES 4096U
#define MEBIBYTE (1ULL << 20)

/* A disk this busy, or with requests this slow, explains waiting for it. */
#define DISK_BUSY_PERCENT 50U
#define DISK_SLOW_NS (10ULL * MILLISECOND_NS)
/* Other processes that transfer less per second do not compete for a disk. */
#define COMPETING_BYTES_A_SECOND (4 * MEBIBYTE)
/* Targets that waited less than this are not hurt. */
#define NEGLIGIBLE_PERCENT 5
/* Interrupts that the sentence names, if each took a quarter of the time of all. */
#define BUSIEST_NAMED 2U
/* Whoever grew by less did not cause a shortage of memory. */
#define GROWTH_BYTES (16 * MEBIBYTE)
/* One program of many is the reason if the others' part of the waiting is at least 1 / VICTIMS_PART. */
#define VICTIMS_PART 5

/* The facts that the verdicts need. */
struct facts {
	const struct capture *capture;
	uint64_t stalled_ns; /* PSI's total of the resource that fired, since the trigger */
	struct usage_sums own, others;
	/* span of the two sums above: since the last walk before the trigger */
	uint64_t usage_ns;
	struct usage_groups groups;
	/* the groups that used most of the resource, of others and of targets; or NULL */
	const struct usage_group *first_other, *first_target;
	const struct usage_group *first_victim; /* the group of targets that waited longest for it, or NULL */
	const struct usage_group *first_grown;  /* whose memory grew most, of all; or NULL */
	uint32_t target_groups;
	cause_hottest hottest;
	void *user;
};

static struct cause verdict(const char *words, const char *format, ...) __attribute__((format(printf, 2, 3)));

static struct cause verdict(const char *words, const char *format, ...)
{
	struct cause cause = { .verdict = words };
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(cause.because, sizeof(cause.because), format, arguments);
	va_end(arguments);
	return cause;
}

static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

/* Of what is in `all`, that which is not in `part`. */
static uint64_t without(uint64_t all, uint64_t part)
{
	return all > part ? all - part : 0;
}

static double mebibytes(uint64_t bytes)
{
	return (double)bytes / (double)MEBIBYTE;
}

/* ---- facts ---- */

static uint64_t moved_bytes(const struct usage_sums *sums)
{
	return sums->task.read_bytes + sums->task.write_bytes;
}

static uint64_t consumed(const struct usage_sums *sums, enum psi_resource resource)
{
	return resource == PSI_IO       ? moved_bytes(sums)
	       : resource == PSI_MEMORY ? sums->rss_bytes
					: sums->task.cpu_ns;
}

/* The growth of a PSI total between the first and the last reading. */
static uint64_t stalled_ns(const struct capture *capture)
{
	const struct pressure *pressure = &capture->pressure;
	enum pressure_scope scope = capture->trigger.cgroup ? PRESSURE_CGROUP : PRESSURE_SYSTEM;
	uint64_t first_us = UINT64_MAX, last_us = 0;

	for (uint32_t i = 0; i < pressure->count; i++) {
		const struct pressure_reading *reading = &pressure->readings[i];
		uint64_t us = reading->totals.us[capture->trigger.psi.kind];

		if (reading->scope != scope || reading->resource != capture->trigger.psi.resource)
			continue;
		first_us = us < first_us ? us : first_us;
		last_us = us > last_us ? us : last_us;
	}
	return last_us > first_us ? (last_us - first_us) * 1000 : 0;
}

/* Time that threads waited for the resource. */
static uint64_t waited(const struct usage_sums *sums, enum psi_resource resource)
{
	return resource == PSI_IO       ? sums->stalled_io_ns
	       : resource == PSI_MEMORY ? sums->stalled_memory_ns
					: sums->stalled_cpu_ns;
}

static const struct usage_group *longer(const struct usage_group *one, const struct usage_group *other,
					enum psi_resource resource)
{
	uint64_t waits = waited(&other->sums, resource);

	return waits && (!one || waits > waited(&one->sums, resource)) ? other : one;
}

static const struct usage_group *larger(const struct usage_group *one, const struct usage_group *other,
					enum psi_resource resource)
{
	uint64_t takes = consumed(&other->sums, resource);

	return takes && (!one || takes > consumed(&one->sums, resource)) ? other : one;
}

static void gather_groups(struct facts *facts)
{
	enum psi_resource resource = facts->capture->trigger.psi.resource;

	if (usage_groups_make(&facts->capture->usage, &facts->groups) < 0)
		return; /* without memory, nobody is named */
	for (uint32_t i = 0; i < facts->groups.count; i++) {
		const struct usage_group *group = &facts->groups.groups[i];

		usage_sums_add(group->role == USAGE_TARGET ? &facts->own : &facts->others, &group->sums);
		if (!facts->first_grown || group->sums.grown_bytes > facts->first_grown->sums.grown_bytes)
			facts->first_grown = group;
		if (group->role == USAGE_TARGET) {
			facts->target_groups++;
			facts->first_target = larger(facts->first_target, group, resource);
			facts->first_victim = longer(facts->first_victim, group, resource);
		} else {
			facts->first_other = larger(facts->first_other, group, resource);
		}
	}
}

static struct facts gather(const struct capture *capture, cause_hottest hottest, void *user)
{
	struct facts facts = {
		.capture = capture, .stalled_ns = stalled_ns(capture), .hottest = hottest, .user = user
	};
	const struct capture_usage *usage = &capture->usage;

	gather_groups(&facts);
	usage_sums_add(&facts.own, &usage->rest_targets);
	usage_sums_add(&facts.others, &usage->rest_others);
	usage_sums_add(&facts.others, &usage->rest_kernel);
	/* nobody's name is known of these */
	for (uint32_t i = 0; i < usage->ended_count; i++)
		if (usage->ended[i].role == USAGE_REST) {
			facts.others.task.cpu_ns += usage->ended[i].sums.cpu_ns;
			facts.others.task.read_bytes += usage->ended[i].sums.read_bytes;
			facts.others.task.write_bytes += usage->ended[i].sums.write_bytes;
		}
	facts.usage_ns = usage->to_ns - usage->before.walked_ns;
	return facts;
}

/* ---- words ---- */

#define GROUP_BYTES 320U
#define HOTTEST_BYTES (CAUSE_FUNCTION_BYTES + 64U) /* of the sentence's part */

/* ", mostly in burn_cpu (83 % of its samples)", or "" */
static const char *hottest_text(const struct facts *facts, const struct usage_group *group, char *into,
				size_t into_bytes)
{
	char function[HOTTEST_BYTES - sizeof(", mostly in ")];

	*into = '\0';
	if (group && facts->hottest && facts->hottest(facts->user, group, function, sizeof(function)))
		snprintf(into, into_bytes, ", mostly in %s", function);
	return into;
}

/* "nginx ×4 in nginx.service", or with several programs "the targets, most of all nginx ×4 in nginx.service," */
static const char *victims_text(const struct facts *facts, char *into, size_t into_bytes)
{
	char group[GROUP_BYTES];

	if (!facts->first_victim)
		return "the targets";
	usage_group_text(facts->first_victim, group, sizeof(group));
	snprintf(into, into_bytes, facts->target_groups > 1 ? "the targets, most of all %s," : "%s", group);
	return into;
}

static const char *whose_time(const struct facts *facts)
{
	return facts->first_victim && facts->first_victim->processes == 1 && facts->target_groups == 1
		       ? "its"
		       : "their";
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

/* "8.50 s of CPU time, 39 % of the machine's" */
static const char *cpu_text(const struct facts *facts, uint64_t cpu_ns, char *into, size_t into_bytes)
{
	uint64_t total_ns = facts->capture->usage.machine.total_ns;
	size_t used = (size_t)snprintf(into, into_bytes, "%.2f s of CPU time", seconds(cpu_ns));

	if (total_ns)
		snprintf(into + used, into_bytes - used, ", %.0f %% of the machine's",
			 100 * (double)cpu_ns / (double)total_ns);
	return into;
}

/* Of the time that they would have run. */
static double waited_percent(uint64_t queued_ns, uint64_t ran_ns)
{
	return queued_ns ? 100 * (double)queued_ns / (double)(queued_ns + ran_ns) : 0;
}

static uint64_t growth_of(const struct kernel_stat *stat)
{
	return stat->before >= 0 && stat->after > stat->before ? (uint64_t)(stat->after - stat->before) : 0;
}

static bool begins_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

/* The summed growth of the statistics with this prefix; with `scope` 0, of the cgroup that fired. */
static uint64_t grown(const struct facts *facts, int scope, const char *source, const char *name)
{
	const struct kernel_stats *stats = &facts->capture->kernel_stats;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < stats->count; i++)
		if (stats->stats[i].scope == scope && !strcmp(stats->stats[i].source, source) &&
		    begins_with(stats->stats[i].name, name))
			sum += growth_of(&stats->stats[i]);
	return sum;
}

/* The statistic that has grown most, in any cgroup; NULL where none has grown. */
static const struct kernel_stat *most_grown(const struct facts *facts, const char *source, const char *name)
{
	const struct kernel_stats *stats = &facts->capture->kernel_stats;
	const struct kernel_stat *most = NULL;

	for (uint32_t i = 0; i < stats->count; i++) {
		const struct kernel_stat *stat = &stats->stats[i];

		if (!strcmp(stat->source, source) && !strcmp(stat->name, name) && growth_of(stat) &&
		    (!most || growth_of(stat) > growth_of(most)))
			most = stat;
	}
	return most;
}

/* A limit of the cgroup at `scope`; 0: none, or not known. */
static uint64_t limit_of(const struct facts *facts, int scope, const char *source, const char *name)
{
	const struct kernel_stats *stats = &facts->capture->kernel_stats;

	for (uint32_t i = 0; i < stats->count; i++) {
		const struct kernel_stat *stat = &stats->stats[i];
		int64_t value = stat->after >= 0 ? stat->after : stat->before;

		if (stat->scope == scope && !strcmp(stat->source, source) && !strcmp(stat->name, name))
			return value > 0 ? (uint64_t)value : 0;
	}
	return 0;
}

static uint64_t span_ns(const struct facts *facts)
{
	return facts->capture->kernel_stats.to_ns - facts->capture->kernel_stats.from_ns;
}

/* Arguments for "%.*s": the path of the cgroup that a statistic belongs to. */
#define SCOPE(facts, stat)                                                                                   \
	kernel_stat_scope_length(stat, (facts)->capture->trigger.cgroup), (facts)->capture->trigger.cgroup

/* ---- verdicts: each function returns one, or verdict NULL where it does not apply ---- */

static const struct cause not_this = { 0 };

static struct cause cpu_throttled(const struct facts *facts)
{
	const struct kernel_stat *throttled = most_grown(facts, "cpu.stat", "throttled_usec");
	uint64_t throttled_ns, periods, of_periods, quota_us, period_us;
	char quota[64] = "";

	if (!throttled || !facts->stalled_ns)
		return not_this;
	throttled_ns = growth_of(throttled) * 1000;
	periods = grown(facts, throttled->scope, "cpu.stat", "nr_throttled");
	of_periods = grown(facts, throttled->scope, "cpu.stat", "nr_periods");
	if (throttled_ns < facts->stalled_ns / 2 || periods < of_periods / 4)
		return not_this;
	quota_us = limit_of(facts, throttled->scope, "cpu.max", "quota_usec");
	period_us = limit_of(facts, throttled->scope, "cpu.max", "period_usec");
	if (quota_us && period_us)
		snprintf(quota, sizeof(quota), ", by its cpu.max of %.2f CPUs",
			 (double)quota_us / (double)period_us);
	return verdict(CAUSE_THROTTLED,
		       "%.*s was throttled for %.2f s, summed over its CPUs, in %" PRIu64 " of %" PRIu64
		       " periods%s, within %.2f s",
		       SCOPE(facts, throttled), seconds(throttled_ns), periods, of_periods, quota,
		       seconds(span_ns(facts)));
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
			sum_us += growth_of(stat);
	}
	return sum_us * 1000;
}

/* The share of its window in which the trigger saw a stall, or of the time since then: the larger one. */
static double stalled_share(const struct facts *facts)
{
	const struct capture_trigger *trigger = &facts->capture->trigger;
	double before = trigger->psi.window_us ? (double)trigger->observed_us / (double)trigger->psi.window_us
					       : 0;
	double since = span_ns(facts) ? (double)facts->stalled_ns / (double)span_ns(facts) : 0;

	return before > since ? before : since;
}

/* Whoever used most is not to blame where nobody is hurt. */
static struct cause negligible(const struct facts *facts)
{
	static const char *const resources[PSI_RESOURCES] = {
		[PSI_CPU] = "a CPU", [PSI_MEMORY] = "memory", [PSI_IO] = "a disk"
	};
	enum psi_resource resource = facts->capture->trigger.psi.resource;
	uint64_t waited_ns = waited(&facts->own, resource), ran_ns = facts->own.task.cpu_ns;
	char victims[GROUP_BYTES + 64];

	if (!waited_ns || waited_percent(waited_ns, ran_ns) >= NEGLIGIBLE_PERCENT ||
	    100 * stalled_share(facts) >= NEGLIGIBLE_PERCENT)
		return not_this;
	return verdict(CAUSE_NEGLIGIBLE,
		       "%s waited %.1f %% of %s time for %s: %.2f s, and ran %.2f s, within %.2f s",
		       victims_text(facts, victims, sizeof(victims)), waited_percent(waited_ns, ran_ns),
		       whose_time(facts), resources[resource], seconds(waited_ns), seconds(ran_ns),
		       seconds(facts->usage_ns));
}

/* `culprit` NULL: processes that root's policy denies. */
static struct cause competing_for_cpu(const struct facts *facts, const struct usage_group *culprit,
				      uint64_t took_ns, const char *victims, uint64_t ran_ns,
				      uint64_t queued_ns)
{
	char group[GROUP_BYTES], used[64], hottest[HOTTEST_BYTES];

	return verdict(
		CAUSE_COMPETING,
		"%s took %s%s, while %s ran %.2f s and waited %.2f s for a CPU (%.0f %% of %s time), within %.2f s",
		culprit ? usage_group_text(culprit, group, sizeof(group))
			: "processes that root's policy denies",
		cpu_text(facts, took_ns, used, sizeof(used)),
		hottest_text(facts, culprit, hottest, sizeof(hottest)), victims, seconds(ran_ns),
		seconds(queued_ns), waited_percent(queued_ns, ran_ns), whose_time(facts),
		seconds(facts->usage_ns));
}

/*
 * A thread that waits for a CPU waits for the thread that runs there: another process's or its own process's.
 * Where the processes that are known ran for too short a time to explain the stall, the root cgroup tells whether
 * anything ran at all.
 */
static struct cause cpu_shared(const struct facts *facts)
{
	const struct usage_group *other = facts->first_other, *first = facts->first_target;
	uint64_t own_ns = facts->own.task.cpu_ns, others_ns = facts->others.task.cpu_ns,
		 seen_ns = own_ns + others_ns, machine_ns = machine_cpu_ns(facts),
		 ran_ns = machine_ns > seen_ns ? machine_ns : seen_ns, queued_ns = facts->own.stalled_cpu_ns,
		 denied_ns = facts->capture->usage.machine.parts_ns[MACHINE_DENIED];
	char group[GROUP_BYTES], used[64], hottest[HOTTEST_BYTES], victims[GROUP_BYTES + 64];
	const char *whom = victims_text(facts, victims, sizeof(victims));

	/*
	 * No thread ran while they waited: a quota that is not visible from here. But the spans differ a little,
	 * and a hypervisor may take time from whoever runs, so a CPU that always runs may show less than the stall.
	 */
	if (!queued_ns || ran_ns < facts->stalled_ns / 10 * 9)
		return not_this;
	if (denied_ns > (other ? other->sums.task.cpu_ns : 0) &&
	    (denied_ns >= queued_ns / 2 || denied_ns >= own_ns / 2))
		return competing_for_cpu(facts, NULL, denied_ns, whom, own_ns, queued_ns);
	if (other && (others_ns >= queued_ns / 2 || others_ns >= own_ns / 2))
		return competing_for_cpu(facts, other, other->sums.task.cpu_ns, whom, own_ns, queued_ns);
	if (facts->stalled_ns > seen_ns && machine_ns > seen_ns &&
	    (machine_ns - own_ns >= queued_ns / 2 || machine_ns - own_ns >= own_ns / 2))
		return verdict(
			CAUSE_COMPETING,
			"processes whose names are not known ran %.2f s, all other processes %.2f s, while %s ran %.2f s and waited %.2f s, within %.2f s",
			seconds(machine_ns - seen_ns), seconds(machine_ns - own_ns), whom, seconds(own_ns),
			seconds(queued_ns), seconds(facts->usage_ns));
	/* a rule for many programs: one of them may be the others' reason */
	if (first && facts->target_groups > 1 &&
	    without(queued_ns, first->sums.stalled_cpu_ns) >= queued_ns / VICTIMS_PART)
		return competing_for_cpu(facts, first, first->sums.task.cpu_ns, "the other targets",
					 without(own_ns, first->sums.task.cpu_ns),
					 without(queued_ns, first->sums.stalled_cpu_ns));
	return verdict(
		CAUSE_OWN_THREADS,
		"%s took %s%s, and waited %.2f s (%.0f %% of the targets' time), mostly for each other: all other processes ran %.2f s, within %.2f s",
		first ? usage_group_text(first, group, sizeof(group)) : "the targets",
		cpu_text(facts, first ? first->sums.task.cpu_ns : own_ns, used, sizeof(used)),
		hottest_text(facts, first, hottest, sizeof(hottest)), seconds(queued_ns),
		waited_percent(queued_ns, own_ns), seconds(others_ns), seconds(facts->usage_ns));
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
						 seconds(row->sums.ns), of_machine(facts, row->sums.ns));
	}
	return into;
}

static struct cause interrupts_took(const struct facts *facts)
{
	char busiest[256];

	return verdict(
		CAUSE_INTERRUPTS,
		"interrupts took %.2f s and soft interrupts %.2f s, %.1f %% of the machine's time%s, within %.2f s",
		seconds(hard_ns(facts)), seconds(soft_ns(facts)), of_machine(facts, interrupts_ns(facts)),
		busiest_text(facts, busiest, sizeof(busiest)), seconds(facts->usage_ns));
}

/* Irq pressure is time in which interrupts kept threads from running. */
static struct cause irq_time(const struct facts *facts)
{
	const struct machine_time *machine = &facts->capture->usage.machine;
	const uint64_t *parts = machine->parts_ns;

	if (!machine->total_ns || !(interrupts_ns(facts) + parts[MACHINE_STEAL]))
		return not_this;
	if (parts[MACHINE_STEAL] > interrupts_ns(facts))
		return verdict(CAUSE_STEAL,
			       "the hypervisor took %.2f s, %.1f %% of the machine's time, within %.2f s",
			       seconds(parts[MACHINE_STEAL]), of_machine(facts, parts[MACHINE_STEAL]),
			       seconds(facts->usage_ns));
	return interrupts_took(facts);
}

/* Threads that wait for a CPU that is in interrupts, and for nobody who takes more. */
static struct cause cpu_interrupted(const struct facts *facts)
{
	const struct machine_time *machine = &facts->capture->usage.machine;
	const struct usage_group *other = facts->first_other;
	/* it does nothing else */
	bool is_softirqd = other && other->role == USAGE_KERNEL && !strcmp(other->program, "ksoftirqd");

	if (!machine->total_ns || interrupts_ns(facts) < machine->total_ns / 4 ||
	    !facts->own.stalled_cpu_ns ||
	    (other && !is_softirqd && other->sums.task.cpu_ns > interrupts_ns(facts)))
		return not_this;
	return interrupts_took(facts);
}

/* Threads that wait for a CPU on which nobody of this machine runs. */
static struct cause cpu_stolen(const struct facts *facts)
{
	const struct machine_time *machine = &facts->capture->usage.machine;
	uint64_t stolen_ns = machine->parts_ns[MACHINE_STEAL];

	if (!machine->total_ns || stolen_ns < machine->total_ns / 4 || !facts->own.stalled_cpu_ns)
		return not_this;
	return verdict(CAUSE_STEAL,
		       "the hypervisor took %.2f s, %.0f %% of the machine's time, within %.2f s",
		       seconds(stolen_ns), 100 * (double)stolen_ns / (double)machine->total_ns,
		       seconds(facts->usage_ns));
}

/*
 * memory.events of the cgroup that fired includes its descendants. An ancestor's counts would include events
 * of unrelated cgroups, so only its own limit counts.
 */
static const struct kernel_stat *limit_met(const struct facts *facts, const char *name)
{
	const struct kernel_stat *limit = most_grown(facts, "memory.events.local", name);
	const struct kernel_stats *stats = &facts->capture->kernel_stats;

	for (uint32_t i = 0; i < stats->count && !limit; i++)
		if (!stats->stats[i].scope && !strcmp(stats->stats[i].source, "memory.events") &&
		    !strcmp(stats->stats[i].name, name) && growth_of(&stats->stats[i]))
			limit = &stats->stats[i];
	return limit;
}

static struct cause memory_limit(const struct facts *facts)
{
	const struct kernel_stat *limit = limit_met(facts, "max");
	uint64_t refaults, bytes;
	char file[32], of[64] = "";

	if (!limit)
		limit = limit_met(facts, "high");
	if (!limit || growth_of(limit) < grown(facts, KERNEL_STAT_SYSTEM, "vmstat", "allocstall_"))
		return not_this;
	refaults = grown(facts, limit->scope, "memory.stat", "workingset_refault_");
	snprintf(file, sizeof(file), "memory.%.16s", limit->name);
	bytes = limit_of(facts, limit->scope, file, "bytes");
	if (bytes)
		snprintf(of, sizeof(of), " of %.1f MiB", mebibytes(bytes));
	return verdict(CAUSE_OWN_LIMIT,
		       "%.*s reached its %s%s %" PRIu64
		       " times, and read %.1f MiB again that had been evicted, within %.2f s",
		       SCOPE(facts, limit), file, of, growth_of(limit), mebibytes(refaults * PAGE_BYTES),
		       seconds(span_ns(facts)));
}

static struct cause memory_shortage(const struct facts *facts)
{
	uint64_t direct = grown(facts, KERNEL_STAT_SYSTEM, "vmstat", "pgscan_direct"),
		 stalls = grown(facts, KERNEL_STAT_SYSTEM, "vmstat", "allocstall_"),
		 kswapd = grown(facts, KERNEL_STAT_SYSTEM, "vmstat", "pgscan_kswapd");
	const struct usage_group *first = facts->first_other, *grown = facts->first_grown;
	char group[GROUP_BYTES];

	if (!direct && !stalls && !kswapd)
		return not_this;
	if (grown && grown->sums.grown_bytes >= GROWTH_BYTES)
		return verdict(
			CAUSE_SHORTAGE,
			"%" PRIu64
			" allocations on the host waited for reclaim, which scanned %.1f MiB (kswapd: %.1f MiB); %s grew most, by %.1f MiB to %.1f MiB",
			stalls, mebibytes(direct * PAGE_BYTES), mebibytes(kswapd * PAGE_BYTES),
			usage_group_text(grown, group, sizeof(group)), mebibytes(grown->sums.grown_bytes),
			mebibytes(grown->sums.rss_bytes));
	/* a rule for many programs has no others */
	if (facts->first_target && facts->target_groups > 1 &&
	    (!first || facts->first_target->sums.rss_bytes > first->sums.rss_bytes))
		first = facts->first_target;
	return verdict(
		CAUSE_SHORTAGE,
		"%" PRIu64
		" allocations on the host waited for reclaim, which scanned %.1f MiB (kswapd: %.1f MiB); the largest is %s with %.1f MiB",
		stalls, mebibytes(direct * PAGE_BYTES), mebibytes(kswapd * PAGE_BYTES),
		first ? usage_group_text(first, group, sizeof(group)) : "nobody",
		mebibytes(first ? first->sums.rss_bytes : 0));
}

/*
 * The kernel reclaims either for the system or for a cgroup's limit: without reclaim for the system it was
 * the limit.
 */
static struct cause memory_limit_unseen(const struct facts *facts)
{
	const struct kernel_stats *stats = &facts->capture->kernel_stats;
	uint64_t faults = grown(facts, KERNEL_STAT_SYSTEM, "vmstat", "pgfault"),
		 compactions = grown(facts, KERNEL_STAT_SYSTEM, "vmstat", "compact_stall");

	if (!faults || compactions || !facts->own.stalled_memory_ns)
		return not_this;
	for (uint32_t i = 0; i < stats->count; i++)
		if (!strcmp(stats->stats[i].source, "memory.current"))
			return not_this; /* the limits are in cgroup2, and none was reached */
	return verdict(
		CAUSE_OWN_LIMIT,
		"the targets were in reclaim for %.2f s without any reclaim for the whole host: a cgroup reached its memory limit, but no memory.events say which",
		seconds(facts->own.stalled_memory_ns));
}

static bool is_much(const struct facts *facts, uint64_t bytes)
{
	return (double)bytes >= (double)COMPETING_BYTES_A_SECOND * seconds(facts->usage_ns);
}

static struct cause competing_for_disk(const struct facts *facts, const struct usage_group *first,
				       const char *victims, uint64_t victims_bytes)
{
	const struct task_usage *task = &first->sums.task;
	uint64_t all = moved_bytes(&facts->own) + moved_bytes(&facts->others);
	char group[GROUP_BYTES], hottest[HOTTEST_BYTES];

	return verdict(
		CAUSE_COMPETING,
		"%s read %.1f MiB and wrote %.1f MiB, %.0f %% of what all processes did%s; %s moved %.1f MiB and waited %.2f s for it, within %.2f s",
		usage_group_text(first, group, sizeof(group)), mebibytes(task->read_bytes),
		mebibytes(task->write_bytes), 100 * (double)moved_bytes(&first->sums) / (double)all,
		hottest_text(facts, first, hottest, sizeof(hottest)), victims, mebibytes(victims_bytes),
		seconds(facts->own.stalled_io_ns), seconds(facts->usage_ns));
}

static struct cause io_shared(const struct facts *facts)
{
	const struct usage_group *first = facts->first_target;
	uint64_t own = moved_bytes(&facts->own), others = moved_bytes(&facts->others);
	char victims[GROUP_BYTES + 64];

	if (facts->first_other && others >= 2 * own && is_much(facts, others))
		return competing_for_disk(facts, facts->first_other,
					  victims_text(facts, victims, sizeof(victims)), own);
	/* a rule for many programs: one of them may be the others' reason */
	if (first && facts->target_groups > 1 && is_much(facts, moved_bytes(&first->sums)) &&
	    without(facts->own.stalled_io_ns, first->sums.stalled_io_ns) >=
		    facts->own.stalled_io_ns / VICTIMS_PART)
		return competing_for_disk(facts, first, "the other targets", own - moved_bytes(&first->sums));
	return not_this;
}

/* The targets keep the disk busy themselves. */
static struct cause io_own(const struct facts *facts)
{
	uint64_t own = moved_bytes(&facts->own), others = moved_bytes(&facts->others);
	char victims[GROUP_BYTES + 64];

	if (own <= others || !is_much(facts, own))
		return not_this;
	return verdict(
		CAUSE_OWN_IO,
		"%s read %.1f MiB and wrote %.1f MiB, all other processes %.1f MiB, and waited %.2f s for it, within %.2f s",
		victims_text(facts, victims, sizeof(victims)), mebibytes(facts->own.task.read_bytes),
		mebibytes(facts->own.task.write_bytes), mebibytes(others), seconds(facts->own.stalled_io_ns),
		seconds(facts->usage_ns));
}

/* Refaults: pages read again after they were evicted. */
static struct cause io_refaults(const struct facts *facts)
{
	int scope = facts->capture->trigger.cgroup ? 0 : KERNEL_STAT_SYSTEM;
	uint64_t refaults = grown(facts, scope, scope ? "vmstat" : "memory.stat", "workingset_refault_");
	struct cause cause;

	if (!facts->own.task.read_bytes || refaults * PAGE_BYTES < moved_bytes(&facts->own) / 2)
		return not_this;
	cause = memory_limit(facts);
	return cause.verdict ? cause : memory_shortage(facts);
}

static uint64_t of_disk(const struct facts *facts, const char *disk, const char *name)
{
	const struct kernel_stats *stats = &facts->capture->kernel_stats;

	for (uint32_t i = 0; i < stats->count; i++)
		if (!strcmp(stats->stats[i].device, disk) && !strcmp(stats->stats[i].source, "diskstats") &&
		    !strcmp(stats->stats[i].name, name))
			return growth_of(&stats->stats[i]);
	return 0;
}

static struct cause io_device(const struct facts *facts)
{
	const struct kernel_stat *busiest = most_grown(facts, "diskstats", "busy_ms");
	uint64_t requests, waited_ms, percent, each_ns;

	if (!busiest || !span_ns(facts))
		return not_this;
	requests = of_disk(facts, busiest->device, "reads") + of_disk(facts, busiest->device, "writes");
	waited_ms = of_disk(facts, busiest->device, "read_ms") + of_disk(facts, busiest->device, "write_ms");
	percent = growth_of(busiest) * MILLISECOND_NS * 100 / span_ns(facts);
	each_ns = requests ? waited_ms * MILLISECOND_NS / requests : 0;
	if ((percent < DISK_BUSY_PERCENT && each_ns < DISK_SLOW_NS) ||
	    waited_ms * MILLISECOND_NS < facts->stalled_ns / 4)
		return not_this;
	return verdict(CAUSE_DEVICE,
		       "%s was busy for %" PRIu64 " %% of %.2f s, with %" PRIu64 " requests of %.2f ms each",
		       busiest->device, percent > 100 ? 100 : percent, seconds(span_ns(facts)), requests,
		       seconds(each_ns) * 1e3);
}

static bool has_stat(const struct facts *facts, const char *source)
{
	const struct kernel_stats *stats = &facts->capture->kernel_stats;

	for (uint32_t i = 0; i < stats->count; i++)
		if (!strcmp(stats->stats[i].source, source))
			return true;
	return false;
}

/* What a verdict would need and this machine does not tell; "": nothing is missing. */
static const char *not_examined(const struct facts *facts)
{
	switch (facts->capture->trigger.psi.resource) {
	case PSI_CPU:
		return facts->capture->kernel_stats.counts_quotas
			       ? ""
			       : "; the CPU controller is not that of cgroup v2: a quota of cgroup v1 would not be seen";
	case PSI_MEMORY:
		return has_stat(facts, "memory.current")
			       ? ""
			       : "; the memory controller is not that of cgroup v2: a limit of cgroup v1 would not be seen";
	case PSI_IO:
		return has_stat(facts, "diskstats")
			       ? "; limits of the I/O controller (io.max) are not examined"
			       : "; no block device is known";
	default:
		return facts->capture->usage.machine.total_ns ? "" : "; the time of interrupts is not known";
	}
}

/* The verdict where no number explains the stall, with what was not looked at. */
static struct cause undetermined(const struct facts *facts)
{
	char victims[GROUP_BYTES + 64];

	return verdict(
		CAUSE_UNDETERMINED,
		"%s ran %.2f s, waited %.2f s for a CPU, %.2f s for a disk and spent %.2f s in reclaim, within %.2f s%s",
		victims_text(facts, victims, sizeof(victims)), seconds(facts->own.task.cpu_ns),
		seconds(facts->own.stalled_cpu_ns), seconds(facts->own.stalled_io_ns),
		seconds(facts->own.stalled_memory_ns), seconds(facts->usage_ns), not_examined(facts));
}

struct cause cause_find(const struct capture *capture, cause_hottest hottest, void *user)
{
	static struct cause (*const of_cpu[])(const struct facts *) = { negligible, cpu_throttled,
									cpu_stolen, cpu_interrupted,
									cpu_shared, NULL };
	static struct cause (*const of_memory[])(const struct facts *) = { negligible, memory_limit,
									   memory_shortage,
									   memory_limit_unseen, NULL };
	static struct cause (*const of_io[])(const struct facts *) = { negligible, io_shared, io_refaults,
								       io_own,     io_device, NULL };
	static struct cause (*const of_irq[])(const struct facts *) = { irq_time, NULL };
	static struct cause (*const *const of[PSI_RESOURCES])(const struct facts *) = {
		[PSI_CPU] = of_cpu, [PSI_MEMORY] = of_memory, [PSI_IO] = of_io, [PSI_IRQ] = of_irq
	};
	struct facts facts = gather(capture, hottest, user);
	struct cause cause = { 0 };

	for (size_t i = 0; of[capture->trigger.psi.resource][i] && !cause.verdict; i++)
		cause = of[capture->trigger.psi.resource][i](&facts);
	if (!cause.verdict)
		cause = undetermined(&facts);
	cause.onset = onset_find(capture);
	add_onset(&cause, cause.onset);
	usage_groups_free(&facts.groups);
	return cause;
}
