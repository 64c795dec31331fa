/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * turns.c chooses what the worker thread does next, by what has least patience: jobs, then what the mappings need, then what a time
 * calls for, what is watched, and last a baseline.
 */
#include "common/base/cleanup.h"
#include "consumer/worker/state.h"

static void do_job(struct worker *worker, const struct job *job)
{
	switch (job->kind) {
	case JOB_RUN:
		if (store_is_outdated(worker->store))
			run_migrate(worker);
		expiry_run(worker);
		reload_follow_settings(worker);
		break;
	case JOB_BEGIN:
		captures_begin(worker, job->capture);
		break;
	case JOB_COMMIT:
		captures_commit(worker, job->capture);
		break;
	case JOB_ACTIVITY:
		minutes_write(worker, job->minute);
		break;
	case JOB_RELOAD:
		reload_read(worker);
		break;
	case JOB_LIMIT:
		if (store_limit(worker->store, &job->limits))
			log_warning("cannot shrink the database to its new max_size: %s",
				    store_error(worker->store));
		expiry_run(worker);
		reload_follow_settings(worker);
		break;
	case JOB_EXPIRE:
		expiry_run(worker);
		break;
	case JOB_METRICS:
		metrics_write(&worker->metrics, clock_now_ns(worker->clock));
		break;
	case JOB_ANNOUNCE:
		announce_retry(&worker->announcer, clock_now_ns(worker->clock));
		break;
	case JOB_AHEAD:
		tables_look_ahead(worker);
		break;
	case JOB_LIVE:
		live_second_name(worker, job->capture);
		break;
	case JOB_LATENCY:
		live_latency_name(worker);
		break;
	case JOB_BASELINE:
		baselines_write(worker, job->capture);
		break;
	}
}

/* Stores the kind of the first job that a time calls for, and returns that time; 0: there is none. */
static uint64_t next_timed_ns(const struct worker *worker, enum job_kind *ret_kind)
{
	const struct {
		enum job_kind kind;
		uint64_t due_ns;
	} timed[] = {
		{ JOB_EXPIRE, worker->expire_due_ns },
		{ JOB_METRICS, worker->metrics.due_ns },
		{ JOB_ANNOUNCE, announce_retry_ns(&worker->announcer) },
		{ JOB_AHEAD, worker->tables.ahead_due_ns },
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
	enum scan_due due;
	uint64_t due_ns; /* with neither of them, when there will be one; 0: never */
};

static bool give_job(struct turn *turn, enum job_kind kind, struct capture **waiting)
{
	turn->job = (struct job){ .kind = kind, .capture = waiting ? *waiting : NULL };
	turn->has_job = true;
	if (waiting)
		*waiting = NULL;
	return true;
}

/* Chooses by what has least patience. Returns false if nothing is to be done now. Call it with the lock. */
static bool choose_turn(struct worker *worker, struct turn *ret_turn)
{
	enum job_kind timed;
	uint64_t timed_ns = next_timed_ns(worker, &timed);

	*ret_turn = (struct turn){ .has_job = worker->queue.count > 0 };
	if (ret_turn->has_job) {
		ret_turn->job =
			job_queue_next(&worker->queue, &worker->captures, clock_now_ns(worker->clock));
		return true;
	}
	if (worker->stopping)
		return false;
	ret_turn->due = scans_take_due(worker, &ret_turn->due_ns);
	if (ret_turn->due)
		return true;
	if (clock_is_due(timed_ns, clock_now_ns(worker->clock)))
		return give_job(ret_turn, timed, NULL);
	if (worker->live.second)
		return give_job(ret_turn, JOB_LIVE, &worker->live.second);
	if (worker->live.latency)
		return give_job(ret_turn, JOB_LATENCY, NULL);
	if (worker->baselines.waiting) {
		atomic_store(&worker->baselines.hurry, false);
		return give_job(ret_turn, JOB_BASELINE, &worker->baselines.waiting);
	}
	ret_turn->due_ns = clock_sooner(ret_turn->due_ns, timed_ns);
	return false;
}

static void do_turn(struct worker *worker, const struct turn *turn)
{
	scans_do_due(worker, turn->due);
	if (turn->has_job)
		do_job(worker, &turn->job);
	worker_settle_heap(worker);
}

/* Waits for what is to be done next. Returns false at the daemon's end, when all jobs are done. */
static bool await_turn(struct worker *worker, struct turn *ret_turn)
{
	HOLD_LOCK(&worker->lock);

	while (!choose_turn(worker, ret_turn)) {
		if (worker->stopping)
			return false;
		if (ret_turn->due_ns)
			thread_condition_wait_until(&worker->changed, &worker->lock, ret_turn->due_ns);
		else
			pthread_cond_wait(&worker->changed, &worker->lock);
	}
	return true;
}

bool worker_turn(struct worker *worker)
{
	struct turn turn;
	bool found;

	pthread_mutex_lock(&worker->lock);
	found = choose_turn(worker, &turn);
	pthread_mutex_unlock(&worker->lock);
	if (found)
		do_turn(worker, &turn);
	return found;
}

void turns_run(struct worker *worker)
{
	struct turn turn;

	while (await_turn(worker, &turn))
		do_turn(worker, &turn);
}
