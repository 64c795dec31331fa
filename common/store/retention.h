/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * retention.h removes captures, and all that nothing refers to afterwards: samples, stacks, frames,
 * modules, threads, processes, cgroups, rules, runs and counters. Captures that are being recorded stay, as does the
 * newest run with its rules.
 */
#ifndef BOURDON_COMMON_STORE_RETENTION_H
#define BOURDON_COMMON_STORE_RETENTION_H

#include "common/sql/sql.h"

#include <stdbool.h>
#include <stdint.h>

/* Which captures: baselines among them, or baselines alone. */
enum retention_of { RETENTION_OF_ALL, RETENTION_OF_BASELINES };

/* What one call removed. */
struct retention_removed {
	uint32_t captures;
	int64_t oldest, newest; /* ids; 0 without a capture */
};

/*
 * Removes captures in one transaction, but no baselines. While captures on demand have more than a quarter of all samples, the
 * oldest of the user go who has most of these; else the oldest of all. The newest capture of each user goes only
 * if there are no others, and that of each rule after these, with `last`. Finding what only they used reads the whole database,
 * so that several captures of many go at once: one in RETENTION_SHARE. Returns 0, also without a capture; or -errno, with nothing
 * removed.
 */
#define RETENTION_SHARE 32
int retention_evict(struct sql *sql, bool last, struct retention_removed *ret_removed);

/* The same of baselines. Without `last`, the newest one of each rule stays. */
int retention_evict_baselines(struct sql *sql, bool last, struct retention_removed *ret_removed);

/* Removes the captures that were triggered before this wall clock time, in Unix ns. Returns as retention_evict(). */
int retention_expire(struct sql *sql, enum retention_of of, int64_t before_at,
		     struct retention_removed *ret_removed);

/*
 * The statements that remove the frames whose ids are in the temporary table part(frame_id), and modules without frames,
 * in a transaction of the caller.
 */
extern const char retention_frames_sql[];

/*
 * The statements that remove threads, processes, cgroups, rules and runs to which nothing refers, in a transaction of the
 * caller, who has removed samples and counters before. The newest run and its rules stay: the daemon may be in it.
 */
extern const char retention_unused_sql[];

/* Stores when the oldest capture that may be removed was triggered, in Unix ns; INT64_MAX: there is none. */
int retention_oldest(struct sql *sql, enum retention_of of, int64_t *ret_triggered_at);

#endif
