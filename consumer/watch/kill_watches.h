/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kill_watches.h owns the cooldowns of rules with on_kill: a watch without a pressure file for each cgroup, or slice, in which
 * a kill has fired, or for the whole system. There is none before the first kill: the kernel tells of kills everywhere.
 */
#ifndef BOURDON_CONSUMER_WATCH_KILL_WATCHES_H
#define BOURDON_CONSUMER_WATCH_KILL_WATCHES_H

#include "consumer/watch/watch.h"

/* Where there are so many, the one whose cooldown ends first gives way: a user may have processes killed in any number of cgroups. */
#define KILL_WATCHES_MAX 256U

/* Begins as zeros. */
struct kill_watches {
	struct watch *each;
	uint32_t count, room;
};

void kill_watches_free(struct kill_watches *watches);

/*
 * The watch of this rule on this cgroup (id 0, path NULL: the whole system), which is added where there is none. NULL without
 * memory. Valid until the next call.
 */
struct watch *kill_watches_get(struct kill_watches *watches, const struct rule *rule, uint64_t cgroup_id,
			       const char *cgroup);

/* Whether a cooldown of the rule is not over at `now_ns`. */
bool kill_watches_are_quiet(const struct kill_watches *watches, const struct rule *rule, uint64_t now_ns);

/* Applies replaced rules, which outlive the watches: those of rules that are gone, or fire on no kill any more, go. */
void kill_watches_follow(struct kill_watches *watches, const struct rule_set *rules);

#endif
