/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * hash_index.h finds elements of an array by content: an open-addressing table of positions. The owner of the
 * array keeps the elements.
 */
#ifndef BOURDON_COMMON_BASE_HASH_INDEX_H
#define BOURDON_COMMON_BASE_HASH_INDEX_H

#include "common/base/array.h"
#include "common/base/hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hash_index {
	struct hash_slot *slots;
	uint32_t mask; /* number of slots - 1, or 0 without slots */
	uint32_t count;
};

#define HASH_INDEX_NONE UINT32_MAX

/* Returns true if the element at `position` is the wanted one. */
typedef bool (*hash_equal)(const void *user, uint32_t position);

/*
 * Where the keys of an array's elements are: bytes of the same size in all, without padding. HASH_KEYS() describes an array of
 * structures whose key is one member, HASH_KEYS_BEFORE() one whose key is all that stands before a member, HASH_ELEMENTS() an array
 * whose elements are the keys, HASH_KEYS_OF() an array of pointers to structures.
 */
struct hash_keys {
	const void *elements;
	size_t element_bytes, key_at, key_bytes;
	bool of_pointers;
};

#define HASH_KEYS(array, member)                                                                             \
	((struct hash_keys){ (array), sizeof(*(array)), offsetof(__typeof__(*(array)), member),              \
			     sizeof((array)->member), false })
#define HASH_KEYS_BEFORE(array, member)                                                                      \
	((struct hash_keys){ (array), sizeof(*(array)), 0, offsetof(__typeof__(*(array)), member), false })
#define HASH_ELEMENTS(array) ((struct hash_keys){ (array), sizeof(*(array)), 0, sizeof(*(array)), false })
#define HASH_KEYS_OF(array, member)                                                                          \
	((struct hash_keys){ (array), sizeof(*(array)), offsetof(__typeof__(**(array)), member),             \
			     sizeof((*(array))->member), true })

/* Returns the position of the element with this key, or HASH_INDEX_NONE. */
uint32_t hash_index_find_key(const struct hash_index *index, struct hash_keys keys, const void *key);

/* Adds the element at this position, whose key is set and not in the table. Returns 0 or -ENOMEM. */
int hash_index_add_key(struct hash_index *index, struct hash_keys keys, uint32_t position);

/*
 * Stores the position of the element with this key. If there is none, appends one with the key to `array`, a pointer variable with
 * `room` elements of which `count` are used; the rest of it is zeros. Returns 1 for a new element; 0; or -ENOMEM with nothing stored.
 */
#define hash_index_intern(index, keys, array, count, room, key, ret_position)                                \
	({                                                                                                   \
		struct hash_keys keys_ = (keys);                                                             \
		uint32_t found_ = hash_index_find_key((index), keys_, (key));                                \
		int added_ = 0;                                                                              \
		if (found_ == HASH_INDEX_NONE) {                                                             \
			found_ = (count);                                                                    \
			added_ = array_make_room(array, count, room, 1U);                                    \
			if (!added_)                                                                         \
				added_ = hash_index_append((index), keys_, (array), &(count), (key));        \
		}                                                                                            \
		if (added_ >= 0)                                                                             \
			*(ret_position) = found_;                                                            \
		added_;                                                                                      \
	})

/* Writes the element behind the `count` others, for which there is room. Returns 1 or -ENOMEM. Of hash_index_intern(). */
int hash_index_append(struct hash_index *index, struct hash_keys keys, void *array, uint32_t *count,
		      const void *key);

/* Removes the element at this position, whose key is as it was when it was added. */
void hash_index_remove_key(struct hash_index *index, struct hash_keys keys, uint32_t position);

/* Returns the position of the element with this hash that `equal` returns true for, or HASH_INDEX_NONE. */
uint32_t hash_index_find(const struct hash_index *index, uint32_t hash, hash_equal equal, const void *user);

/* Adds a position that is not in the table. Returns 0 or -ENOMEM. */
int hash_index_add(struct hash_index *index, uint32_t hash, uint32_t position);

/* Removes a position; `hash` must be the one it was added with. */
void hash_index_remove(struct hash_index *index, uint32_t hash, uint32_t position);

void hash_index_free(struct hash_index *index);

#endif
