/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/target/kills.h"

#include "common/array.h"

#include <stdbool.h>
#include <string.h>

void kills_free(struct kills *kills)
{
	free(kills->each);
	*kills = (struct kills){ 0 };
}

static bool is_of_same(const struct kill_record *one, const struct kill_record *other)
{
	return one->how == other->how && one->account == other->account;
}

/* The oldest of the account that has most. */
static uint32_t find_one_too_many(const struct kills *kills)
{
	uint32_t most = 0, found = 0;

	for (uint32_t i = 0; i < kills->count; i++) {
		uint32_t same = 0;

		for (uint32_t j = i; j < kills->count; j++)
			same += is_of_same(&kills->each[i], &kills->each[j]);
		if (same > most) {
			most = same;
			found = i;
		}
	}
	return found;
}

static void forget(struct kills *kills, uint32_t position)
{
	kills->count--;
	memmove(&kills->each[position], &kills->each[position + 1],
		(kills->count - position) * sizeof(*kills->each));
}

void kills_add(struct kills *kills, const struct kill_record *record)
{
	if (kills->count >= KILLS_MAX)
		forget(kills, find_one_too_many(kills));
	if (array_make_room(kills->each, kills->count, kills->room, 1U))
		return;
	kills->each[kills->count++] = *record;
}
