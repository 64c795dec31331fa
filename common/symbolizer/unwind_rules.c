/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/symbolizer/unwind_rules.h"

#include "common/base/array.h"

#include <string.h>

struct wanted_rule {
	const struct unwind_rule *rules, *rule;
};

static bool is_rule(const void *user, uint32_t position)
{
	const struct wanted_rule *wanted = user;

	return !memcmp(&wanted->rules[position], wanted->rule, sizeof(*wanted->rule));
}

static uint32_t hash_rule(const struct unwind_rule *rule)
{
	return hash_bytes(rule, sizeof(*rule));
}

uint32_t unwind_rules_find(const struct unwind_rules *rules, const struct unwind_rule *rule)
{
	struct wanted_rule wanted = { rules->rules, rule };

	return hash_index_find(&rules->index, hash_rule(rule), is_rule, &wanted);
}

int unwind_rules_add(struct unwind_rules *rules, const struct unwind_rule *rule)
{
	if (array_make_room(rules->rules, rules->count, rules->room, 1U) ||
	    hash_index_add(&rules->index, hash_rule(rule), rules->count))
		return -ENOMEM;
	rules->rules[rules->count++] = *rule;
	return 0;
}

void unwind_rules_keep_first(struct unwind_rules *rules)
{
	if (rules->count > 1)
		rules->count = 1;
	hash_index_free(&rules->index);
	if (rules->count)
		hash_index_add(&rules->index, hash_rule(&rules->rules[0]), 0);
}

void unwind_rules_free(struct unwind_rules *rules)
{
	free(rules->rules);
	hash_index_free(&rules->index);
	*rules = (struct unwind_rules){ 0 };
}
