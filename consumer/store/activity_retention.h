/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * activity_retention.h removes minutes of activity, oldest first, and the keys that no other minute has. All return 0 or
 * -errno, with nothing removed.
 */
#ifndef BOURDON_CONSUMER_STORE_ACTIVITY_RETENTION_H
#define BOURDON_CONSUMER_STORE_ACTIVITY_RETENTION_H

#include "common/sql/sql.h"

#include <stdint.h>

/* What all minutes take, about. */
int activity_retention_bytes(struct sql *sql, uint64_t *ret_bytes);

/*
 * Removes the oldest minutes in one transaction. Finding the keys that only they have reads all minutes, so that several of
 * many go at once: one in ACTIVITY_RETENTION_SHARE.
 */
#define ACTIVITY_RETENTION_SHARE 32
int activity_retention_evict(struct sql *sql, uint32_t *ret_minutes);

/* Removes the minutes that began before this wall clock time, in Unix ns. */
int activity_retention_expire(struct sql *sql, int64_t before_at, uint32_t *ret_minutes);

/* Stores when the oldest minute began, in Unix ns; INT64_MAX: there is none. */
int activity_retention_oldest(struct sql *sql, int64_t *ret_at);

#endif
