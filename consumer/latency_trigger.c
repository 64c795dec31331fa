/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/latency_trigger.h"

#include "common/base/array.h"

#include <limits.h>
#include <string.h>

/* Whose values those of a run are taken together with. */
struct scope {
	uint64_t cgroup_id; /* 0: the whole system */
	bool is_named;      /* a target of the rule, by its name, is in the run's cgroup */
	bool is_none;       /* the rule does not apply to it */
	bool was_judged;
};

/* One condition of a rule in the window that ended last. */
struct condition {
	struct recorder *recorder;
	const struct configuration *configuration;
	const struct rule *rule;
	const struct latency_trigger *latency;
	uint64_t from_ns; /* the window's begin */
	struct latency_runs runs;
	struct scope *scopes; /* of each run */
};

/* ---- whose values count ---- */

static bool is_of_block(uint32_t metric)
{
	return latency_metric_group(metric) == LATENCY_BLOCK;
}

/* Whether the kernel tells no owner, or the rule asks for none: these are of the whole system. */
static bool is_of_system(const struct condition *condition)
{
	const struct rule *rule = condition->rule;
	bool is_of_everybody = rule->watch == WATCH_SYSTEM && rule->comm.prefix && !rule->comm.text[0];

	return condition->latency->metric == METRIC_SOFTIRQ ||
	       (!rule_has_cgroups(rule) && (is_of_block(condition->latency->metric) || is_of_everybody));
}

/* Marks the cgroups that have a target of this name, or had one within the window. */
static void mark_named(const struct condition *condition)
{
	const struct targets *targets = &condition->recorder->sources.tracking->targets;
	const struct latency_run *runs = condition->runs.each;

	for (uint32_t i = 0; i < targets->count; i++) {
		const struct target_process *process = &targets->processes[i];
		uint32_t run;

		if ((process->gone_ns && process->gone_ns < condition->from_ns) ||
		    !rule_names(condition->rule, process->comm))
			continue;
		run = array_partition_point(condition->runs.count, at, runs[at].owner < process->cgroup_id);
		if (run < condition->runs.count && runs[run].owner == process->cgroup_id)
			condition->scopes[run].is_named = true;
	}
}

/* Of a cgroup whose path is not known, or was removed with its slice, nobody can tell whether the rule applies. */
static void find_scope(const struct condition *condition, uint32_t run)
{
	const struct recording_sources *sources = &condition->recorder->sources;
	struct scope *scope = &condition->scopes[run];
	uint64_t owner = condition->runs.each[run].owner;
	const char *cgroup, *path;
	char into[PATH_MAX];

	if (is_of_system(condition))
		return;
	scope->cgroup_id = owner;
	cgroup = owner ? cgroups_path(sources->cgroups, owner) : NULL;
	scope->is_none = !cgroup || !rule_covers(condition->rule, cgroup) ||
			 !(scope->is_named || is_of_block(condition->latency->metric)) ||
			 !tracking_find_scope(sources->tracking, condition->rule, cgroup, into,
					      &scope->cgroup_id, &path);
}

/* They are asked for only if the values of some run may fire: a sum has its quantile above the limit only then. */
static bool find_scopes(struct condition *condition)
{
	const struct latency_runs *runs = &condition->runs;
	bool may_fire = false;

	for (uint32_t i = 0; i < runs->count; i++)
		may_fire |= latency_quantile_is_above(condition->latency->quantile, runs->each[i].above,
						      runs->each[i].count);
	condition->scopes = may_fire ? calloc(runs->count, sizeof(*condition->scopes)) : NULL;
	if (!condition->scopes)
		return false;
	mark_named(condition);
	for (uint32_t i = 0; i < runs->count; i++)
		find_scope(condition, i);
	return true;
}

/* ---- what was seen ---- */

struct seen {
	uint64_t count, above;
	bool is_above_last;
	uint64_t counts[LATENCY_BUCKETS];
};

static void add_run(struct seen *seen, const struct latency_run *run)
{
	seen->count += run->count;
	seen->above += run->above;
	seen->is_above_last |= run->is_above_last;
	for (uint32_t i = 0; i < run->entries_count; i++)
		seen->counts[run->entries[i].bucket % LATENCY_BUCKETS] += run->entries[i].count;
}

/* Adds up the scope that the run at this position is the first of. */
static void see_scope(struct condition *condition, uint32_t first, struct seen *ret_seen)
{
	*ret_seen = (struct seen){ 0 };
	for (uint32_t i = first; i < condition->runs.count; i++) {
		struct scope *scope = &condition->scopes[i];

		if (scope->is_none || scope->cgroup_id != condition->scopes[first].cgroup_id)
			continue;
		scope->was_judged = true;
		add_run(ret_seen, &condition->runs.each[i]);
	}
}

static bool fires(const struct condition *condition, const struct seen *seen)
{
	return seen->count >= LATENCY_EVENTS_MIN && seen->is_above_last &&
	       latency_quantile_is_above(condition->latency->quantile, seen->above, seen->count);
}

/* ---- captures ---- */

/* What threads wait for, as far as pressure has a word for it: the samples of these stalls show when it began. */
static enum psi_resource nearest_resource(uint32_t metric)
{
	return is_of_block(metric) ? PSI_IO : metric == METRIC_MEMORY ? PSI_MEMORY : PSI_CPU;
}

static void log_fired(const struct watch *watch, uint64_t observed_ns, uint64_t events)
{
	const struct latency_trigger *latency = watch->latency;
	char text[LATENCY_TEXT_BYTES];

	log_info("rule %s fired: %s, of %llu events (%s)", watch->rule->name,
		 latency_text(latency_metric_names[latency->metric],
			      latency_quantile_names[latency->quantile], observed_ns, latency->limit_ns,
			      latency->window_ns, text),
		 (unsigned long long)events, watch->cgroup ? watch->cgroup : "system");
}

static void fire(const struct condition *condition, struct watch *watch, const struct seen *seen,
		 uint64_t now_ns)
{
	struct recorder *recorder = condition->recorder;
	const struct latency_trigger *latency = condition->latency;
	struct capture_trigger trigger = { .psi.resource = nearest_resource(latency->metric),
					   .latency = *latency,
					   .triggered_ns = now_ns,
					   .onset_ns = condition->from_ns };

	trigger.latency_observed_ns =
		bucket_begins(latency_quantile_bucket(latency->quantile, seen->counts) + 1);
	watch->fired++;
	if (watch_is_quiet(watch, now_ns)) {
		recorder_suppress(recorder, watch);
		return;
	}
	if (!recorder_begin(recorder, condition->configuration, watch, &trigger, now_ns))
		return;
	log_fired(watch, trigger.latency_observed_ns, seen->count);
	watch_cool_down(watch, 0, WATCH_NOT_KNOWN, now_ns);
	recorder_read_history(recorder);
}

static void fire_scope(const struct condition *condition, uint64_t cgroup_id, const struct seen *seen)
{
	const struct recording_sources *sources = &condition->recorder->sources;
	/* again: a capture that begins learns paths, and may forget this one */
	const char *cgroup = cgroup_id ? cgroups_path(sources->cgroups, cgroup_id) : NULL;
	struct watch *watch;

	if (cgroup_id && !cgroup)
		return;
	watch = event_watches_get(&sources->tracking->watches->latencies, condition->rule, condition->latency,
				  cgroup_id, cgroup);
	if (watch)
		fire(condition, watch, seen, clock_now_ns(sources->clock));
	else
		log_warning("out of memory: a latency fires no capture of rule %s", condition->rule->name);
}

static void judge(struct condition *condition)
{
	for (uint32_t i = 0; i < condition->runs.count; i++) {
		const struct scope *scope = &condition->scopes[i];
		struct seen seen;

		if (scope->is_none || scope->was_judged)
			continue;
		see_scope(condition, i, &seen);
		if (fires(condition, &seen))
			fire_scope(condition, scope->cgroup_id, &seen);
	}
}

static void look_at(struct condition *condition, const struct latency_past *past, uint64_t epoch)
{
	const struct latency_trigger *latency = condition->latency;
	uint64_t epochs = latency->window_ns / HISTOGRAM_EPOCH_NS, from = epoch > epochs ? epoch - epochs : 0;

	condition->from_ns = from * HISTOGRAM_EPOCH_NS;
	if (latency_past_runs(past, latency->metric, latency->limit_ns, from, epoch - 1, &condition->runs))
		return;
	if (find_scopes(condition))
		judge(condition);
	free(condition->scopes);
	latency_runs_free(&condition->runs);
}

void latency_trigger_look(struct recorder *recorder, const struct configuration *configuration,
			  const struct latency_past *past, uint64_t epoch)
{
	const struct rule_set *rules = &configuration->rules;

	for (size_t i = 0; i < rules->count; i++)
		for (size_t j = 0; j < rules->rules[i].latencies_count; j++) {
			struct condition condition = { .recorder = recorder,
						       .configuration = configuration,
						       .rule = &rules->rules[i],
						       .latency = &rules->rules[i].latencies[j] };

			look_at(&condition, past, epoch);
		}
}
