/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * scans.c scans the mappings of processes, one slice after the other, and has what follows from that: the unwind tables, and
 * which process makes scans hang or last. scan_pace.h says when. Scans run on the worker thread; the draining thread asks for them.
 */
#include "common/text/plural.h"
#include "consumer/worker/state.h"

#include <errno.h>
#include <string.h>

/*
 * A new process has yet to map its libraries, and others may follow, so the first scan waits a moment. Libraries
 * that it maps later are scanned once a stack leads there (look_for_unmapped()).
 */
#define SCAN_NEW_NS (CLOCK_SECOND_NS / 200)
/* after captured mappings changed, as those of some processes do all the time */
#define SCAN_MOVED_NS (CLOCK_SECOND_NS / 4)
#define OLDER_NS CLOCK_SECOND_NS        /* of mappings_grow_older() */
#define SCAN_NS (3 * CLOCK_SECOND_NS)   /* longest time for one scan; then the next goes on with it */
#define MANY_NS (CLOCK_SECOND_NS / 2)   /* of processes with many mappings */
#define REST_MANY 19U                   /* these have a twentieth of a CPU, however many they are */
#define HELD_NS (3 * CLOCK_SECOND_NS)   /* a process that holds its mmap lock for so long is logged */
#define LOGGED_NS (CLOCK_SECOND_NS / 4) /* a scan that takes as much CPU time is logged */
/* how long mappings of a process that ended are kept, in OLDER_NS */
#define SECONDS_REMEMBERED 64

int scans_open(struct worker *worker, const struct worker_settings *settings)
{
	struct scans *scans = &worker->scans;
	uint64_t now_ns = clock_now_ns(worker->clock);

	scans->files = (struct mapped_files){ .grant_socket = settings->where->grant_socket,
					      .own_counters = settings->own_counters,
					      .held = &scans->held };
	scans->from = (uint32_t)now_ns;
	scan_pace_begin(&worker->pace,
			__atomic_load_n(&settings->kernel->control->unmapped, __ATOMIC_RELAXED), now_ns);
	scans->mappings = mappings_new();
	return scans->mappings ? mapping_reader_start(&scans->reader, settings->kernel) : -ENOMEM;
}

void scans_close(struct scans *scans)
{
	mapping_reader_free(scans->reader);
	held_files_close(&scans->held);
	mappings_free(scans->mappings);
}

static long add_mappings(void *user, const char *records, size_t bytes)
{
	return mappings_add_records(user, records, bytes);
}

static uint64_t scan_cpu_ns(const struct worker *worker)
{
	return clock_spent_ns(worker->clock) + mapping_reader_cpu_ns(worker->scans.reader);
}

/* Processes that the scan did not reach keep the mappings known before. */
static void note_stuck(struct worker *worker)
{
	own_count(worker->own_counters, OWN_WALKS_STUCK);
	if (log_allowed(&worker->scans.stuck, 1))
		log_warning(
			"mapping scan timed out: a process holds its mmap lock, or the CPUs are busy; user frames of new processes may get no names");
	worker_want_scan_again(worker);
}

/* A process that maps memory holds its lock for moments. So it is named only if scan after scan meets the lock held. */
static void note_busy(struct worker *worker, uint32_t of, const struct mapped_process *process)
{
	struct mmap_holder *holder = &worker->scans.holders[of];
	uint64_t now_ns = clock_now_ns(worker->clock);

	if (!process) {
		*holder = (struct mmap_holder){ 0 };
		return;
	}
	own_count(worker->own_counters, OWN_WALKS_STUCK);
	worker_want_scan_again(worker);
	if (holder->tgid != process->tgid || holder->started_ns != process->started_ns)
		*holder = (struct mmap_holder){ process->tgid, process->started_ns, now_ns };
	else if (now_ns - holder->since_ns >= HELD_NS && log_allowed(&worker->scans.stuck, 1))
		log_warning("process %u (%s) of uid %u holds its mmap lock; its user frames may get no names",
			    process->tgid, process->comm, process->uid);
}

/* Names the process that makes scans long, or whose mappings are not all used. */
static void note_many(struct worker *worker, const struct mappings_many *many, uint64_t cpu_ns)
{
	const struct mapped_process *largest = many->largest;

	if (!largest || (!many->cut && cpu_ns < LOGGED_NS) || !log_allowed(&worker->scans.too_long, 1))
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
static int scan_part(struct worker *worker, uint32_t of, uint64_t deadline_ns)
{
	struct mapping_request request = { .of = of };
	int result;

	request.scan = worker->scans.from + mappings_begin_scan(worker->scans.mappings, of);
	for (;;) {
		result = mapping_reader_read(worker->scans.reader, &request, deadline_ns, add_mappings,
					     worker->scans.mappings);
		if (result < 0 || !mappings_end_pass(worker->scans.mappings))
			break;
		if (clock_now_ns(worker->clock) >= deadline_ns) {
			result = -EINPROGRESS;
			break;
		}
	}
	if (result == -EINPROGRESS)
		own_count(worker->own_counters, OWN_WALKS_PAUSED);
	else if (result < 0 && result != -ETIMEDOUT && result != -EBUSY)
		mappings_abandon_scan(worker->scans.mappings);
	note_busy(worker, of, mappings_busy(worker->scans.mappings));
	return result;
}

/* Processes with many mappings have a part of the CPU time of their own, and come last. */
static void scan_many(struct worker *worker)
{
	struct mappings_many many = mappings_many(worker->scans.mappings);
	uint64_t cpu_ns = scan_cpu_ns(worker);
	int result;

	if (!many.count || clock_now_ns(worker->clock) < worker->scans.many_due_ns)
		return;
	result = scan_part(worker, MAPPINGS_OF_MANY, worker_deadline_ns(worker, MANY_NS));
	cpu_ns = scan_cpu_ns(worker) - cpu_ns;
	worker->scans.many_due_ns = clock_now_ns(worker->clock) + REST_MANY * cpu_ns;
	many = mappings_many(worker->scans.mappings);
	if (!result)
		note_many(worker, &many, cpu_ns);
	if (result < 0 || many.unlisted)
		worker_want_scan(worker, SCAN_OF_ALL, worker->scans.many_due_ns);
}

static void note_result(struct worker *worker, int result)
{
	if (result == -ETIMEDOUT || result == -EBUSY)
		note_stuck(worker);
	else if (result == -EINPROGRESS)
		worker_want_scan_again(worker);
	else if (result < 0 && log_allowed(&worker->scans.errors, 1))
		log_warning("cannot read the mapping iterator: %s; user frames of new processes get no names",
			    strerror(-result));
}

static void spend(struct worker *worker, enum scan_kind kind, uint64_t cpu_ns)
{
	HOLD_LOCK(&worker->lock);

	scan_pace_spend(&worker->pace, kind, cpu_ns, worker->captures.count, clock_now_ns(worker->clock));
}

static void forget_mappings(struct worker *worker)
{
	uint64_t now_ns = clock_now_ns(worker->clock);

	if (now_ns >= worker->scans.older_due_ns) {
		mappings_grow_older(worker->scans.mappings);
		worker->scans.older_due_ns = now_ns + OLDER_NS;
	}
	mappings_forget(worker->scans.mappings, SECONDS_REMEMBERED);
	held_files_sweep(&worker->scans.held);
}

static void note_scan(struct worker *worker)
{
	HOLD_LOCK(&worker->lock);

	scan_pace_note_scan(&worker->pace, mappings_fresh(worker->scans.mappings));
}

void scans_run(struct worker *worker, bool with_tables)
{
	uint64_t cpu_ns = scan_cpu_ns(worker), many_ns;
	int result = scan_part(worker, MAPPINGS_OF_FEW, worker_deadline_ns(worker, SCAN_NS));

	if (!result)
		note_scan(worker);
	many_ns = scan_cpu_ns(worker);
	if (!result)
		scan_many(worker);
	many_ns = scan_cpu_ns(worker) - many_ns;
	atomic_store(&worker->own_counters->values[OWN_MAPPINGS_DROPPED],
		     mappings_dropped(worker->scans.mappings));
	if (with_tables)
		tables_follow(worker);
	forget_mappings(worker);
	spend(worker, SCAN_OF_ALL, scan_cpu_ns(worker) - cpu_ns - many_ns);
	note_result(worker, result);
}

static void scan_new(struct worker *worker)
{
	uint64_t cpu_ns = scan_cpu_ns(worker);
	int result = scan_part(worker, MAPPINGS_OF_NEW, worker_deadline_ns(worker, SCAN_NS));

	if (!result)
		note_scan(worker);
	tables_follow(worker);
	spend(worker, SCAN_OF_NEW, scan_cpu_ns(worker) - cpu_ns);
	note_result(worker, result);
}

enum scan_due scans_take_due(struct worker *worker, uint64_t *ret_next_ns)
{
	uint64_t unmapped = __atomic_load_n(&worker->kernel->control->unmapped, __ATOMIC_RELAXED);

	return scan_pace_take_due(&worker->pace, worker->captures.count, unmapped,
				  clock_now_ns(worker->clock), ret_next_ns);
}

void scans_do_due(struct worker *worker, enum scan_due due)
{
	if (due == SCAN_DUE_ALL)
		scans_run(worker, true);
	else if (due == SCAN_DUE_NEW)
		scan_new(worker);
	else if (due == SCAN_DUE_TABLES)
		tables_follow(worker);
}

void scans_meanwhile(void *user)
{
	struct worker *worker = user;
	uint64_t next_ns;
	enum scan_due due;

	worker_settle_heap(worker);
	pthread_mutex_lock(&worker->lock);
	due = scans_take_due(worker, &next_ns);
	pthread_mutex_unlock(&worker->lock);
	scans_do_due(worker, due);
}

void worker_want_mappings(struct worker *worker)
{
	worker_want_scan(worker, SCAN_OF_NEW, clock_now_ns(worker->clock) + SCAN_NEW_NS);
}

void worker_follow_mappings(struct worker *worker)
{
	worker_want_scan(worker, SCAN_OF_ALL, clock_now_ns(worker->clock) + SCAN_MOVED_NS);
}

void worker_note_process(struct worker *worker)
{
	pthread_mutex_lock(&worker->lock);
	scan_pace_note_process(&worker->pace, clock_now_ns(worker->clock));
	pthread_mutex_unlock(&worker->lock);
	worker_want_mappings(worker);
}
