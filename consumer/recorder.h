/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * recorder.h owns the captures that are being taken: from the watch that fired to the hand-over to the store
 * thread, with the ledger of what was lost meanwhile.
 */
#ifndef BOURDON_CONSUMER_RECORDER_H
#define BOURDON_CONSUMER_RECORDER_H

#include "common/counters.h"
#include "consumer/cgroups.h"
#include "consumer/own_counters.h"
#include "consumer/pinned.h"
#include "consumer/store_thread.h"
#include "consumer/targets.h"
#include "consumer/watches.h"

/* A capture that is being taken, with what the draining thread must know of it. */
struct active {
	struct capture *capture;
	const struct configuration *configuration; /* which its rule is of */
	const struct rule *rule;
	char *cgroup; /* the watch's; NULL: the whole system */
	uint64_t counters_at_begin[COUNTERS];
	uint64_t stale_at_begin;
};

struct recorder {
	const struct pinned *pinned;
	const struct targets *targets;
	struct cgroups *cgroups;
	struct own_counters *own_counters;
	struct store_thread *store;
	struct rings rings;
	uint64_t seed;
	struct active active[STORE_CAPTURES_MAX];
	size_t active_count;
};

/*
 * Begins the capture that the watch calls for; its history is not read yet. 0, -EBUSY where too many are
 * under way or wait for the database, or -ENOMEM.
 */
int recorder_begin(struct recorder *recorder, const struct configuration *configuration,
		   const struct watch *watch, uint64_t observed_us, uint64_t now_ns);

/* Takes what the rings have for the capture that began last; then, once a second, for all of them. */
void recorder_drain_newest(struct recorder *recorder);
void recorder_tick(struct recorder *recorder, uint64_t now_ns);

/* So many CPUs run unseen: each ledger keeps the worst. */
void recorder_note_unsampled(struct recorder *recorder, unsigned int cpus);

/* Hands over what there is, as interrupted. */
void recorder_interrupt(struct recorder *recorder);

/* Whether a capture is being taken by a rule of it. */
bool recorder_uses(const struct recorder *recorder, const struct configuration *configuration);

#endif
