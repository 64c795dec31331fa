/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/capture/cause_memory.h"

#include "common/cgroup_path.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Whoever grew by less did not cause a shortage of memory. */
#define GROWTH_BYTES (16 * FACTS_MEBIBYTE)

/* Bytes of parts of a sentence. */
#define RECLAIM_BYTES 256
#define GROWN_BYTES (FACTS_GROUP_BYTES + 96)

#define IN_RECLAIM                                                                                           \
	"the targets were in reclaim for %.2f s within %.2f s, without any reclaim for the whole host"

/*
 * memory.events of the cgroup that fired includes its descendants. An ancestor's counts would include events
 * of unrelated cgroups, so only its own limit counts.
 */
static const struct kernel_stat *limit_met(const struct facts *facts, const char *name)
{
	const struct kernel_stat *limit = facts_most_grown(facts, "memory.events.local", name);
	const struct kernel_stats *stats = &facts->capture->kernel_stats;

	for (uint32_t i = 0; i < stats->count && !limit; i++)
		if (!stats->stats[i].scope && !strcmp(stats->stats[i].source, "memory.events") &&
		    !strcmp(stats->stats[i].name, name) && facts_growth(&stats->stats[i]))
			limit = &stats->stats[i];
	return limit;
}

struct cause cause_memory_limit(const struct facts *facts)
{
	const struct kernel_stat *limit = limit_met(facts, "max");
	uint64_t refaults, bytes;
	char file[32], of[64] = "";

	if (!limit)
		limit = limit_met(facts, "high");
	if (!limit || facts_growth(limit) < facts_grown(facts, KERNEL_STAT_SYSTEM, "vmstat", "allocstall_"))
		return facts_no_verdict;
	refaults = facts_grown(facts, limit->scope, "memory.stat", "workingset_refault_");
	snprintf(file, sizeof(file), "memory.%.16s", limit->name);
	bytes = facts_limit(facts, limit->scope, file, "bytes");
	if (bytes)
		snprintf(of, sizeof(of), " of %.1f MiB", facts_mebibytes(bytes));
	return facts_verdict(CAUSE_OWN_LIMIT,
			     "%.*s reached its %s%s %" PRIu64
			     " times, and read %.1f MiB again that had been evicted, within %.2f s",
			     FACTS_SCOPE(facts, limit), file, of, facts_growth(limit),
			     facts_mebibytes(refaults * FACTS_PAGE_BYTES),
			     facts_seconds(facts_span_ns(facts)));
}

/* What reclaim for the whole host did. kswapd may keep all others from waiting for it: then they wait for what it evicted. */
static const char *reclaim_text(const struct facts *facts, char *into, size_t into_bytes)
{
	uint64_t direct = facts_grown(facts, KERNEL_STAT_SYSTEM, "vmstat", "pgscan_direct"),
		 stalls = facts_grown(facts, KERNEL_STAT_SYSTEM, "vmstat", "allocstall_"),
		 kswapd = facts_grown(facts, KERNEL_STAT_SYSTEM, "vmstat", "pgscan_kswapd"),
		 refaults = facts_grown(facts, KERNEL_STAT_SYSTEM, "vmstat", "workingset_refault_");
	size_t used;

	if (!direct && !stalls && !kswapd)
		return NULL;
	if (direct || stalls)
		used = (size_t)snprintf(
			into, into_bytes,
			"%" PRIu64
			" allocations on the host waited for reclaim, which scanned %.1f MiB (kswapd: %.1f MiB)",
			stalls, facts_mebibytes(direct * FACTS_PAGE_BYTES),
			facts_mebibytes(kswapd * FACTS_PAGE_BYTES));
	else
		used = (size_t)snprintf(
			into, into_bytes,
			"kswapd scanned %.1f MiB on the host, and no allocation waited for reclaim",
			facts_mebibytes(kswapd * FACTS_PAGE_BYTES));
	if (refaults)
		used += (size_t)snprintf(into + used, into_bytes - used,
					 "; %.1f MiB were read again that had been evicted",
					 facts_mebibytes(refaults * FACTS_PAGE_BYTES));
	snprintf(into + used, into_bytes - used, ", within %.2f s", facts_seconds(facts_span_ns(facts)));
	return into;
}

/* How much the group grew; NULL: not by enough. */
static const char *grown_text(const struct facts *facts, const struct usage_group *grown, char *into,
			      size_t into_bytes)
{
	char group[FACTS_GROUP_BYTES];

	if (!grown || grown->sums.grown_bytes < GROWTH_BYTES)
		return NULL;
	snprintf(into, into_bytes, "%s grew most, by %.1f MiB to %.1f MiB, within %.2f s",
		 usage_group_text(grown, group, sizeof(group)), facts_mebibytes(grown->sums.grown_bytes),
		 facts_mebibytes(grown->sums.rss_bytes), facts_seconds(facts->usage_ns));
	return into;
}

struct cause cause_memory_shortage(const struct facts *facts)
{
	const struct usage_group *first = facts->first_other;
	char group[FACTS_GROUP_BYTES], of_reclaim[RECLAIM_BYTES], of_grown[GROWN_BYTES];
	const char *reclaim = reclaim_text(facts, of_reclaim, sizeof(of_reclaim)),
		   *grown = grown_text(facts, facts->first_grown, of_grown, sizeof(of_grown));

	if (!reclaim)
		return facts_no_verdict;
	if (grown)
		return facts_blame(facts_verdict(CAUSE_SHORTAGE, "%s; %s", reclaim, grown),
				   facts->first_grown);
	/* a rule for many programs has no others */
	if (facts->first_target && facts->target_groups > 1 &&
	    (!first || facts->first_target->sums.rss_bytes > first->sums.rss_bytes))
		first = facts->first_target;
	return facts_blame(facts_verdict(CAUSE_SHORTAGE, "%s; the largest is %s with %.1f MiB", reclaim,
					 first ? usage_group_text(first, group, sizeof(group)) : "nobody",
					 facts_mebibytes(first ? first->sums.rss_bytes : 0)),
			   first);
}

/* Scanned for the cgroup since the trigger, in bytes; for "/", for any limit or none. -1: not known. */
static int64_t scanned_bytes(const struct cgroup_memory_row *row)
{
	return row->before.scanned < 0 || row->after.scanned < 0 ? -1
								 : row->after.scanned - row->before.scanned;
}

/* Reclaim may be over when the rule fires: the pages that it evicted are then read again. */
struct cause cause_memory_evicted(const struct facts *facts)
{
	const struct cgroup_memory *memory = &facts->capture->cgroup_memory;
	uint64_t refaults = facts_grown(facts, KERNEL_STAT_SYSTEM, "vmstat", "workingset_refault_");
	char of_grown[GROWN_BYTES];
	const char *grown = grown_text(facts, facts->first_grown, of_grown, sizeof(of_grown));

	if (!refaults || !grown || !memory->count || strcmp(memory->rows[0].cgroup, "/") != 0 ||
	    scanned_bytes(&memory->rows[0]))
		return facts_no_verdict;
	return facts_blame(
		facts_verdict(
			CAUSE_SHORTAGE,
			"%.1f MiB were read again that had been evicted before the trigger, and nothing was reclaimed after it, within %.2f s; %s",
			facts_mebibytes(refaults * FACTS_PAGE_BYTES), facts_seconds(facts_span_ns(facts)),
			grown),
		facts->first_grown);
}

/* A rule for the whole system has no memory.events: the cgroup that was scanned most. */
static struct cause limit_of_scanned(const struct facts *facts)
{
	const struct cgroup_memory *memory = &facts->capture->cgroup_memory;
	const struct cgroup_memory_row *most = NULL;

	for (uint32_t i = 0; i < memory->count; i++)
		if (strcmp(memory->rows[i].cgroup, "/") != 0 && scanned_bytes(&memory->rows[i]) > 0 &&
		    (!most || scanned_bytes(&memory->rows[i]) > scanned_bytes(most)))
			most = &memory->rows[i];
	if (!most)
		return facts_no_verdict;
	return facts_verdict(
		CAUSE_OWN_LIMIT,
		IN_RECLAIM
		"; of cgroups %s was scanned most, %.1f MiB: it or one above it reached its memory limit",
		facts_seconds(facts->own.stalled_memory_ns), facts_seconds(facts->usage_ns), most->cgroup,
		facts_mebibytes((uint64_t)scanned_bytes(most)));
}

/*
 * The kernel reclaims either for the system or for a cgroup's limit: without reclaim for the system it was
 * the limit.
 */
struct cause cause_memory_limit_unseen(const struct facts *facts)
{
	const struct kernel_stats *stats = &facts->capture->kernel_stats;
	uint64_t faults = facts_grown(facts, KERNEL_STAT_SYSTEM, "vmstat", "pgfault"),
		 compactions = facts_grown(facts, KERNEL_STAT_SYSTEM, "vmstat", "compact_stall");

	if (!faults || compactions || !facts->own.stalled_memory_ns)
		return facts_no_verdict;
	for (uint32_t i = 0; i < stats->count; i++)
		if (!strcmp(stats->stats[i].source, "memory.current"))
			return facts_no_verdict; /* the limits are in cgroup2, and none was reached */
	if (facts->capture->cgroup_memory.count)
		return limit_of_scanned(facts);
	return facts_verdict(CAUSE_OWN_LIMIT,
			     IN_RECLAIM ": a cgroup reached its memory limit, but no memory.events say which",
			     facts_seconds(facts->own.stalled_memory_ns), facts_seconds(facts->usage_ns));
}

/* ---- a kill ---- */

/* The row of the kill that began the capture; NULL: there were too many to keep it. */
static const struct kill_row *find_kill(const struct capture *capture)
{
	const struct kill_record *kill = &capture->trigger.kill;
	const struct kill_rows *rows = &capture->usage.kills;

	for (uint32_t i = 0; i < rows->count; i++)
		if (!rows->rows[i].is_rest && rows->rows[i].record.tgid == kill->tgid &&
		    rows->rows[i].record.time_ns == kill->time_ns)
			return &rows->rows[i];
	return NULL;
}

/* Where whoever grew has led to the kill: below the limit that was met, or anywhere (NULL). */
static const char *short_cgroup(const struct kill_record *kill, const struct kill_row *row)
{
	if (!kill->limit_bytes || !row)
		return NULL;
	/* a limit of version 1 has no path in cgroup2 */
	return kill->flags & KILL_LIMIT_V1 ? row->cgroup : row->limit_cgroup;
}

/* Whose memory grew most, by as much as the victim held or more, or which the victim is one of. NULL: nobody is. */
static const struct usage_group *find_grown(const struct facts *facts, const struct kill_row *row)
{
	const struct kill_record *kill = &facts->capture->trigger.kill;
	const char *within = short_cgroup(kill, row);
	const struct usage_group *most = NULL;

	for (uint32_t i = 0; i < facts->groups.count; i++) {
		const struct usage_group *group = &facts->groups.groups[i];

		if (within && !(group->cgroup && cgroup_is_within(group->cgroup, within)))
			continue;
		if (!most || group->sums.grown_bytes > most->sums.grown_bytes)
			most = group;
	}
	if (most && most->sums.grown_bytes < kill->rss_bytes &&
	    !(row && usage_group_has(most, USAGE_TARGET, kill->comm, row->cgroup)))
		return NULL;
	return most;
}

/* "the kernel, because /a had used up its 64.0 MiB" */
static const char *killer_text(const struct kill_record *kill, const struct kill_row *row, char *into,
			       size_t into_bytes)
{
	if (kill->how != KILL_OOM)
		return "systemd-oomd";
	if (!kill->limit_bytes)
		return "the kernel, because the host's memory was used up";
	snprintf(into, into_bytes, "the kernel, because %s had used up its %.1f MiB",
		 row && row->limit_cgroup ? row->limit_cgroup : "its cgroup",
		 facts_mebibytes(kill->limit_bytes));
	return into;
}

struct cause cause_memory_kill(const struct facts *facts)
{
	const struct kill_record *kill = &facts->capture->trigger.kill;
	const struct kill_row *row = find_kill(facts->capture);
	const struct usage_group *most = find_grown(facts, row);
	char killer[FACTS_GROUP_BYTES], of_grown[GROWN_BYTES], victim[FACTS_GROUP_BYTES];
	const char *grown = grown_text(facts, most, of_grown, sizeof(of_grown));
	struct cause cause;

	snprintf(victim, sizeof(victim), "%s[%" PRIu32 "]%s%s", kill->comm, kill->tgid,
		 row && row->cgroup ? " in " : "", row && row->cgroup ? row->cgroup : "");
	cause = facts_verdict(CAUSE_KILL, "%s, which held %.1f MiB, was killed by %s%s%s", victim,
			      facts_mebibytes(kill->rss_bytes),
			      killer_text(kill, row, killer, sizeof(killer)), grown ? "; " : "",
			      grown ? grown : "");
	if (grown)
		return facts_blame(cause, most);
	snprintf(cause.culprit, sizeof(cause.culprit), "%s", victim);
	return cause;
}
