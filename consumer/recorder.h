/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * recorder.h owns the captures that are under way, each with its ledger of losses: from the watch that fired
 * until the worker thread owns the capture.
 */
#ifndef BOURDON_CONSUMER_RECORDER_H
#define BOURDON_CONSUMER_RECORDER_H

#include "common/protocol/counters.h"
#include "common/system/log.h"
#include "consumer/capture/incident.h"
#include "consumer/capture/past.h"
#include "consumer/capture/stall_clocks.h"
#include "consumer/host/cgroups.h"
#include "consumer/looker.h"
#include "consumer/process/kernel_objects.h"
#include "consumer/process/own_counters.h"
#include "consumer/process/own_usage.h"
#include "consumer/tracking.h"
#include "consumer/watch/watches.h"
#include "consumer/worker/worker.h"

/* A capture that is under way, with what the draining thread needs to know about it. */
struct active {
	struct capture *capture;
	const struct configuration *configuration; /* the configuration that holds `rule`; NULL: none does */
	const struct rule *rule;                   /* of a capture on demand, capture->trigger.asking->rule */
	char *cgroup;                /* the watch's cgroup, or what was asked for; NULL: the whole system */
	const struct trigger *fired; /* the watch's, with cgroup_id; NULL: none */
	uint64_t cgroup_id;
	uint64_t counters_at_begin[COUNTERS];
	uint64_t stale_at_begin;
	uint64_t missed_at_begin;            /* program_costs_missed() */
	struct own_level levels[OWN_QUEUES]; /* the largest within the capture */
	uint64_t cgroups_due_ns;             /* when the files of its cgroups are to be read again */
	bool has_clocks;                     /* the stall clocks run for this capture */
};

/* How the budgets of intervals off CPU sufficed. The first two are since the start. */
struct recorder_budgets {
	uint64_t joined_ns;    /* how long intervals were over budget: their time counted with later ones */
	uint64_t over_ns;      /* how long some were lost */
	uint64_t joined, over; /* the kernel's counters, when they were last read */
	uint64_t looked_ns;    /* when that was */
};

/* What all targets waited within a window: read once for all watches with that window that fire at about the same time. */
struct recorder_waits {
	struct accounts accounts;
	uint64_t window_ns, at_ns;
};
#define RECORDER_WAITS 4U

struct recorder {
	const struct kernel_objects *kernel;
	struct tracking *tracking;
	struct usage *usage; /* tracking->usage */
	struct cgroups *cgroups;
	struct own_counters *own_counters;
	const struct own_usage *own_usage;
	struct worker *worker;
	struct rings rings;
	struct past past;
	uint64_t past_ns; /* how long intervals off CPU stay in `past` */
	const struct clock *clock;
	uint64_t
		pace_due_ns; /* of the next recorder_pace(); 0: no capture is under way, and `past` is empty */
	struct recorder_budgets budgets;
	uint64_t longest_history_ns; /* of all rules in force */
	uint64_t
		accounts_valid_ns; /* the slots of the kernel's accounts are as long as they are since then */
	struct looker looker;
	/* serve one capture at a time; captures that overlap it have no stall clocks */
	struct stall_clocks clocks;
	struct active active[WORKER_PLACES_MAX];
	size_t active_count;
	uint64_t started_ns;      /* recorder_start() */
	uint64_t captured_ns;     /* when the last capture ended; 0: there was none */
	struct incident incident; /* to which the last capture belongs */
	struct log_limit suppressed_limit;
	struct recorder_waits waits[RECORDER_WAITS];
};

/* The sources of a capture. They outlive the recorder. */
struct recorder_settings {
	const struct kernel_objects *kernel;
	struct tracking *tracking; /* walks when a capture needs it, and owns `usage` */
	struct cgroups *cgroups;
	struct own_counters *own_counters;
	const struct own_usage *own_usage;
	const struct clock *clock;
};

void recorder_open(struct recorder *recorder, const struct recorder_settings *settings);

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
 * Call it when a watch fired: begins a capture, walks, and reads the history. Counts the trigger as
 * suppressed during the watch's cooldown unless the pressure is worse (watch_is_worse()), when its rule has no share of the captures
 * that may be under way or wait for the database, and without memory. A watch whose targets have all ended begins neither a capture nor
 * a cooldown. Logs a capture that begins, and one that could not.
 */
void recorder_fire(struct recorder *recorder, const struct configuration *configuration, struct watch *watch,
		   uint64_t observed_us, uint64_t now_ns);

/*
 * The same for a kill, on a watch of kill_watches.h. The trigger is at the time of the kill, up to a second ago. The
 * victim may be no target any more.
 */
void recorder_fire_kill(struct recorder *recorder, const struct configuration *configuration,
			struct watch *watch, const struct kill_record *kill, uint64_t now_ns);

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
