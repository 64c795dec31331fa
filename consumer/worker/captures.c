/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * captures.c writes captures, on the worker thread: the row of one that begins, and when it has ended its names and all the rest. One
 * that cannot be written is tried again for two minutes, and then given up.
 */
#include "common/text/plural.h"
#include "consumer/process/heap.h"
#include "consumer/worker/state.h"

#include <errno.h>
#include <string.h>

#define RETRIES 24 /* tries before a capture is given up */

void captures_begin(struct worker *worker, struct capture *capture)
{
	char of[CAPTURE_WHOSE_BYTES];
	int64_t capture_id = 0;

	/*
	 * scan first, while the capture's processes are alive: they may end during the capture, or while the
	 * disk blocks
	 */
	scans_run(worker, true);
	if (store_begin_capture(worker->store, &capture->trigger, capture_available_history_ns(capture),
				&capture_id))
		log_warning("cannot write the row of a capture of %s that has begun: %s",
			    capture_whose(&capture->trigger, of, sizeof(of)), store_error(worker->store));
	__atomic_store_n(&capture->capture_id, capture_id, __ATOMIC_RELAXED);
}

static void give_up_capture(struct worker *worker, const struct capture *capture)
{
	char of[CAPTURE_WHOSE_BYTES];

	log_error("the capture of %s is lost: %s", capture_whose(&capture->trigger, of, sizeof(of)),
		  store_error(worker->store));
	if (capture->capture_id && store_give_up_capture(worker->store, capture->capture_id))
		log_warning(
			"cannot mark the lost capture as interrupted: %s; 'bourdon list' shows it as recording until bourdond is restarted",
			store_error(worker->store));
}

static uint64_t naming_patience(struct worker *worker)
{
	HOLD_LOCK(&worker->lock);

	return worker->reloads.in_force->settings.naming_ns;
}

/* Tells of a capture that is written. A log that is the journal has the entry instead of a line. */
static void tell_of_capture(struct worker *worker, const struct capture *capture,
			    const struct resolved *resolved, const struct stored_verdict *verdict)
{
	const struct announced announced = { capture, capture->capture_id, verdict };
	char of[CAPTURE_WHOSE_BYTES];

	if (!announce(&worker->announcer, &announced, clock_now_ns(worker->clock)) || !log_is_journal())
		log_info("captured %u %s of %s", capture->stacks.count,
			 plural(capture->stacks.count, "stack", "stacks"),
			 capture_whose(&capture->trigger, of, sizeof(of)));
	metrics_add(&worker->metrics, capture, resolved, verdict->kind);
}

/* Of latency_name_callers(). */
static bool name_function(void *user, int32_t frame, char into[LATENCY_FUNCTION_BYTES])
{
	struct kernel_symbol symbol;

	if (frame == KERNEL_FRAME_UNKNOWN || !kernel_symbols_find(user, frame, &symbol))
		return false;
	snprintf(into, LATENCY_FUNCTION_BYTES, "%s", symbol.name);
	return true;
}

int captures_name_callers(struct worker *worker, struct latency *latency)
{
	return latency_name_callers(latency, name_function, &worker->symbols);
}

static int write_capture(struct worker *worker, struct capture *capture)
{
	char of[CAPTURE_WHOSE_BYTES];
	struct resolved resolved;
	struct stored_verdict verdict;
	int result, tries = 0;

	capture_whose(&capture->trigger, of, sizeof(of));

	scans_run(worker, false); /* without tables: the capture that waits to be written goes first */
	result = resolve_capture(capture, worker->scans.mappings, &worker->symbols, &worker->kernel->manifest,
				 &worker->naming, worker_deadline_ns(worker, naming_patience(worker)),
				 &resolved);
	if (!result)
		result = captures_name_callers(worker, &capture->latency);
	if (result < 0) {
		log_error("the capture of %s is lost: %s", of, strerror(-result));
		store_give_up_capture(worker->store, capture->capture_id);
		return result;
	}
	while ((result = store_commit_capture(worker->store, capture, &resolved, worker->scans.mappings,
					      &capture->capture_id, &verdict)) < 0 &&
	       result != -EFBIG && tries < RETRIES) {
		if (!tries++)
			log_warning("cannot write the capture of %s: %s; trying again every 5 s, for 2 min",
				    of, store_error(worker->store));
		if (worker_pause(worker))
			tries = RETRIES; /* the daemon ends: one last try */
	}
	if (result < 0)
		give_up_capture(worker, capture);
	else
		tell_of_capture(worker, capture, &resolved, &verdict);
	resolved_free(&resolved);
	if (!result)
		run_write_counters(worker);
	return result;
}

void captures_commit(struct worker *worker, struct capture *capture)
{
	int result = write_capture(worker, capture);

	results_add(worker, capture, result < 0 ? 0 : capture->capture_id);
	/* before another capture can have the same address */
	pthread_mutex_lock(&worker->lock);
	shares_give(&worker->captures, capture_holder(capture));
	pthread_mutex_unlock(&worker->lock);
	capture_free(capture);
	heap_settle();
	expiry_note_written(worker);
}
