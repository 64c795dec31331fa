/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/kill_trigger.h"

#include <limits.h>

/* Of a slice that was removed, the victim's cgroup is left; of a cgroup without a known path, the whole system. */
static struct watch *find_watch(const struct recorder *recorder, const struct rule *rule, uint64_t cgroup_id,
				const char *cgroup)
{
	char into[PATH_MAX];

	if (cgroup)
		tracking_find_scope(recorder->tracking, rule, cgroup, into, &cgroup_id, &cgroup);
	else
		cgroup_id = 0;
	return kill_watches_get(&recorder->tracking->watches->kills, rule, cgroup_id, cgroup);
}

void kill_trigger_fire(struct recorder *recorder, const struct configuration *configuration,
		       const struct kill_record *kill, uint64_t now_ns)
{
	const struct rule_set *rules = &configuration->rules;

	if (kill->time_ns < recorder->started_ns || kill->time_ns > now_ns)
		return;
	for (size_t i = 0; i < rules->count; i++) {
		const struct rule *rule = &rules->rules[i];
		const char *cgroup;
		struct watch *watch;

		if (!rule->on_kill || !rule_names(rule, kill->comm))
			continue;
		/* again for each rule: a capture that begins learns paths, and may forget this one */
		cgroup = cgroups_path(recorder->cgroups, kill->cgroup_id);
		if (!rule_covers(rule, cgroup ? cgroup : ""))
			continue;
		watch = find_watch(recorder, rule, kill->cgroup_id, cgroup);
		if (watch)
			recorder_fire_kill(recorder, configuration, watch, kill, now_ns);
		else
			log_warning("out of memory: a kill fires no capture of rule %s", rule->name);
	}
}
