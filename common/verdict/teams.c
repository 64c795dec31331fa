/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/verdict/teams.h"

#include "common/verdict/parties.h"

/* ---- thresholds: docs/WHY.md explains them ---- */

/* So many threads or more wait for the lock at any time. */
#define CONVOY_WAITING 2.0
/* A thread that has got the lock runs for less, until it gives it on. */
#define CONVOY_RUN_NS 1e6
/* Threads that one event wakes: at least so many, and this part of all that wait there. */
#define STORM_THREADS 3.0
#define STORM_PART 0.5
/* Each of them runs for less, until it waits again. */
#define STORM_RUN_NS 250e3
#define STORM_LEAST_NS 10000000U
#define STORM_LEAST_PERCENT 2.0
/* A pool has so many threads, and this part of their time, or more, they do not wait for work. Fewer looks tell nothing. */
#define POOL_THREADS 2U
#define POOL_BUSY_PERCENT 90.0
#define POOL_LOOKS 20U

static uint64_t then_queued_ns(const struct verdict_facts *facts, const struct verdict_victim *victim)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < facts->parties_count; i++)
		if (&facts->victims[facts->parties[i].victim] == victim &&
		    facts->parties[i].wait == ACCOUNT_LOCK)
			ns += facts->parties[i].then_queued_ns;
	return ns;
}

double teams_lock_waits(const struct verdict_victim *victim)
{
	const struct verdict_lock *lock = &victim->lock;

	/* histograms have another span than accounts: the time of a wait is the same in both */
	return lock->ns ? (double)victim->ns[ACCOUNT_LOCK] * (double)lock->waits / (double)lock->ns : 0;
}

bool teams_is_convoy(const struct verdict_facts *facts, const struct verdict_victim *victim)
{
	const struct verdict_lock *lock = &victim->lock;
	double lock_ns = (double)victim->ns[ACCOUNT_LOCK];

	return facts->span_ns && lock_ns >= CONVOY_WAITING * (double)facts->span_ns &&
	       lock->ns >= lock->all_ns / 2 &&
	       (double)victim->ns[ACCOUNT_RAN] < CONVOY_RUN_NS * teams_lock_waits(victim) &&
	       sums_percent(then_queued_ns(facts, victim), victim->ns[ACCOUNT_LOCK]) >=
		       PARTIES_LEADER_PERCENT;
}

static bool is_herd(const struct verdict_victim *victim)
{
	const struct verdict_herd *herd = &victim->herd;
	double wakes = (double)herd->wakes, moments = (double)herd->moments;

	return moments > 0 && wakes >= STORM_THREADS * moments &&
	       wakes >= STORM_PART * (double)herd->threads * moments &&
	       (double)victim->ns[ACCOUNT_RAN] < STORM_RUN_NS * wakes;
}

bool teams_decide_storm(const struct verdict_facts *facts, struct verdict *verdict)
{
	const struct verdict_victim *victim = verdict->victim;
	uint64_t queued_ns = victim->ns[ACCOUNT_QUEUED];
	const struct sums sums = sums_make(facts, victim, WAIT(ACCOUNT_QUEUED));

	if (verdict->wait != ACCOUNT_QUEUED &&
	    !(verdict->wait == ACCOUNT_PEER && facts->resource == PSI_RESOURCES))
		return false;
	if (queued_ns < STORM_LEAST_NS || sums_percent(queued_ns, facts->span_ns) < STORM_LEAST_PERCENT ||
	    sums.own.ns < victim->ns[ACCOUNT_RAN] || !is_herd(victim))
		return false;
	/* pressure may have another cause that is larger */
	if (facts->resource != PSI_RESOURCES && sums_percent(sums.own.ns, queued_ns) < PARTIES_LEADER_PERCENT)
		return false;
	verdict->wait = ACCOUNT_QUEUED;
	verdict->waited_ns = queued_ns;
	return parties_decide_by_sum(verdict, VERDICT_STORM, &sums.own);
}

double teams_pool_busy(const struct verdict_pool *pool)
{
	return sums_percent(pool->on_cpu + pool->disk + pool->lock + pool->elsewhere, pool->looks);
}

bool teams_decide_pool(const struct sums *sums, struct verdict *verdict)
{
	const struct verdict_pool *pool = &verdict->victim->pool;
	double part = pool->all_ns ? (double)pool->answered_ns / (double)pool->all_ns : 0;
	uint64_t ns = (uint64_t)((double)sums->own.ns * (part < 1 ? part : 1));

	if (pool->threads < POOL_THREADS || pool->looks < POOL_LOOKS || !parties_is_leading(verdict, ns) ||
	    teams_pool_busy(pool) < POOL_BUSY_PERCENT)
		return false;
	parties_name(verdict, sums->own.first);
	return parties_decide(verdict, VERDICT_POOL, ns);
}
