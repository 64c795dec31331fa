/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * store.h owns the database: what is written to it, in which transactions, and how large it may become.
 * Every call may block on the disk or on another process's lock: only the store thread makes them, once it
 * runs.
 */
#ifndef BOURDON_CONSUMER_STORE_STORE_H
#define BOURDON_CONSUMER_STORE_STORE_H

#include "common/manifest.h"
#include "consumer/capture/capture.h"
#include "consumer/symbols/mappings.h"
#include "consumer/symbols/naming.h"

#include <stdatomic.h>

#define DATABASE_FILE "bourdon.db"

struct store;

/*
 * Opens DIRECTORY/bourdon.db, made if it is not there, marks what a crash left in `recording` as
 * interrupted, and makes it fit `bytes_max` (database and log together). A database that is locked is
 * waited for until *give_up_ns (CLOCK_MONOTONIC; 0: for ever), which another thread may set. Logs what
 * failed; 0 or -errno.
 */
int store_open(struct store **ret_store, const char *directory, uint64_t bytes_max,
	       const atomic_uint_fast64_t *give_up_ns);
void store_close(struct store *store);

/* The first ids that were never used in this database. 0 or -errno. */
int store_next_ids(struct store *store, struct rule_ids *ret_ids);

/* A run of the daemon with its rules; everything that follows belongs to it. */
int store_begin_run(struct store *store, const struct manifest *manifest, const struct policy *policy,
		    const struct rule_set *rules);
int store_end_run(struct store *store);

/* Rules that came with a reload: those with this id or a later one. 0 or -errno. */
int store_add_rules(struct store *store, const struct rule_set *rules, uint32_t first_id);

/* Makes the database fit another size: the oldest captures go. 0 or -errno. */
int store_limit(struct store *store, uint64_t bytes_max);

/* Writes the row of a capture that has just fired. 0 or -errno. */
int store_begin_capture(struct store *store, const struct capture_trigger *trigger, uint64_t history_ns,
			int64_t *ret_capture_id);

/* What the captures in this database say of places: for naming.h. Valid as long as the store. */
struct known_frames store_known_frames(struct store *store);

/*
 * Writes everything of a capture that has ended, in one transaction, and removes the oldest captures where
 * there is no room for it. 0; -EFBIG: it alone would take half of the database; -ENOSPC: there is
 * no room even so; or -errno. The database is then as before.
 */
int store_commit_capture(struct store *store, const struct capture *capture, const struct resolved *resolved,
			 const struct mappings *mappings);

/* A capture whose samples are lost: its row stays, as interrupted. 0 or -errno. */
int store_give_up_capture(struct store *store, int64_t capture_id);

/* A row a counter, all with one time. 0 or -errno. */
int store_add_counters(struct store *store, const char *const *names, const uint64_t *values, size_t count);

/* Why the last call failed, for a log line. */
const char *store_error(const struct store *store);

#endif
