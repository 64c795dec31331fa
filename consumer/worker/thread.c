/* SPDX-License-Identifier: GPL-2.0-only */
/* thread.c opens, starts and ends the worker thread. All functions but run_thread() are the draining thread's. */
#include "common/base/cleanup.h"
#include "common/symbolizer/debug_files.h"
#include "consumer/symbols/jit_map.h"
#include "consumer/symbols/vdso.h"
#include "consumer/worker/state.h"

#include <string.h>
#include <sys/eventfd.h>

#define STACK_BYTES (512UL << 10)
#define OPEN_PATIENCE_NS (10 * CLOCK_SECOND_NS)

int worker_open(struct worker **ret_worker, const struct worker_settings *settings)
{
	struct worker *worker = calloc(1, sizeof(*worker));
	int result;

	if (!worker)
		return -ENOMEM;
	worker->kernel = settings->kernel;
	worker->reloads.where = settings->where;
	worker->clock = settings->clock;
	worker->own_counters = settings->own_counters;
	worker->queue.own_counters = settings->own_counters;
	worker->own_counters->queues[OWN_QUEUE_JOBS].room = JOBS_MAX;
	worker->reloads.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	worker->results.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	worker->captures = (struct shares){ .total = WORKER_CAPTURES_MAX,
					    .of_users = WORKER_CAPTURES_ASKED_MAX,
					    .reserve = WORKER_CAPTURES_RESERVE };
	/* no long wait before the thread runs: the signals that end the daemon are blocked */
	atomic_init(&worker->give_up_ns, clock_now_ns(worker->clock) + OPEN_PATIENCE_NS);
	announce_open(&worker->announcer, settings->journal_socket, settings->where->state_dir,
		      settings->own_counters);
	metrics_open(&worker->metrics, settings->where->state_dir, settings->kernel, settings->own_usage,
		     settings->own_counters, clock_wall_now_ns(worker->clock));
	pthread_mutex_init(&worker->lock, NULL);
	thread_condition_init(&worker->changed);
	result = worker->reloads.fd >= 0 && worker->results.fd >= 0 ? 0 : -ENOMEM;
	if (!result)
		result = scans_open(worker, settings);
	if (!result)
		result = kernel_symbols_open(&worker->symbols, settings->kernel->symbols_fd);
	if (result < 0)
		log_error("cannot prepare the worker thread: %s", strerror(-result));
	else
		result = store_open(&worker->store, settings->where->state_dir, &settings->limits,
				    settings->machine, worker->clock, &worker->give_up_ns);
	if (!result)
		result = tables_open(worker, settings);
	if (result < 0) {
		worker_stop(worker, 0);
		return result;
	}
	worker->naming = (struct naming){ .spawner_socket = settings->spawner_socket,
					  .vdso = vdso_open(),
					  .mapped_files = &worker->scans.files,
					  .files = known_files_new(),
					  .kept = worker->tables.cache,
					  .known = store_known_frames(worker->store),
					  .counters = settings->own_counters,
					  .budget = &worker->budget,
					  .meanwhile = scans_meanwhile,
					  .user = worker,
					  .debug_root = DEBUG_ROOT,
					  .jit_map_directory = JIT_MAP_DIRECTORY };
	worker->live.naming = worker->naming;
	worker->live.naming.cache = name_cache_new();
	worker->baselines.naming = worker->naming;
	worker->baselines.naming.hurry = &worker->baselines.hurry;
	*ret_worker = worker;
	return result;
}

static void *run_thread(void *user)
{
	struct worker *worker = user;

	turns_run(worker);
	worker_end_run(worker);
	return NULL;
}

int worker_start(struct worker *worker)
{
	int result = thread_start(&worker->thread, STACK_BYTES, run_thread, worker);

	if (result < 0)
		log_error("cannot start the worker thread: %s", strerror(-result));
	worker->started = !result;
	return result;
}

void worker_stop(struct worker *worker, uint64_t patience_ns)
{
	if (!worker)
		return;
	if (worker->started) {
		atomic_store(&worker->give_up_ns, clock_now_ns(worker->clock) + patience_ns);
		pthread_mutex_lock(&worker->lock);
		worker->stopping = true;
		pthread_cond_signal(&worker->changed);
		pthread_mutex_unlock(&worker->lock);
		pthread_join(worker->thread, NULL);
	}
	/* a thread that did not run has left what it owns */
	while (worker->queue.count) {
		struct job job =
			job_queue_next(&worker->queue, &worker->captures, clock_now_ns(worker->clock));

		if (job.kind == JOB_COMMIT)
			capture_free(job.capture);
		activity_minute_free(job.minute);
	}
	live_work_free(&worker->live);
	capture_free(worker->baselines.waiting);
	configuration_free(worker->reloads.configuration);
	config_errors_free(&worker->reloads.errors);
	cleanup_close(&worker->reloads.fd);
	cleanup_close(&worker->results.fd);
	announce_close(&worker->announcer);
	metrics_close(&worker->metrics);
	store_close(worker->store);
	tables_close(&worker->tables);
	scans_close(&worker->scans);
	cleanup_close(&worker->naming.vdso);
	known_files_free(worker->naming.files);
	name_cache_free(worker->live.naming.cache);
	kernel_symbols_close(&worker->symbols);
	pthread_mutex_destroy(&worker->lock);
	pthread_cond_destroy(&worker->changed);
	free(worker);
}
