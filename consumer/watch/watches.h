/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * watches.h owns all watches: one for each trigger of a rule and each cgroup that has a target of that rule,
 * or the whole system. It finds, opens, upgrades, follows a reload, and closes them.
 */
#ifndef BOURDON_CONSUMER_WATCH_WATCHES_H
#define BOURDON_CONSUMER_WATCH_WATCHES_H

#include "common/hash_index.h"
#include "common/log.h"
#include "consumer/watch/grant_queue.h"
#include "consumer/watch/watch.h"

/* What a watch that fired is passed to; `observed_us` is the stall in the window that ends now. */
typedef void (*watch_fired)(void *user, struct watch *watch, uint64_t observed_us);

struct watches {
	struct watch **watches;
	uint32_t count, room;
	struct hash_index index; /* by cgroup and trigger */
	int epoll;               /* kernel triggers are in it */
	const char *mount;
	uint64_t root_id; /* of the root cgroup, whose files are the whole system's */
	struct closer *closer;
	struct grant_queue *grants;
	uint32_t privileged_max, privileged; /* kernel triggers that cost a thread: allowed, and there */
	uint32_t asked;                      /* position at which to go on asking for grants */
	uint32_t ticks;
	bool any_gone;
	uint64_t spurious; /* kernel events without the stall that they were armed for */
	uint64_t granted, refused;
	struct log_limit refusal_limit;
};

/* The strings are kept, not copied. watches_start() comes before a watch is added. 0 or -errno. */
int watches_open(struct watches *watches, int epoll, const char *mount, const char *grant_socket,
		 uint32_t privileged_max);
void watches_close(struct watches *watches);

/* The closer ends after the watches do. */
void watches_start(struct watches *watches, struct closer *closer);

/* Limits the kernel triggers that cost a thread. Existing ones stay. */
void watches_limit(struct watches *watches, uint32_t privileged_max);

/* Call it when epoll reports the connection of this call: the answer is there. */
void watches_answer(struct watches *watches, struct grant_call *call);

/* The number of watches, without those that were let go and wait for watches_sweep(). */
uint32_t watches_live(const struct watches *watches);

/*
 * Makes sure that the triggers of `rule` are watched on this cgroup, or on the whole system (id 0, path
 * NULL), and notes that this walk found it wanted. Logs what cannot be watched, once a watch; each walk tries
 * it again. 0 or -ENOMEM.
 */
int watches_add(struct watches *watches, const struct rule *rule, uint64_t cgroup_id, const char *cgroup,
		uint32_t walk);

/*
 * Lets go of the watches on cgroups that no walk since `walk` has found wanted. One that cools down stays:
 * its targets may come back before that is over, and must not find it forgotten.
 */
void watches_prune(struct watches *watches, uint32_t walk, uint64_t now_ns);

/*
 * The rules were replaced: a watch whose trigger is in them as before lives on under its new rule; the others
 * are let go. 0 or -ENOMEM; then all are let go.
 */
int watches_follow(struct watches *watches, const struct rule_set *rules);

/* Writes why a watch is read once a second, or not at all; "" where it has its kernel trigger. */
void watches_explain(const struct watches *watches, const struct watch *watch, char *into, size_t bytes);

/* Reads totals, once a second; calls back for each sampled watch that is over its threshold. */
void watches_tick(struct watches *watches, uint64_t now_ns, watch_fired fired, void *user);

/*
 * Frees what was let go. Between two batches of events only: a batch may still name one that its earlier
 * events, or a tick, let go.
 */
void watches_sweep(struct watches *watches);

/* epoll says that the kernel trigger of this watch fired. */
void watches_event(struct watches *watches, struct watch *watch, uint32_t events, uint64_t now_ns,
		   watch_fired fired, void *user);

#endif
