/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracking.h owns the targets and the watches that follow from them. It consumes the events of the kernel
 * programs, walks over all processes every 30 s to repair what events missed, and applies the rules in force.
 */
#ifndef BOURDON_CONSUMER_TRACKING_H
#define BOURDON_CONSUMER_TRACKING_H

#include "common/base/clock.h"
#include "common/system/log.h"
#include "consumer/host/cgroups.h"
#include "consumer/host/process_events.h"
#include "consumer/host/targets.h"
#include "consumer/host/usage.h"
#include "consumer/process/own_counters.h"
#include "consumer/watch/watches.h"
#include "consumer/worker/worker.h"

struct tracking {
	const struct kernel_objects *kernel;
	const struct rule_set *rules;
	struct cgroups *cgroups;
	struct watches *watches;
	struct process_events *events;
	struct own_counters *own_counters;
	const struct clock *clock;
	struct worker *worker; /* is told when new mappings are worth scanning */
	struct targets targets;
	struct usage usage;          /* of every process of the host */
	struct kills fresh_kills;    /* for tracking_take_kills() */
	bool fires_on_kills;         /* a rule does */
	uint32_t kept_since;         /* tracking_keep_gone() */
	uint64_t remembered_ns;      /* longer than any rule's history */
	uint32_t walk, due_walks[2]; /* number of the current or last walk; the last two periodic walks */
	bool unwatched;              /* a target is not watched: the path of its cgroup was not known */
	uint64_t paths_seen; /* cgroups_gauges().learned, when unwatched targets were last looked at */
	uint64_t again_due_ns, again_every_ns; /* the next walk that may find a path, for unwatched targets */
	unsigned int seconds;                  /* ticks so far */
	uint64_t unmapped;                     /* control->unmapped, when a scan was last asked for */
	uint64_t unmapped_due_ns, unmapped_every_ns;
	struct log_limit error_limits[ERROR_USER_STACK + 1], walk_limit, too_long_limit;
};

/* The caller keeps ownership of all arguments. Logs a failure. Returns 0 or -errno. */
int tracking_open(struct tracking *tracking, const struct kernel_objects *kernel, struct cgroups *cgroups,
		  struct watches *watches, struct own_counters *own_counters, const struct clock *clock);
void tracking_close(struct tracking *tracking);

/* Before the first walk: sets the worker thread that scans mappings. */
void tracking_start(struct tracking *tracking, struct worker *worker);

/*
 * While a capture is under way, `usage` keeps processes that ended after the walk `since` of it, the last one before
 * the capture. TRACKING_KEEP_NONE: no capture is under way.
 */
#define TRACKING_KEEP_NONE UINT32_MAX
void tracking_keep_gone(struct tracking *tracking, uint32_t since);

/* Puts these rules into force; the kernel has their patterns already. Walks. */
void tracking_follow(struct tracking *tracking, const struct rule_set *rules);

/* Consumes the events of the kernel programs, a bounded number of records. */
void tracking_consume(struct tracking *tracking);

/* Runs the task iterator over all processes. Returns 0, or -errno, which it has logged. */
int tracking_walk(struct tracking *tracking);

/*
 * Whether a target of the watch's rule is in the watch's cgroup, or was within the last two of its windows:
 * the pressure may be its. True for a watch on the whole system.
 */
bool tracking_has_target(const struct tracking *tracking, const struct watch *watch, uint64_t now_ns);

/*
 * Where a rule looks at the pressure of a process in this cgroup: stores the id and path of the cgroup, of the slice around it,
 * or of the whole system (0, NULL). The path is in `into`, of PATH_MAX bytes, or is `cgroup`. Returns false if the slice was
 * removed.
 */
bool tracking_find_scope(const struct tracking *tracking, const struct rule *rule, const char *cgroup,
			 char *into, uint64_t *cgroup_id, const char **ret_path);

/*
 * The kills since the last call that are for lack of memory, while a rule has on_kill; those beyond KILLS_MAX count as
 * suppressed triggers. The caller frees them with kills_free().
 */
struct kills tracking_take_kills(struct tracking *tracking);

/* Call it once a second: does what is due. */
void tracking_tick(struct tracking *tracking, uint64_t now_ns);

#endif
