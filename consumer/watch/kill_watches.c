/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/watch/kill_watches.h"

#include "common/base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void kill_watches_free(struct kill_watches *watches)
{
	for (uint32_t i = 0; i < watches->count; i++)
		free(watches->each[i].cgroup);
	free(watches->each);
	*watches = (struct kill_watches){ 0 };
}

static void forget(struct kill_watches *watches, uint32_t position)
{
	free(watches->each[position].cgroup);
	watches->each[position] = watches->each[--watches->count];
}

static void make_way(struct kill_watches *watches)
{
	uint32_t first = 0;

	for (uint32_t i = 1; i < watches->count; i++)
		if (watches->each[i].quiet_until_ns < watches->each[first].quiet_until_ns)
			first = i;
	forget(watches, first);
}

struct watch *kill_watches_get(struct kill_watches *watches, const struct rule *rule, uint64_t cgroup_id,
			       const char *cgroup)
{
	struct watch watch = { .rule = rule,
			       .cgroup_id = cgroup_id,
			       .mode = TRIGGER_KILL,
			       .fired_by = TRIGGER_KILL,
			       .fd = -EBADF };

	for (uint32_t i = 0; i < watches->count; i++)
		if (watches->each[i].rule == rule && watches->each[i].cgroup_id == cgroup_id)
			return &watches->each[i];
	if (watches->count == KILL_WATCHES_MAX)
		make_way(watches);
	watch.cgroup = cgroup ? strdup(cgroup) : NULL;
	if ((cgroup && !watch.cgroup) || array_make_room(watches->each, watches->count, watches->room, 1U)) {
		free(watch.cgroup);
		return NULL;
	}
	watches->each[watches->count] = watch;
	return &watches->each[watches->count++];
}

bool kill_watches_are_quiet(const struct kill_watches *watches, const struct rule *rule, uint64_t now_ns)
{
	for (uint32_t i = 0; i < watches->count; i++)
		if (watches->each[i].rule == rule && watch_is_quiet(&watches->each[i], now_ns))
			return true;
	return false;
}

static const struct rule *successor(const struct watch *watch, const struct rule_set *rules)
{
	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *rule = &rules->rules[i];

		if (rule->on_kill && rule->watch == watch->rule->watch &&
		    !strcmp(rule->name, watch->rule->name))
			return rule;
	}
	return NULL;
}

void kill_watches_follow(struct kill_watches *watches, const struct rule_set *rules)
{
	for (uint32_t i = watches->count; i-- > 0;) {
		watches->each[i].rule = successor(&watches->each[i], rules);
		if (!watches->each[i].rule)
			forget(watches, i);
	}
}
