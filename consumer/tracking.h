/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tracking.h owns who is a target and what is watched because of it: it hears from the kernel programs, walks
 * over all processes now and then to mend what they missed, and applies the rules that are in force.
 */
#ifndef BOURDON_CONSUMER_TRACKING_H
#define BOURDON_CONSUMER_TRACKING_H

#include "common/log.h"
#include "consumer/process/own_counters.h"
#include "consumer/store/store_thread.h"
#include "consumer/target/cgroups.h"
#include "consumer/target/process_events.h"
#include "consumer/target/targets.h"
#include "consumer/target/usage.h"
#include "consumer/watch/watches.h"

struct tracking {
	const struct kernel_objects *kernel;
	const struct rule_set *rules;
	struct cgroups *cgroups;
	struct watches *watches;
	struct process_events *events;
	struct own_counters *own_counters;
	struct store_thread *store; /* is told when mappings are worth reading */
	struct targets targets;
	struct usage usage;          /* of every process of the host */
	bool keep_gone;              /* in it: tracking_keep_gone() */
	uint64_t remembered_ns;      /* longer than any rule's history */
	uint32_t walk, due_walks[2]; /* the one under way or last; the last two that time called for */
	bool unwatched;              /* some target is: its cgroup was not known */
	unsigned int seconds;        /* ticks so far */
	uint64_t unmapped;           /* control->unmapped, when mappings were wanted for it last */
	uint64_t unmapped_due_ns, unmapped_every_ns;
	struct log_limit error_limits[ERROR_USER_STACK + 1], walk_limit;
};

/* All are the caller's. Logs what failed; 0 or -errno. */
int tracking_open(struct tracking *tracking, const struct kernel_objects *kernel, struct cgroups *cgroups,
		  struct watches *watches, struct own_counters *own_counters);
void tracking_close(struct tracking *tracking);

/* Before the first walk: this store thread is told when mappings are worth reading. */
void tracking_start(struct tracking *tracking, struct store_thread *store);

/* Whether `usage` keeps the processes that are gone: while a capture is taken. */
void tracking_keep_gone(struct tracking *tracking, bool keep);

/* From now on these rules are in force, and the kernel has their patterns. Walks. */
void tracking_follow(struct tracking *tracking, const struct rule_set *rules);

/* Takes what the kernel programs told: a bounded number of records. */
void tracking_consume(struct tracking *tracking);

/* Runs the task iterator over all processes. 0 or -errno, which it logged. */
int tracking_walk(struct tracking *tracking);

/* Once a second: what is due. */
void tracking_tick(struct tracking *tracking, uint64_t now_ns);

#endif
