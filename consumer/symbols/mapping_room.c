/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/symbols/mapping_room.h"

/* of all processes: 5 MiB. 2,000 processes with 60 executable mappings each have as many */
#define MAPPINGS_TOTAL_MAX 131072U
#define FILES_MAX 32768U
/* of all files together: limits a process that maps a file under 60,000 names */
#define PATH_BYTES_MAX (8UL << 20)
#define HISTORIES_MAX 128U /* 230 KiB */

/* The part of each of these limits that one user can have; and the part of all processes with many mappings. */
#define SHARE_OF(limit) ((limit) / 2)
#define SHARE_OF_MANY(limit) ((limit) / 8)

enum share { SHARE_MAPPINGS, SHARE_FILES, SHARE_PATHS, SHARE_HISTORIES };

bool mapping_room_has_file(struct mapping_room *room, uint32_t uid, uint32_t path_bytes)
{
	const struct user_share *share = user_shares_of(&room->shares, uid);

	return room->files < FILES_MAX && room->path_bytes + path_bytes <= PATH_BYTES_MAX &&
	       share->used[SHARE_FILES] < SHARE_OF(FILES_MAX) &&
	       share->used[SHARE_PATHS] + path_bytes <= SHARE_OF(PATH_BYTES_MAX);
}

void mapping_room_add_file(struct mapping_room *room, uint32_t uid, size_t path_bytes)
{
	struct user_share *share = user_shares_of(&room->shares, uid);

	room->files++;
	room->path_bytes += path_bytes;
	share->used[SHARE_FILES]++;
	share->used[SHARE_PATHS] += path_bytes;
}

bool mapping_room_has_mapping(struct mapping_room *room, uint32_t uid, bool of_many)
{
	return room->mappings < MAPPINGS_TOTAL_MAX &&
	       user_shares_of(&room->shares, uid)->used[SHARE_MAPPINGS] < SHARE_OF(MAPPINGS_TOTAL_MAX) &&
	       (!of_many || room->of_many < SHARE_OF_MANY(MAPPINGS_TOTAL_MAX));
}

void mapping_room_add_mappings(struct mapping_room *room, uint32_t uid, bool of_many, int64_t gained)
{
	room->mappings += (uint32_t)gained; /* modulo 2^32 */
	if (of_many)
		room->of_many += (uint32_t)gained;
	user_shares_of(&room->shares, uid)->used[SHARE_MAPPINGS] += (uint64_t)gained;
}

bool mapping_room_has_history(struct mapping_room *room, uint32_t uid)
{
	return room->histories < HISTORIES_MAX &&
	       user_shares_of(&room->shares, uid)->used[SHARE_HISTORIES] < SHARE_OF(HISTORIES_MAX);
}

void mapping_room_add_history(struct mapping_room *room, uint32_t uid)
{
	room->histories++;
	user_shares_of(&room->shares, uid)->used[SHARE_HISTORIES]++;
}

void mapping_room_clear(struct mapping_room *room)
{
	user_shares_clear(&room->shares);
	*room = (struct mapping_room){ 0 };
}
