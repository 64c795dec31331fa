/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * live_second.c has what is watched named, on the worker thread, and lines made of it: the frames of a second (live_text.h), and an
 * interval of latencies (latency_lines.h). The draining thread hands it over and takes the lines.
 */
#include "common/base/cleanup.h"
#include "consumer/worker/latency_lines.h"
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

/* Tells the draining thread, which waits for it. NULL: there was no memory for it. */
static void give_text(struct worker *worker, enum live_kind kind, char *text)
{
	static const char *const names[LIVE_KINDS] = { "a second of 'bourdon top --live'",
						       "an interval of 'bourdon latency --live'" };
	uint64_t one = 1;

	pthread_mutex_lock(&worker->lock);
	worker->live.texts[kind] = text;
	worker->live.is_wanted[kind] = text != NULL;
	pthread_mutex_unlock(&worker->lock);
	if (!text)
		log_warning("%s is lost: out of memory", names[kind]);
	else if (write(worker->results.fd, &one, sizeof(one)) < 0)
		log_warning("cannot signal %s (eventfd): %s", names[kind], strerror(errno));
}

void live_second_name(struct worker *worker, struct capture *capture)
{
	give_text(worker, LIVE_SAMPLES, make_live_text(worker, capture));
	capture_free(capture);
}

static void free_latency(struct latency *latency)
{
	if (latency)
		latency_free(latency);
	free(latency);
}

void live_latency_name(struct worker *worker)
{
	struct latency *latency;
	int64_t wall_ns;

	pthread_mutex_lock(&worker->lock);
	latency = TAKE_PTR(worker->live.latency);
	wall_ns = worker->live.wall_ns;
	pthread_mutex_unlock(&worker->lock);
	give_text(worker, LIVE_LATENCIES,
		  captures_name_callers(worker, latency) ? NULL : latency_lines(latency, wall_ns));
	free_latency(latency);
}

void live_work_free(struct live_work *live)
{
	capture_free(live->second);
	free_latency(live->latency);
	for (int kind = 0; kind < LIVE_KINDS; kind++)
		free(live->texts[kind]);
}

/* ---- the draining thread ---- */

void worker_name_live(struct worker *worker, struct capture *capture)
{
	HOLD_LOCK(&worker->lock);

	worker->live.second = capture;
	worker->live.is_wanted[LIVE_SAMPLES] = true;
	pthread_cond_signal(&worker->changed);
}

void worker_name_latency(struct worker *worker, struct latency *latency, int64_t wall_ns)
{
	HOLD_LOCK(&worker->lock);

	worker->live.latency = latency;
	worker->live.wall_ns = wall_ns;
	worker->live.is_wanted[LIVE_LATENCIES] = true;
	pthread_cond_signal(&worker->changed);
}

bool worker_is_live(struct worker *worker, enum live_kind kind)
{
	HOLD_LOCK(&worker->lock);

	return worker->live.is_wanted[kind];
}

char *worker_live_text(struct worker *worker, enum live_kind kind)
{
	HOLD_LOCK(&worker->lock);

	if (worker->live.texts[kind])
		worker->live.is_wanted[kind] = false;
	return TAKE_PTR(worker->live.texts[kind]);
}
