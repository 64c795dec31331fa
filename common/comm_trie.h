/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * comm_trie.h owns comm patterns: exact ("nginx"), prefix ("worker-*") or every process ("*"). The trie gives
 * user space the same answer as the kernel's LPM trie, and the less specific patterns that match as well.
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
 * Parses the comm of a rule: 1 to 15 bytes, with "*" only at the end. Returns 0, or -EINVAL with *ret_why set
 * to a constant string.
 */
int comm_pattern_parse(const char *text, struct comm_pattern *ret_pattern, const char **ret_why);

/* Keys of the kernel's LPM trie: the one that stores a pattern, and the one that looks up a comm. */
struct pattern_key comm_pattern_key(const struct comm_pattern *pattern);
struct pattern_key comm_lookup_key(const char comm[ABI_COMM_BYTES]);

struct comm_trie;

/* Returns NULL if out of memory. The caller frees the trie. */
struct comm_trie *comm_trie_new(void);
void comm_trie_free(struct comm_trie *trie);

/* Adds a pattern under a non-zero id. Returns 0, -EEXIST if the pattern is in the trie, or -ENOMEM. */
int comm_trie_add(struct comm_trie *trie, const struct comm_pattern *pattern, uint32_t id);

/* Most patterns that can match one comm: "*", 15 prefixes and the exact one. */
#define COMM_TRIE_PATH (ABI_COMM_BYTES + 1)

/*
 * Stores the ids of all patterns that match `comm`, the most specific first, and returns their number. Bytes
 * after the comm's NUL are ignored.
 */
size_t comm_trie_match(const struct comm_trie *trie, const char comm[ABI_COMM_BYTES],
		       uint32_t ret_ids[COMM_TRIE_PATH]);

#endif
