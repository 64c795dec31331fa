/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/watch/event_watches.h"

#include "common/base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void event_watches_free(struct event_watches *watches)
{
	for (uint32_t i = 0; i < watches->count; i++)
		free(watches->each[i].cgroup);
	free(watches->each);
	*watches = (struct event_watches){ 0 };
}

static void forget(struct event_watches *watches, uint32_t position)
{
	free(watches->each[position].cgroup);
	watches->each[position] = watches->each[--watches->count];
}

static void make_way(struct event_watches *watches)
{
	uint32_t first = 0;

	for (uint32_t i = 1; i < watches->count; i++)
		if (watches->each[i].quiet_until_ns < watches->each[first].quiet_until_ns)
			first = i;
	forget(watches, first);
}

struct watch *event_watches_get(struct event_watches *watches, const struct rule *rule,
				const struct latency_trigger *latency, uint64_t cgroup_id, const char *cgroup)
{
	enum trigger_mode mode = latency ? TRIGGER_LATENCY : TRIGGER_KILL;
	struct watch watch = { .rule = rule,
			       .latency = latency,
			       .cgroup_id = cgroup_id,
			       .mode = mode,
			       .fired_by = mode,
			       .fd = -EBADF };

	for (uint32_t i = 0; i < watches->count; i++)
		if (watches->each[i].rule == rule && watches->each[i].latency == latency &&
		    watches->each[i].cgroup_id == cgroup_id)
			return &watches->each[i];
	if (watches->count == EVENT_WATCHES_MAX)
		make_way(watches);
	watch.cgroup = cgroup ? strdup(cgroup) : NULL;
	if ((cgroup && !watch.cgroup) || array_make_room(watches->each, watches->count, watches->room, 1U)) {
		free(watch.cgroup);
		return NULL;
	}
	watches->each[watches->count] = watch;
	return &watches->each[watches->count++];
}

bool event_watches_are_quiet(const struct event_watches *watches, const struct rule *rule, uint64_t now_ns)
{
	for (uint32_t i = 0; i < watches->count; i++)
		if (watches->each[i].rule == rule && watch_is_quiet(&watches->each[i], now_ns))
			return true;
	return false;
}

/* Finds the same condition in the rule; false: it has none, or does not fire on kills. */
static bool find_trigger(const struct watch *watch, const struct rule *rule,
			 const struct latency_trigger **ret_latency)
{
	*ret_latency = NULL;
	if (!watch->latency)
		return rule->on_kill;
	for (size_t i = 0; i < rule->latencies_count && !*ret_latency; i++)
		if (latency_trigger_is_same(&rule->latencies[i], watch->latency))
			*ret_latency = &rule->latencies[i];
	return *ret_latency;
}

/* Of one that is kept, the rule and its condition are those of the new set. */
static bool follow(struct watch *watch, const struct rule_set *rules)
{
	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *rule = &rules->rules[i];
		const struct latency_trigger *latency;

		if (rule->watch != watch->rule->watch || strcmp(rule->name, watch->rule->name) != 0 ||
		    !find_trigger(watch, rule, &latency))
			continue;
		watch->rule = rule;
		watch->latency = latency;
		return true;
	}
	return false;
}

void event_watches_follow(struct event_watches *watches, const struct rule_set *rules)
{
	for (uint32_t i = watches->count; i-- > 0;)
		if (!follow(&watches->each[i], rules))
			forget(watches, i);
}
