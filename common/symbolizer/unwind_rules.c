/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/symbolizer/unwind_rules.h"

uint32_t unwind_rules_find(const struct unwind_rules *rules, const struct unwind_rule *rule)
{
	return hash_index_find_key(&rules->index, HASH_ELEMENTS(rules->rules), rule);
}

int unwind_rules_add(struct unwind_rules *rules, const struct unwind_rule *rule)
{
	uint32_t number;
	int added = hash_index_intern(&rules->index, HASH_ELEMENTS(rules->rules), rules->rules, rules->count,
				      rules->room, rule, &number);

	return added < 0 ? added : 0;
}

void unwind_rules_keep_first(struct unwind_rules *rules)
{
	if (rules->count > 1)
		rules->count = 1;
	hash_index_free(&rules->index);
	if (rules->count)
		hash_index_add_key(&rules->index, HASH_ELEMENTS(rules->rules), 0);
}

void unwind_rules_free(struct unwind_rules *rules)
{
	free(rules->rules);
	hash_index_free(&rules->index);
	*rules = (struct unwind_rules){ 0 };
}
