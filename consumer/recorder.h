/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * recorder.h owns the captures that are under way, each with its ledger of losses: from the watch that fired
 * until the worker thread owns the capture.
 */
#ifndef BOURDON_CONSUMER_RECORDER_H
#define BOURDON_CONSUMER_RECORDER_H

#include "common/system/log.h"
#include "consumer/capture/incident.h"
#include "consumer/capture/past.h"
#include "consumer/looker.h"
#include "consumer/offcpu_budgets.h"
#include "consumer/recording.h"
#include "consumer/waits.h"
#include "consumer/worker/worker.h"

struct recorder {
	struct recording_sources sources;
	struct worker *worker;
	struct rings rings;
	struct past past;
	uint64_t past_ns; /* how long intervals off CPU stay in `past` */
	uint64_t
		pace_due_ns; /* of the next recorder_pace(); 0: no capture is under way, and `past` is empty */
	struct offcpu_budgets budgets;
	uint64_t longest_history_ns; /* of all rules in force */
	struct looker looker;
	/* serve one capture at a time; captures that overlap it have no stall clocks */
	struct stall_clocks clocks;
	struct recording active[WORKER_PLACES_MAX];
	size_t active_count;
	uint64_t started_ns;      /* recorder_start() */
	uint64_t captured_ns;     /* when the last capture ended; 0: there was none */
	struct incident incident; /* to which the last capture belongs */
	struct log_limit suppressed_limit;
	struct waits waits;
};

void recorder_open(struct recorder *recorder, const struct recording_sources *sources);

/* Accepts a zeroed structure that was never opened. */
void recorder_close(struct recorder *recorder);

/* Captures go to this worker thread. The rings hold every sample since `now_ns` (CLOCK_MONOTONIC). */
void recorder_start(struct recorder *recorder, struct worker *worker, uint64_t now_ns);

/* The kernel programs stopped sampling for a while: history begins at `now_ns`. */
void recorder_note_gap(struct recorder *recorder, uint64_t now_ns);

/*
 * Sets the budget of slots so that the rings hold the longest history of these rules, and how often captures look at
 * threads. Logs a rule that wants more history than a ring holds.
 */
void recorder_follow(struct recorder *recorder, const struct configuration *configuration);

/*
 * Begins a capture for a watch that fired, at trigger->triggered_ns; sets what the watch and its rule say in `trigger`. Returns false
 * without memory, and when the rule has no share of the captures that may be under way or wait for the database: counts the trigger
 * as suppressed, and logs that. Then call recorder_read_history().
 */
bool recorder_begin(struct recorder *recorder, const struct configuration *configuration, struct watch *watch,
		    struct capture_trigger *trigger, uint64_t now_ns);

/* Counts a trigger for which no capture begins. */
void recorder_suppress(const struct recorder *recorder, struct watch *watch);

/*
 * Reads the history of the capture that began last. Walks first: the periodic walk, which tells whose samples these are, may be
 * 30 s old. The processes for which this walk finds no room among the targets count in this capture's ledger.
 */
void recorder_read_history(struct recorder *recorder);

/*
 * Begins a capture on demand of `cgroup`, or of the whole system (NULL), walks, and reads the history. Takes ownership of
 * `asking`, also when it fails. Returns 0, -EBUSY when the user has no share of the captures that may be under way or wait for
 * the database, or -ENOMEM.
 */
int recorder_ask(struct recorder *recorder, struct asking *asking, const char *cgroup, uint64_t now_ns);

/* Whether no capture is under way, and none waits for the database. */
bool recorder_is_calm(const struct recorder *recorder);

/*
 * Takes a baseline of the rule, which is of the configuration in force: what the rings have of its history, and the
 * intervals that are open. Nothing more is recorded or walked for it, no budget changes, and no watch or incident learns
 * of it. The worker thread writes it when it has nothing else to do. Counts a baseline that cannot begin.
 */
void recorder_take_baseline(struct recorder *recorder, const struct rule *rule, uint64_t now_ns);

/* Ends a capture that is under way at `now_ns`, or leaves its time if that is over. */
void recorder_shorten(struct recorder *recorder, struct capture *capture, uint64_t now_ns);

/* The capture on demand with that serial number, while it is under way; else NULL. */
struct capture *recorder_asked(const struct recorder *recorder, uint64_t serial);

/*
 * Call it when pace_due_ns has come, four times a second while a capture is under way, and at its end: walks where a walk is due, reads
 * the rings and PSI for all captures, and ends those that are complete.
 */
void recorder_pace(struct recorder *recorder, uint64_t now_ns);

/* Looks at all threads for the captures that are under way, if that is due. */
void recorder_look(struct recorder *recorder);

/* When recorder_pace() or recorder_look() is due; 0: not at all. */
uint64_t recorder_due_ns(const struct recorder *recorder);

/* The number of online CPUs that are not sampled: each ledger keeps the largest. */
void recorder_note_unsampled(struct recorder *recorder, unsigned int cpus);

/* Call it when the daemon ends: walks once more, and hands all captures over as interrupted. */
void recorder_interrupt(struct recorder *recorder);

/* True while a capture under way uses a rule of this configuration. */
bool recorder_uses(const struct recorder *recorder, const struct configuration *configuration);

#endif
