/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * results.c tells the draining thread what has become of captures on demand: the worker thread adds results, the draining thread
 * takes them.
 */
#include "common/base/cleanup.h"
#include "consumer/worker/state.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

void results_add(struct worker *worker, const struct capture *capture, int64_t capture_id)
{
	const struct asking *asking = capture->trigger.asking;
	uint64_t one = 1;
	bool room;

	if (!asking)
		return;
	pthread_mutex_lock(&worker->lock);
	room = worker->results.count < ARRAY_SIZE(worker->results.waiting);
	if (room)
		worker->results.waiting[worker->results.count++] =
			(struct worker_result){ asking->serial, capture_id, capture->taken,
						capture->interrupted };
	pthread_mutex_unlock(&worker->lock);
	if (!room || write(worker->results.fd, &one, sizeof(one)) < 0)
		log_warning("cannot tell the client of capture %lld that it is complete",
			    (long long)capture_id);
}

int worker_results_fd(const struct worker *worker)
{
	return worker->results.fd;
}

bool worker_next_result(struct worker *worker, struct worker_result *ret_result)
{
	uint64_t times;

	/* reset first: a result that comes meanwhile makes it readable again */
	if (read(worker->results.fd, &times, sizeof(times)) < 0 && errno != EAGAIN)
		return false;
	HOLD_LOCK(&worker->lock);
	if (!worker->results.count)
		return false;
	*ret_result = worker->results.waiting[0];
	worker->results.count--;
	memmove(worker->results.waiting, worker->results.waiting + 1,
		worker->results.count * sizeof(worker->results.waiting[0]));
	return true;
}
