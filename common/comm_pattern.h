/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * comm_pattern.h owns one comm pattern: exact ("nginx"), prefix ("worker-*") or every process ("*").
 */
#ifndef BOURDON_COMM_PATTERN_H
#define BOURDON_COMM_PATTERN_H

#include "common/abi.h"

#include <stdbool.h>

struct comm_pattern {
	char text[ABI_COMM_BYTES]; /* without the "*", zero-filled */
	bool prefix;
};

/*
 * Parses what a rule says. 0, or -EINVAL with *ret_why a constant sentence: a comm has 1 to 15 bytes, "*"
 * only at its end.
 */
int comm_pattern_parse(const char *text, struct comm_pattern *ret_pattern, const char **ret_why);

/* The key of the kernel's LPM trie for a pattern, and the one to look up a comm with. */
struct pattern_key comm_pattern_key(const struct comm_pattern *pattern);
struct pattern_key comm_lookup_key(const char comm[ABI_COMM_BYTES]);

#endif
