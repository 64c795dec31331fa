/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/model/id_index.h"

#include "common/base/array.h"

#include <stdlib.h>

struct wanted_id {
	const struct id_index *index;
	int64_t id;
};

/* Implements hash_equal. */
static bool is_id(const void *user, uint32_t position)
{
	const struct wanted_id *wanted = user;

	return wanted->index->ids[position] == wanted->id;
}

static uint32_t hash_id(int64_t id)
{
	return hash_number_and_bytes((uint64_t)id, NULL, 0);
}

uint32_t id_index_find(const struct id_index *index, int64_t id)
{
	return hash_index_find(&index->index, hash_id(id), is_id, &(struct wanted_id){ index, id });
}

int id_index_add(struct id_index *index, int64_t id)
{
	if (array_make_room(index->ids, index->count, index->room, 1U) ||
	    hash_index_add(&index->index, hash_id(id), index->count))
		return -ENOMEM;
	index->ids[index->count++] = id;
	return 0;
}

void id_index_free(struct id_index *index)
{
	free(index->ids);
	hash_index_free(&index->index);
}
