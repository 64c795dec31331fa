/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unwind_rules.h owns a set of unwind rules, each once, by number: those of one file, in the symbolizer, and
 * those that are in the map, in the consumer.
 */
#ifndef BOURDON_SYMBOLIZER_UNWIND_RULES_H
#define BOURDON_SYMBOLIZER_UNWIND_RULES_H

#include "common/abi.h"
#include "common/hash_index.h"

#include <stdint.h>

/* Begins with zeros. */
struct unwind_rules {
	struct unwind_rule *rules;
	uint32_t count, room;
	struct hash_index index;
};

/* The number of a rule that is there, or HASH_INDEX_NONE. */
uint32_t unwind_rules_find(const struct unwind_rules *rules, const struct unwind_rule *rule);

/* Adds one that is not there: its number is the count before. 0 or -ENOMEM. */
int unwind_rules_add(struct unwind_rules *rules, const struct unwind_rule *rule);

/* Forgets all but the first. Without memory for that the first may be added once more. */
void unwind_rules_keep_first(struct unwind_rules *rules);

void unwind_rules_free(struct unwind_rules *rules);

#endif
