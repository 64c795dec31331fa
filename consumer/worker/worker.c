/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/worker/worker.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/protocol/counters.h"
#include "common/store/schema.h"
#include "common/symbolizer/debug_files.h"
#include "common/system/log.h"
#include "common/system/thread.h"
#include "common/text/plural.h"
#include "consumer/process/heap.h"
#include "consumer/store/announce.h"
#include "consumer/store/metrics.h"
#include "consumer/store/store.h"
#include "consumer/symbols/jit_map.h"
#include "consumer/symbols/mapping_reader.h"
#include "consumer/symbols/resolve.h"
#include "consumer/symbols/vdso.h"
#include "consumer/unwind/tables_ahead.h"
#include "consumer/worker/live_text.h"

#include <string.h>
#include <sys/eventfd.h>

#define STACK_BYTES (512UL << 10)
/*
 * A new process has yet to map its libraries, and others may follow, so the first scan waits a moment. Libraries
 * that it maps later are scanned once a stack leads there (look()).
 */
#define SCAN_NEW_NS (CLOCK_SECOND_NS / 200)
/*
 * No stack leads to a file that a process maps before it sleeps. So further scans follow the last process that began, each four
 * times as long after it as the one before. Where processes begin all the time, the first scan of each is enough.
 */
#define FOLLOW_UP_FIRST_NS (CLOCK_SECOND_NS / 4)
#define FOLLOW_UP_FACTOR 4U
/* after captured mappings changed, as those of some processes do all the time */
#define SCAN_MOVED_NS (CLOCK_SECOND_NS / 4)
#define SCAN_AGAIN_NS CLOCK_SECOND_NS /* after a scan that could not do all */
/*
 * While processes are young, or a capture is under way, the worker thread looks so often at whether stacks led to addresses
 * outside of the known mappings; scans that change nothing make that rarer.
 */
#define LOOK_NS (CLOCK_SECOND_NS / 40)
#define LOOK_NS_MAX CLOCK_SECOND_NS
/* If stacks did, new processes are scanned at once, and all others only after this time: mostly it was a new one. */
#define LOOK_ALL_NS (CLOCK_SECOND_NS / 10)
#define YOUNG_NS (10 * CLOCK_SECOND_NS)
#define TABLES_NS                                                                                            \
	(CLOCK_SECOND_NS / 4)    /* longest time for the unwind tables before other work gets its turn */
#define OLDER_NS CLOCK_SECOND_NS /* of mappings_grow_older() */
#define SETTLE_NS (CLOCK_SECOND_NS / 4) /* of heap_settle(), while captures grow */
#define SCAN_NS (3 * CLOCK_SECOND_NS)   /* longest time for one scan; then the next goes on with it */
#define MANY_NS (CLOCK_SECOND_NS / 2)   /* of processes with many mappings */
/*
 * CPU time of scans, and of what follows from them: a 160th of a CPU for those of all processes, a 120th for those of new ones, and
 * twice that while a capture is under way. Some of it is saved up, so that scans can follow each other closely when many programs
 * begin. Processes with many mappings have a twentieth, however many they are. A capture's own scans do not wait.
 */
#define PART_OF_ALL 160U
#define PART_OF_NEW 120U
#define SAVED_NS (CLOCK_SECOND_NS / 5)
#define REST_MANY 19U
/*
 * Tables are made ahead of need soon after the start, and from time to time; in steps, between which other work gets its turn.
 */
#define AHEAD_FIRST_NS (3 * CLOCK_SECOND_NS)
#define AHEAD_EVERY_NS (600 * CLOCK_SECOND_NS)
#define AHEAD_STEP_NS (CLOCK_SECOND_NS / 20)
#define AHEAD_PAUSE_NS (10 * CLOCK_SECOND_NS) /* while a capture is under way */
#define AHEAD_SCANS_FROM (1U << 30)
#define AHEAD_BYTES_MAX (512UL << 10)
#define HELD_NS (3 * CLOCK_SECOND_NS)   /* a process that holds its mmap lock for so long is logged */
#define LOGGED_NS (CLOCK_SECOND_NS / 4) /* a scan that takes as much CPU time is logged */
/* how long mappings of a process that ended are kept, in OLDER_NS */
#define SECONDS_REMEMBERED 64
#define NAMING_RESERVE_NS (4 * CLOCK_SECOND_NS) /* time reserved for the database at the daemon's end */
/*
 * Longest time for the names of a live second, for as long as a capture that is handed over may wait for it. Naming gets more
 * of a busy CPU after 2 s. Between two times seconds get the names that are remembered, so that they stay seconds.
 */
#define LIVE_NAMING_NS (4 * CLOCK_SECOND_NS)
#define LIVE_REST 20U /* as many times as long as naming took */
#define LIVE_REST_NS_MAX (10 * CLOCK_SECOND_NS)
/* Longest time for the names of a baseline; most are known from captures before. */
#define BASELINE_NAMING_NS (2 * CLOCK_SECOND_NS)
#define OPEN_PATIENCE_NS (10 * CLOCK_SECOND_NS)
#define RETRY_NS 5000000000U /* time between two tries to write a capture */
#define RETRIES 24           /* tries before a capture is given up */
#define PASSED_MAX 8U        /* captures that are written before one that waits, and came later */

/*
 * Removing a capture takes a pass over the database, so that captures which get too old soon after each other go
 * together. The wall clock, which tells their age, may jump meanwhile.
 */
#define EXPIRE_GAP_NS_MIN CLOCK_SECOND_NS
#define EXPIRE_GAP_NS_MAX (3600 * CLOCK_SECOND_NS)
#define EXPIRE_GAP_SHARE 128 /* of max_age, or of the age of activity */

enum job_kind {
	JOB_RUN, /* the first one */
	JOB_BEGIN,
	JOB_COMMIT,
	JOB_ACTIVITY,
	JOB_RELOAD,
	JOB_LIMIT,
	JOB_LIVE,
	JOB_BASELINE,
	/* those that a time calls for */
	JOB_EXPIRE,
	JOB_METRICS,
	JOB_ANNOUNCE,
	JOB_AHEAD,
};

struct job {
	enum job_kind kind;
	struct capture *capture;
	struct activity_minute *minute;
	struct store_limits limits;
	uint64_t since_ns; /* when it was queued */
	uint32_t passed;   /* JOB_COMMIT: how many others that came later were done before it */
};

/*
 * The first one, a begin and a commit for each capture, minutes of activity, one reload, and the new limits of the reload before.
 * JOB_LIVE, JOB_BASELINE and those that a time calls for do not wait.
 */
#define JOBS_MAX (1 + 2 * WORKER_PLACES_MAX + WORKER_MINUTES_MAX + 2)

/* The process whose mmap lock a scan found held, and since when; 0: none. */
struct holder {
	uint32_t tgid;
	uint64_t started_ns, since_ns;
};

/* Scans of all processes with few mappings, and of those of them that are new. */
enum scan_kind { SCAN_OF_ALL, SCAN_OF_NEW, SCAN_KINDS };

struct scan_turn {
	int64_t credit_ns; /* CPU time that scans may take at once; negative: they took more than their share */
	uint64_t credited_ns; /* when that was */
	/* shared */
	uint64_t due_ns;  /* 0: no scan is wanted */
	uint64_t rest_ns; /* until then, only captures scan */
};

struct worker {
	struct store *store;
	const struct kernel_objects *kernel;
	const struct settings *where;
	const struct clock *clock;
	struct own_counters *own_counters;
	struct naming naming, live_naming, baseline_naming;
	struct announcer announcer;
	struct metrics metrics;
	uint64_t live_rest_ns; /* until then, live seconds get no new names */
	struct mappings *mappings;
	struct held_files held;
	struct mapped_files files;
	struct file_cache *cache;
	struct unwind_tables *tables;
	struct tables_ahead *ahead; /* NULL: no tables are being made ahead of need */
	uint64_t ahead_due_ns;
	struct unwind_gauges gauges;
	struct rule_ids ids;
	struct kernel_symbols symbols;
	struct mapping_reader *reader;
	struct log_limit iterator_errors, scans_stuck, scans_long, minutes_lost, baselines_lost;
	struct holder holders[MAPPINGS_KINDS]; /* by the kind of processes that were scanned */
	uint32_t
		scans_from; /* added to the numbers of scans: the kernel may know those of an earlier daemon */
	uint64_t many_due_ns;  /* next scan of processes with many mappings */
	uint64_t older_due_ns; /* next mappings_grow_older() */
	uint64_t settled_ns;   /* last heap_settle() while a capture was under way */
	struct cpu_budget budget;
	uint64_t expire_due_ns; /* next look for captures beyond max_age; 0: none */
	pthread_t thread;
	bool started;

	/* shared; the lock is never held across a call that blocks */
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct job jobs[JOBS_MAX];
	size_t jobs_first, jobs_count;
	struct shares captures; /* begun, and neither written nor given up; those handed over make no way */
	unsigned int minutes;   /* of activity, handed over and not written yet */
	bool stopping;
	struct scan_turn scans[SCAN_KINDS];
	uint64_t tables_due_ns; /* symbolizers are at work: when to see to them; 0: they are not */
	uint64_t began_ns;      /* when the last process began */
	uint64_t follow_up_ns;  /* from then to the next scan that follows up on it; 0: there is none */
	uint64_t look_due_ns, look_every_ns;
	bool looked;       /* the scan that is due is wanted by look() */
	uint64_t unmapped; /* control->unmapped, when a scan was last wanted for it */
	/*
	 * Only the draining thread writes it: freely before the worker thread runs, then under the lock. So
	 * the draining thread reads it without the lock. The worker thread reads it under the lock, except in
	 * number_rules(), which runs within a reload: worker_confirm() is never called during one. The
	 * owner frees a configuration only after it was replaced here.
	 */
	const struct configuration *in_force;
	struct configuration *reloaded; /* the result of a reload, or NULL with reload_errors */
	struct config_errors reload_errors;
	int reload_fd; /* eventfd */
	/* of captures on demand; those under way and those whose result was not taken yet */
	struct worker_result results[2 * WORKER_PLACES_MAX];
	size_t results_count;
	int results_fd;       /* eventfd */
	struct capture *live; /* a live second that waits for its names */
	bool is_live;         /* from then until its text was taken */
	char *live_text;
	struct capture *baseline; /* waits until nothing else is to be done */
	atomic_bool hurry;        /* a capture has begun: the baseline that is being named gives way */

	atomic_uint_fast64_t give_up_ns;
};

/* ---- the worker thread ---- */

static long add_mappings(void *user, const char *records, size_t bytes)
{
	return mappings_add_records(user, records, bytes);
}

/* While the daemon ends, the deadline leaves NAMING_RESERVE_NS for writing to the database. */
static uint64_t deadline_after(struct worker *thread, uint64_t patience_ns)
{
	uint64_t deadline_ns = clock_now_ns(thread->clock) + patience_ns,
		 give_up_ns = atomic_load(&thread->give_up_ns);

	return give_up_ns && give_up_ns - NAMING_RESERVE_NS < deadline_ns ? give_up_ns - NAMING_RESERVE_NS
									  : deadline_ns;
}

/* By which the places know a capture. */
static uint64_t holder_of(const struct capture *capture)
{
	return (uintptr_t)capture;
}

static struct capture *capture_of(uint64_t holder)
{
	return (struct capture *)(uintptr_t)holder; /* NOLINT(performance-no-int-to-ptr): of holder_of() */
}

static uint64_t scan_cpu_ns(const struct worker *thread)
{
	return clock_spent_ns(thread->clock) + mapping_reader_cpu_ns(thread->reader);
}

static void want_scan_of(struct worker *thread, enum scan_kind kind, uint64_t at_ns)
{
	struct scan_turn *turn = &thread->scans[kind];

	pthread_mutex_lock(&thread->lock);
	if (!turn->due_ns || at_ns < turn->due_ns) {
		turn->due_ns = at_ns;
		pthread_cond_signal(&thread->changed);
	}
	pthread_mutex_unlock(&thread->lock);
}

static void want_scan(struct worker *thread, uint64_t at_ns)
{
	want_scan_of(thread, SCAN_OF_ALL, at_ns);
}

/* Processes that the scan did not reach keep the mappings known before. */
static void note_stuck(struct worker *thread)
{
	own_count(thread->own_counters, OWN_WALKS_STUCK);
	if (log_allowed(&thread->scans_stuck, 1))
		log_warning(
			"mapping scan timed out: a process holds its mmap lock, or the CPUs are busy; user frames of new processes may get no names");
	want_scan(thread, clock_now_ns(thread->clock) + SCAN_AGAIN_NS);
}

/* A process that maps memory holds its lock for moments. So it is named only if scan after scan meets the lock held. */
static void note_busy(struct worker *thread, uint32_t of, const struct mapped_process *process)
{
	struct holder *holder = &thread->holders[of];
	uint64_t now_ns = clock_now_ns(thread->clock);

	if (!process) {
		*holder = (struct holder){ 0 };
		return;
	}
	own_count(thread->own_counters, OWN_WALKS_STUCK);
	want_scan(thread, clock_now_ns(thread->clock) + SCAN_AGAIN_NS);
	if (holder->tgid != process->tgid || holder->started_ns != process->started_ns)
		*holder = (struct holder){ process->tgid, process->started_ns, now_ns };
	else if (now_ns - holder->since_ns >= HELD_NS && log_allowed(&thread->scans_stuck, 1))
		log_warning("process %u (%s) of uid %u holds its mmap lock; its user frames may get no names",
			    process->tgid, process->comm, process->uid);
}

/* Names the process that makes scans long, or whose mappings are not all used. */
static void note_many(struct worker *thread, const struct mappings_many *many, uint64_t cpu_ns)
{
	const struct mapped_process *largest = many->largest;

	if (!largest || (!many->cut && cpu_ns < LOGGED_NS) || !log_allowed(&thread->scans_long, 1))
		return;
	log_warning(
		"process %u (%s) of uid %u has %u memory mappings, the most of %u %s with more than %u; scanning them took %u ms of CPU time, so they are scanned every %u s at most; of %u %s only %u executable mappings get names and unwind tables",
		largest->tgid, largest->comm, largest->uid, largest->in_kernel, many->count,
		plural(many->count, "process", "processes"), UNWIND_MAPPINGS_MAX,
		(unsigned int)(cpu_ns / 1000000), (unsigned int)(1 + cpu_ns * REST_MANY / CLOCK_SECOND_NS),
		many->cut, plural(many->cut, "process", "processes"), UNWIND_MAPPINGS_MAX);
}

/*
 * One scan of processes with few mappings, or of those with many; or the part of it that the deadline allows,
 * and the next one goes on. Returns 0 at its end, or the result of mapping_reader_read().
 */
static int scan_part(struct worker *thread, uint32_t of, uint64_t deadline_ns)
{
	struct mapping_request request = { .of = of };
	int result;

	request.scan = thread->scans_from + mappings_begin_scan(thread->mappings, of);
	for (;;) {
		result = mapping_reader_read(thread->reader, &request, deadline_ns, add_mappings,
					     thread->mappings);
		if (result < 0 || !mappings_end_pass(thread->mappings))
			break;
		if (clock_now_ns(thread->clock) >= deadline_ns) {
			result = -EINPROGRESS;
			break;
		}
	}
	if (result == -EINPROGRESS)
		own_count(thread->own_counters, OWN_WALKS_PAUSED);
	else if (result < 0 && result != -ETIMEDOUT && result != -EBUSY)
		mappings_abandon_scan(thread->mappings);
	note_busy(thread, of, mappings_busy(thread->mappings));
	return result;
}

/* Processes with many mappings have a part of the CPU time of their own, and come last. */
static void scan_many(struct worker *thread)
{
	struct mappings_many many = mappings_many(thread->mappings);
	uint64_t cpu_ns = scan_cpu_ns(thread);
	int result;

	if (!many.count || clock_now_ns(thread->clock) < thread->many_due_ns)
		return;
	result = scan_part(thread, MAPPINGS_OF_MANY, deadline_after(thread, MANY_NS));
	cpu_ns = scan_cpu_ns(thread) - cpu_ns;
	thread->many_due_ns = clock_now_ns(thread->clock) + REST_MANY * cpu_ns;
	many = mappings_many(thread->mappings);
	if (!result)
		note_many(thread, &many, cpu_ns);
	if (result < 0 || many.unlisted)
		want_scan(thread, thread->many_due_ns);
}

static void note_result(struct worker *thread, int result)
{
	if (result == -ETIMEDOUT || result == -EBUSY)
		note_stuck(thread);
	else if (result == -EINPROGRESS)
		want_scan(thread, clock_now_ns(thread->clock) + SCAN_AGAIN_NS);
	else if (result < 0 && log_allowed(&thread->iterator_errors, 1))
		log_warning("cannot read the mapping iterator: %s; user frames of new processes get no names",
			    strerror(-result));
}

/* CPU time is saved up to SAVED_NS. Whoever took more rests until that is made up for. */
static void rest(struct worker *thread, enum scan_kind kind, uint64_t cpu_ns)
{
	struct scan_turn *turn = &thread->scans[kind];
	uint64_t part = (kind == SCAN_OF_NEW ? PART_OF_NEW : PART_OF_ALL) /
			(worker_has_captures(thread) ? 2 : 1),
		 now_ns = clock_now_ns(thread->clock), earned_ns = (now_ns - turn->credited_ns) / part;

	if (earned_ns > SAVED_NS)
		earned_ns = SAVED_NS;
	turn->credit_ns += (int64_t)earned_ns;
	if (turn->credit_ns > (int64_t)SAVED_NS)
		turn->credit_ns = (int64_t)SAVED_NS;
	turn->credit_ns -= (int64_t)cpu_ns;
	turn->credited_ns = now_ns;
	pthread_mutex_lock(&thread->lock);
	turn->rest_ns = now_ns + (turn->credit_ns < 0 ? part * (uint64_t)-turn->credit_ns : 0);
	pthread_mutex_unlock(&thread->lock);
}

/* Updates the unwind tables, or goes on with it. */
static void follow_tables(struct worker *thread)
{
	enum unwind_left left;

	if (atomic_load(&thread->give_up_ns))
		return;
	left = unwind_tables_follow(thread->tables, thread->mappings, &thread->files,
				    clock_now_ns(thread->clock) + TABLES_NS);
	pthread_mutex_lock(&thread->lock);
	thread->tables_due_ns = left == UNWIND_LEFT_WORK ? clock_now_ns(thread->clock) : 0;
	pthread_mutex_unlock(&thread->lock);
	if (left == UNWIND_LEFT_PASS)
		want_scan(thread, clock_now_ns(thread->clock) + SCAN_AGAIN_NS);
}

static void forget_mappings(struct worker *thread)
{
	uint64_t now_ns = clock_now_ns(thread->clock);

	if (now_ns >= thread->older_due_ns) {
		mappings_grow_older(thread->mappings);
		thread->older_due_ns = now_ns + OLDER_NS;
	}
	mappings_forget(thread->mappings, SECONDS_REMEMBERED);
	held_files_sweep(&thread->held);
}

/* Looks become rare where scans find nothing: what stacks lead to is garbage, perhaps. */
static void pace_looks(struct worker *thread)
{
	pthread_mutex_lock(&thread->lock);
	if (mappings_fresh(thread->mappings))
		thread->look_every_ns = LOOK_NS;
	else if (thread->looked && thread->look_every_ns < LOOK_NS_MAX)
		thread->look_every_ns *= 2;
	thread->looked = false;
	pthread_mutex_unlock(&thread->lock);
}

static void scan_mappings(struct worker *thread, bool with_tables)
{
	uint64_t cpu_ns = scan_cpu_ns(thread), many_ns;
	int result = scan_part(thread, MAPPINGS_OF_FEW, deadline_after(thread, SCAN_NS));

	if (!result)
		pace_looks(thread);
	many_ns = scan_cpu_ns(thread);
	if (!result)
		scan_many(thread);
	many_ns = scan_cpu_ns(thread) - many_ns;
	atomic_store(&thread->own_counters->values[OWN_MAPPINGS_DROPPED], mappings_dropped(thread->mappings));
	if (with_tables)
		follow_tables(thread);
	forget_mappings(thread);
	rest(thread, SCAN_OF_ALL, scan_cpu_ns(thread) - cpu_ns - many_ns);
	note_result(thread, result);
}

static void scan_new(struct worker *thread)
{
	uint64_t cpu_ns = scan_cpu_ns(thread);
	int result = scan_part(thread, MAPPINGS_OF_NEW, deadline_after(thread, SCAN_NS));

	if (!result)
		pace_looks(thread);
	follow_tables(thread);
	rest(thread, SCAN_OF_NEW, scan_cpu_ns(thread) - cpu_ns);
	note_result(thread, result);
}

/* ---- what is due meanwhile ---- */

/* When the next scan of that kind is due, 0 if none is wanted. Call it with the lock. */
static uint64_t next_scan_ns(const struct worker *thread, enum scan_kind kind)
{
	const struct scan_turn *turn = &thread->scans[kind];

	return turn->due_ns && turn->due_ns < turn->rest_ns ? turn->rest_ns : turn->due_ns;
}

/* Whether processes are young, or a capture is under way. Call it with the lock. */
static bool looks_are_wanted(const struct worker *thread, uint64_t now_ns)
{
	return thread->captures.count || now_ns < thread->began_ns + YOUNG_NS;
}

/* Wants a scan if stacks led to unknown addresses since the last look. Call it with the lock. */
static void look(struct worker *thread, uint64_t now_ns)
{
	uint64_t unmapped;

	if (!looks_are_wanted(thread, now_ns) || now_ns < thread->look_due_ns)
		return;
	thread->look_due_ns = now_ns + thread->look_every_ns;
	unmapped = __atomic_load_n(&thread->kernel->control->unmapped, __ATOMIC_RELAXED);
	if (unmapped == thread->unmapped)
		return;
	thread->unmapped = unmapped;
	thread->looked = true;
	thread->scans[SCAN_OF_NEW].due_ns = clock_sooner(thread->scans[SCAN_OF_NEW].due_ns, now_ns);
	thread->scans[SCAN_OF_ALL].due_ns =
		clock_sooner(thread->scans[SCAN_OF_ALL].due_ns, now_ns + LOOK_ALL_NS);
}

/* When the next scan is due that follows up on the last process, 0 if there is none. Call it with the lock. */
static uint64_t follow_up_due_ns(const struct worker *thread)
{
	return thread->follow_up_ns ? thread->began_ns + thread->follow_up_ns : 0;
}

/* Wants that scan if it is due. Call it with the lock. */
static void follow_up(struct worker *thread, uint64_t now_ns)
{
	uint64_t due_ns = follow_up_due_ns(thread);

	if (!due_ns || now_ns < due_ns)
		return;
	thread->follow_up_ns *= FOLLOW_UP_FACTOR;
	if (thread->follow_up_ns > YOUNG_NS)
		thread->follow_up_ns = 0;
	thread->scans[SCAN_OF_ALL].due_ns = clock_sooner(thread->scans[SCAN_OF_ALL].due_ns, now_ns);
}

/* What the mappings need. */
enum due { DUE_NOTHING, DUE_SCAN, DUE_SCAN_NEW, DUE_TABLES };

/* Tells what is due, and takes it off; or when it will be: *ret_next_ns, 0: never. Call it with the lock. */
static enum due take_due(struct worker *thread, uint64_t *ret_next_ns)
{
	uint64_t now_ns = clock_now_ns(thread->clock), due_ns, new_ns;

	look(thread, now_ns);
	follow_up(thread, now_ns);
	due_ns = next_scan_ns(thread, SCAN_OF_ALL);
	new_ns = next_scan_ns(thread, SCAN_OF_NEW);
	if (new_ns && now_ns >= new_ns) {
		thread->scans[SCAN_OF_NEW].due_ns = 0;
		return DUE_SCAN_NEW;
	}
	if (due_ns && now_ns >= due_ns) {
		thread->scans[SCAN_OF_ALL].due_ns = 0;
		return DUE_SCAN;
	}
	if (thread->tables_due_ns && now_ns >= thread->tables_due_ns)
		return DUE_TABLES;
	*ret_next_ns = clock_sooner(clock_sooner(due_ns, new_ns), thread->tables_due_ns);
	*ret_next_ns = clock_sooner(*ret_next_ns, follow_up_due_ns(thread));
	if (looks_are_wanted(thread, now_ns))
		*ret_next_ns = clock_sooner(*ret_next_ns, thread->look_due_ns);
	return DUE_NOTHING;
}

static void do_due(struct worker *thread, enum due due)
{
	if (due == DUE_SCAN)
		scan_mappings(thread, true);
	else if (due == DUE_SCAN_NEW)
		scan_new(thread);
	else if (due == DUE_TABLES)
		follow_tables(thread);
}

/* Gives back to the kernel the memory that captures under way have left free where their arrays grew. */
static void settle_heap(struct worker *thread)
{
	uint64_t now_ns = clock_now_ns(thread->clock);

	if (now_ns < thread->settled_ns + SETTLE_NS || !worker_has_captures(thread))
		return;
	heap_settle();
	thread->settled_ns = now_ns;
}

/* Follows new processes while something else takes long. */
static void scan_meanwhile(void *user)
{
	struct worker *thread = user;
	uint64_t next_ns;
	enum due due;

	settle_heap(thread);
	pthread_mutex_lock(&thread->lock);
	due = take_due(thread, &next_ns);
	pthread_mutex_unlock(&thread->lock);
	do_due(thread, due);
}

static void begin_capture(struct worker *thread, struct capture *capture)
{
	char of[CAPTURE_WHOSE_BYTES];
	int64_t capture_id = 0;

	/*
	 * scan first, while the capture's processes are alive: they may end during the capture, or while the
	 * disk blocks
	 */
	scan_mappings(thread, true);
	if (store_begin_capture(thread->store, &capture->trigger, capture_available_history_ns(capture),
				&capture_id))
		log_warning("cannot write the row of a capture of %s that has begun: %s",
			    capture_whose(&capture->trigger, of, sizeof(of)), store_error(thread->store));
	__atomic_store_n(&capture->capture_id, capture_id, __ATOMIC_RELAXED);
}

/* Returns true if the daemon ends. */
static bool pause_until(struct worker *thread, uint64_t until_ns)
{
	int waited = 0;
	bool stopping;

	pthread_mutex_lock(&thread->lock);
	while (!thread->stopping && !waited)
		waited = thread_condition_wait_until(&thread->changed, &thread->lock, until_ns);
	stopping = thread->stopping;
	pthread_mutex_unlock(&thread->lock);
	return stopping;
}

static void give_up(struct worker *thread, const struct capture *capture)
{
	char of[CAPTURE_WHOSE_BYTES];

	log_error("the capture of %s is lost: %s", capture_whose(&capture->trigger, of, sizeof(of)),
		  store_error(thread->store));
	if (capture->capture_id && store_give_up_capture(thread->store, capture->capture_id))
		log_warning(
			"cannot mark the lost capture as interrupted: %s; 'bourdon list' shows it as recording until bourdond is restarted",
			store_error(thread->store));
}

static void write_counters(struct worker *thread)
{
	uint64_t counters[COUNTERS], own[OWN_COUNTERS];

	for (unsigned int i = 0; i < OWN_COUNTERS; i++)
		own[i] = own_counted(thread->own_counters, (enum own_counter)i);
	if (store_add_counters(thread->store, own_counter_names, own, OWN_COUNTERS) ||
	    (!counters_read(thread->kernel->map_fds[PIN_COUNTERS], counters) &&
	     store_add_counters(thread->store, counter_names, counters, COUNTERS)))
		log_warning("cannot write the counters to the database: %s", store_error(thread->store));
}

static uint64_t naming_patience(struct worker *thread)
{
	uint64_t patience_ns;

	pthread_mutex_lock(&thread->lock);
	patience_ns = thread->in_force->settings.naming_ns;
	pthread_mutex_unlock(&thread->lock);
	return patience_ns;
}

/* Tells the draining thread; the one who asked waits for it. */
static void note_stored(struct worker *thread, const struct capture *capture, int64_t capture_id)
{
	const struct asking *asking = capture->trigger.asking;
	uint64_t one = 1;
	bool room;

	if (!asking)
		return;
	pthread_mutex_lock(&thread->lock);
	room = thread->results_count < ARRAY_SIZE(thread->results);
	if (room)
		thread->results[thread->results_count++] = (struct worker_result){ asking->serial, capture_id,
										   capture->taken,
										   capture->interrupted };
	pthread_mutex_unlock(&thread->lock);
	if (!room || write(thread->results_fd, &one, sizeof(one)) < 0)
		log_warning("cannot tell the client of capture %lld that it is complete",
			    (long long)capture_id);
}

/* Returns the text, which the caller frees; NULL without memory. */
static char *make_live_text(struct worker *thread, struct capture *capture)
{
	uint64_t began_ns = clock_now_ns(thread->clock), rest_ns;
	bool asks = began_ns >= thread->live_rest_ns;
	struct resolved resolved;
	char *text;

	if (asks)
		scan_mappings(thread, false); /* nothing may have wanted a scan of others than targets */
	if (resolve_capture(capture, thread->mappings, &thread->symbols, &thread->kernel->manifest,
			    &thread->live_naming, asks ? deadline_after(thread, LIVE_NAMING_NS) : 0,
			    &resolved) < 0)
		return NULL;
	if (asks) {
		rest_ns = LIVE_REST * (clock_now_ns(thread->clock) - began_ns);
		thread->live_rest_ns = clock_now_ns(thread->clock) +
				       (rest_ns < LIVE_REST_NS_MAX ? rest_ns : LIVE_REST_NS_MAX);
	}
	text = live_text(capture, &resolved);
	resolved_free(&resolved);
	return text;
}

static void name_live(struct worker *thread, struct capture *capture)
{
	char *text = make_live_text(thread, capture);
	uint64_t one = 1;

	pthread_mutex_lock(&thread->lock);
	thread->live_text = text;
	thread->is_live = text != NULL;
	pthread_mutex_unlock(&thread->lock);
	if (!text)
		log_warning("a second of 'bourdon top --live' is lost: out of memory");
	else if (write(thread->results_fd, &one, sizeof(one)) < 0)
		log_warning("cannot signal a second of 'bourdon top --live' (eventfd): %s", strerror(errno));
}

/* Tells of a capture that is written. A log that is the journal has the entry instead of a line. */
static void tell(struct worker *thread, const struct capture *capture, const struct resolved *resolved,
		 const struct stored_verdict *verdict)
{
	const struct announced announced = { capture, capture->capture_id, verdict };
	char of[CAPTURE_WHOSE_BYTES];

	if (!announce(&thread->announcer, &announced, clock_now_ns(thread->clock)) || !log_is_journal())
		log_info("captured %u %s of %s", capture->stacks.count,
			 plural(capture->stacks.count, "stack", "stacks"),
			 capture_whose(&capture->trigger, of, sizeof(of)));
	metrics_add(&thread->metrics, capture, resolved, verdict->kind);
}

static int write_capture(struct worker *thread, struct capture *capture)
{
	char of[CAPTURE_WHOSE_BYTES];
	struct resolved resolved;
	struct stored_verdict verdict;
	int result, tries = 0;

	capture_whose(&capture->trigger, of, sizeof(of));

	scan_mappings(thread, false); /* without tables: the capture that waits to be written goes first */
	result = resolve_capture(capture, thread->mappings, &thread->symbols, &thread->kernel->manifest,
				 &thread->naming, deadline_after(thread, naming_patience(thread)), &resolved);
	if (result < 0) {
		log_error("the capture of %s is lost: %s", of, strerror(-result));
		store_give_up_capture(thread->store, capture->capture_id);
		return result;
	}
	while ((result = store_commit_capture(thread->store, capture, &resolved, thread->mappings,
					      &capture->capture_id, &verdict)) < 0 &&
	       result != -EFBIG && tries < RETRIES) {
		if (!tries++)
			log_warning("cannot write the capture of %s: %s; trying again every 5 s, for 2 min",
				    of, store_error(thread->store));
		if (pause_until(thread, clock_now_ns(thread->clock) + RETRY_NS))
			tries = RETRIES; /* the daemon ends: one last try */
	}
	if (result < 0)
		give_up(thread, capture);
	else
		tell(thread, capture, &resolved, &verdict);
	resolved_free(&resolved);
	if (!result)
		write_counters(thread);
	return result;
}

static void commit_capture(struct worker *thread, struct capture *capture)
{
	int result = write_capture(thread, capture);

	note_stored(thread, capture, result < 0 ? 0 : capture->capture_id);
}

static bool is_baseline_wanted(struct worker *thread)
{
	return !atomic_load(&thread->hurry) && !atomic_load(&thread->give_up_ns);
}

/*
 * Without a scan of the mappings, and without a second try: a baseline is worth no capture's time. One that gets no name in
 * time is still worth to be compared by its addresses.
 */
static bool write_baseline(struct worker *thread, struct capture *baseline)
{
	struct resolved resolved;
	int result;

	if (resolve_capture(baseline, thread->mappings, &thread->symbols, &thread->kernel->manifest,
			    &thread->baseline_naming, deadline_after(thread, BASELINE_NAMING_NS),
			    &resolved) < 0)
		return false;
	result = is_baseline_wanted(thread)
			 ? store_commit_baseline(thread->store, baseline, &resolved, thread->mappings)
			 : -ECANCELED;
	resolved_free(&resolved);
	if (result < 0 && result != -ECANCELED && log_allowed(&thread->baselines_lost, 1))
		log_info("a baseline of rule %s was not written: %s", baseline->trigger.rule,
			 store_error(thread->store));
	return !result;
}

static void do_baseline(struct worker *thread, struct capture *baseline)
{
	bool written = is_baseline_wanted(thread) && write_baseline(thread, baseline);

	own_count(thread->own_counters, written ? OWN_BASELINES : OWN_BASELINES_LOST);
	capture_free(baseline);
	heap_settle();
}

static void write_activity(struct worker *thread, struct activity_minute *minute)
{
	if (!store_add_activity(thread->store, minute, &thread->symbols))
		return;
	own_count(thread->own_counters, OWN_ACTIVITY_LOST);
	if (log_allowed(&thread->minutes_lost, 1))
		log_warning("cannot write a minute of activity to the database: %s",
			    store_error(thread->store));
}

/*
 * Gives ids and rows to all new rules; if that fails, the configuration is refused. Reads `in_force` without
 * the lock: it does not change during a reload.
 */
static int number_rules(struct worker *thread, struct configuration *configuration)
{
	struct rule_ids ids = thread->ids;
	int result = rules_assign_ids(&configuration->rules, &thread->in_force->rules, &ids);

	if (!result && ids.rule > thread->ids.rule)
		result = store_add_rules(thread->store, &configuration->rules, thread->ids.rule);
	if (!result)
		thread->ids = ids;
	return result;
}

static void reload(struct worker *thread)
{
	struct configuration *configuration = NULL;
	struct config_errors errors = { 0 };
	uint64_t one = 1;

	if (!configuration_read(thread->where, &configuration, &errors) &&
	    number_rules(thread, configuration) < 0) {
		config_error(&errors, thread->where->state_dir, 0,
			     "cannot write the new rules to the database: %s", store_error(thread->store));
		configuration_free(configuration);
		configuration = NULL;
	}
	pthread_mutex_lock(&thread->lock);
	thread->reloaded = configuration;
	thread->reload_errors = errors;
	pthread_mutex_unlock(&thread->lock);
	if (write(thread->reload_fd, &one, sizeof(one)) < 0)
		log_warning("cannot signal the end of a reload (eventfd): %s", strerror(errno));
}

static void expire(struct worker *thread)
{
	uint64_t now_ns = clock_now_ns(thread->clock), next_ns, gap_ns, activity_age_ns, baseline_age_ns;

	if (store_expire(thread->store, &next_ns)) {
		log_warning(
			"cannot remove captures that are older than max_age, or activity or baselines that are older than keep: %s",
			store_error(thread->store));
		next_ns = now_ns;
	}
	pthread_mutex_lock(&thread->lock);
	gap_ns = thread->in_force->settings.database_age_ns_max;
	activity_age_ns = thread->in_force->settings.activity_age_ns_max;
	baseline_age_ns = thread->in_force->settings.baseline_age_ns_max;
	pthread_mutex_unlock(&thread->lock);
	if (!gap_ns || activity_age_ns < gap_ns)
		gap_ns = activity_age_ns;
	if (baseline_age_ns < gap_ns)
		gap_ns = baseline_age_ns;
	gap_ns /= EXPIRE_GAP_SHARE;
	if (gap_ns < EXPIRE_GAP_NS_MIN)
		gap_ns = EXPIRE_GAP_NS_MIN;
	if (gap_ns > EXPIRE_GAP_NS_MAX)
		gap_ns = EXPIRE_GAP_NS_MAX;
	if (next_ns && next_ns < now_ns + gap_ns)
		next_ns = now_ns + gap_ns;
	if (next_ns > now_ns + EXPIRE_GAP_NS_MAX)
		next_ns = now_ns + EXPIRE_GAP_NS_MAX;
	thread->expire_due_ns = next_ns;
}

/* Follows the settings in force. */
static void follow_settings(struct worker *thread)
{
	struct settings settings;

	pthread_mutex_lock(&thread->lock);
	settings = thread->in_force->settings;
	pthread_mutex_unlock(&thread->lock);
	metrics_follow(&thread->metrics, &settings, clock_now_ns(thread->clock));
	thread->budget.ppm = settings.budget_ppm;
}

/* ---- tables ahead of need ---- */

/* The first processes have to do where there are very many mappings, or their files have long names. */
static long add_for_ahead(void *user, const char *records, size_t bytes)
{
	return mappings_bytes(user) < AHEAD_BYTES_MAX ? mappings_add_records(user, records, bytes) : -E2BIG;
}

/* All files that processes have mapped. Returns NULL if they cannot be had. */
static struct mappings *list_all(struct worker *thread)
{
	struct mappings *all = mappings_new();
	struct mapping_request request = { .of = MAPPINGS_OF_ALL };
	int result;

	if (!all)
		return NULL;
	/* another number than that of any scan */
	request.scan = thread->scans_from + AHEAD_SCANS_FROM + mappings_begin_scan(all, MAPPINGS_OF_ALL);
	result = mapping_reader_read(thread->reader, &request, deadline_after(thread, SCAN_NS), add_for_ahead,
				     all);
	mappings_end_scan(all);
	if (!result || result == -E2BIG)
		return all;
	mappings_free(all);
	return NULL;
}

static void end_ahead(struct worker *thread)
{
	if (!thread->ahead)
		return;
	tables_ahead_free(TAKE_PTR(thread->ahead));
	heap_settle();
}

/* Makes tables of files that no sample has led to yet, while no capture is under way. */
static void look_ahead(struct worker *thread)
{
	bool is_busy = worker_has_captures(thread) || atomic_load(&thread->give_up_ns);
	struct mappings *all = is_busy || thread->ahead ? NULL : list_all(thread);

	if (all)
		thread->ahead = tables_ahead_begin(thread->cache, thread->naming.spawner_socket, all);
	if (is_busy || !thread->ahead) {
		end_ahead(thread);
		thread->ahead_due_ns = clock_now_ns(thread->clock) + AHEAD_PAUSE_NS;
	} else if (tables_ahead_step(thread->ahead, clock_now_ns(thread->clock) + AHEAD_STEP_NS)) {
		thread->ahead_due_ns = clock_now_ns(thread->clock) + AHEAD_STEP_NS;
	} else {
		end_ahead(thread);
		thread->ahead_due_ns = clock_now_ns(thread->clock) + AHEAD_EVERY_NS;
	}
}

static void migrate(struct worker *thread);

static void do_job(struct worker *thread, const struct job *job)
{
	switch (job->kind) {
	case JOB_RUN:
		if (store_is_outdated(thread->store))
			migrate(thread);
		expire(thread);
		follow_settings(thread);
		break;
	case JOB_BEGIN:
		begin_capture(thread, job->capture);
		break;
	case JOB_COMMIT:
		commit_capture(thread, job->capture);
		/* before another capture can have the same address */
		pthread_mutex_lock(&thread->lock);
		shares_give(&thread->captures, holder_of(job->capture));
		pthread_mutex_unlock(&thread->lock);
		capture_free(job->capture);
		heap_settle();
		if (!thread->expire_due_ns)
			expire(thread);
		break;
	case JOB_ACTIVITY:
		write_activity(thread, job->minute);
		activity_minute_free(job->minute);
		pthread_mutex_lock(&thread->lock);
		thread->minutes--;
		pthread_mutex_unlock(&thread->lock);
		if (!thread->expire_due_ns)
			expire(thread);
		break;
	case JOB_RELOAD:
		reload(thread);
		break;
	case JOB_LIMIT:
		if (store_limit(thread->store, &job->limits))
			log_warning("cannot shrink the database to its new max_size: %s",
				    store_error(thread->store));
		expire(thread);
		follow_settings(thread);
		break;
	case JOB_EXPIRE:
		expire(thread);
		break;
	case JOB_METRICS:
		metrics_write(&thread->metrics, clock_now_ns(thread->clock));
		break;
	case JOB_ANNOUNCE:
		announce_retry(&thread->announcer, clock_now_ns(thread->clock));
		break;
	case JOB_AHEAD:
		look_ahead(thread);
		break;
	case JOB_LIVE:
		name_live(thread, job->capture);
		capture_free(job->capture);
		break;
	case JOB_BASELINE:
		do_baseline(thread, job->capture);
		if (!thread->expire_due_ns)
			expire(thread);
		break;
	}
}

/* ---- the queue: call these with the lock ---- */

/* The first is the one that has waited longest. */
static struct job *job_at(struct worker *thread, size_t position)
{
	return &thread->jobs[(thread->jobs_first + position) % JOBS_MAX];
}

static struct job remove_job(struct worker *thread, size_t position)
{
	struct job job = *job_at(thread, position);

	for (; position > 0; position--) {
		*job_at(thread, position) = *job_at(thread, position - 1);
		job_at(thread, position)->passed += job.kind == JOB_COMMIT;
	}
	thread->jobs_first = (thread->jobs_first + 1) % JOBS_MAX;
	thread->jobs_count--;
	return job;
}

/* Whether a capture is written before another one, which has waited longer. */
static bool passes(struct worker *thread, const struct job *job, const struct job *other)
{
	uint32_t places = shares_held_with(&thread->captures, holder_of(job->capture)),
		 others = shares_held_with(&thread->captures, holder_of(other->capture));

	if (other->passed >= PASSED_MAX)
		return false;
	return places != others ? places < others
				: !job->capture->trigger.asking && other->capture->trigger.asking;
}

/* Captures to be written come last: one that begins is of processes that may end soon. Who has many waits for them himself. */
static size_t next_job(struct worker *thread)
{
	size_t next = 0;

	for (size_t i = 0; i < thread->jobs_count; i++) {
		if (job_at(thread, i)->kind != JOB_COMMIT)
			return i;
		if (passes(thread, job_at(thread, i), job_at(thread, next)))
			next = i;
	}
	return next;
}

/* ---- migration ---- */

/* Takes a reload out of the queue, past the captures that wait. */
static bool take_reload(struct worker *thread)
{
	bool found = false;

	pthread_mutex_lock(&thread->lock);
	for (size_t i = 0; i < thread->jobs_count && !found; i++) {
		found = job_at(thread, i)->kind == JOB_RELOAD;
		if (found)
			remove_job(thread, i);
	}
	pthread_mutex_unlock(&thread->lock);
	return found;
}

static int try_to_migrate(struct worker *thread)
{
	int result = store_migrate(thread->store, scan_meanwhile, thread);

	return result < 0 ? result
			  : store_begin_run(thread->store, &thread->kernel->manifest, &thread->kernel->policy,
					    &thread->in_force->rules);
}

/* Migrates an older database while the draining thread goes on. Gives up only when the daemon ends. */
static void migrate(struct worker *thread)
{
	uint64_t began_ns = clock_now_ns(thread->clock);
	char said[256] = "";

	log_info("an older bourdond wrote the database; migrating it to schema version %d, captures wait",
		 SCHEMA_VERSION);
	while (try_to_migrate(thread) < 0) {
		if (atomic_load(&thread->give_up_ns))
			return;
		if (strcmp(said, store_error(thread->store)))
			log_error(
				"cannot migrate the database: %s; it is unchanged, captures wait, trying again every 5 s",
				store_error(thread->store));
		snprintf(said, sizeof(said), "%s", store_error(thread->store));
		if (take_reload(thread))
			reload(thread);
		scan_meanwhile(thread);
		if (pause_until(thread, clock_now_ns(thread->clock) + RETRY_NS))
			return;
	}
	log_info("migrated the database in %.1f s",
		 (double)(clock_now_ns(thread->clock) - began_ns) / CLOCK_SECOND_NS);
}

/* ---- the thread ---- */

/* Stores the kind of the first job that a time calls for, and returns that time; 0: there is none. */
static uint64_t next_timed_ns(const struct worker *thread, enum job_kind *ret_kind)
{
	const struct {
		enum job_kind kind;
		uint64_t due_ns;
	} timed[] = {
		{ JOB_EXPIRE, thread->expire_due_ns },
		{ JOB_METRICS, thread->metrics.due_ns },
		{ JOB_ANNOUNCE, announce_retry_ns(&thread->announcer) },
		{ JOB_AHEAD, thread->ahead_due_ns },
	};
	uint64_t first_ns = 0;

	*ret_kind = JOB_EXPIRE;
	for (size_t i = 0; i < ARRAY_SIZE(timed); i++) {
		if (!timed[i].due_ns || (first_ns && timed[i].due_ns >= first_ns))
			continue;
		first_ns = timed[i].due_ns;
		*ret_kind = timed[i].kind;
	}
	return first_ns;
}

/* What the thread does next: a job, or what the mappings need. */
struct turn {
	struct job job;
	bool has_job;
	enum due due;
	uint64_t due_ns; /* with neither of them, when there will be one; 0: never */
};

/* Call it with the lock. */
static void note_jobs(struct worker *thread, uint64_t waited_ns)
{
	own_queue_note(thread->own_counters, OWN_QUEUE_JOBS,
		       (struct own_level){ .depth = thread->jobs_count, .lag_ns = waited_ns });
}

static struct job take_job(struct worker *thread)
{
	struct job job = remove_job(thread, next_job(thread));

	note_jobs(thread, clock_now_ns(thread->clock) - job.since_ns);
	return job;
}

static bool give(struct turn *turn, enum job_kind kind, struct capture **waiting)
{
	turn->job = (struct job){ .kind = kind, .capture = waiting ? *waiting : NULL };
	turn->has_job = true;
	if (waiting)
		*waiting = NULL;
	return true;
}

/* Chooses by what has least patience. Returns false if nothing is to be done now. Call it with the lock. */
static bool choose(struct worker *thread, struct turn *ret_turn)
{
	enum job_kind timed;
	uint64_t timed_ns = next_timed_ns(thread, &timed);

	*ret_turn = (struct turn){ .has_job = thread->jobs_count > 0 };
	if (ret_turn->has_job) {
		ret_turn->job = take_job(thread);
		return true;
	}
	if (thread->stopping)
		return false;
	ret_turn->due = take_due(thread, &ret_turn->due_ns);
	if (ret_turn->due)
		return true;
	if (clock_is_due(timed_ns, clock_now_ns(thread->clock)))
		return give(ret_turn, timed, NULL);
	if (thread->live)
		return give(ret_turn, JOB_LIVE, &thread->live);
	if (thread->baseline) {
		atomic_store(&thread->hurry, false);
		return give(ret_turn, JOB_BASELINE, &thread->baseline);
	}
	ret_turn->due_ns = clock_sooner(ret_turn->due_ns, timed_ns);
	return false;
}

static void do_turn(struct worker *thread, const struct turn *turn)
{
	do_due(thread, turn->due);
	if (turn->has_job)
		do_job(thread, &turn->job);
	settle_heap(thread);
}

/* Waits for what is to be done next. Returns false at the daemon's end, when all jobs are done. */
static bool await_turn(struct worker *thread, struct turn *ret_turn)
{
	bool found;

	pthread_mutex_lock(&thread->lock);
	while (!(found = choose(thread, ret_turn)) && !thread->stopping) {
		if (ret_turn->due_ns)
			thread_condition_wait_until(&thread->changed, &thread->lock, ret_turn->due_ns);
		else
			pthread_cond_wait(&thread->changed, &thread->lock);
	}
	pthread_mutex_unlock(&thread->lock);
	return found;
}

bool worker_turn(struct worker *thread)
{
	struct turn turn;
	bool found;

	pthread_mutex_lock(&thread->lock);
	found = choose(thread, &turn);
	pthread_mutex_unlock(&thread->lock);
	if (found)
		do_turn(thread, &turn);
	return found;
}

void worker_end_run(struct worker *thread)
{
	if (store_is_outdated(thread->store)) {
		log_warning("the database is not migrated yet; bourdond goes on with it at its next start");
		return;
	}
	announce_retry(&thread->announcer, clock_now_ns(thread->clock));
	write_counters(thread);
	if (store_end_run(thread->store))
		log_warning("cannot write the end of this run to the database: %s",
			    store_error(thread->store));
}

static void *run(void *user)
{
	struct worker *thread = user;
	struct turn turn;

	while (await_turn(thread, &turn))
		do_turn(thread, &turn);
	worker_end_run(thread);
	return NULL;
}

/* ---- the draining thread ---- */

/* Behind the database, which no other daemon can have open. */
static int open_tables(struct worker *thread, const struct worker_settings *settings)
{
	struct unwind_tools tools = { settings->spawner_socket, &thread->budget, NULL };
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int result;

	thread->cache = tools.cache = file_cache_open(settings->where->state_dir, &thread->give_up_ns);
	result = unwind_tables_open(&thread->tables, settings->kernel, &tools, &thread->gauges);
	if (thread->cache)
		thread->ahead_due_ns = clock_now_ns(thread->clock) + AHEAD_FIRST_NS;
	if (result < 0)
		log_error("cannot prepare the unwind tables: %s", strerror(-result));
	thread->budget.cpus = cpus > 0 ? (uint32_t)cpus : 1;
	for (int kind = 0; kind < SCAN_KINDS; kind++)
		thread->scans[kind] = (struct scan_turn){ .credit_ns = SAVED_NS,
							  .credited_ns = clock_now_ns(thread->clock) };
	thread->look_every_ns = LOOK_NS;
	thread->unmapped = __atomic_load_n(&settings->kernel->control->unmapped, __ATOMIC_RELAXED);
	return result;
}

int worker_open(struct worker **ret_thread, const struct worker_settings *settings)
{
	struct worker *thread = calloc(1, sizeof(*thread));
	int result;

	if (!thread)
		return -ENOMEM;
	thread->kernel = settings->kernel;
	thread->where = settings->where;
	thread->clock = settings->clock;
	thread->own_counters = settings->own_counters;
	thread->own_counters->queues[OWN_QUEUE_JOBS].room = JOBS_MAX;
	thread->reload_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	thread->results_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	thread->captures = (struct shares){ .total = WORKER_CAPTURES_MAX,
					    .of_users = WORKER_CAPTURES_ASKED_MAX,
					    .reserve = WORKER_CAPTURES_RESERVE };
	thread->files = (struct mapped_files){ .grant_socket = settings->where->grant_socket,
					       .own_counters = settings->own_counters,
					       .held = &thread->held };
	/* no long wait before the thread runs: the signals that end the daemon are blocked */
	atomic_init(&thread->give_up_ns, clock_now_ns(thread->clock) + OPEN_PATIENCE_NS);
	announce_open(&thread->announcer, settings->journal_socket, settings->where->state_dir,
		      settings->own_counters);
	metrics_open(&thread->metrics, settings->where->state_dir, settings->kernel, settings->own_usage,
		     settings->own_counters, clock_wall_now_ns(thread->clock));
	thread->scans_from = (uint32_t)clock_now_ns(thread->clock);
	thread->mappings = mappings_new();
	pthread_mutex_init(&thread->lock, NULL);
	thread_condition_init(&thread->changed);
	result = thread->mappings && thread->reload_fd >= 0 && thread->results_fd >= 0 ? 0 : -ENOMEM;
	if (!result)
		result = mapping_reader_start(&thread->reader, settings->kernel);
	if (!result)
		result = kernel_symbols_open(&thread->symbols, settings->kernel->symbols_fd);
	if (result < 0)
		log_error("cannot prepare the store thread: %s", strerror(-result));
	else
		result = store_open(&thread->store, settings->where->state_dir, &settings->limits,
				    settings->machine, thread->clock, &thread->give_up_ns);
	if (!result)
		result = open_tables(thread, settings);
	if (result < 0) {
		worker_stop(thread, 0);
		return result;
	}
	thread->naming = (struct naming){ .spawner_socket = settings->spawner_socket,
					  .vdso = vdso_open(),
					  .mapped_files = &thread->files,
					  .files = known_files_new(),
					  .kept = thread->cache,
					  .known = store_known_frames(thread->store),
					  .counters = settings->own_counters,
					  .budget = &thread->budget,
					  .meanwhile = scan_meanwhile,
					  .user = thread,
					  .debug_root = DEBUG_ROOT,
					  .jit_map_directory = JIT_MAP_DIRECTORY };
	thread->live_naming = thread->naming;
	thread->live_naming.cache = name_cache_new();
	thread->baseline_naming = thread->naming;
	thread->baseline_naming.hurry = &thread->hurry;
	*ret_thread = thread;
	return result;
}

static void add_job(struct worker *thread, struct job job)
{
	job.since_ns = clock_now_ns(thread->clock);
	*job_at(thread, thread->jobs_count++) = job;
	note_jobs(thread, job.since_ns - job_at(thread, 0)->since_ns);
	pthread_cond_signal(&thread->changed);
}

int worker_begin_run(struct worker *thread, struct configuration *configuration)
{
	int result = store_next_ids(thread->store, &thread->ids);

	if (!result)
		result = rules_assign_ids(&configuration->rules, NULL, &thread->ids);
	if (!result && !store_is_outdated(thread->store))
		result = store_begin_run(thread->store, &thread->kernel->manifest, &thread->kernel->policy,
					 &configuration->rules);
	if (result < 0)
		log_error("cannot begin a run in the database: %s",
			  result == -ENOMEM ? "out of memory" : store_error(thread->store));
	thread->in_force = configuration;
	atomic_store(&thread->give_up_ns, 0);
	add_job(thread, (struct job){ .kind = JOB_RUN });
	return result;
}

int worker_start(struct worker *thread)
{
	int result;

	result = thread_start(&thread->thread, STACK_BYTES, run, thread);
	if (result < 0)
		log_error("cannot start the store thread: %s", strerror(-result));
	thread->started = !result;
	return result;
}

bool worker_has_captures(struct worker *thread)
{
	bool has_captures;

	pthread_mutex_lock(&thread->lock);
	has_captures = thread->captures.count;
	pthread_mutex_unlock(&thread->lock);
	return has_captures;
}

/* Call it with the lock. */
static bool has_room(const struct worker *thread, const struct share_owner *owner, struct capture **ret_loser)
{
	uint64_t loser;
	bool room = shares_allow(&thread->captures, owner, &loser);

	*ret_loser = capture_of(loser);
	return room;
}

bool worker_has_room(struct worker *thread, const struct share_owner *owner, struct capture **ret_loser)
{
	bool room;

	pthread_mutex_lock(&thread->lock);
	room = has_room(thread, owner, ret_loser);
	pthread_mutex_unlock(&thread->lock);
	return room;
}

/* Call it with the lock. */
static void give_up_baseline(struct worker *thread)
{
	if (!thread->baseline)
		return;
	capture_free(TAKE_PTR(thread->baseline));
	own_count(thread->own_counters, OWN_BASELINES_LOST);
}

void worker_add_baseline(struct worker *thread, struct capture *baseline)
{
	pthread_mutex_lock(&thread->lock);
	give_up_baseline(thread);
	thread->baseline = baseline;
	pthread_cond_signal(&thread->changed);
	pthread_mutex_unlock(&thread->lock);
}

bool worker_begin_capture(struct worker *thread, struct capture *capture, const struct share_owner *owner,
			  struct capture **ret_loser)
{
	bool room;

	pthread_mutex_lock(&thread->lock);
	room = has_room(thread, owner, ret_loser);
	if (room) {
		give_up_baseline(thread);
		atomic_store(&thread->hurry, true);
		shares_make_way(&thread->captures, holder_of(*ret_loser));
		shares_take(&thread->captures, owner, holder_of(capture));
		add_job(thread, (struct job){ .kind = JOB_BEGIN, .capture = capture });
	}
	pthread_mutex_unlock(&thread->lock);
	return room;
}

size_t worker_bytes_left(struct worker *thread, const struct capture *capture)
{
	const struct share_owner *owner = NULL;
	size_t most = WORKER_CAPTURES_BYTES_MAX(thread->kernel->manifest.cpus), held = 0, owned = 0,
	       least = WORKER_RULE_BYTES_LEAST;

	pthread_mutex_lock(&thread->lock);
	for (uint32_t i = 0; i < thread->captures.count; i++)
		if (thread->captures.places[i].holder == holder_of(capture))
			owner = &thread->captures.places[i].owner;
	for (uint32_t i = 0; i < thread->captures.count; i++) {
		const struct share_place *place = &thread->captures.places[i];
		size_t bytes = place->holder == holder_of(capture) ? 0
								   : capture_bytes(capture_of(place->holder));

		held += bytes;
		owned += owner && share_is_of(&place->owner, owner) ? bytes : 0;
	}
	if (owner && owner->kind == SHARE_OF_USER)
		least = WORKER_USER_BYTES_LEAST;
	pthread_mutex_unlock(&thread->lock);
	least = owned < least ? least - owned : 0;
	return held + least < most ? most - held : least;
}

void worker_commit_capture(struct worker *thread, struct capture *capture)
{
	pthread_mutex_lock(&thread->lock);
	shares_fix(&thread->captures, holder_of(capture));
	add_job(thread, (struct job){ .kind = JOB_COMMIT, .capture = capture });
	pthread_mutex_unlock(&thread->lock);
}

bool worker_add_activity(struct worker *thread, struct activity_minute *minute)
{
	bool room;

	pthread_mutex_lock(&thread->lock);
	room = thread->minutes < WORKER_MINUTES_MAX;
	if (room) {
		thread->minutes++;
		add_job(thread, (struct job){ .kind = JOB_ACTIVITY, .minute = minute });
	}
	pthread_mutex_unlock(&thread->lock);
	if (!room)
		activity_minute_free(minute);
	return room;
}

void worker_name_live(struct worker *thread, struct capture *capture)
{
	pthread_mutex_lock(&thread->lock);
	thread->live = capture;
	thread->is_live = true;
	pthread_cond_signal(&thread->changed);
	pthread_mutex_unlock(&thread->lock);
}

bool worker_is_live(struct worker *thread)
{
	bool is_live;

	pthread_mutex_lock(&thread->lock);
	is_live = thread->is_live;
	pthread_mutex_unlock(&thread->lock);
	return is_live;
}

char *worker_live_text(struct worker *thread)
{
	char *text;

	pthread_mutex_lock(&thread->lock);
	text = TAKE_PTR(thread->live_text);
	if (text)
		thread->is_live = false;
	pthread_mutex_unlock(&thread->lock);
	return text;
}

void worker_want_mappings(struct worker *thread)
{
	want_scan_of(thread, SCAN_OF_NEW, clock_now_ns(thread->clock) + SCAN_NEW_NS);
}

void worker_follow_mappings(struct worker *thread)
{
	want_scan(thread, clock_now_ns(thread->clock) + SCAN_MOVED_NS);
}

void worker_note_process(struct worker *thread)
{
	pthread_mutex_lock(&thread->lock);
	thread->began_ns = clock_now_ns(thread->clock);
	thread->follow_up_ns = FOLLOW_UP_FIRST_NS;
	thread->look_every_ns = LOOK_NS;
	pthread_mutex_unlock(&thread->lock);
	worker_want_mappings(thread);
}

void worker_reload(struct worker *thread)
{
	pthread_mutex_lock(&thread->lock);
	add_job(thread, (struct job){ .kind = JOB_RELOAD });
	pthread_mutex_unlock(&thread->lock);
}

int worker_reload_fd(const struct worker *thread)
{
	return thread->reload_fd;
}

int worker_results_fd(const struct worker *thread)
{
	return thread->results_fd;
}

bool worker_next_result(struct worker *thread, struct worker_result *ret_result)
{
	uint64_t times;
	bool any;

	/* reset first: a result that comes meanwhile makes it readable again */
	if (read(thread->results_fd, &times, sizeof(times)) < 0 && errno != EAGAIN)
		return false;
	pthread_mutex_lock(&thread->lock);
	any = thread->results_count > 0;
	if (any) {
		*ret_result = thread->results[0];
		thread->results_count--;
		memmove(thread->results, thread->results + 1,
			thread->results_count * sizeof(thread->results[0]));
	}
	pthread_mutex_unlock(&thread->lock);
	return any;
}

const struct unwind_gauges *worker_unwind(const struct worker *thread)
{
	return &thread->gauges;
}

struct configuration *worker_reload_result(struct worker *thread, struct config_errors *ret_errors)
{
	struct configuration *configuration;
	uint64_t times;

	if (read(thread->reload_fd, &times, sizeof(times)) < 0)
		return NULL;
	pthread_mutex_lock(&thread->lock);
	configuration = TAKE_PTR(thread->reloaded);
	*ret_errors = thread->reload_errors;
	thread->reload_errors = (struct config_errors){ 0 };
	pthread_mutex_unlock(&thread->lock);
	return configuration;
}

void worker_confirm(struct worker *thread, const struct configuration *configuration)
{
	const struct settings *before = &thread->in_force->settings, *now = &configuration->settings;
	bool changed = now->database_bytes_max != before->database_bytes_max ||
		       now->database_age_ns_max != before->database_age_ns_max ||
		       now->activity_age_ns_max != before->activity_age_ns_max ||
		       now->baseline_age_ns_max != before->baseline_age_ns_max ||
		       now->metrics_ns != before->metrics_ns || now->budget_ppm != before->budget_ppm ||
		       strcmp(now->metrics_file, before->metrics_file) != 0;

	pthread_mutex_lock(&thread->lock);
	thread->in_force = configuration;
	if (changed)
		add_job(thread,
			(struct job){ .kind = JOB_LIMIT,
				      .limits = { now->database_bytes_max, now->database_age_ns_max,
						  now->activity_age_ns_max, now->baseline_age_ns_max } });
	pthread_mutex_unlock(&thread->lock);
}

void worker_stop(struct worker *thread, uint64_t patience_ns)
{
	if (!thread)
		return;
	if (thread->started) {
		atomic_store(&thread->give_up_ns, clock_now_ns(thread->clock) + patience_ns);
		pthread_mutex_lock(&thread->lock);
		thread->stopping = true;
		pthread_cond_signal(&thread->changed);
		pthread_mutex_unlock(&thread->lock);
		pthread_join(thread->thread, NULL);
	}
	/* a thread that did not run has left what it owns */
	while (thread->jobs_count) {
		struct job job = take_job(thread);

		if (job.kind == JOB_COMMIT)
			capture_free(job.capture);
		activity_minute_free(job.minute);
	}
	capture_free(thread->live);
	capture_free(thread->baseline);
	free(thread->live_text);
	configuration_free(thread->reloaded);
	config_errors_free(&thread->reload_errors);
	cleanup_close(&thread->reload_fd);
	cleanup_close(&thread->results_fd);
	announce_close(&thread->announcer);
	metrics_close(&thread->metrics);
	store_close(thread->store);
	tables_ahead_free(thread->ahead);
	unwind_tables_close(thread->tables);
	file_cache_close(thread->cache);
	mapping_reader_free(thread->reader);
	held_files_close(&thread->held);
	mappings_free(thread->mappings);
	cleanup_close(&thread->naming.vdso);
	known_files_free(thread->naming.files);
	name_cache_free(thread->live_naming.cache);
	kernel_symbols_close(&thread->symbols);
	pthread_mutex_destroy(&thread->lock);
	pthread_cond_destroy(&thread->changed);
	free(thread);
}
