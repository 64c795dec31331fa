/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * store_thread.h owns everything that may block: the database, the mapping iterator (another process's memory
 * lock), the symbolizer. The draining thread hands over and goes on; it never waits here.
 */
#ifndef BOURDON_CONSUMER_STORE_STORE_THREAD_H
#define BOURDON_CONSUMER_STORE_STORE_THREAD_H

#include "consumer/capture/capture.h"
#include "consumer/process/kernel_objects.h"
#include "consumer/process/own_counters.h"
#include "consumer/rules/configuration.h"
#include "consumer/unwind/unwind_tables.h"

#include <stdint.h>

struct store_thread;

struct store_thread_settings {
	const struct settings *where; /* the state directory, and at each reload the configuration */
	uint64_t database_bytes_max;
	const struct kernel_objects *kernel; /* these three outlive the thread */
	struct own_counters *own_counters;
	int spawner_socket;
};

/*
 * Opens the database and the kernel's symbols, while this may still log and fail at once. Then the rules get
 * their ids from it (store_thread_begin_run). 0 or -errno; the caller ends with store_thread_stop().
 */
int store_thread_open(struct store_thread **ret_thread, const struct store_thread_settings *settings);

/* Numbers the rules and writes the run. Before store_thread_start(). 0 or -errno. */
int store_thread_begin_run(struct store_thread *thread, struct configuration *configuration);

/* Starts the thread itself: the last one that this process ever starts. 0 or -errno. */
int store_thread_start(struct store_thread *thread);

/*
 * How many captures it may have before it at once: each holds its samples in memory. store_thread_begin()
 * counts one, its commit uncounts it.
 */
#define STORE_CAPTURES_MAX 8

/*
 * A capture has fired: its row is written, and its processes' mappings are read. The thread reads only
 * capture->trigger and covered_from_ns, which do not change any more, and writes capture_id. False: too many
 * captures are before it.
 */
bool store_thread_begin(struct store_thread *thread, struct capture *capture);

/* Whether a capture has begun that is neither written nor given up. */
bool store_thread_has_captures(struct store_thread *thread);

/* The capture has ended: the thread takes it over, writes and frees it. */
void store_thread_commit(struct store_thread *thread, struct capture *capture);

/* New targets have appeared: their mappings are worth knowing, within a second or two. */
void store_thread_want_mappings(struct store_thread *thread);

/* How the unwind tables stand. */
const struct unwind_gauges *store_thread_unwind(const struct store_thread *thread);

/*
 * Reads the configuration again, and numbers its rules: those that are in force as they are keep their ids.
 * One at a time. When it is done, the descriptor is readable, and the result may be taken, once: NULL and
 * `errors`, or a configuration, which the caller owns and has to confirm or free.
 */
void store_thread_reload(struct store_thread *thread);
int store_thread_reload_fd(const struct store_thread *thread);
struct configuration *store_thread_reload_result(struct store_thread *thread,
						 struct config_errors *ret_errors);

/*
 * That configuration is in force now: the next reload compares with it. Its limits are applied. Not while a
 * reload is under way. The thread does not use the one before any more.
 */
void store_thread_confirm(struct store_thread *thread, const struct configuration *configuration);

/*
 * Ends the thread once it has written what it has, or could not within `patience_ns`. Closes the database.
 * Accepts NULL and a thread that was not started.
 */
void store_thread_stop(struct store_thread *thread, uint64_t patience_ns);

#endif
