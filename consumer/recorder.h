/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * recorder.h owns the captures that are being taken: from the watch that fired to the hand-over to the store
 * thread, with the ledger of what was lost meanwhile.
 */
#ifndef BOURDON_CONSUMER_RECORDER_H
#define BOURDON_CONSUMER_RECORDER_H

#include "common/counters.h"
#include "common/log.h"
#include "consumer/capture/open_intervals.h"
#include "consumer/capture/stall_clocks.h"
#include "consumer/process/event_source.h"
#include "consumer/process/kernel_objects.h"
#include "consumer/process/own_counters.h"
#include "consumer/store/store_thread.h"
#include "consumer/target/cgroups.h"
#include "consumer/tracking.h"
#include "consumer/watch/watches.h"

/* A capture that is being taken, with what the draining thread must know of it. */
struct active {
	struct capture *capture;
	const struct configuration *configuration; /* which its rule is of */
	const struct rule *rule;
	char *cgroup; /* the watch's; NULL: the whole system */
	uint64_t counters_at_begin[COUNTERS];
	uint64_t stale_at_begin;
	bool has_clocks; /* they run for it */
};

struct recorder {
	const struct kernel_objects *kernel;
	struct tracking *tracking;
	const struct usage *usage; /* tracking's */
	struct cgroups *cgroups;
	struct own_counters *own_counters;
	struct store_thread *store;
	struct rings rings;
	uint64_t seed;
	struct event_source pace_source;
	int pace;                    /* a timer that runs while captures are taken */
	uint64_t longest_history_ns; /* the longest that a rule wants */
	struct open_intervals open;
	struct stall_clocks clocks; /* of one capture at a time: others have no such numbers */
	struct active active[STORE_CAPTURES_MAX];
	size_t active_count;
	struct log_limit suppressed_limit;
};

/* What captures are made of. All of it outlives the recorder. */
struct recorder_settings {
	const struct kernel_objects *kernel;
	struct tracking *tracking; /* walks when a capture needs it, and keeps `usage` for captures */
	struct cgroups *cgroups;
	struct own_counters *own_counters;
};

/* Adds its timer to `epoll`, as SOURCE_PACE. 0 or -errno; recorder_close() in either case. */
int recorder_open(struct recorder *recorder, const struct recorder_settings *settings, int epoll);

/* Accepts one of zeros, which was never opened. */
void recorder_close(struct recorder *recorder);

/* Captures go to this store thread. The rings hold every sample from `now_ns` (CLOCK_MONOTONIC) on. */
void recorder_start(struct recorder *recorder, struct store_thread *store, uint64_t now_ns);

/* The programs did not sample for a while: history begins at `now_ns`. */
void recorder_note_gap(struct recorder *recorder, uint64_t now_ns);

/*
 * The rules in force want so much history: the budget of slots is what the rings hold for so long. Logs a rule
 * that wants more than a ring holds.
 */
void recorder_follow(struct recorder *recorder, const struct rule_set *rules);

/*
 * The watch fired: begins the capture that it calls for, walks, and reads the history. Counts it as suppressed
 * where the watch cools down, where too many captures are under way or wait for the database, or without
 * memory; logs a capture that begins, and one that should have.
 */
void recorder_fire(struct recorder *recorder, const struct configuration *configuration, struct watch *watch,
		   uint64_t observed_us, uint64_t now_ns);

/*
 * SOURCE_PACE, four times a second while captures are taken: walks where one is due, takes what the rings and
 * PSI have for all captures, and ends those that are over.
 */
void recorder_pace(struct recorder *recorder, uint64_t now_ns);

/* So many CPUs run unseen: each ledger keeps the worst. */
void recorder_note_unsampled(struct recorder *recorder, unsigned int cpus);

/* The daemon ends: walks once more, and hands all captures over as interrupted. */
void recorder_interrupt(struct recorder *recorder);

/* Whether a capture is being taken by a rule of it. */
bool recorder_uses(const struct recorder *recorder, const struct configuration *configuration);

#endif
