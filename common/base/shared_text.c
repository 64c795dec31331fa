/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/base/shared_text.h"

#include "common/base/array.h"
#include "common/base/hash_index.h"

#include <string.h>

/* So many texts, and twice as many as had an owner at the last sweep, begin another one. */
#define SWEPT_LEAST 256U

struct shared {
	uint32_t hash;
	uint32_t owners; /* atomic: a thread that does not make texts subtracts from it */
	char text[];
};

static struct {
	struct shared **texts;
	uint32_t count, room, swept_count;
	struct hash_index index;
} pool;

static uint32_t hash_of(const char *text)
{
	return hash_bytes(text, strlen(text));
}

static bool is_wanted(const void *user, uint32_t position)
{
	return !strcmp(pool.texts[position]->text, user);
}

void shared_text_sweep(void)
{
	uint32_t kept = 0;

	hash_index_free(&pool.index);
	for (uint32_t i = 0; i < pool.count; i++) {
		struct shared *shared = pool.texts[i];

		/* acquire: whoever read the text has done so before it is freed */
		if (!__atomic_load_n(&shared->owners, __ATOMIC_ACQUIRE)) {
			free(shared);
			continue;
		}
		/* without memory for the index, the next equal text is another one */
		hash_index_add(&pool.index, shared->hash, kept);
		pool.texts[kept++] = shared;
	}
	pool.count = pool.swept_count = kept;
}

static struct shared *add(const char *text)
{
	size_t bytes = strlen(text) + 1;
	struct shared *shared;

	if (pool.count >= SWEPT_LEAST && pool.count / 2 >= pool.swept_count)
		shared_text_sweep();
	if (array_make_room(pool.texts, pool.count, pool.room, 1U) < 0)
		return NULL;
	shared = malloc(sizeof(*shared) + bytes);
	if (!shared)
		return NULL;
	shared->owners = 0;
	shared->hash = hash_of(text);
	memcpy(shared->text, text, bytes);
	hash_index_add(&pool.index, shared->hash, pool.count);
	pool.texts[pool.count++] = shared;
	return shared;
}

const char *shared_text_new(const char *text)
{
	struct shared *shared;
	uint32_t found;

	if (!text)
		return NULL;
	found = hash_index_find(&pool.index, hash_of(text), is_wanted, text);
	shared = found == HASH_INDEX_NONE ? add(text) : pool.texts[found];
	if (!shared)
		return NULL;
	__atomic_add_fetch(&shared->owners, 1, __ATOMIC_RELAXED);
	return shared->text;
}

void shared_text_free(const char *text)
{
	struct shared *shared;

	if (!text)
		return;
	shared = (struct shared *)(void *)((char *)text - offsetof(struct shared, text));
	__atomic_sub_fetch(&shared->owners, 1, __ATOMIC_RELEASE);
}
