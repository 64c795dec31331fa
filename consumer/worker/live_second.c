/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * live_second.c has the frames of a live second named, on the worker thread, and its lines made (live_text.h). The draining thread
 * hands it over and takes the lines.
 */
#include "common/base/cleanup.h"
#include "consumer/worker/live_text.h"
#include "consumer/worker/state.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/*
 * Longest time for the names of a live second, for as long as a capture that is handed over may wait for it. Naming gets more
 * of a busy CPU after 2 s. Between two times seconds get the names that are remembered, so that they stay seconds.
 */
#define LIVE_NAMING_NS (4 * CLOCK_SECOND_NS)
#define LIVE_REST 20U /* as many times as long as naming took */
#define LIVE_REST_NS_MAX (10 * CLOCK_SECOND_NS)

/* Returns the text, which the caller frees; NULL without memory. */
static char *make_live_text(struct worker *worker, struct capture *capture)
{
	uint64_t began_ns = clock_now_ns(worker->clock), rest_ns;
	bool asks = began_ns >= worker->live.rest_ns;
	struct resolved resolved;
	char *text;

	if (asks)
		scans_run(worker, false); /* nothing may have wanted a scan of others than targets */
	if (resolve_capture(capture, worker->scans.mappings, &worker->symbols, &worker->kernel->manifest,
			    &worker->live.naming, asks ? worker_deadline_ns(worker, LIVE_NAMING_NS) : 0,
			    &resolved) < 0)
		return NULL;
	if (asks) {
		rest_ns = LIVE_REST * (clock_now_ns(worker->clock) - began_ns);
		worker->live.rest_ns = clock_now_ns(worker->clock) +
				       (rest_ns < LIVE_REST_NS_MAX ? rest_ns : LIVE_REST_NS_MAX);
	}
	text = live_text(capture, &resolved);
	resolved_free(&resolved);
	return text;
}

void live_second_name(struct worker *worker, struct capture *capture)
{
	char *text = make_live_text(worker, capture);
	uint64_t one = 1;

	pthread_mutex_lock(&worker->lock);
	worker->live.text = text;
	worker->live.is_wanted = text != NULL;
	pthread_mutex_unlock(&worker->lock);
	if (!text)
		log_warning("a second of 'bourdon top --live' is lost: out of memory");
	else if (write(worker->results.fd, &one, sizeof(one)) < 0)
		log_warning("cannot signal a second of 'bourdon top --live' (eventfd): %s", strerror(errno));
	capture_free(capture);
}

void worker_name_live(struct worker *worker, struct capture *capture)
{
	pthread_mutex_lock(&worker->lock);
	worker->live.capture = capture;
	worker->live.is_wanted = true;
	pthread_cond_signal(&worker->changed);
	pthread_mutex_unlock(&worker->lock);
}

bool worker_is_live(struct worker *worker)
{
	bool is_live;

	pthread_mutex_lock(&worker->lock);
	is_live = worker->live.is_wanted;
	pthread_mutex_unlock(&worker->lock);
	return is_live;
}

char *worker_live_text(struct worker *worker)
{
	char *text;

	pthread_mutex_lock(&worker->lock);
	text = TAKE_PTR(worker->live.text);
	if (text)
		worker->live.is_wanted = false;
	pthread_mutex_unlock(&worker->lock);
	return text;
}
