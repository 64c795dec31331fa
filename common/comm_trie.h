/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * comm_trie.h owns comm patterns: exact ("nginx"), prefix ("worker-*") or every process ("*"). The trie
 * answers in user space what the kernel's LPM trie answers in the programs, and knows beyond it which less
 * specific patterns match as well.
 */
#ifndef BOURDON_COMM_TRIE_H
#define BOURDON_COMM_TRIE_H

#include "common/abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

struct comm_trie;

/* The caller frees. NULL without memory. */
struct comm_trie *comm_trie_new(void);
void comm_trie_free(struct comm_trie *trie);

/* Adds a pattern under an id that is not 0. 0, -EEXIST for a pattern that is there, or -ENOMEM. */
int comm_trie_add(struct comm_trie *trie, const struct comm_pattern *pattern, uint32_t id);

/* More than a comm has bytes: "*", 15 prefixes, and the exact one. */
#define COMM_TRIE_PATH (ABI_COMM_BYTES + 1)

/*
 * Stores the ids of all patterns that match `comm`, the most specific first, and returns their number. What
 * is behind the comm's NUL does not matter.
 */
size_t comm_trie_match(const struct comm_trie *trie, const char comm[ABI_COMM_BYTES],
		       uint32_t ret_ids[COMM_TRIE_PATH]);

#endif
