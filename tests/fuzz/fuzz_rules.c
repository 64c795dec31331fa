/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads any text as a rules file: it has mistakes, or each rule is valid and the comm that it names finds its
 * pattern. A reload keeps the ids of unchanged rules.
 */
#include "consumer/rules/rules.h"
#include "tests/fuzz/fuzz.h"

#include <errno.h>

#define SECOND_NS 1000000000UL

static void check_trigger(const struct rule *rule, size_t position)
{
	const struct trigger *trigger = &rule->triggers[position];

	HOLDS(trigger->resource < PSI_RESOURCES && trigger->kind < PSI_KINDS);
	HOLDS(trigger->window_us >= PSI_WINDOW_MIN_US && trigger->window_us <= PSI_WINDOW_MAX_US);
	HOLDS(trigger->stall_us && trigger->stall_us <= trigger->window_us);
	HOLDS(trigger->resource != PSI_IRQ || trigger->kind == PSI_FULL);
	HOLDS(rule->watch != WATCH_SYSTEM || trigger->resource != PSI_CPU || trigger->kind == PSI_SOME);
	for (size_t i = 0; i < position; i++)
		HOLDS(rule->triggers[i].resource != trigger->resource ||
		      rule->triggers[i].kind != trigger->kind);
}

static void check_latency(const struct latency_trigger *latency)
{
	HOLDS(latency->metric < METRICS && latency->metric != METRIC_BLOCK_SIZE);
	HOLDS(latency->quantile < LATENCY_QUANTILES);
	HOLDS(latency->limit_ns && latency->limit_ns < HISTOGRAM_VALUE_MAX);
	HOLDS(latency->window_ns >= latency->asked_ns && !(latency->window_ns % HISTOGRAM_EPOCH_NS));
	HOLDS(latency->window_ns >= HISTOGRAM_EPOCH_NS && latency->window_ns <= LATENCY_WINDOW_MAX_NS);
}

static void check_rule(const struct rule *rule)
{
	HOLDS(rule->name[0] && memchr(rule->name, '\0', sizeof(rule->name)));
	HOLDS(!strncmp(rule->source, "f:", 2));
	HOLDS(memchr(rule->comm.text, '\0', sizeof(rule->comm.text)));
	HOLDS(rule->comm.text[0] || rule->comm.prefix);
	HOLDS(!rule->cgroup || rule->cgroup[0] == '/');
	HOLDS(rule->history_ns <= 600 * SECOND_NS);
	HOLDS(rule->capture_ns >= SECOND_NS && rule->capture_ns <= 3600 * SECOND_NS);
	HOLDS(rule->cooldown_ns <= 24 * 3600 * SECOND_NS);
	HOLDS(rule->triggers_count || rule->on_kill || rule->latencies_count);
	HOLDS(rule->latencies_count <= RULE_LATENCIES_MAX && !(rule_latency_groups(rule) & ~LATENCY_ALL));
	for (size_t i = 0; i < rule->latencies_count; i++)
		check_latency(&rule->latencies[i]);
	HOLDS(rule->triggers_count <= RULE_TRIGGERS_MAX);
	for (size_t i = 0; i < rule->triggers_count; i++)
		check_trigger(rule, i);
}

static void check_pattern(const struct rule_set *set, const struct rule *rule)
{
	uint32_t ids[COMM_TRIE_PATH];
	size_t count = rules_patterns_of(set, rule->comm.text, ids);
	bool found = false;

	for (size_t i = 0; i < count; i++)
		found |= ids[i] == rule->pattern_id;
	HOLDS(found);
	HOLDS(rule->comm.prefix || ids[0] == rule->pattern_id);
	HOLDS(rule->cgroup || rule_applies(rule, rule->comm.text, "/"));
}

/* No two rules have one id, no two comms one pattern id, and none has an id that is not yet assigned. */
static void check_ids(const struct rule_set *set, const struct rule_ids *next)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct rule *rule = &set->rules[i];

		HOLDS(rule->id && rule->id < next->rule);
		HOLDS(rule->pattern_id && rule->pattern_id < next->pattern);
		for (size_t j = 0; j < i; j++) {
			HOLDS(rule->id != set->rules[j].id);
			HOLDS((rule->pattern_id == set->rules[j].pattern_id) ==
			      !memcmp(&rule->comm, &set->rules[j].comm, sizeof(rule->comm)));
		}
	}
}

static int read_rules(const char *text, size_t bytes, struct rule_set *set)
{
	char *copy = copy_bytes(text, bytes);
	struct config_errors errors = { 0 };
	int result;

	*set = (struct rule_set){ 0 };
	result = rules_read_text("f", copy, bytes, set, &errors);
	HOLDS(result == (errors.count ? -EINVAL : 0));
	HOLDS(!result || !set->rules);
	config_errors_free(&errors);
	free(copy);
	return result;
}

/* A reload from the rules before the last section to all rules, and a reload that changes nothing. */
static void reload(const char *text, size_t bytes)
{
	const char *last = memrchr(text, '[', bytes);
	struct rule_set before, after, again;
	struct rule_ids ids = { 5, 7 };

	if (last && !read_rules(text, (size_t)(last - text), &before)) {
		HOLDS(!rules_assign_ids(&before, NULL, &ids));
		HOLDS(!read_rules(text, bytes, &after) && !rules_assign_ids(&after, &before, &ids));
		check_ids(&after, &ids);
		HOLDS(!read_rules(text, bytes, &again) && !rules_assign_ids(&again, &after, &ids));
		HOLDS(rules_equal(&after, &again));
		for (size_t i = 0; i < after.count; i++)
			HOLDS(after.rules[i].id == again.rules[i].id &&
			      after.rules[i].pattern_id == again.rules[i].pattern_id);
		rules_free(&before);
		rules_free(&after);
		rules_free(&again);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct rule_ids ids = { 5, 7 };
	struct rule_set set;

	if (read_rules((const char *)data, bytes, &set))
		return 0;
	HOLDS(!rules_assign_ids(&set, NULL, &ids));
	check_ids(&set, &ids);
	for (size_t i = 0; i < set.count; i++) {
		check_rule(&set.rules[i]);
		check_pattern(&set, &set.rules[i]);
	}
	rules_free(&set);
	reload((const char *)data, bytes);
	return 0;
}
