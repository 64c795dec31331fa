/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * job_queue.h owns the jobs that others have handed to the worker thread, and which of them is done next. Call its functions with
 * the worker's lock.
 */
#ifndef BOURDON_CONSUMER_WORKER_JOB_QUEUE_H
#define BOURDON_CONSUMER_WORKER_JOB_QUEUE_H

#include "consumer/capture/capture.h"
#include "consumer/host/activity_minute.h"
#include "consumer/process/own_counters.h"
#include "consumer/process/shares.h"
#include "consumer/store/store.h"
#include "consumer/worker/worker.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum job_kind {
	JOB_RUN, /* the first one */
	JOB_BEGIN,
	JOB_COMMIT,
	JOB_ACTIVITY,
	JOB_RELOAD,
	JOB_LIMIT,
	JOB_LIVE,
	JOB_LATENCY,
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
 * JOB_LIVE, JOB_LATENCY, JOB_BASELINE and those that a time calls for do not wait.
 */
#define JOBS_MAX (1 + 2 * WORKER_PLACES_MAX + WORKER_MINUTES_MAX + 2)

/* Zeroed before its first use, but for own_counters: OWN_QUEUE_JOBS tells how many wait, and for how long. */
struct job_queue {
	struct own_counters *own_counters;
	struct job jobs[JOBS_MAX];
	size_t first, count;
};

/* By which shares.h knows a capture that has a place. */
static inline uint64_t capture_holder(const struct capture *capture)
{
	return (uintptr_t)capture;
}

void job_queue_add(struct job_queue *queue, struct job job, uint64_t now_ns);

/* Takes the next one out: there is one. `captures` tells which owner has how many places. */
struct job job_queue_next(struct job_queue *queue, struct shares *captures, uint64_t now_ns);

/* Takes a reload out, past the captures that wait. Returns false if there is none. */
bool job_queue_take_reload(struct job_queue *queue);

#endif
