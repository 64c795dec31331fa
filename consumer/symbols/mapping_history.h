/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mapping_history.h keeps what one process had mapped where it has something else now, as plugins are that are loaded by turns,
 * and which scan of its mappings saw its address space at which epoch (abi.h, mapping_record.epoch). A sample has the epoch that it
 * was taken at. A sample of an epoch that no scan saw may be of what nobody knows: between two scans that saw one plugin there may
 * have been the other.
 */
#ifndef BOURDON_CONSUMER_SYMBOLS_MAPPING_HISTORY_H
#define BOURDON_CONSUMER_SYMBOLS_MAPPING_HISTORY_H

#include "consumer/symbols/mapping.h"

/* The slices of one scan that listed the process, or of several, while its epoch was the same. */
struct mapping_sighting {
	uint32_t epoch, program; /* as in struct sample: each program begins with a new address space */
	uint32_t from, to;
};

#define MAPPING_SIGHTINGS 32U
#define MAPPING_FORMER 32U

/* Starts as zeros. */
struct mapping_history {
	struct mapping_sighting sightings[MAPPING_SIGHTINGS];
	struct mapping former[MAPPING_FORMER];  /* each holds its file (mapping_hold_file()) */
	uint32_t sightings_count, former_count; /* all ever noted: the last ones are kept */
};

/* Does not note an epoch of 0. */
void mapping_history_see(struct mapping_history *history, const struct mapping_sighting *sighting);

/* Notes a mapping that does not exist any more, with its hold of the file; drops that of the one that it replaces. */
void mapping_history_keep(struct mapping_history *history, const struct mapping *mapping);

/* Whether one of the former mappings that are kept has the address; and whether some are not kept any more. */
bool mapping_history_has(const struct mapping_history *history, uint64_t address);
bool mapping_history_is_full(const struct mapping_history *history);

/* NULL: no scan saw the epoch, or none of those that are kept. */
const struct mapping_sighting *mapping_history_sighting(const struct mapping_history *history,
							uint32_t program, uint32_t epoch);

/* The one that began with this slice, or NULL. */
const struct mapping_sighting *mapping_history_of(const struct mapping_history *history, uint32_t from);

/* Whether the mapping has the address, and was there in that scan. */
bool mapping_was_seen(const struct mapping *mapping, const struct mapping_sighting *sighting,
		      uint64_t address);

/* What of it was mapped there in that scan, or NULL. */
const struct mapping *mapping_history_find(const struct mapping_history *history,
					   const struct mapping_sighting *sighting, uint64_t address);

/* Accepts NULL. */
void mapping_history_free(struct mapping_history *history);

#endif
