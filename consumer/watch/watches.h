/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * watches.h owns all watches: one for each trigger of a rule and each cgroup that has a target of that rule,
 * or for the whole system. It opens them, applies a reload, and closes them. watch_events.h reads them. On the draining thread.
 *
 * Room: pressure and kills that rules wait for. The draining thread; closer.c has a thread of its own,
 * because closing a trigger can wait.
 */
#ifndef BOURDON_CONSUMER_WATCH_WATCHES_H
#define BOURDON_CONSUMER_WATCH_WATCHES_H

#include "common/base/clock.h"
#include "common/base/hash_index.h"
#include "consumer/watch/event_watches.h"
#include "consumer/watch/watch_grants.h"
#include "consumer/watch/watch_room.h"

/* Returns the path of a cgroup below the mount, or NULL if it is not known. */
typedef const char *(*watch_path_of)(void *user, uint64_t cgroup_id);

/* Lets a line into the log at most once a second, and counts those that it holds back. */
struct watch_line {
	uint64_t next_ns, pause_ns;
	uint32_t held;
};

/*
 * So many descriptors of closed watches may wait for the closer while all room is in use. They are part of the
 * reserve (consumer/descriptors.c).
 */
#define WATCHES_CLOSING_MAX 64U

struct watches {
	struct watch **watches;
	uint32_t count, room;
	struct hash_index index; /* by cgroup and trigger */
	struct event_watches kills, latencies;
	const struct clock *clock;
	int epoll; /* contains the descriptors with kernel triggers */
	const char *mount;
	struct closer *closer;
	struct watch_grants grants;
	struct watch_room space;
	uint32_t asked; /* position of the next watch that asks for a grant */
	uint32_t ticks;
	bool any_gone;
	uint64_t spurious;                  /* events of kernel triggers without enough stall */
	uint64_t late;                      /* kernel triggers that a read had to replace */
	uint64_t unwatched, unwatched_said; /* cgroups that found no room: so far, and at the last line */
	struct log_limit late_limit;
	struct watch_line failed_line, unwatched_line;
};

/*
 * Keeps the strings and the clock without copying them. Call watches_start() before a watch is added. Returns 0 or -errno.
 */
int watches_open(struct watches *watches, int epoll, const char *mount, const char *grant_socket,
		 const struct watch_limits *limits, const struct clock *clock);
void watches_close(struct watches *watches);

/* The closer outlives the watches. */
void watches_start(struct watches *watches, struct closer *closer);

/* Sets the limits, which hold from the next watches_follow() on. Kernel triggers that exist stay. */
void watches_limit(struct watches *watches, const struct watch_limits *limits);

/* Call it when epoll reports that the answer to this call can be read. */
void watches_answer(struct watches *watches, struct grant_call *call, uint64_t now_ns);

/* The watch of a trigger of the rules in force on this cgroup, or on the whole system (0); or NULL. */
struct watch *watches_find(const struct watches *watches, uint64_t cgroup_id, const struct trigger *trigger);

/* Closes a watch, which watches_sweep() frees. */
void watches_let_go(struct watches *watches, struct watch *watch);

/* The number of watches, without the closed ones that watches_sweep() will free. */
uint32_t watches_live(const struct watches *watches);

/*
 * Makes sure that all triggers of `rule`, of the set that watches_follow() got, are watched on this cgroup, or
 * on the whole system (id 0, path NULL), and notes the number of the walk. Without room, and after much work
 * within this second, the cgroup is listed instead (watch_room.h). A file that cannot be opened is tried again
 * in each walk. Logs both, at most a line a second. Returns 0 or -ENOMEM.
 */
int watches_add(struct watches *watches, const struct rule *rule, uint64_t cgroup_id, const char *cgroup,
		uint32_t walk);

/* Call it once a second: watches the listed cgroups for which there is room now. */
void watches_retry(struct watches *watches, watch_path_of path_of, void *user);

/* The number of cgroups that have a target of the rule and are not watched for it, for lack of room. */
uint32_t watches_unwatched(const struct watches *watches, const struct rule *rule);

/*
 * Closes the watches on cgroups for which no walk since `walk` has found a target. A watch in its cooldown
 * stays, unless the rule has no room for another cgroup: if its targets came back, a new watch would not know
 * of the cooldown.
 */
void watches_prune(struct watches *watches, uint32_t walk, uint64_t now_ns);

/*
 * Applies the first rules, or replaced ones, which outlive their watches: a watch whose trigger is unchanged
 * stays open under the new rule; the others are closed, and the newest of those for which there is no room any
 * more. Returns 0, or -ENOMEM: then all are closed.
 */
int watches_follow(struct watches *watches, const struct rule_set *rules);

/* Call it once a second: asks bourdon-grant for triggers, and logs that cgroups found no room. */
void watches_tick(struct watches *watches, uint64_t now_ns);

/*
 * Frees the closed watches. Call it between two batches of events only: a batch may still name a watch that
 * an earlier event or a tick closed.
 */
void watches_sweep(struct watches *watches);

#endif
