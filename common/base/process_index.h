/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * process_index.h owns finding a process in an array by its identity: the process id, which the kernel gives
 * to others later, and the time at which the process started. The array stays its owner's. Its elements are
 * structures with the members `uint32_t tgid` and `uint64_t started_ns`.
 */
#ifndef BOURDON_COMMON_BASE_PROCESS_INDEX_H
#define BOURDON_COMMON_BASE_PROCESS_INDEX_H

#include "common/base/hash_index.h"

#include <stddef.h>

/* Begins as zeros: an index of nothing. */
struct process_index {
	struct hash_index index;
};

/* Where the identities are in an array; PROCESS_ARRAY() describes one. */
struct process_array {
	const void *elements;
	size_t element_bytes, tgid_at, started_at;
};

#define PROCESS_ARRAY(array)                                                                                 \
	((struct process_array){ (array), sizeof(*(array)), offsetof(__typeof__(*(array)), tgid),            \
				 offsetof(__typeof__(*(array)), started_ns) })

/* Frees the memory of the index. It is then an index of nothing. */
void process_index_clear(struct process_index *index);

/* The position of the process in the array, or HASH_INDEX_NONE. */
uint32_t process_index_find(const struct process_index *index, struct process_array array, uint32_t tgid,
			    uint64_t started_ns);

/* Adds a process that the index does not have. 0 or -ENOMEM. */
int process_index_add(struct process_index *index, uint32_t tgid, uint64_t started_ns, uint32_t position);

/* Forgets the process at that position. */
void process_index_remove(struct process_index *index, uint32_t tgid, uint64_t started_ns, uint32_t position);

#endif
