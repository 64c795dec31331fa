/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unit_map.h owns which elements of an array that others read are in use. What is given back is not used
 * again for a while: a reader may have found it just before.
 */
#ifndef BOURDON_CONSUMER_UNWIND_UNIT_MAP_H
#define BOURDON_CONSUMER_UNWIND_UNIT_MAP_H

#include <stdint.h>

struct unit_map {
	uint64_t *used; /* a bit for each */
	uint32_t count, allocated;
	uint32_t next; /* where the last search ended */
	struct given_back *given_back;
	uint32_t given_back_count, given_back_room;
};

/* 0 or -ENOMEM. */
int unit_map_init(struct unit_map *map, uint32_t count);
void unit_map_free(struct unit_map *map);

/* How many can be allocated at `now_ns` (CLOCK_MONOTONIC), one by one. */
uint32_t unit_map_room(struct unit_map *map, uint64_t now_ns);

/* `count` neighbours, at least 1, at `now_ns` (CLOCK_MONOTONIC). 0, or -ENOSPC. */
int unit_map_allocate(struct unit_map *map, uint32_t count, uint64_t now_ns, uint32_t *ret_first);

/* Releases what one call allocated. If memory is short, it stays allocated. */
void unit_map_release(struct unit_map *map, uint32_t first, uint32_t count, uint64_t now_ns);

#endif
