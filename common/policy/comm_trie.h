/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * comm_trie.h owns a set of comm patterns. The trie gives user space the same answer as the kernel's LPM
 * trie, and also the less specific patterns that match.
 */
#ifndef BOURDON_COMMON_POLICY_COMM_TRIE_H
#define BOURDON_COMMON_POLICY_COMM_TRIE_H

#include "common/policy/comm_pattern.h"

#include <stddef.h>
#include <stdint.h>

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
