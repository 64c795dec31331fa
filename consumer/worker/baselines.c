/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * baselines.c writes baselines, on the worker thread, when nothing else is to be done. The draining thread hands one over, and
 * has it given up where a capture begins.
 */
#include "common/base/cleanup.h"
#include "consumer/process/heap.h"
#include "consumer/worker/state.h"

/* Longest time for the names of a baseline; most are known from captures before. */
#define BASELINE_NAMING_NS (2 * CLOCK_SECOND_NS)

static bool is_baseline_wanted(struct worker *worker)
{
	return !atomic_load(&worker->baselines.hurry) && !atomic_load(&worker->give_up_ns);
}

/*
 * Without a scan of the mappings, and without a second try: a baseline is worth no capture's time. One that gets no name in
 * time is still worth to be compared by its addresses.
 */
static bool write_baseline(struct worker *worker, struct capture *baseline)
{
	struct resolved resolved;
	int result;

	if (resolve_capture(baseline, worker->scans.mappings, &worker->symbols, &worker->kernel->manifest,
			    &worker->baselines.naming, worker_deadline_ns(worker, BASELINE_NAMING_NS),
			    &resolved) < 0)
		return false;
	result = is_baseline_wanted(worker)
			 ? store_commit_baseline(worker->store, baseline, &resolved, worker->scans.mappings)
			 : -ECANCELED;
	resolved_free(&resolved);
	if (result < 0 && result != -ECANCELED && log_allowed(&worker->baselines.lost, 1))
		log_info("a baseline of rule %s was not written: %s", baseline->trigger.rule,
			 store_error(worker->store));
	return !result;
}

void baselines_write(struct worker *worker, struct capture *baseline)
{
	bool written = is_baseline_wanted(worker) && write_baseline(worker, baseline);

	own_count(worker->own_counters, written ? OWN_BASELINES : OWN_BASELINES_LOST);
	capture_free(baseline);
	heap_settle();
	expiry_note_written(worker);
}

/* Call it with the lock. */
static void give_up_baseline(struct worker *worker)
{
	if (!worker->baselines.waiting)
		return;
	capture_free(TAKE_PTR(worker->baselines.waiting));
	own_count(worker->own_counters, OWN_BASELINES_LOST);
}

void baselines_make_way(struct worker *worker)
{
	give_up_baseline(worker);
	atomic_store(&worker->baselines.hurry, true);
}

void worker_add_baseline(struct worker *worker, struct capture *baseline)
{
	HOLD_LOCK(&worker->lock);

	give_up_baseline(worker);
	worker->baselines.waiting = baseline;
	pthread_cond_signal(&worker->changed);
}
