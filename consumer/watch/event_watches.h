/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * event_watches.h owns the cooldowns of what fires without a pressure file, kills and latencies: a watch for each cgroup, or slice,
 * in which one has fired, or for the whole system. There is none before the first time: the kernel tells of the whole host.
 */
#ifndef BOURDON_CONSUMER_WATCH_EVENT_WATCHES_H
#define BOURDON_CONSUMER_WATCH_EVENT_WATCHES_H

#include "consumer/watch/watch.h"

/*
 * Where there are so many, the one whose cooldown ends first gives way: a user may have processes killed, or waiting, in any number
 * of cgroups. Kills and latencies have a table each: neither makes the other forget.
 */
#define EVENT_WATCHES_MAX 256U

/* Begins as zeros. */
struct event_watches {
	struct watch *each;
	uint32_t count, room;
};

void event_watches_free(struct event_watches *watches);

/*
 * The watch of this rule on this cgroup (id 0, path NULL: the whole system), which is added where there is none. `latency` is one of
 * rule->latencies; NULL: it is of kills. NULL without memory. Valid until the next call.
 */
struct watch *event_watches_get(struct event_watches *watches, const struct rule *rule,
				const struct latency_trigger *latency, uint64_t cgroup_id,
				const char *cgroup);

/* Whether a cooldown of the rule is not over at `now_ns`. */
bool event_watches_are_quiet(const struct event_watches *watches, const struct rule *rule, uint64_t now_ns);

/* Applies replaced rules, which outlive the watches: those of rules that are gone, or do not fire so any more, go. */
void event_watches_follow(struct event_watches *watches, const struct rule_set *rules);

#endif
