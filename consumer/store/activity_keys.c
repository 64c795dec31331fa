/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/store/activity_keys.h"

#include "common/kernel/cgroup_parts.h"

#include <inttypes.h>
#include <limits.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <string.h>

#define DIGEST_BYTES 16U

struct remembered_key {
	uint8_t digest[DIGEST_BYTES];
	int64_t key_id;
};

int activity_keys_prepare(struct sql *sql, struct activity_keys *ret_keys)
{
	*ret_keys = (struct activity_keys){ 0 };
	return sql_prepare(
		sql, &ret_keys->find_key,
		"SELECT key_id FROM activity_key WHERE hash = ? AND state = ? AND comm IS ? AND kernel = ? AND syscall IS ? "
		"AND function IS ? AND uid IS nullif(?, -1) AND cgroup IS ?");
}

void activity_keys_forget(struct activity_keys *keys)
{
	free(keys->keys);
	keys->keys = NULL;
	keys->count = keys->room = 0;
	hash_index_free(&keys->index);
}

/* ---- hashes ---- */

/* NULL and "" differ. */
static void hash_text(struct sha256_ctx *context, const char *text)
{
	sha256_update(context, text != NULL, (const uint8_t *)"=");
	sha256_update(context, text ? strlen(text) + 1 : 1, (const uint8_t *)(text ? text : ""));
}

/* Part of a SHA-256: nobody can choose words that collide with those of another one. */
static void digest_of(const struct activity_words *words, uint8_t digest[DIGEST_BYTES])
{
	uint8_t whole[SHA256_DIGEST_SIZE];
	struct sha256_ctx context;
	char numbers[32];

	sha256_init(&context);
	hash_text(&context, words->state);
	hash_text(&context, words->comm);
	hash_text(&context, words->syscall);
	hash_text(&context, words->function);
	hash_text(&context, words->cgroup);
	snprintf(numbers, sizeof(numbers), "%d %" PRId64, words->is_kernel, words->uid);
	hash_text(&context, numbers);
	sha256_digest(&context, sizeof(whole), whole);
	memcpy(digest, whole, DIGEST_BYTES);
}

/* activity_key.hash, the same on each host. */
static int64_t hash_of(const uint8_t digest[DIGEST_BYTES])
{
	uint64_t hash = 0;

	for (size_t i = 0; i < sizeof(hash); i++)
		hash = hash << 8 | digest[i];
	return (int64_t)hash;
}

/* ---- what is remembered ---- */

/* Without memory the key is not remembered. */
static void remember(struct activity_keys *keys, const uint8_t digest[DIGEST_BYTES], int64_t key_id)
{
	uint32_t position = 0;

	if (keys->count == ACTIVITY_KEYS_REMEMBERED)
		activity_keys_forget(keys);
	if (hash_index_intern(&keys->index, HASH_KEYS(keys->keys, digest), keys->keys, keys->count,
			      keys->room, digest, &position) >= 0)
		keys->keys[position].key_id = key_id;
}

/* ---- the database ---- */

int activity_keys_find(struct sql *sql, struct activity_keys *keys, const struct activity_words *words,
		       int64_t *ret_key_id)
{
	uint8_t digest[DIGEST_BYTES];
	sqlite3_int64 key_id = 0;
	uint32_t found;
	int result;

	digest_of(words, digest);
	found = hash_index_find_key(&keys->index, HASH_KEYS(keys->keys, digest), digest);
	if (found != HASH_INDEX_NONE) {
		*ret_key_id = keys->keys[found].key_id;
		return 0;
	}
	result = sql_run(sql, keys->find_key, &key_id, "ittittit", hash_of(digest), words->state, words->comm,
			 (int64_t)words->is_kernel, words->syscall, words->function, words->uid,
			 words->cgroup);
	if (result < 0)
		return result;
	if (key_id)
		remember(keys, digest, key_id);
	*ret_key_id = key_id;
	return 0;
}

int activity_keys_add(struct sql *sql, struct activity_keys *keys, const struct activity_words *words,
		      int64_t *ret_key_id)
{
	char unit[NAME_MAX + 1], container[NAME_MAX + 1];
	bool has_unit = words->cgroup && cgroup_unit(words->cgroup, unit),
	     has_container = words->cgroup && cgroup_container(words->cgroup, container);
	uint8_t digest[DIGEST_BYTES];
	sqlite3_int64 key_id;
	int result;

	digest_of(words, digest);
	result = sql_insert(
		sql, &keys->add_key, "activity_key", NULL, &key_id,
		SQL_COLUMNS(SQL_NUMBER(hash, hash_of(digest)), SQL_TEXT(state, words->state),
			    SQL_TEXT(comm, words->comm), SQL_NUMBER(kernel, words->is_kernel),
			    SQL_TEXT(syscall, words->syscall), SQL_TEXT(function, words->function),
			    SQL_NUMBER_IF(uid, words->uid != -1, words->uid), SQL_TEXT(cgroup, words->cgroup),
			    SQL_TEXT(unit, has_unit ? unit : NULL),
			    SQL_TEXT(container, has_container ? container : NULL)));
	if (result < 0)
		return result;
	remember(keys, digest, key_id);
	*ret_key_id = key_id;
	return 0;
}
