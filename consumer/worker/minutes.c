/* SPDX-License-Identifier: GPL-2.0-only */
/* minutes.c writes minutes of activity, on the worker thread; the draining thread hands them over. */
#include "consumer/worker/state.h"

static void write_minute(struct worker *worker, struct activity_minute *minute)
{
	if (!store_add_activity(worker->store, minute, &worker->symbols))
		return;
	own_count(worker->own_counters, OWN_ACTIVITY_LOST);
	if (log_allowed(&worker->minutes.lost, 1))
		log_warning("cannot write a minute of activity to the database: %s",
			    store_error(worker->store));
}

void minutes_write(struct worker *worker, struct activity_minute *minute)
{
	write_minute(worker, minute);
	activity_minute_free(minute);
	pthread_mutex_lock(&worker->lock);
	worker->minutes.waiting--;
	pthread_mutex_unlock(&worker->lock);
	expiry_note_written(worker);
}

bool worker_add_activity(struct worker *worker, struct activity_minute *minute)
{
	bool room;

	pthread_mutex_lock(&worker->lock);
	room = worker->minutes.waiting < WORKER_MINUTES_MAX;
	if (room) {
		worker->minutes.waiting++;
		worker_add_job(worker, (struct job){ .kind = JOB_ACTIVITY, .minute = minute });
	}
	pthread_mutex_unlock(&worker->lock);
	if (!room)
		activity_minute_free(minute);
	return room;
}
