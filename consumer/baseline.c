/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/baseline.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"

#include <stdlib.h>

int baselines_follow(struct baselines *baselines, const struct configuration *configuration, uint64_t now_ns)
{
	const struct rule_set *set = &configuration->rules;
	struct baseline_rule *rules = calloc(set->count + 1, sizeof(*rules));

	if (!rules) {
		baselines_free(baselines);
		return -ENOMEM;
	}
	for (size_t i = 0; i < set->count; i++) {
		rules[i] = (struct baseline_rule){ set->rules[i].id, now_ns };
		for (size_t j = 0; j < baselines->count; j++)
			if (baselines->rules[j].rule_id == rules[i].rule_id)
				rules[i].last_ns = baselines->rules[j].last_ns;
	}
	free(baselines->rules);
	*baselines = (struct baselines){ .every_ns = configuration->settings.baseline_ns,
					 .configuration = configuration,
					 .rules = rules,
					 .count = set->count };
	return 0;
}

void baselines_free(struct baselines *baselines)
{
	free(baselines->rules);
	*baselines = (struct baselines){ 0 };
}

static bool is_due(const struct baselines *baselines, size_t rule, uint64_t now_ns)
{
	return baselines->configuration->rules.rules[rule].history_ns &&
	       now_ns - baselines->rules[rule].last_ns >= baselines->every_ns;
}

/* What its watches say of a rule. */
enum calm { CALM_UNWATCHED, CALM, CALM_NOT };

static bool is_calm(const struct watch *watch, uint64_t now_ns)
{
	uint64_t from_ns = clock_before(now_ns, watch->rule->history_ns);

	return watch->fd >= 0 && !watch_is_quiet(watch, from_ns) && !watch_is_captured(watch, from_ns);
}

/* Whether the rule of the watch is one of this set: a replaced one stays until its watches are swept. */
static bool is_of(const struct rule_set *set, const struct watch *watch)
{
	return !watch->gone && watch->rule >= set->rules && watch->rule < set->rules + set->count;
}

const struct rule *baselines_due(const struct baselines *baselines, const struct watches *watches,
				 uint64_t now_ns)
{
	const struct rule_set *set;
	_cleanup_free_ enum calm *calm = NULL;
	bool any = false;
	size_t found;

	for (size_t i = 0; i < baselines->count && baselines->every_ns && !any; i++)
		any = is_due(baselines, i, now_ns);
	calm = any ? calloc(baselines->count, sizeof(*calm)) : NULL;
	if (!calm)
		return NULL;
	set = &baselines->configuration->rules;
	for (uint32_t i = 0; i < watches->count; i++) {
		const struct watch *watch = watches->watches[i];

		if (!is_of(set, watch))
			continue;
		if (!is_calm(watch, now_ns))
			calm[watch->rule - set->rules] = CALM_NOT;
		else if (calm[watch->rule - set->rules] == CALM_UNWATCHED)
			calm[watch->rule - set->rules] = CALM;
	}
	for (size_t i = 0; i < baselines->count; i++) {
		const struct rule *rule = &set->rules[i];

		uint64_t began_ns = clock_before(now_ns, rule->history_ns);

		if (event_watches_are_quiet(&watches->kills, rule, began_ns) ||
		    event_watches_are_quiet(&watches->latencies, rule, began_ns))
			calm[i] = CALM_NOT;
		else if (!rule->triggers_count && (rule->on_kill || rule->latencies_count))
			calm[i] = CALM;
	}
	found = baselines->count;
	for (size_t i = 0; i < baselines->count; i++)
		if (calm[i] == CALM && is_due(baselines, i, now_ns) &&
		    (found == baselines->count ||
		     baselines->rules[i].last_ns < baselines->rules[found].last_ns))
			found = i;
	return found < baselines->count ? &set->rules[found] : NULL;
}

void baselines_note(struct baselines *baselines, const struct rule *rule, uint64_t now_ns)
{
	baselines->rules[rule - baselines->configuration->rules.rules].last_ns = now_ns;
}

void baselines_tick(struct baselines *baselines, struct recorder *recorder, uint64_t now_ns)
{
	const struct rule *rule =
		recorder_is_calm(recorder)
			? baselines_due(baselines, recorder->sources.tracking->watches, now_ns)
			: NULL;

	/* a capture of another rule loads the host, too */
	if (!rule || (recorder->captured_ns && now_ns - recorder->captured_ns < rule->history_ns))
		return;
	/* what the tick did before took time */
	recorder_take_baseline(recorder, rule, clock_now_ns(recorder->sources.clock));
	baselines_note(baselines, rule, now_ns);
}
