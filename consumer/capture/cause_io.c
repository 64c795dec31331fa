/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/capture/cause_io.h"

#include "consumer/capture/cause_memory.h"

#include <inttypes.h>
#include <string.h>

/* A disk this busy, or with requests this slow, explains waiting for it. */
#define DISK_BUSY_PERCENT 50U
#define DISK_SLOW_NS (10ULL * FACTS_MILLISECOND_NS)
/* Other processes that transfer less per second do not compete for a disk. */
#define COMPETING_BYTES_A_SECOND (4 * FACTS_MEBIBYTE)

static bool is_much(const struct facts *facts, uint64_t bytes)
{
	return (double)bytes >= (double)COMPETING_BYTES_A_SECOND * facts_seconds(facts->usage_ns);
}

static struct cause competing_for_disk(const struct facts *facts, const struct usage_group *first,
				       const char *victims, uint64_t victims_bytes)
{
	const struct task_usage *task = &first->sums.task;
	uint64_t all = facts_moved_bytes(&facts->own) + facts_moved_bytes(&facts->others);
	char group[FACTS_GROUP_BYTES], hottest[FACTS_HOTTEST_BYTES];

	return facts_blame(
		facts_verdict(
			CAUSE_COMPETING,
			"%s read %.1f MiB and wrote %.1f MiB, %.0f %% of what all processes did%s; %s moved %.1f MiB and waited %.2f s for it, within %.2f s",
			usage_group_text(first, group, sizeof(group)), facts_mebibytes(task->read_bytes),
			facts_mebibytes(task->write_bytes),
			100 * (double)facts_moved_bytes(&first->sums) / (double)all,
			facts_hottest_text(facts, first, hottest, sizeof(hottest)), victims,
			facts_mebibytes(victims_bytes), facts_seconds(facts->own.stalled_io_ns),
			facts_seconds(facts->usage_ns)),
		first);
}

struct cause cause_io_shared(const struct facts *facts)
{
	const struct usage_group *first = facts->first_target;
	uint64_t own = facts_moved_bytes(&facts->own), others = facts_moved_bytes(&facts->others);
	char victims[FACTS_VICTIMS_BYTES];

	if (facts->first_other && others >= 2 * own && is_much(facts, others))
		return competing_for_disk(facts, facts->first_other,
					  facts_victims_text(facts, victims, sizeof(victims)), own);
	/* a rule for many programs: one of them may be the others' reason */
	if (first && facts->target_groups > 1 && is_much(facts, facts_moved_bytes(&first->sums)) &&
	    facts_without(facts->own.stalled_io_ns, first->sums.stalled_io_ns) >=
		    facts->own.stalled_io_ns / FACTS_VICTIMS_PART)
		return competing_for_disk(facts, first, "the other targets",
					  own - facts_moved_bytes(&first->sums));
	return facts_no_verdict;
}

/* The targets keep the disk busy themselves. */
struct cause cause_io_own(const struct facts *facts)
{
	uint64_t own = facts_moved_bytes(&facts->own), others = facts_moved_bytes(&facts->others);
	char victims[FACTS_VICTIMS_BYTES];

	if (own <= others || !is_much(facts, own))
		return facts_no_verdict;
	return facts_blame(
		facts_verdict(
			CAUSE_OWN_IO,
			"%s read %.1f MiB and wrote %.1f MiB, all other processes %.1f MiB, and waited %.2f s for it, within %.2f s",
			facts_victims_text(facts, victims, sizeof(victims)),
			facts_mebibytes(facts->own.task.read_bytes),
			facts_mebibytes(facts->own.task.write_bytes), facts_mebibytes(others),
			facts_seconds(facts->own.stalled_io_ns), facts_seconds(facts->usage_ns)),
		facts->first_target);
}

/* Refaults: pages read again after they were evicted. */
struct cause cause_io_refaults(const struct facts *facts)
{
	int scope = facts->capture->trigger.cgroup ? 0 : KERNEL_STAT_SYSTEM;
	uint64_t refaults =
		facts_grown(facts, scope, scope ? "vmstat" : "memory.stat", "workingset_refault_");
	struct cause cause;

	if (!facts->own.task.read_bytes || refaults * FACTS_PAGE_BYTES < facts_moved_bytes(&facts->own) / 2)
		return facts_no_verdict;
	cause = cause_memory_limit(facts);
	return cause.verdict ? cause : cause_memory_shortage(facts);
}

static uint64_t of_disk(const struct facts *facts, const char *disk, const char *name)
{
	const struct kernel_stats *stats = &facts->capture->kernel_stats;

	for (uint32_t i = 0; i < stats->count; i++)
		if (!strcmp(stats->stats[i].device, disk) && !strcmp(stats->stats[i].source, "diskstats") &&
		    !strcmp(stats->stats[i].name, name))
			return facts_growth(&stats->stats[i]);
	return 0;
}

struct cause cause_io_device(const struct facts *facts)
{
	const struct kernel_stat *busiest = facts_most_grown(facts, "diskstats", "busy_ms");
	uint64_t requests, waited_ms, percent, each_ns;

	if (!busiest || !facts_span_ns(facts))
		return facts_no_verdict;
	requests = of_disk(facts, busiest->device, "reads") + of_disk(facts, busiest->device, "writes");
	waited_ms = of_disk(facts, busiest->device, "read_ms") + of_disk(facts, busiest->device, "write_ms");
	percent = facts_growth(busiest) * FACTS_MILLISECOND_NS * 100 / facts_span_ns(facts);
	each_ns = requests ? waited_ms * FACTS_MILLISECOND_NS / requests : 0;
	if ((percent < DISK_BUSY_PERCENT && each_ns < DISK_SLOW_NS) ||
	    waited_ms * FACTS_MILLISECOND_NS < facts->stalled_ns / 4)
		return facts_no_verdict;
	return facts_verdict(CAUSE_DEVICE,
			     "%s was busy for %" PRIu64 " %% of %.2f s, with %" PRIu64
			     " requests of %.2f ms each",
			     busiest->device, percent > 100 ? 100 : percent,
			     facts_seconds(facts_span_ns(facts)), requests, facts_seconds(each_ns) * 1e3);
}
