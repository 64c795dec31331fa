/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/base/hash_index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct hash_slot {
	uint32_t hash;     /* full hash: growing needs no rehash, and most mismatches show here */
	uint32_t position; /* plus 1; 0 is empty */
};

uint32_t hash_index_find(const struct hash_index *index, uint32_t hash, hash_equal equal, const void *user)
{
	if (!index->slots)
		return HASH_INDEX_NONE;
	for (uint32_t i = hash & index->mask;; i = (i + 1) & index->mask) {
		const struct hash_slot *slot = &index->slots[i];

		if (!slot->position)
			return HASH_INDEX_NONE;
		if (slot->hash == hash && equal(user, slot->position - 1))
			return slot->position - 1;
	}
}

static const void *key_at(struct hash_keys keys, uint32_t position)
{
	const char *place = (const char *)keys.elements + position * keys.element_bytes, *element = place;

	if (keys.of_pointers)
		memcpy(&element, place, sizeof(element));
	return element + keys.key_at;
}

struct wanted_key {
	struct hash_keys keys;
	const void *key;
};

static bool has_key(const void *user, uint32_t position)
{
	const struct wanted_key *wanted = user;

	return !memcmp(key_at(wanted->keys, position), wanted->key, wanted->keys.key_bytes);
}

uint32_t hash_index_find_key(const struct hash_index *index, struct hash_keys keys, const void *key)
{
	const struct wanted_key wanted = { keys, key };

	return hash_index_find(index, hash_bytes(key, keys.key_bytes), has_key, &wanted);
}

static void place(struct hash_index *index, struct hash_slot slot)
{
	uint32_t i = slot.hash & index->mask;

	while (index->slots[i].position)
		i = (i + 1) & index->mask;
	index->slots[i] = slot;
}

int hash_index_add(struct hash_index *index, uint32_t hash, uint32_t position)
{
	uint32_t room = index->slots ? index->mask + 1 : 0;

	if (index->count >= room / 4 * 3) {
		struct hash_index grown = { .mask = (room ? room * 2 : 64) - 1, .count = index->count };

		grown.slots = calloc((size_t)grown.mask + 1, sizeof(*grown.slots));
		if (!grown.slots)
			return -ENOMEM;
		for (uint32_t i = 0; i < room; i++)
			if (index->slots[i].position)
				place(&grown, index->slots[i]);
		free(index->slots);
		*index = grown;
	}
	place(index, (struct hash_slot){ hash, position + 1 });
	index->count++;
	return 0;
}

int hash_index_add_key(struct hash_index *index, struct hash_keys keys, uint32_t position)
{
	return hash_index_add(index, hash_bytes(key_at(keys, position), keys.key_bytes), position);
}

int hash_index_append(struct hash_index *index, struct hash_keys keys, void *array, uint32_t *count,
		      const void *key)
{
	char *element = (char *)array + *count * keys.element_bytes;
	int result;

	memset(element, 0, keys.element_bytes);
	memcpy(element + keys.key_at, key, keys.key_bytes);
	keys.elements = array;
	result = hash_index_add_key(index, keys, *count);
	if (result < 0)
		return result;
	++*count;
	return 1;
}

/* Moves later elements back into the gap, so that no search stops too early. */
void hash_index_remove(struct hash_index *index, uint32_t hash, uint32_t position)
{
	uint32_t gap;

	if (!index->slots)
		return;
	for (gap = hash & index->mask; index->slots[gap].position != position + 1;
	     gap = (gap + 1) & index->mask)
		if (!index->slots[gap].position)
			return;
	for (uint32_t i = (gap + 1) & index->mask; index->slots[i].position; i = (i + 1) & index->mask) {
		uint32_t home = index->slots[i].hash & index->mask;

		if (((i - home) & index->mask) < ((i - gap) & index->mask))
			continue; /* its home slot is behind the gap */
		index->slots[gap] = index->slots[i];
		gap = i;
	}
	index->slots[gap] = (struct hash_slot){ 0 };
	index->count--;
}

void hash_index_remove_key(struct hash_index *index, struct hash_keys keys, uint32_t position)
{
	hash_index_remove(index, hash_bytes(key_at(keys, position), keys.key_bytes), position);
}

void hash_index_free(struct hash_index *index)
{
	free(index->slots);
	*index = (struct hash_index){ 0 };
}
