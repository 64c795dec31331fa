/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/symbols/mapping_history.h"

#include <stdlib.h>

/* How many of all ever noted are kept. */
static uint32_t kept(uint32_t noted, uint32_t most)
{
	return noted < most ? noted : most;
}

void mapping_history_see(struct mapping_history *history, const struct mapping_sighting *sighting)
{
	struct mapping_sighting *last =
		history->sightings_count
			? &history->sightings[(history->sightings_count - 1) % MAPPING_SIGHTINGS]
			: NULL;

	if (last && last->epoch == sighting->epoch && last->program == sighting->program)
		last->to = sighting->to;
	else if (sighting->epoch)
		history->sightings[history->sightings_count++ % MAPPING_SIGHTINGS] = *sighting;
}

void mapping_history_keep(struct mapping_history *history, const struct mapping *mapping)
{
	struct mapping *place = &history->former[history->former_count++ % MAPPING_FORMER];

	mapping_drop_file(place->file);
	*place = *mapping;
}

static bool covers(const struct mapping *mapping, uint64_t address)
{
	return address >= mapping->begins && address < mapping_ends(mapping);
}

bool mapping_history_has(const struct mapping_history *history, uint64_t address)
{
	for (uint32_t i = 0; i < kept(history->former_count, MAPPING_FORMER); i++)
		if (covers(&history->former[i], address))
			return true;
	return false;
}

bool mapping_history_is_full(const struct mapping_history *history)
{
	return history->former_count > MAPPING_FORMER;
}

const struct mapping_sighting *mapping_history_sighting(const struct mapping_history *history,
							uint32_t program, uint32_t epoch)
{
	for (uint32_t i = 0; i < kept(history->sightings_count, MAPPING_SIGHTINGS); i++)
		if (history->sightings[i].epoch == epoch && history->sightings[i].program == program)
			return &history->sightings[i];
	return NULL;
}

const struct mapping_sighting *mapping_history_of(const struct mapping_history *history, uint32_t from)
{
	for (uint32_t i = 0; i < kept(history->sightings_count, MAPPING_SIGHTINGS); i++)
		if (history->sightings[i].from == from)
			return &history->sightings[i];
	return NULL;
}

bool mapping_was_seen(const struct mapping *mapping, const struct mapping_sighting *sighting,
		      uint64_t address)
{
	return covers(mapping, address) && mapping->since <= sighting->to && mapping->slice >= sighting->from;
}

const struct mapping *mapping_history_find(const struct mapping_history *history,
					   const struct mapping_sighting *sighting, uint64_t address)
{
	for (uint32_t i = 0; i < kept(history->former_count, MAPPING_FORMER); i++)
		if (mapping_was_seen(&history->former[i], sighting, address))
			return &history->former[i];
	return NULL;
}

void mapping_history_free(struct mapping_history *history)
{
	if (!history)
		return;
	for (uint32_t i = 0; i < kept(history->former_count, MAPPING_FORMER); i++)
		mapping_drop_file(history->former[i].file);
	free(history);
}
