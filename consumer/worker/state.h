/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * state.h owns what the files of this room share: the state of the worker thread, a struct for each file that has some, and what
 * these files call of each other. Nothing else includes it. Where no other thread is named, functions run on the worker
 * thread, without the lock.
 */
#ifndef BOURDON_CONSUMER_WORKER_STATE_H
#define BOURDON_CONSUMER_WORKER_STATE_H

#include "common/base/clock.h"
#include "common/system/log.h"
#include "common/system/thread.h"
#include "consumer/kept/file_cache.h"
#include "consumer/process/cpu_budget.h"
#include "consumer/process/shares.h"
#include "consumer/store/announce.h"
#include "consumer/store/metrics.h"
#include "consumer/store/store.h"
#include "consumer/symbols/held_files.h"
#include "consumer/symbols/mapped_files.h"
#include "consumer/symbols/mapping_reader.h"
#include "consumer/symbols/mappings.h"
#include "consumer/symbols/naming.h"
#include "consumer/symbols/resolve.h"
#include "consumer/unwind/tables_ahead.h"
#include "consumer/unwind/unwind_tables.h"
#include "consumer/worker/job_queue.h"
#include "consumer/worker/scan_pace.h"
#include "consumer/worker/worker.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The process whose mmap lock a scan found held, and since when; 0: none. */
struct mmap_holder {
	uint32_t tgid;
	uint64_t started_ns, since_ns;
};

/* scans.c: what is known of the memory of processes. For the worker thread alone. */
struct scans {
	struct mapping_reader *reader;
	struct mappings *mappings;
	struct held_files held;
	struct mapped_files files;
	uint32_t from; /* added to the numbers of scans: the kernel may know those of an earlier daemon */
	struct mmap_holder holders[MAPPINGS_KINDS]; /* by the kind of processes that were scanned */
	uint64_t many_due_ns;                       /* next scan of processes with many mappings */
	uint64_t older_due_ns;                      /* next mappings_grow_older() */
	struct log_limit errors, stuck, too_long;
};

/* tables.c. For the worker thread alone, but for the gauges. */
struct tables {
	struct file_cache *cache; /* or NULL */
	struct unwind_tables *unwind;
	struct unwind_gauges gauges;
	struct tables_ahead *ahead; /* NULL: no tables are being made ahead of need */
	uint64_t ahead_due_ns;
};

/* results.c: of captures on demand. Shared; the lines of a live second are signalled by the same descriptor. */
struct results {
	struct worker_result
		waiting[2 * WORKER_PLACES_MAX]; /* of captures under way, and those not taken yet */
	size_t count;
	int fd; /* eventfd */
};

/* live_second.c. Shared, but for what is said to be the worker thread's. */
struct live_work {
	struct capture *second;     /* waits for its names */
	struct latency *latency;    /* the same */
	int64_t wall_ns;            /* of it: worker_name_latency() */
	bool is_wanted[LIVE_KINDS]; /* from then until its text was taken */
	char *texts[LIVE_KINDS];
	struct naming naming; /* the worker thread's */
	uint64_t rest_ns;     /* the worker thread's: until then, live seconds get no new names */
};

/* baselines.c. Shared, but for what is said to be the worker thread's. */
struct baselines {
	struct capture *waiting; /* until nothing else is to be done */
	atomic_bool hurry;       /* a capture has begun: the baseline that is being named gives way */
	struct naming naming;    /* the worker thread's */
	struct log_limit lost;   /* the worker thread's */
};

/* minutes.c */
struct minutes {
	unsigned int waiting;  /* of activity, handed over and not written yet; shared */
	struct log_limit lost; /* the worker thread's */
};

/* reload.c. Shared, but for what is said to be the worker thread's. */
struct reloads {
	const struct settings *where; /* the worker thread's */
	struct rule_ids ids;          /* the worker thread's */
	/*
	 * Only the draining thread writes it: freely before the worker thread runs, then under the lock. So
	 * the draining thread reads it without the lock. The worker thread reads it under the lock, except in
	 * number_rules(), which runs within a reload: worker_confirm() is never called during one. The
	 * owner frees a configuration only after it was replaced here.
	 */
	const struct configuration *in_force;
	struct configuration *configuration; /* the result of a reload, or NULL with errors */
	struct config_errors errors;
	int fd; /* eventfd */
};

struct worker {
	const struct kernel_objects *kernel;
	const struct clock *clock;
	struct own_counters *own_counters;
	atomic_uint_fast64_t give_up_ns; /* when the daemon's end waits no longer; 0: it does not end */

	/* the worker thread's */
	struct store *store;
	struct announcer announcer;
	struct metrics metrics;
	struct kernel_symbols symbols;
	struct naming naming;     /* of captures */
	struct cpu_budget budget; /* of names and tables that are late */
	struct scans scans;
	struct tables tables;
	uint64_t expire_due_ns; /* next look for what is too old; 0: none */
	uint64_t settled_ns;    /* last heap_settle() while a capture was under way */
	pthread_t thread;
	bool started;

	/* shared; the lock is never held across a call that blocks */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool stopping;
	struct job_queue queue;
	struct scan_pace pace;
	struct shares captures; /* begun, and neither written nor given up; those handed over make no way */
	struct results results;
	struct live_work live;
	struct baselines baselines;
	struct minutes minutes;
	struct reloads reloads;
};

/* ---- state.c ---- */

/* For a wait of so long. While the daemon ends, it leaves some time for writing to the database. */
uint64_t worker_deadline_ns(const struct worker *worker, uint64_t patience_ns);

/* Call it with the lock, or before the thread runs. On any thread. */
void worker_add_job(struct worker *worker, struct job job);

/* On any thread. */
void worker_want_scan(struct worker *worker, enum scan_kind kind, uint64_t at_ns);

/* After a scan, or what follows from it, that could not do all. */
void worker_want_scan_again(struct worker *worker);

/* Waits before another try to write to the database. Returns true if the daemon ends. */
bool worker_pause(struct worker *worker);

/* Gives back to the kernel the memory that captures under way have left free where their arrays grew. */
void worker_settle_heap(struct worker *worker);

/* ---- scans.c ---- */

/* Starts the mapping reader, so before confinement. Returns 0 or -errno. */
int scans_open(struct worker *worker, const struct worker_settings *settings);
void scans_close(struct scans *scans);

/* Scans all processes now. `with_tables`: updates the unwind tables after it. */
void scans_run(struct worker *worker, bool with_tables);

/* scan_pace_take_due(). Call it with the lock. */
enum scan_due scans_take_due(struct worker *worker, uint64_t *ret_next_ns);
void scans_do_due(struct worker *worker, enum scan_due due);

/* Follows new processes while something else takes long. `user` is the worker. */
void scans_meanwhile(void *user);

/* ---- tables.c ---- */

/* Logs a failure. Returns 0 or -errno. */
int tables_open(struct worker *worker, const struct worker_settings *settings);
void tables_close(struct tables *tables);

/* Updates the unwind tables, or goes on with it. */
void tables_follow(struct worker *worker);

/* JOB_AHEAD: makes tables of files that no sample has led to yet, while no capture is under way. */
void tables_look_ahead(struct worker *worker);

/* ---- captures.c ---- */

/* JOB_BEGIN */
void captures_begin(struct worker *worker, struct capture *capture);

/* Names the kernel's functions that wanted locks. 0 or -ENOMEM. */
int captures_name_callers(struct worker *worker, struct latency *latency);

/* JOB_COMMIT: names and writes the capture, or gives it up, and frees it. */
void captures_commit(struct worker *worker, struct capture *capture);

/* ---- results.c ---- */

/* Tells the draining thread; the one who asked waits for it. capture_id 0: it was lost. */
void results_add(struct worker *worker, const struct capture *capture, int64_t capture_id);

/* ---- live_second.c ---- */

/* Frees what waits and was not taken. */
void live_work_free(struct live_work *live);

/* JOB_LIVE: names the frames of a second and makes its text. */
void live_second_name(struct worker *worker, struct capture *capture);

/* JOB_LATENCY: the same of an interval of latencies. */
void live_latency_name(struct worker *worker);

/* ---- baselines.c ---- */

/* A capture begins: gives up the baseline that waits, or has not got all its names. DRAINING THREAD, with the lock. */
void baselines_make_way(struct worker *worker);

/* JOB_BASELINE: names and writes it, or gives it up, and frees it. */
void baselines_write(struct worker *worker, struct capture *baseline);

/* ---- minutes.c ---- */

/* JOB_ACTIVITY: writes the minute and frees it. */
void minutes_write(struct worker *worker, struct activity_minute *minute);

/* ---- expiry.c ---- */

/* JOB_EXPIRE: removes what is too old, and sets when to look again. */
void expiry_run(struct worker *worker);

/* Something was written: does so unless that time is set. */
void expiry_note_written(struct worker *worker);

/* ---- reload.c ---- */

/* JOB_RELOAD: reads the configuration, and tells the draining thread. */
void reload_read(struct worker *worker);

/* Follows the settings in force, but for the limits of the database. */
void reload_follow_settings(struct worker *worker);

/* ---- run.c ---- */

/* JOB_RUN: migrates an older database while the draining thread goes on, and begins the run. Gives up only when the daemon ends. */
void run_migrate(struct worker *worker);
void run_write_counters(struct worker *worker);

/* ---- turns.c ---- */

/* Takes turns until the daemon ends. */
void turns_run(struct worker *worker);

#endif
