/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/capture/growths.h"

#include "common/base/array.h"

#define GROWTHS_MAX 8192U /* 0.2 MiB */

void growths_free(struct growths *growths)
{
	free(growths->rows);
	hash_index_free(&growths->index);
	*growths = (struct growths){ 0 };
}

int growths_add(struct growths *growths, const struct growth_row *row, bool is_full)
{
	const struct hash_keys keys = HASH_KEYS_BEFORE(growths->rows, samples);
	uint32_t found = hash_index_find_key(&growths->index, keys, row);
	int result;

	if (found != HASH_INDEX_NONE) {
		growths->rows[found].samples += row->samples;
		growths->rows[found].bytes += row->bytes;
		return 0;
	}
	if (growths->count == GROWTHS_MAX || is_full)
		return -ENOSPC;
	result = hash_index_intern(&growths->index, keys, growths->rows, growths->count, growths->room, row,
				   &found);
	if (result < 0)
		return result;
	growths->rows[found] = *row;
	return 0;
}

void growths_settle(struct growths *growths)
{
	hash_index_free(&growths->index);
	array_fit(growths->rows, growths->count, growths->room);
}
