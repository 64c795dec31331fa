/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hash_index.h owns finding an element of an array by its content: an open-addressing table of positions.
 * The elements stay where their owner keeps them.
 */
#ifndef BOURDON_HASH_INDEX_H
#define BOURDON_HASH_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hash_index {
	struct hash_slot *slots;
	uint32_t mask; /* slots - 1, or 0 without slots */
	uint32_t count;
};

#define HASH_INDEX_NONE UINT32_MAX

/* Whether the element at `position` is the one that is looked for. */
typedef bool (*hash_equal)(const void *user, uint32_t position);

/*
 * A hash of bytes. With a random seed, who chooses the content cannot choose collisions; it is no
 * cryptographic hash.
 */
uint32_t hash_bytes(uint64_t seed, const void *bytes, size_t length);

/* The position of the element, or HASH_INDEX_NONE. */
uint32_t hash_index_find(const struct hash_index *index, uint32_t hash, hash_equal equal, const void *user);

/* Adds a position that is not there. 0 or -ENOMEM. */
int hash_index_add(struct hash_index *index, uint32_t hash, uint32_t position);

/* Forgets one position. The hash is the one it was added with. */
void hash_index_remove(struct hash_index *index, uint32_t hash, uint32_t position);

void hash_index_free(struct hash_index *index);

#endif
