/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * teams.h owns what a victim's own threads do to each other where no single one of them takes long: a lock that is handed from thread
 * to thread (a convoy), threads that are all woken where one is wanted (a storm), and a pool in which no thread is free.
 */
#ifndef BOURDON_VERDICT_TEAMS_H
#define BOURDON_VERDICT_TEAMS_H

#include "common/verdict/sums.h"

/* Whether the lock for which the victim waits longest costs it the hand-over, and not the time for which it is held. */
bool teams_is_convoy(const struct verdict_facts *facts, const struct verdict_victim *victim);

/* How often the victim's threads waited for a lock, if all its waits were as long as those for this one. */
double teams_lock_waits(const struct verdict_victim *victim);

/* The part of their time in which the threads of the pool did not wait for work, in %. */
double teams_pool_busy(const struct verdict_pool *pool);

/* Both return whether it is the verdict. A storm makes the victim wait for a CPU, whatever else it waits for. */
bool teams_decide_storm(const struct verdict_facts *facts, struct verdict *verdict);
bool teams_decide_pool(const struct sums *sums,
		       struct verdict *verdict); /* of the wait for peers, which decides */

#endif
