/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/base/cleanup.h"
#include "common/base/optional_text.h"
#include "common/kernel/cgroup_parts.h"
#include "common/verdict/parties.h"
#include "common/verdict/sums.h"
#include "common/verdict/teams.h"

#include <stdio.h>
#include <string.h>

/* ---- thresholds: docs/WHY.md explains them ---- */

/* A victim that waited less, of the time that it ran or waited, is not hurt, if PSI saw as little. */
#define NEGLIGIBLE_PERCENT 5.0
/* Where nothing fired: the tolerance of the accounts themselves, of the span or in all. */
#define TOLERANCE_PERCENT 2.0
#define TOLERANCE_NS 10000000U
/* Who grew by less did not make memory short. */
#define GROWTH_BYTES (16ULL << 20)

/* ---- waits ---- */

#define WAITS_CPU (WAIT(ACCOUNT_QUEUED) | WAIT(ACCOUNT_THROTTLED))
/* A thread that reads what its limit evicted waits for a disk, and for memory while the kernel counts it as a memory stall. */
#define WAITS_IO (WAIT(ACCOUNT_IO) | WAIT(ACCOUNT_MEMORY))
#define WAITS_MEMORY WAIT(ACCOUNT_MEMORY)
#define WAITS_ALL (WAITS_CPU | WAITS_IO | WAIT(ACCOUNT_LOCK) | WAIT(ACCOUNT_NETWORK) | WAIT(ACCOUNT_PEER))

/* For what the resource that fired makes threads wait; without one, all but sleep. */
static unsigned int waits_of(const struct verdict_facts *facts)
{
	static const unsigned int of_resource[PSI_RESOURCES + 1] = { [PSI_CPU] = WAITS_CPU,
								     [PSI_MEMORY] = WAITS_MEMORY,
								     [PSI_IO] = WAITS_IO,
								     [PSI_IRQ] = WAIT(ACCOUNT_QUEUED),
								     [PSI_RESOURCES] = WAITS_ALL };

	return of_resource[facts->resource];
}

/* The ways to wait that a quota's or a limit's share is of, where this wait is the largest. */
static unsigned int waits_beside(const struct verdict_facts *facts, uint8_t wait)
{
	if (facts->resource != PSI_RESOURCES)
		return waits_of(facts);
	return WAIT(wait) & WAITS_CPU ? WAITS_CPU : WAIT(wait) & WAITS_IO ? WAITS_IO : WAIT(wait);
}

/* The victim's sums of what is charged to somebody. Its parties begin at `at`; returns where the next victim's do. */
static uint32_t sum_blamed(const struct verdict_facts *facts, uint32_t victim, uint32_t at,
			   uint64_t ret_ns[ACCOUNTS])
{
	memset(ret_ns, 0, ACCOUNTS * sizeof(*ret_ns));
	for (; at < facts->parties_count && facts->parties[at].victim == victim; at++)
		if (sums_is_blamed(&facts->parties[at]))
			ret_ns[facts->parties[at].wait] += facts->parties[at].ns;
	return at;
}

static uint64_t sum_of(const uint64_t ns[ACCOUNTS], unsigned int waits)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < ACCOUNTS; i++)
		sum += waits & WAIT(i) ? ns[i] : 0;
	return sum;
}

static uint8_t largest_of(const uint64_t ns[ACCOUNTS], unsigned int waits)
{
	uint8_t largest = ACCOUNTS;

	for (uint8_t i = 0; i < ACCOUNTS; i++)
		if ((waits & WAIT(i)) && ns[i] && (largest == ACCOUNTS || ns[i] > ns[largest]))
			largest = i;
	return largest;
}

/* The victim of whose wait for the resource most is charged to somebody; without any such, the one that waited longest. */
static void find_victim(const struct verdict_facts *facts, struct verdict *verdict)
{
	uint64_t most_blamed_ns = 0, most_waited_ns = 0, ns[ACCOUNTS];
	uint32_t at = 0;

	for (uint32_t i = 0; i < facts->victims_count; i++) {
		const struct verdict_victim *victim = &facts->victims[i];
		uint64_t blamed_ns, waits_ns;
		uint8_t wait;

		at = sum_blamed(facts, i, at, ns);
		wait = largest_of(ns, waits_of(facts));
		if (wait == ACCOUNTS)
			wait = largest_of(victim->ns, waits_of(facts));
		blamed_ns = wait < ACCOUNTS ? sum_of(ns, waits_beside(facts, wait)) : 0;
		waits_ns = wait < ACCOUNTS ? sum_of(victim->ns, waits_beside(facts, wait)) : 0;
		if (verdict->victim && (blamed_ns < most_blamed_ns ||
					(blamed_ns == most_blamed_ns && waits_ns <= most_waited_ns)))
			continue;
		most_blamed_ns = blamed_ns;
		most_waited_ns = waits_ns;
		verdict->victim = victim;
		verdict->wait = ns[ACCOUNT_LOCK] > blamed_ns ? ACCOUNT_LOCK : wait;
	}
}

/* ---- limits ---- */

static bool is_in(const char *cgroup, const char *above)
{
	return cgroup && above && cgroup_is_within(cgroup, above);
}

/* A cgroup of v1 has a name and no path. */
static bool is_v1(const char *cgroup)
{
	return cgroup && *cgroup != '/';
}

/* Whose quota or limit it is: where the cgroup is not known, by its name alone. */
static const char *cgroup_of(const struct verdict_party *party)
{
	return party->who.cgroup ? party->who.cgroup : party->where;
}

static void set_limit(struct verdict *verdict, const struct verdict_limit *limit)
{
	verdict->limit = limit;
	verdict->limit_cgroup = limit->cgroup;
	verdict->limit_name = limit->name;
	verdict->limit_value = limit->value;
}

/* The quota that was used up. Of the victim and those above it, its cgroup is among the limits; the kernel's count names it. */
static void find_quota(const struct verdict_facts *facts, const struct verdict_party *party,
		       struct verdict *verdict)
{
	if (!party)
		return;
	verdict->limit_cgroup = cgroup_of(party);
	verdict->limit_name = is_v1(verdict->limit_cgroup) ? "cpu.cfs_quota_us" : "cpu.max";
	for (uint32_t i = 0; i < facts->limits_count; i++)
		if (optional_text_is_same(facts->limits[i].name, "cpu.max") &&
		    optional_text_is_same(facts->limits[i].cgroup, verdict->limit_cgroup))
			set_limit(verdict, &facts->limits[i]);
}

/* Whether the limit may be the one that the victim met; `cgroup` is whose it is, if the kernel's count tells, else NULL. */
static bool is_memory_limit(const struct verdict_limit *limit, const struct verdict_victim *victim,
			    const char *cgroup)
{
	if (optional_text_is_same(limit->name, "cpu.max") ||
	    (cgroup && !optional_text_is_same(limit->cgroup, cgroup)))
		return false;
	return limit->is_concluded ? victim && is_in(victim->who.cgroup, limit->cgroup) : limit->met;
}

/* The limit that was met most often; where none was counted, of the cgroups that were scanned. */
static const struct verdict_limit *find_memory_limit(const struct verdict_facts *facts,
						     const struct verdict_victim *victim, const char *cgroup)
{
	for (uint32_t i = 0; i < facts->limits_count; i++)
		if (is_memory_limit(&facts->limits[i], victim, cgroup))
			return &facts->limits[i];
	return NULL;
}

static const struct verdict_growth *first_grown(const struct verdict_facts *facts, const char *within)
{
	for (uint32_t i = 0; i < facts->grown_count; i++)
		if (!within || is_in(facts->grown[i].who.cgroup, within))
			return facts->grown[i].grown_bytes >= GROWTH_BYTES ? &facts->grown[i] : NULL;
	return NULL;
}

static bool decide_quota(const struct verdict_facts *facts, struct verdict *verdict)
{
	uint64_t ns = verdict->victim->ns[ACCOUNT_THROTTLED], all_ns;
	struct sums sums;

	all_ns = sum_of(verdict->victim->ns, WAITS_CPU);
	if (!(waits_beside(facts, verdict->wait) & WAIT(ACCOUNT_THROTTLED)) ||
	    sums_percent(ns, all_ns) < PARTIES_LEADER_PERCENT)
		return false;
	sums = sums_make(facts, verdict->victim, WAIT(ACCOUNT_THROTTLED));
	verdict->wait = ACCOUNT_THROTTLED;
	verdict->waited_ns = all_ns;
	find_quota(facts, sums.quota.first, verdict);
	parties_name(verdict, sums.quota.first);
	return parties_decide(verdict, VERDICT_QUOTA, ns);
}

/* Whether what the targets read had been evicted: half of it or more. */
static bool is_refaulting(const struct verdict_facts *facts)
{
	return facts->targets_bytes && facts->refaulted_bytes >= facts->targets_bytes / 2;
}

static bool is_host_short(const struct verdict_facts *facts)
{
	return facts->reclaim_stalls || facts->scanned_bytes;
}

/* A limit of memory shows in reclaim for it; and where reclaim is quick, in a disk that reads again what it evicted. */
static bool decide_limit(const struct verdict_facts *facts, struct verdict *verdict)
{
	unsigned int waits = waits_beside(facts, verdict->wait);
	const struct sums sums = sums_make(facts, verdict->victim, WAIT(ACCOUNT_MEMORY));
	const struct verdict_party *first = sums.limit.first;
	const char *cgroup = first ? cgroup_of(first) : NULL;
	const struct verdict_limit *limit = find_memory_limit(facts, verdict->victim, cgroup);
	uint64_t ns = sums.limit.ns, all_ns = sum_of(verdict->victim->ns, waits);
	bool is_read_again = (waits & WAIT(ACCOUNT_IO)) && is_refaulting(facts) &&
			     ((limit && !limit->is_concluded) || (ns && !is_host_short(facts)));

	if (!(waits & WAIT(ACCOUNT_MEMORY)) ||
	    (sums_percent(ns, all_ns) < PARTIES_LEADER_PERCENT && !is_read_again))
		return false;
	if (is_read_again)
		ns += verdict->victim->ns[ACCOUNT_IO];
	else
		verdict->wait = ACCOUNT_MEMORY;
	verdict->waited_ns = all_ns;
	verdict->limit_cgroup = cgroup;
	verdict->limit_name = is_v1(cgroup) ? "memory.limit_in_bytes" : NULL;
	if (limit)
		set_limit(verdict, limit);
	verdict->grown = first_grown(facts, verdict->limit_cgroup);
	parties_name(verdict, first);
	return parties_decide(verdict, VERDICT_LIMIT, ns);
}

/* ---- a kill ---- */

/* Whose memory grew by as much as the killed process held, or more, where memory was short; or the killed program itself. */
static const struct verdict_growth *grown_before(const struct verdict_facts *facts,
						 const struct verdict_kill *kill)
{
	const char *within = kill->limit_bytes < 0       ? NULL
			     : is_v1(kill->limit_cgroup) ? kill->who.cgroup
							 : kill->limit_cgroup;
	const struct verdict_growth *grown = first_grown(facts, within);

	if (grown && grown->grown_bytes < kill->rss_bytes && !verdict_is_same(&kill->who, &grown->who))
		return NULL;
	return grown;
}

static bool decide_kill(const struct verdict_facts *facts, struct verdict *verdict)
{
	const struct verdict_kill *kill = facts->kills_count ? &facts->kills[0] : NULL;

	if (!kill && facts->fired != FIRED_KILL)
		return false;
	/* a kill waits for nothing */
	verdict->wait = ACCOUNTS;
	for (uint32_t i = 0; i < facts->victims_count && kill; i++)
		if (verdict_is_same(&kill->who, &facts->victims[i].who))
			verdict->victim = &facts->victims[i];
	if (kill) {
		verdict->kill = kill;
		verdict->grown = grown_before(facts, kill);
		verdict->limit_cgroup = kill->limit_cgroup;
		verdict->limit_value = kill->limit_bytes;
		if (kill->limit_bytes >= 0)
			verdict->limit_name = is_v1(kill->limit_cgroup) ? "memory.limit_in_bytes"
									: "memory.max";
	}
	return parties_decide(verdict, VERDICT_KILL, 0);
}

/* ---- by the wait that decides ---- */

/* Time that was not seen may be waiting. */
static bool has_unseen_time(const struct verdict_victim *victim)
{
	return victim &&
	       sums_percent(victim->ns[ACCOUNT_REST], sum_of(victim->ns, ~0U)) >= NEGLIGIBLE_PERCENT;
}

/* The targets wait so little that nobody is to blame. */
static bool decide_negligible(const struct verdict_facts *facts, struct verdict *verdict)
{
	const struct verdict_victim *victim = verdict->victim;
	uint64_t ran_ns = victim->ns[ACCOUNT_RAN];
	double percent = sums_percent(verdict->waited_ns, verdict->waited_ns + ran_ns);
	bool is_within_tolerance = verdict->waited_ns < TOLERANCE_NS;

	if (facts->fired == FIRED_PRESSURE && facts->stalled_percent >= NEGLIGIBLE_PERCENT &&
	    !is_within_tolerance)
		return false;
	/* the longest of many short waits */
	if (facts->fired == FIRED_LATENCY && !is_within_tolerance)
		return false;
	if (facts->fired != FIRED_PRESSURE)
		is_within_tolerance |= sums_percent(verdict->waited_ns, facts->span_ns) < TOLERANCE_PERCENT;
	if (has_unseen_time(victim))
		return false;
	if (percent >= NEGLIGIBLE_PERCENT && !is_within_tolerance)
		return false;
	return parties_decide(verdict, VERDICT_NEGLIGIBLE, 0);
}

static const struct verdict_growth *growth_of(const struct verdict_facts *facts,
					      const struct verdict_party *party)
{
	for (uint32_t i = 0; i < facts->grown_count && party; i++)
		if (verdict_is_same(&facts->grown[i].who, &party->who))
			return &facts->grown[i];
	return NULL;
}

/* Of memory the host ran short: those who grew are to blame, but no crowd. */
static bool decide_memory(const struct verdict_facts *facts, const struct sums *sums, struct verdict *verdict)
{
	uint64_t own_ns = sums->own.ns;

	/* without reclaim for the host, growth is not why threads waited */
	if (!is_host_short(facts) && !facts->refaulted_bytes)
		return false;
	verdict->grown = first_grown(facts, NULL);
	if (!verdict->grown)
		return parties_decide(verdict, VERDICT_MEMORY_SHORTAGE, 0);
	if (sums->neighbours[0] && sums->neighbours[0]->ns > own_ns &&
	    parties_decide_neighbours(verdict, sums) && verdict->kind != VERDICT_CROWD) {
		verdict->grown = growth_of(facts, verdict->blamed[0].party);
		return true;
	}
	verdict->blamed_count = 0;
	if (own_ns && (!sums->neighbours[0] || sums->neighbours[0]->ns <= own_ns))
		return parties_decide_by_sum(verdict, VERDICT_MEMORY_SHORTAGE, &sums->own);
	return parties_decide(verdict, VERDICT_MEMORY_SHORTAGE, own_ns + sums->neighbours_ns);
}

static bool decide_io(const struct verdict_facts *facts, const struct sums *sums, struct verdict *verdict)
{
	const struct verdict_disk *disk = &facts->disk;

	if (is_refaulting(facts) && is_host_short(facts)) {
		verdict->grown = first_grown(facts, NULL);
		return parties_decide(verdict, VERDICT_MEMORY_SHORTAGE, verdict->waited_ns);
	}
	if (verdict_disk_is_slow(disk, verdict->waited_ns, facts->span_ns)) {
		parties_name(verdict, sums->device.first);
		return parties_decide(verdict, VERDICT_DEVICE, verdict->waited_ns);
	}
	if (parties_decide_by_largest(verdict, sums, VERDICT_OWN_IO))
		return true;
	if (!verdict_disk_is_busy(disk) && !verdict_disk_is_late(disk))
		return false;
	return parties_decide(verdict, VERDICT_DEVICE, sums->device.ns);
}

static bool decide_by_wait(const struct verdict_facts *facts, struct verdict *verdict)
{
	const struct sums all = sums_make(facts, verdict->victim, WAIT(verdict->wait)), *sums = &all;

	verdict->waited_ns = verdict->victim->ns[verdict->wait];
	verdict->unknown_ns = sums->unknown_ns;
	switch (verdict->wait) {
	case ACCOUNT_MEMORY:
		return decide_memory(facts, sums, verdict);
	case ACCOUNT_IO:
		return decide_io(facts, sums, verdict);
	case ACCOUNT_LOCK:
		return sums->own.ns + sums->neighbours_ns &&
		       parties_decide_by_all(verdict, sums,
					     teams_is_convoy(facts, verdict->victim) ? VERDICT_CONVOY
										     : VERDICT_LOCK);
	case ACCOUNT_PEER:
		return teams_decide_pool(sums, verdict) ||
		       (sums->own.ns + sums->neighbours_ns &&
			parties_decide_by_all(verdict, sums, VERDICT_PEER));
	case ACCOUNT_NETWORK:
		return parties_decide(verdict, VERDICT_NETWORK, verdict->waited_ns - verdict->unknown_ns);
	default:
		return parties_decide_by_largest(verdict, sums, VERDICT_OWN_THREADS);
	}
}

/* ---- what was not examined ---- */

static const char *const unseen_words[] = { "accounts",
					    "memory limits",
					    "block devices",
					    "io.max",
					    "interrupts",
					    "processes that root's policy denies",
					    "waits of nobody known" };

/* What would have to be known to judge more surely: of what the facts lack, that which the wait is about. */
static unsigned int find_unseen(const struct verdict_facts *facts, const struct sums *sums,
				const struct verdict *verdict)
{
	unsigned int unseen = facts->unseen & UNSEEN_ACCOUNTS, by_wait = 0;
	uint64_t gaps_ns = verdict->unknown_ns - verdict->idle_ns - sums->denied_ns;
	bool is_undetermined = verdict->kind == VERDICT_UNDETERMINED;

	if (unseen || verdict->kind == VERDICT_NEGLIGIBLE || verdict->kind == VERDICT_KILL)
		return unseen;
	if ((verdict->kind == VERDICT_LIMIT && !verdict->limit_cgroup) ||
	    (verdict->wait == ACCOUNT_MEMORY && is_undetermined))
		by_wait = UNSEEN_LIMITS;
	if (verdict->wait == ACCOUNT_IO && (is_undetermined || verdict->kind == VERDICT_DEVICE))
		by_wait = UNSEEN_DISKS;
	if (facts->resource == PSI_IRQ)
		by_wait = UNSEEN_INTERRUPTS;
	unseen |= facts->unseen & by_wait;
	if (by_wait == UNSEEN_DISKS)
		unseen |= UNSEEN_IO_LIMITS;
	if (parties_is_leading(verdict, sums->denied_ns))
		unseen |= UNSEEN_DENIED;
	if (parties_is_leading(verdict, gaps_ns) || (is_undetermined && has_unseen_time(verdict->victim)))
		unseen |= UNSEEN_WAITS;
	return unseen;
}

static void write_unseen(struct verdict *verdict)
{
	size_t used = 0;

	for (size_t i = 0; i < ARRAY_SIZE(unseen_words); i++)
		if (verdict->unseen & (1U << i) && used < sizeof(verdict->not_examined))
			used += (size_t)snprintf(verdict->not_examined + used,
						 sizeof(verdict->not_examined) - used, "%s%s",
						 used ? ", " : "", unseen_words[i]);
}

/* ---- the verdict ---- */

bool verdict_names_own(const struct verdict *verdict)
{
	for (uint32_t i = 0; i < verdict->blamed_count; i++)
		if (verdict->blamed[i].party->role == ROLE_OWN)
			return true;
	return false;
}

/* Pressure of interrupts is time that they take from threads that run, which is in no account: the machine's time decides. */
static unsigned int decide_irq(const struct verdict_facts *facts, struct verdict *verdict)
{
	const struct sums sums = sums_make(facts, verdict->victim, WAIT(ACCOUNT_QUEUED));
	uint64_t irq_ns = facts->irq_ns + facts->softirq_ns;

	verdict->wait = ACCOUNT_QUEUED;
	verdict->waited_ns = verdict->victim->ns[ACCOUNT_QUEUED];
	if (facts->machine_ns && irq_ns + facts->steal_ns)
		parties_decide_by_sum(verdict, irq_ns >= facts->steal_ns ? VERDICT_INTERRUPTS : VERDICT_STEAL,
				      irq_ns >= facts->steal_ns ? &sums.interrupts : &sums.steal);
	return WAIT(ACCOUNT_QUEUED);
}

/* Returns the ways to wait of which waited_ns is the sum. */
static unsigned int judge(const struct verdict_facts *facts, struct verdict *verdict)
{
	unsigned int waits;

	find_victim(facts, verdict);
	if (decide_kill(facts, verdict) || !verdict->victim)
		return 0;
	if (facts->resource == PSI_IRQ)
		return decide_irq(facts, verdict);
	/* of the resource that fired all its waits, unless it is another one that decides */
	waits = facts->resource == PSI_RESOURCES || verdict->wait == ACCOUNT_LOCK ? WAIT(verdict->wait)
										  : waits_of(facts);
	verdict->waited_ns = sum_of(verdict->victim->ns, waits);
	if (decide_negligible(facts, verdict) || verdict->wait == ACCOUNTS)
		return waits;
	if (decide_quota(facts, verdict) || decide_limit(facts, verdict))
		return waits_beside(facts, verdict->wait);
	if (teams_decide_storm(facts, verdict))
		return WAIT(verdict->wait);
	/* memory that nobody is to blame for leaves the disk, for which the victim waited, too */
	if (!decide_by_wait(facts, verdict) && facts->resource == PSI_IO && verdict->wait == ACCOUNT_MEMORY) {
		verdict->wait = ACCOUNT_IO;
		decide_by_wait(facts, verdict);
	}
	return WAIT(verdict->wait);
}

struct verdict verdict_judge(const struct verdict_facts *facts)
{
	struct verdict verdict = { .kind = VERDICT_UNDETERMINED, .wait = ACCOUNTS, .limit_value = -1 };
	struct sums sums = { 0 };
	unsigned int waits = judge(facts, &verdict);

	if (verdict.victim)
		sums = sums_make(facts, verdict.victim, waits);
	if (verdict.kind == VERDICT_CROWD)
		parties_count_crowd(facts, &verdict);
	verdict.own_percent = sums_percent(sums.own.ns, verdict.waited_ns);
	verdict.unknown_ns = sums.unknown_ns;
	verdict.idle_ns = sums.idle_ns;
	verdict.unseen = find_unseen(facts, &sums, &verdict);
	write_unseen(&verdict);
	return verdict;
}
