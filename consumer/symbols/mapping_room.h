/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mapping_room.h owns how many mappings, files and histories there may be: of all users, of one of them, and of processes with many
 * mappings. A user counts with the processes that it has; a file counts as its that of the process that was seen first with it.
 */
#ifndef BOURDON_CONSUMER_SYMBOLS_MAPPING_ROOM_H
#define BOURDON_CONSUMER_SYMBOLS_MAPPING_ROOM_H

#include "consumer/symbols/user_shares.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What there is. Begins as zeros. */
struct mapping_room {
	uint32_t mappings, of_many; /* of all processes, and of those with many mappings */
	uint32_t histories, files;
	size_t path_bytes;
	struct user_shares shares;
};

/* Whether there is room for one more of the user's, and counts it. `of_many`: of a process with many mappings. */
bool mapping_room_has_file(struct mapping_room *room, uint32_t uid, uint32_t path_bytes);
void mapping_room_add_file(struct mapping_room *room, uint32_t uid, size_t path_bytes);
bool mapping_room_has_history(struct mapping_room *room, uint32_t uid);
void mapping_room_add_history(struct mapping_room *room, uint32_t uid);
bool mapping_room_has_mapping(struct mapping_room *room, uint32_t uid, bool of_many);

/* Counts mappings that a process has gained, or lost. */
void mapping_room_add_mappings(struct mapping_room *room, uint32_t uid, bool of_many, int64_t gained);

/* Counts nothing any more: the caller counts again what is left. */
void mapping_room_clear(struct mapping_room *room);

#endif
