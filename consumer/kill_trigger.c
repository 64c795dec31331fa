/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/kill_trigger.h"

#include <limits.h>

/* Of a slice that was removed, the victim's cgroup is left; of a cgroup without a known path, the whole system. */
static struct watch *find_watch(const struct recorder *recorder, const struct rule *rule, uint64_t cgroup_id,
				const char *cgroup)
{
	char into[PATH_MAX];

	if (cgroup)
		tracking_find_scope(recorder->sources.tracking, rule, cgroup, into, &cgroup_id, &cgroup);
	else
		cgroup_id = 0;
	return event_watches_get(&recorder->sources.tracking->watches->kills, rule, NULL, cgroup_id, cgroup);
}

/* The trigger is at the time of the kill, up to a second ago. */
static void fire(struct recorder *recorder, const struct configuration *configuration, struct watch *watch,
		 const struct kill_record *kill, uint64_t now_ns)
{
	struct capture_trigger trigger = { .psi.resource = PSI_MEMORY,
					   .kill = *kill,
					   .triggered_ns = kill->time_ns };

	/* the rings have nothing of before a gap, and a capture does not begin there */
	if (trigger.triggered_ns < recorder->rings.armed_ns)
		trigger.triggered_ns = recorder->rings.armed_ns;
	trigger.onset_ns = trigger.triggered_ns;
	watch->fired++;
	if (watch_is_quiet(watch, now_ns)) {
		recorder_suppress(recorder, watch);
		return;
	}
	if (!recorder_begin(recorder, configuration, watch, &trigger, now_ns))
		return;
	log_info("rule %s fired: %s[%u] was killed for lack of memory (%s)", watch->rule->name, kill->comm,
		 kill->tgid, watch->cgroup ? watch->cgroup : "system");
	watch_cool_down(watch, 0, WATCH_NOT_KNOWN, now_ns);
	recorder_read_history(recorder);
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
		cgroup = cgroups_path(recorder->sources.cgroups, kill->cgroup_id);
		if (!rule_covers(rule, cgroup ? cgroup : ""))
			continue;
		watch = find_watch(recorder, rule, kill->cgroup_id, cgroup);
		if (watch)
			fire(recorder, configuration, watch, kill, now_ns);
		else
			log_warning("out of memory: a kill fires no capture of rule %s", rule->name);
	}
}
