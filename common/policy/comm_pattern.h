/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * comm_pattern.h owns one comm pattern: exact ("nginx"), prefix ("worker-*") or every process ("*").
 */
#ifndef BOURDON_COMMON_POLICY_COMM_PATTERN_H
#define BOURDON_COMMON_POLICY_COMM_PATTERN_H

#include "common/abi/targets.h"

#include <stdbool.h>

struct comm_pattern {
	char text[ABI_COMM_BYTES]; /* without the "*", zero-filled */
	bool prefix;
};

/*
 * Parses the comm of a rule: 1 to 15 bytes, with "*" only at the end. Returns 0, or -EINVAL with *ret_why set
 * to a constant string.
 */
int comm_pattern_parse(const char *text, struct comm_pattern *ret_pattern, const char **ret_why);

/* Keys of the kernel's LPM trie: the one that stores a pattern, and the one that looks up a comm. */
struct pattern_key comm_pattern_key(const struct comm_pattern *pattern);
struct pattern_key comm_lookup_key(const char comm[ABI_COMM_BYTES]);

#endif
