/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/unwind/unit_map.h"

#include "common/base/array.h"
#include "common/base/clock.h"

#include <stdbool.h>

#define REST_NS CLOCK_SECOND_NS /* a program unwinds a stack within microseconds */
#define WORD_BITS 64U

struct given_back {
	uint32_t first, count;
	uint64_t at_ns;
};

int unit_map_init(struct unit_map *map, uint32_t count)
{
	*map = (struct unit_map){ .count = count };
	map->used = calloc((count + WORD_BITS - 1) / WORD_BITS + 1, sizeof(*map->used));
	return map->used ? 0 : -ENOMEM;
}

void unit_map_free(struct unit_map *map)
{
	free(map->used);
	free(map->given_back);
	*map = (struct unit_map){ 0 };
}

static bool is_used(const struct unit_map *map, uint32_t unit)
{
	return map->used[unit / WORD_BITS] >> (unit % WORD_BITS) & 1;
}

static void mark(struct unit_map *map, uint32_t first, uint32_t count, bool used)
{
	for (uint32_t unit = first; unit < first + count; unit++) {
		uint64_t bit = 1ULL << (unit % WORD_BITS);

		if (used)
			map->used[unit / WORD_BITS] |= bit;
		else
			map->used[unit / WORD_BITS] &= ~bit;
	}
}

static void reclaim(struct unit_map *map, uint64_t now_ns)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < map->given_back_count; i++) {
		const struct given_back *one = &map->given_back[i];

		if (now_ns - one->at_ns < REST_NS) {
			map->given_back[kept++] = *one;
			continue;
		}
		mark(map, one->first, one->count, false);
		map->allocated -= one->count;
	}
	map->given_back_count = kept;
}

/* Finds the first `count` adjacent free units from `from` on, before `end`. */
static bool find(const struct unit_map *map, uint32_t from, uint32_t end, uint32_t count, uint32_t *ret_first)
{
	uint32_t free_units = 0;

	for (uint32_t unit = from; unit < end; unit++) {
		if (!(unit % WORD_BITS) && map->used[unit / WORD_BITS] == UINT64_MAX) {
			unit += WORD_BITS - 1;
			free_units = 0;
			continue;
		}
		free_units = is_used(map, unit) ? 0 : free_units + 1;
		if (free_units == count) {
			*ret_first = unit + 1 - count;
			return true;
		}
	}
	return false;
}

uint32_t unit_map_room(struct unit_map *map, uint64_t now_ns)
{
	reclaim(map, now_ns);
	return map->count - map->allocated;
}

int unit_map_allocate(struct unit_map *map, uint32_t count, uint64_t now_ns, uint32_t *ret_first)
{
	uint32_t first;

	reclaim(map, now_ns);
	if (count > map->count - map->allocated ||
	    (!find(map, map->next, map->count, count, &first) && !find(map, 0, map->count, count, &first)))
		return -ENOSPC;
	mark(map, first, count, true);
	map->allocated += count;
	map->next = first + count;
	*ret_first = first;
	return 0;
}

void unit_map_release(struct unit_map *map, uint32_t first, uint32_t count, uint64_t now_ns)
{
	if (!count || array_make_room(map->given_back, map->given_back_count, map->given_back_room, 1U))
		return;
	map->given_back[map->given_back_count++] = (struct given_back){ first, count, now_ns };
}
