/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * worker.h is what the draining thread calls of the worker thread, which does everything that may block: the database, the mapping
 * iterator (which waits for another process's mmap lock), the symbolizer. The draining thread hands jobs over and never waits
 * for them.
 *
 * Room: the worker thread, which owns the rooms below it. The draining thread calls worker.h alone; state.h is the
 * room's own.
 */
#ifndef BOURDON_CONSUMER_WORKER_WORKER_H
#define BOURDON_CONSUMER_WORKER_WORKER_H

#include "consumer/capture/capture.h"
#include "consumer/process/kernel_objects.h"
#include "consumer/process/own_counters.h"
#include "consumer/process/own_usage.h"
#include "consumer/process/shares.h"
#include "consumer/rules/configuration.h"
#include "consumer/store/store.h"
#include "consumer/unwind/unwind_tables.h"

#include <stdint.h>

struct worker;

struct worker_settings {
	const struct settings *where; /* directories and, at each reload, the configuration */
	struct store_limits limits;
	const char *machine;        /* of machine.h; NULL: none */
	const char *journal_socket; /* JOURNAL_SOCKET, but in tests */
	const struct clock *clock;  /* these outlive the thread, as does `machine` */
	const struct own_usage *own_usage;
	const struct kernel_objects *kernel;
	struct own_counters *own_counters;
	int spawner_socket;
};

/*
 * Opens the database and the kernel's symbols, so that a failure ends the start at once. Next,
 * worker_begin_run() gives the rules their ids. Logs a failure. Returns 0 or -errno; the caller ends
 * with worker_stop().
 */
int worker_open(struct worker **ret_worker, const struct worker_settings *settings);

/*
 * Numbers the rules and writes the run; the thread itself writes it once it has migrated an older database. Call it before
 * worker_start(). Returns 0 or -errno.
 */
int worker_begin_run(struct worker *worker, struct configuration *configuration);

/* Starts the thread. Returns 0 or -errno. */
int worker_start(struct worker *worker);

/*
 * What the thread does: the next thing that is to be done, or nothing, which returns false; and at its end the last rows of the
 * run. For tests, where time passes between two turns: they call it instead of worker_start().
 */
bool worker_turn(struct worker *worker);
void worker_end_run(struct worker *worker);

/*
 * The most captures that may be under way or waiting at once, because each holds its samples in memory. Each
 * counts from worker_begin_capture() until it is written or given up.
 */
#define WORKER_CAPTURES_MAX 8

/*
 * Of one rule, if there are others and nothing else has a place: the pressure of its many cgroups must not keep another rule
 * from capturing. A capture keeps its place until it has its names, which takes long on a busy host.
 */
#define WORKER_CAPTURES_OF_A_RULE_MAX (WORKER_CAPTURES_MAX / 2)

/* On demand: of all users, and of root besides. They must not keep rules from capturing either. */
#define WORKER_CAPTURES_ASKED_MAX WORKER_CAPTURES_OF_A_RULE_MAX

/* Further places, for root and for rules that have no capture, or one that waits to be written (shares.h). */
#define WORKER_CAPTURES_RESERVE 2
#define WORKER_PLACES_MAX (WORKER_CAPTURES_MAX + WORKER_CAPTURES_RESERVE)

/*
 * How much memory all captures may have together, as capture_bytes() counts it, on a machine with so many CPUs. The captures of one
 * owner may have the least together, whatever others have.
 */
#define WORKER_CAPTURES_BYTES_MAX(cpus) ((3UL << 20) + (512UL << 10) * (cpus))
#define WORKER_RULE_BYTES_LEAST (512U << 10) /* and of root */
#define WORKER_USER_BYTES_LEAST (WORKER_RULE_BYTES_LEAST / 2)

/* What the others leave to a capture that the draining thread owns: its bytes_most. */
size_t worker_bytes_left(struct worker *worker, const struct capture *capture);

/*
 * Whether a capture of this owner may begin: ask before the work of beginning it. *ret_loser is a capture that then has to
 * end, or NULL.
 */
bool worker_has_room(struct worker *worker, const struct share_owner *owner, struct capture **ret_loser);

/*
 * Announces a capture that has just begun: the thread scans the mappings and writes the capture's row. The
 * thread reads only capture->trigger and covered_from_ns, which do not change any more, and writes
 * capture_id. Returns false as worker_has_room() does; else the caller ends *ret_loser, if that is not NULL.
 */
bool worker_begin_capture(struct worker *worker, struct capture *capture, const struct share_owner *owner,
			  struct capture **ret_loser);

/* Whether a capture was begun and is neither written nor given up. */
bool worker_has_captures(struct worker *worker);

/* Hands over a capture that has ended: the thread owns, writes and frees it. */
void worker_commit_capture(struct worker *worker, struct capture *capture);

/*
 * Hands over a baseline: the thread names and writes it when nothing else is to be done, or gives it up and counts it. A
 * capture that begins takes its place: it is given up if it waits, or has not got all its names. Takes ownership; one
 * that waits already is given up.
 */
void worker_add_baseline(struct worker *worker, struct capture *baseline);

/*
 * Hands over a minute of activity that has ended: the thread owns, writes and frees it. If too many wait already, frees it and
 * returns false.
 */
#define WORKER_MINUTES_MAX 4
bool worker_add_activity(struct worker *worker, struct activity_minute *minute);

/* What has become of a capture on demand. */
struct worker_result {
	uint64_t serial;    /* asking->serial */
	int64_t capture_id; /* 0: it was lost, and the log says why */
	uint64_t samples;   /* of targets */
	bool interrupted;
};

/*
 * The descriptor is readable when captures on demand were written or given up, or the lines of a live second are there; then
 * take the results, each once, until there is none.
 */
int worker_results_fd(const struct worker *worker);
bool worker_next_result(struct worker *worker, struct worker_result *ret_result);

/* What lines are made of for those who watch. One of each at a time: not while worker_is_live(). */
enum live_kind { LIVE_SAMPLES, LIVE_LATENCIES, LIVE_KINDS };

/*
 * Hands over a capture that is of one second and is written nowhere: when nothing else is to be done, the thread names its
 * frames and makes the lines of `live` of it. Takes ownership.
 */
void worker_name_live(struct worker *worker, struct capture *capture);

/* The same of an interval of latencies, from malloc(), and those of `latencies`. wall_ns: the Unix time at which CLOCK_MONOTONIC was 0. */
void worker_name_latency(struct worker *worker, struct latency *latency, int64_t wall_ns);

bool worker_is_live(struct worker *worker, enum live_kind kind);

/* Its lines, once, after worker_results_fd() was readable. The caller frees them; NULL: they are not there (yet). */
char *worker_live_text(struct worker *worker, enum live_kind kind);

/* Asks for a scan of the mappings soon, within what scans may cost. */
void worker_want_mappings(struct worker *worker);

/* The same because mappings of a target have changed, as they may do all the time. */
void worker_follow_mappings(struct worker *worker);

/* The same because a target has begun, or executed a program: it has yet to map its libraries, which is looked out for. */
void worker_note_process(struct worker *worker);

/* The state of the unwind tables. */
const struct unwind_gauges *worker_unwind(const struct worker *worker);

/*
 * Reads the configuration again and numbers its rules; unchanged rules keep their ids. One reload at a time.
 * When it is done, the descriptor is readable and the result can be fetched once: a configuration, which the
 * caller owns and must confirm or free, or NULL and `errors`.
 */
void worker_reload(struct worker *worker);
int worker_reload_fd(const struct worker *worker);
struct configuration *worker_reload_result(struct worker *worker, struct config_errors *ret_errors);

/*
 * Puts that configuration into force: the next reload compares with it, and its limits apply. Do not call it
 * during a reload. The thread does not use the previous configuration any more.
 */
void worker_confirm(struct worker *worker, const struct configuration *configuration);

/*
 * Ends the thread once its jobs are done, or after `patience_ns`. Closes the database. Accepts NULL and a
 * thread that was not started.
 */
void worker_stop(struct worker *worker, uint64_t patience_ns);

#endif
