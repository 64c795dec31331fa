/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unwind_rules.h owns a numbered set of unwind rules without duplicates: the rules of one file in the
 * symbolizer, and those in the map in the consumer.
 */
#ifndef BOURDON_COMMON_SYMBOLIZER_UNWIND_RULES_H
#define BOURDON_COMMON_SYMBOLIZER_UNWIND_RULES_H

#include "common/abi/abi.h"
#include "common/base/hash_index.h"

#include <stdint.h>

/* Starts as zeros. */
struct unwind_rules {
	struct unwind_rule *rules;
	uint32_t count, room;
	struct hash_index index;
};

/* Returns the number of a rule in the set, or HASH_INDEX_NONE. */
uint32_t unwind_rules_find(const struct unwind_rules *rules, const struct unwind_rule *rule);

/* Adds a rule that is not in the set; its number is the previous count. Returns 0 or -ENOMEM. */
int unwind_rules_add(struct unwind_rules *rules, const struct unwind_rule *rule);

/* Removes all rules but the first. If out of memory, the first may be added a second time. */
void unwind_rules_keep_first(struct unwind_rules *rules);

void unwind_rules_free(struct unwind_rules *rules);

#endif
