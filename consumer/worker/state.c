/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/worker/state.h"

#include "consumer/process/heap.h"

#define NAMING_RESERVE_NS (4 * CLOCK_SECOND_NS) /* time reserved for the database at the daemon's end */
#define SCAN_AGAIN_NS CLOCK_SECOND_NS
#define RETRY_NS (5 * CLOCK_SECOND_NS)
#define SETTLE_NS (CLOCK_SECOND_NS / 4)

uint64_t worker_deadline_ns(const struct worker *worker, uint64_t patience_ns)
{
	uint64_t deadline_ns = clock_now_ns(worker->clock) + patience_ns,
		 give_up_ns = atomic_load(&worker->give_up_ns);

	return give_up_ns && give_up_ns - NAMING_RESERVE_NS < deadline_ns ? give_up_ns - NAMING_RESERVE_NS
									  : deadline_ns;
}

void worker_add_job(struct worker *worker, struct job job)
{
	job_queue_add(&worker->queue, job, clock_now_ns(worker->clock));
	pthread_cond_signal(&worker->changed);
}

void worker_want_scan(struct worker *worker, enum scan_kind kind, uint64_t at_ns)
{
	HOLD_LOCK(&worker->lock);

	if (scan_pace_want(&worker->pace, kind, at_ns))
		pthread_cond_signal(&worker->changed);
}

void worker_want_scan_again(struct worker *worker)
{
	worker_want_scan(worker, SCAN_OF_ALL, clock_now_ns(worker->clock) + SCAN_AGAIN_NS);
}

bool worker_pause(struct worker *worker)
{
	uint64_t until_ns = clock_now_ns(worker->clock) + RETRY_NS;
	int waited = 0;
	HOLD_LOCK(&worker->lock);

	while (!worker->stopping && !waited)
		waited = thread_condition_wait_until(&worker->changed, &worker->lock, until_ns);
	return worker->stopping;
}

void worker_settle_heap(struct worker *worker)
{
	uint64_t now_ns = clock_now_ns(worker->clock);

	if (now_ns < worker->settled_ns + SETTLE_NS || !worker_has_captures(worker))
		return;
	heap_settle();
	worker->settled_ns = now_ns;
}
