/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/worker/job_queue.h"

#define PASSED_MAX 8U /* captures that are written before one that waits, and came later */

/* The first is the one that has waited longest. */
static struct job *job_at(struct job_queue *queue, size_t position)
{
	return &queue->jobs[(queue->first + position) % JOBS_MAX];
}

static struct job remove_job(struct job_queue *queue, size_t position)
{
	struct job job = *job_at(queue, position);

	for (; position > 0; position--) {
		*job_at(queue, position) = *job_at(queue, position - 1);
		job_at(queue, position)->passed += job.kind == JOB_COMMIT;
	}
	queue->first = (queue->first + 1) % JOBS_MAX;
	queue->count--;
	return job;
}

static void note_level(struct job_queue *queue, uint64_t waited_ns)
{
	own_queue_note(queue->own_counters, OWN_QUEUE_JOBS,
		       (struct own_level){ .depth = queue->count, .lag_ns = waited_ns });
}

void job_queue_add(struct job_queue *queue, struct job job, uint64_t now_ns)
{
	job.since_ns = now_ns;
	*job_at(queue, queue->count++) = job;
	note_level(queue, now_ns - job_at(queue, 0)->since_ns);
}

/* Whether a capture is written before another one, which has waited longer. */
static bool passes(struct shares *captures, const struct job *job, const struct job *other)
{
	uint32_t places = shares_held_with(captures, capture_holder(job->capture)),
		 others = shares_held_with(captures, capture_holder(other->capture));

	if (other->passed >= PASSED_MAX)
		return false;
	return places != others ? places < others
				: !job->capture->trigger.asking && other->capture->trigger.asking;
}

/*
 * Captures to be written come last: one that begins is of processes that may end soon. Among them, the owner who has fewest places
 * goes first.
 */
static size_t next_position(struct job_queue *queue, struct shares *captures)
{
	size_t next = 0;

	for (size_t i = 0; i < queue->count; i++) {
		if (job_at(queue, i)->kind != JOB_COMMIT)
			return i;
		if (passes(captures, job_at(queue, i), job_at(queue, next)))
			next = i;
	}
	return next;
}

struct job job_queue_next(struct job_queue *queue, struct shares *captures, uint64_t now_ns)
{
	struct job job = remove_job(queue, next_position(queue, captures));

	note_level(queue, now_ns - job.since_ns);
	return job;
}

bool job_queue_take_reload(struct job_queue *queue)
{
	for (size_t i = 0; i < queue->count; i++) {
		if (job_at(queue, i)->kind == JOB_RELOAD) {
			remove_job(queue, i);
			return true;
		}
	}
	return false;
}
