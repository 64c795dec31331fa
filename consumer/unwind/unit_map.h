/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unit_map.h owns which elements of a kernel array are allocated. A released element is not allocated again
 * for a while, because a kernel program may have looked it up just before.
 */
#ifndef BOURDON_CONSUMER_UNWIND_UNIT_MAP_H
#define BOURDON_CONSUMER_UNWIND_UNIT_MAP_H

#include <stdint.h>

struct unit_map {
	uint64_t *used; /* one bit for each element */
	uint32_t count, allocated;
	uint32_t next; /* where the last search ended */
	struct given_back *given_back;
	uint32_t given_back_count, given_back_room;
};

/* Returns 0 or -ENOMEM. */
int unit_map_init(struct unit_map *map, uint32_t count);
void unit_map_free(struct unit_map *map);

/* The number of free elements at `now_ns` (CLOCK_MONOTONIC), adjacent or not. */
uint32_t unit_map_room(struct unit_map *map, uint64_t now_ns);

/* Allocates `count` adjacent elements, at least 1, at `now_ns` (CLOCK_MONOTONIC). Returns 0 or -ENOSPC. */
int unit_map_allocate(struct unit_map *map, uint32_t count, uint64_t now_ns, uint32_t *ret_first);

/* Releases the elements of one allocation. Without memory they stay allocated. */
void unit_map_release(struct unit_map *map, uint32_t first, uint32_t count, uint64_t now_ns);

#endif
