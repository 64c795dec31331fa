/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/build_ids.h"

#include "common/array.h"
#include "common/hash_index.h"
#include "consumer/symbolizer/protocol.h"

#include <string.h>

/* When there are so many they are all forgotten: what is still in use comes back with the next capture. */
#define FILES_MAX 2048U

/* The change time cannot be set to what it was: who writes to a file and puts its times back is seen. */
struct identity {
	uint64_t device, inode, bytes;
	int64_t modified_s, modified_ns, changed_s, changed_ns;
};

struct entry {
	struct identity identity;
	char build_id[2 * SYMBOLIZE_BUILD_ID_BYTES + 1];
};

struct build_ids {
	struct entry *entries;
	uint32_t count, room;
	struct hash_index index;
};

static struct identity identify(const struct stat *at)
{
	return (struct identity){ .device = at->st_dev,
				  .inode = at->st_ino,
				  .bytes = (uint64_t)at->st_size,
				  .modified_s = at->st_mtim.tv_sec,
				  .modified_ns = at->st_mtim.tv_nsec,
				  .changed_s = at->st_ctim.tv_sec,
				  .changed_ns = at->st_ctim.tv_nsec };
}

struct wanted {
	const struct build_ids *ids;
	struct identity identity;
};

static bool is_entry(const void *user, uint32_t position)
{
	const struct wanted *wanted = user;

	return !memcmp(&wanted->ids->entries[position].identity, &wanted->identity, sizeof(wanted->identity));
}

static uint32_t hash_of(const struct identity *identity)
{
	return hash_bytes(0, identity, sizeof(*identity));
}

static uint32_t find(const struct build_ids *ids, const struct stat *at)
{
	struct wanted wanted = { ids, identify(at) };

	return hash_index_find(&ids->index, hash_of(&wanted.identity), is_entry, &wanted);
}

struct build_ids *build_ids_new(void)
{
	return calloc(1, sizeof(struct build_ids));
}

void build_ids_free(struct build_ids *ids)
{
	if (!ids)
		return;
	free(ids->entries);
	hash_index_free(&ids->index);
	free(ids);
}

const char *build_ids_find(const struct build_ids *ids, const struct stat *at)
{
	uint32_t found = ids ? find(ids, at) : HASH_INDEX_NONE;

	return found == HASH_INDEX_NONE ? NULL : ids->entries[found].build_id;
}

void build_ids_add(struct build_ids *ids, const struct stat *at, const char *build_id)
{
	struct entry entry = { .identity = identify(at) };

	if (!ids || !*build_id || strlen(build_id) >= sizeof(entry.build_id) ||
	    find(ids, at) != HASH_INDEX_NONE)
		return;
	strcpy(entry.build_id, build_id);
	if (ids->count == FILES_MAX) {
		hash_index_free(&ids->index);
		ids->count = 0;
	}
	if (array_make_room(ids->entries, ids->count, ids->room, 1U) ||
	    hash_index_add(&ids->index, hash_of(&entry.identity), ids->count))
		return;
	ids->entries[ids->count++] = entry;
}
