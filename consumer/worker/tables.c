/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tables.c has the unwind tables made: those that the mappings need, after each scan and while symbolizers are at work, and others
 * ahead of need, when no capture is under way. On the worker thread.
 */
#include "common/base/cleanup.h"
#include "consumer/process/heap.h"
#include "consumer/worker/state.h"

#include <string.h>
#include <unistd.h>

#define FOLLOW_NS (CLOCK_SECOND_NS / 4) /* longest time before other work gets its turn */
/*
 * Tables are made ahead of need soon after the start, and from time to time; in steps, between which other work gets its turn.
 */
#define AHEAD_FIRST_NS (3 * CLOCK_SECOND_NS)
#define AHEAD_EVERY_NS (600 * CLOCK_SECOND_NS)
#define AHEAD_STEP_NS (CLOCK_SECOND_NS / 20)
#define AHEAD_PAUSE_NS (10 * CLOCK_SECOND_NS) /* while a capture is under way */
#define AHEAD_SCAN_NS (3 * CLOCK_SECOND_NS)
#define AHEAD_SCANS_FROM (1U << 30)
#define AHEAD_BYTES_MAX (512UL << 10)

/* Behind the database, which no other daemon can have open. */
int tables_open(struct worker *worker, const struct worker_settings *settings)
{
	struct unwind_tools tools = { settings->spawner_socket, &worker->budget, NULL };
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int result;

	worker->tables.cache = tools.cache = file_cache_open(settings->where->state_dir, &worker->give_up_ns);
	result = unwind_tables_open(&worker->tables.unwind, settings->kernel, &tools, &worker->tables.gauges);
	if (worker->tables.cache)
		worker->tables.ahead_due_ns = clock_now_ns(worker->clock) + AHEAD_FIRST_NS;
	if (result < 0)
		log_error("cannot prepare the unwind tables: %s", strerror(-result));
	worker->budget.cpus = cpus > 0 ? (uint32_t)cpus : 1;
	return result;
}

void tables_close(struct tables *tables)
{
	tables_ahead_free(tables->ahead);
	unwind_tables_close(tables->unwind);
	file_cache_close(tables->cache);
}

void tables_follow(struct worker *worker)
{
	enum unwind_left left;

	if (atomic_load(&worker->give_up_ns))
		return;
	left = unwind_tables_follow(worker->tables.unwind, worker->scans.mappings, &worker->scans.files,
				    clock_now_ns(worker->clock) + FOLLOW_NS);
	pthread_mutex_lock(&worker->lock);
	worker->pace.tables_due_ns = left == UNWIND_LEFT_WORK ? clock_now_ns(worker->clock) : 0;
	pthread_mutex_unlock(&worker->lock);
	if (left == UNWIND_LEFT_PASS)
		worker_want_scan_again(worker);
}

/* The first processes have to do where there are very many mappings, or their files have long names. */
static long add_for_ahead(void *user, const char *records, size_t bytes)
{
	return mappings_bytes(user) < AHEAD_BYTES_MAX ? mappings_add_records(user, records, bytes) : -E2BIG;
}

/* All files that processes have mapped. Returns NULL if they cannot be had. */
static struct mappings *list_all(struct worker *worker)
{
	struct mappings *all = mappings_new();
	struct mapping_request request = { .of = MAPPINGS_OF_ALL };
	int result;

	if (!all)
		return NULL;
	/* another number than that of any scan */
	request.scan = worker->scans.from + AHEAD_SCANS_FROM + mappings_begin_scan(all, MAPPINGS_OF_ALL);
	result = mapping_reader_read(worker->scans.reader, &request,
				     worker_deadline_ns(worker, AHEAD_SCAN_NS), add_for_ahead, all);
	mappings_end_scan(all);
	if (!result || result == -E2BIG)
		return all;
	mappings_free(all);
	return NULL;
}

static void end_ahead(struct worker *worker)
{
	if (!worker->tables.ahead)
		return;
	tables_ahead_free(TAKE_PTR(worker->tables.ahead));
	heap_settle();
}

void tables_look_ahead(struct worker *worker)
{
	bool is_busy = worker_has_captures(worker) || atomic_load(&worker->give_up_ns);
	struct mappings *all = is_busy || worker->tables.ahead ? NULL : list_all(worker);

	if (all)
		worker->tables.ahead =
			tables_ahead_begin(worker->tables.cache, worker->naming.spawner_socket, all);
	if (is_busy || !worker->tables.ahead) {
		end_ahead(worker);
		worker->tables.ahead_due_ns = clock_now_ns(worker->clock) + AHEAD_PAUSE_NS;
	} else if (tables_ahead_step(worker->tables.ahead, clock_now_ns(worker->clock) + AHEAD_STEP_NS)) {
		worker->tables.ahead_due_ns = clock_now_ns(worker->clock) + AHEAD_STEP_NS;
	} else {
		end_ahead(worker);
		worker->tables.ahead_due_ns = clock_now_ns(worker->clock) + AHEAD_EVERY_NS;
	}
}

const struct unwind_gauges *worker_unwind(const struct worker *worker)
{
	return &worker->tables.gauges;
}
