/* SPDX-License-Identifier: GPL-2.0-only */
/* id_index.h finds what was read of a row by the row's id: the ids have positions, in the order in which they were added. */
#ifndef BOURDON_REPORT_MODEL_ID_INDEX_H
#define BOURDON_REPORT_MODEL_ID_INDEX_H

#include "common/base/hash_index.h"

#include <stdint.h>

struct id_index {
	int64_t *ids;
	uint32_t count, room;
	struct hash_index index;
};

/* Returns the position of the id, or HASH_INDEX_NONE. */
uint32_t id_index_find(const struct id_index *index, int64_t id);

/* Adds an id that is not in it, at the position that is the number of ids so far. 0 or -ENOMEM. */
int id_index_add(struct id_index *index, int64_t id);

void id_index_free(struct id_index *index);

#endif
