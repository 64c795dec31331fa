/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/base/process_index.h"

#include <string.h>

struct wanted {
	struct process_array array;
	uint32_t tgid;
	uint64_t started_ns;
};

static bool is_wanted(const void *user, uint32_t position)
{
	const struct wanted *wanted = user;
	const char *element = (const char *)wanted->array.elements + position * wanted->array.element_bytes;
	uint32_t tgid;
	uint64_t started_ns;

	memcpy(&tgid, element + wanted->array.tgid_at, sizeof(tgid));
	memcpy(&started_ns, element + wanted->array.started_at, sizeof(started_ns));
	return tgid == wanted->tgid && started_ns == wanted->started_ns;
}

static uint32_t hash_of(uint32_t tgid, uint64_t started_ns)
{
	uint64_t identity[2] = { tgid, started_ns };

	return hash_bytes(identity, sizeof(identity));
}

void process_index_clear(struct process_index *index)
{
	hash_index_free(&index->index);
}

uint32_t process_index_find(const struct process_index *index, struct process_array array, uint32_t tgid,
			    uint64_t started_ns)
{
	struct wanted wanted = { array, tgid, started_ns };

	return hash_index_find(&index->index, hash_of(tgid, started_ns), is_wanted, &wanted);
}

int process_index_add(struct process_index *index, uint32_t tgid, uint64_t started_ns, uint32_t position)
{
	return hash_index_add(&index->index, hash_of(tgid, started_ns), position);
}

void process_index_remove(struct process_index *index, uint32_t tgid, uint64_t started_ns, uint32_t position)
{
	hash_index_remove(&index->index, hash_of(tgid, started_ns), position);
}
