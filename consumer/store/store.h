/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * store.h owns the database: its content, its transactions and its size limit. Every call may block on the
 * disk or on another process's lock: once the worker thread runs, only the worker thread calls these functions.
 *
 * Room: the database, and what is written beside it: journal, hook, metrics. The worker thread calls it, and before
 * that thread runs, main(). It waits for the disk and for locks of other processes.
 */
#ifndef BOURDON_CONSUMER_STORE_STORE_H
#define BOURDON_CONSUMER_STORE_STORE_H

#include "common/protocol/manifest.h"
#include "common/store/store_verdict.h"
#include "consumer/capture/capture.h"
#include "consumer/host/activity_minute.h"
#include "consumer/store/store_room.h"
#include "consumer/symbols/kernel_symbols.h"
#include "consumer/symbols/mappings.h"
#include "consumer/symbols/naming.h"

#include <stdatomic.h>

struct store;

/*
 * Opens DIRECTORY/bourdon.db or creates it, marks captures that a crash left in `recording` as interrupted,
 * and shrinks it to its size limit. Waits for a locked database until *give_up_ns
 * (CLOCK_MONOTONIC; 0: for ever), which another thread may set. `machine` is that of machine.h, or NULL, and outlives
 * the store, as the clock does. Logs a failure. Returns 0 or -errno.
 */
int store_open(struct store **ret_store, const char *directory, const struct store_limits *limits,
	       const char *machine, const struct clock *clock, const atomic_uint_fast64_t *give_up_ns);
void store_close(struct store *store);

/*
 * Whether an older bourdond wrote the database. If so, only store_next_ids() and store_migrate() may be called. Marking
 * and shrinking wait for the migration.
 */
bool store_is_outdated(const struct store *store);

/*
 * Migrates the database (migrate.h); calls `pause` between parts of the work, which must not use the store. A failure
 * leaves the old database. Returns 0 or -errno.
 */
typedef void (*store_pause)(void *user);
int store_migrate(struct store *store, store_pause pause, void *user);

/* The first ids that were never used in this database. Returns 0 or -errno. */
int store_next_ids(struct store *store, struct rule_ids *ret_ids);

/* Begins a run of the daemon with its rules; everything that is written later belongs to it. */
int store_begin_run(struct store *store, const struct manifest *manifest, const struct policy *policy,
		    const struct rule_set *rules);
int store_end_run(struct store *store);

/* Adds the rules of a reload: those with this id or a later one. Returns 0 or -errno. */
int store_add_rules(struct store *store, const struct rule_set *rules, uint32_t first_id);

/* Changes the limits: removes the oldest captures if the database is too large. Returns 0 or -errno. */
int store_limit(struct store *store, const struct store_limits *limits);

/*
 * Removes the captures, the baselines and the minutes of activity that are older than their limits. Stores when the next one will be
 * (CLOCK_MONOTONIC; 0: none). A
 * change of the wall clock changes the ages. Returns 0 or -errno.
 */
int store_expire(struct store *store, uint64_t *ret_next_ns);

/* Writes the row of a capture that has just begun. Returns 0 or -errno. */
int store_begin_capture(struct store *store, const struct capture_trigger *trigger, uint64_t history_ns,
			int64_t *ret_capture_id);

/* Looks up function names in the captures of this database, for naming.h. Valid as long as the store. */
struct known_frames store_known_frames(struct store *store);

/*
 * Writes a capture that has ended, in one transaction, and removes the oldest captures if there is no room.
 * Returns 0; -EFBIG if the capture alone would take more than a third of the database; -ENOSPC if there is no
 * room even so; or -errno. A failure leaves this capture unwritten. Stores the id of its row, and the verdict.
 */
int store_commit_capture(struct store *store, const struct capture *capture, const struct resolved *resolved,
			 const struct mappings *mappings, int64_t *ret_capture_id,
			 struct stored_verdict *ret_verdict);

/*
 * Writes a baseline in one transaction. It takes no capture's room and no other process's time: only older baselines make
 * room for it, it does not wait for a lock, and its commit does not wait for the disk. Removes the oldest baselines while
 * they take more than an eighth of the database. Returns 0 or -errno; a failure leaves the baseline unwritten.
 */
int store_commit_baseline(struct store *store, const struct capture *baseline,
			  const struct resolved *resolved, const struct mappings *mappings);

/*
 * Writes a minute of activity, in one transaction, and removes what is oldest if there is no room. Returns 0 or -errno; a
 * failure leaves the minute unwritten.
 */
int store_add_activity(struct store *store, struct activity_minute *minute,
		       const struct kernel_symbols *symbols);

/* Marks a capture whose samples are lost as interrupted; its row stays. Returns 0 or -errno. */
int store_give_up_capture(struct store *store, int64_t capture_id);

/* Writes one row for each counter, all with the same time. Returns 0 or -errno. */
int store_add_counters(struct store *store, const char *const *names, const uint64_t *values, size_t count);

/* The reason why the last call failed, for a log line. */
const char *store_error(const struct store *store);

#endif
