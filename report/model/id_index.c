/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/model/id_index.h"

#include <stdlib.h>

uint32_t id_index_find(const struct id_index *index, int64_t id)
{
	return hash_index_find_key(&index->index, HASH_ELEMENTS(index->ids), &id);
}

int id_index_add(struct id_index *index, int64_t id)
{
	uint32_t position;
	int added = hash_index_intern(&index->index, HASH_ELEMENTS(index->ids), index->ids, index->count,
				      index->room, &id, &position);

	return added < 0 ? added : 0;
}

void id_index_free(struct id_index *index)
{
	free(index->ids);
	hash_index_free(&index->index);
}
