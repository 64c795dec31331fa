/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * comm_trie.h owns a set of comm patterns. The trie answers in user space what the kernel's LPM trie answers
 * in the programs, and also tells which less specific patterns match.
 */
#ifndef BOURDON_COMM_TRIE_H
#define BOURDON_COMM_TRIE_H

#include "common/comm_pattern.h"

#include <stddef.h>
#include <stdint.h>

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
