/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * store_room.h owns the room that the database may take: the limits, what is removed where it is full or too old, and the size of
 * its write-ahead log.
 */
#ifndef BOURDON_CONSUMER_STORE_STORE_ROOM_H
#define BOURDON_CONSUMER_STORE_STORE_ROOM_H

#include "common/base/clock.h"
#include "common/sql/sql.h"
#include "consumer/store/store_activity.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#define STORE_PAGE_BYTES 4096U

struct store_limits {
	uint64_t bytes_max;           /* of the database and its log together */
	uint64_t age_ns_max;          /* of a capture; 0: any */
	uint64_t activity_age_ns_max; /* of a minute of activity; 0: any */
	uint64_t baseline_age_ns_max; /* of a baseline, where that is less than age_ns_max; 0: any */
};

struct store_room {
	struct sql *sql;
	struct activity_statements *activity; /* forgets the keys that are removed */
	const struct clock *clock;
	char log_path[PATH_MAX];
	/* store_room_set_limits() */
	uint64_t database_bytes_max, log_bytes_max;
	uint64_t activity_bytes_max, baseline_bytes_max;
	uint64_t age_ns_max, activity_age_ns_max, baseline_age_ns_max; /* 0: none */
};

void store_room_set_limits(struct store_room *room, const struct store_limits *limits);

/* All functions return 0 or -errno, as those of sql.h do. */

/* Shrinks the database to its limit, which may be smaller than at the last start. */
int store_room_shrink(struct store_room *room);

/* store_expire(), of a database that is not outdated. */
int store_room_expire(struct store_room *room, uint64_t *ret_next_ns);

/*
 * Removes what is oldest; baselines before captures. Without `last`, the newest captures and baselines of rules stay, and
 * activity within its share. Returns -ENOENT if there is nothing.
 */
int store_room_evict(struct store_room *room, bool last);

/* Removes the oldest baselines, the newest of a rule only if all others are gone. Returns -ENOENT if there is none. */
int store_room_evict_baselines(struct store_room *room);

/* Removes the oldest baselines while they take more than their share. */
int store_room_limit_baselines(struct store_room *room);

/*
 * SQLite reports "full" for a full disk, too. Removing captures makes room within the file, but does not help
 * if other files fill the disk. A file near its own limit hit that limit.
 */
bool store_room_eviction_helps(struct store_room *room);

/* Call it after a transaction that found the database full. Returns true if there is room to try again. */
bool store_room_made(struct store_room *room, int result);

/*
 * Empties the write-ahead log if no reader needs it. Does not wait for readers: a log that must stay is
 * checked again before the next capture is written.
 */
void store_room_trim_log(struct store_room *room);

/* A log that a reader keeps must not grow without end. Returns -EBUSY if it is too large. */
int store_room_check_log(struct store_room *room);

#endif
