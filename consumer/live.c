/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/live.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "consumer/capture/capture_samples.h"
#include "consumer/capture/capture_scope.h"

/* What is left of a second when a client comes is too short for a second of its own: it belongs to the next one. */
#define SECOND_NS_MIN (CLOCK_SECOND_NS / 2)

/* Names and users of processes may be so old: a walk over all processes takes more than everything else here. */
#define WALK_NS (5 * CLOCK_SECOND_NS)

void live_open(struct live *live, struct recorder *recorder, const struct user_names *names)
{
	*live = (struct live){ .recorder = recorder };
	live_clients_open(&live->clients, "what is on CPU", "seconds", names, recorder->sources.own_counters);
}

void live_close(struct live *live)
{
	capture_free(live->second);
}

void live_start(struct live *live, struct control_socket *control, struct worker *worker)
{
	live->clients.control = control;
	live->worker = worker;
}

/* ---- seconds ---- */

/* Everybody's samples on CPU, from `history_ns` before now on, or of what `before` has left unread. NULL without memory. */
static struct capture *begin_second(const struct live *live, const struct capture *before,
				    uint64_t history_ns, uint64_t now_ns)
{
	const struct capture_request everyone = { .everyone = true, .kinds = CAPTURE_ON_CPU };
	struct rings rings = live->recorder->rings;
	struct capture_trigger trigger = { .asking = asking_new(&everyone),
					   .mode = TRIGGER_MANUAL,
					   .triggered_ns = now_ns - history_ns,
					   .triggered_at = clock_wall_now_ns(live->recorder->sources.clock) -
							   (int64_t)history_ns,
					   .capture_ns = CAPTURE_FOR_NS_MAX,
					   .hz = live->recorder->sources.kernel->manifest.hz };
	struct capture *second;

	if (!trigger.asking)
		return NULL;
	rings.offcpu_slots = NULL;
	second = before ? capture_follow(&trigger, before) : capture_begin(&trigger, &rings);
	if (!second)
		asking_free(trigger.asking);
	return second;
}

static void read_rings(const struct live *live)
{
	const struct tracking *tracking = live->recorder->sources.tracking;
	struct capture_scope scope = { .targets = &tracking->targets,
				       .cgroups = live->recorder->sources.cgroups,
				       .rule = &live->second->trigger.asking->rule,
				       .usage = &tracking->usage,
				       .asking = live->second->trigger.asking };

	capture_drain(live->second, capture_scope_describe, &scope);
}

/* Hands the second over, and begins the next one. */
static void end_second(struct live *live, uint64_t now_ns)
{
	struct capture *ended = live->second;

	capture_end(ended, now_ns, false);
	live->second = begin_second(live, ended, 0, now_ns);
	worker_name_live(live->worker, ended);
}

/* The last second before now, which the rings still have: whoever begins to watch need not wait for the next one. */
static void show_last_second(struct live *live, uint64_t now_ns)
{
	uint64_t armed_ns = live->recorder->rings.armed_ns, history_ns = CLOCK_SECOND_NS;

	if (now_ns - armed_ns < history_ns)
		history_ns = now_ns - armed_ns;
	live->second = begin_second(live, NULL, history_ns, now_ns);
	if (!live->second)
		return;
	read_rings(live);
	if (history_ns >= SECOND_NS_MIN && !worker_is_live(live->worker, LIVE_SAMPLES))
		end_second(live, now_ns);
}

void live_tick(struct live *live, uint64_t now_ns)
{
	live_say(live, now_ns);
	if (!live_clients_are(&live->clients)) {
		capture_free(TAKE_PTR(live->second));
		return;
	}
	if (now_ns - live->recorder->sources.tracking->usage.walked_ns >= WALK_NS)
		tracking_walk(live->recorder->sources.tracking);
	if (!live->second) {
		show_last_second(live, now_ns); /* there was no memory for it */
		return;
	}
	read_rings(live);
	if (now_ns - live->second->trigger.triggered_ns >= SECOND_NS_MIN &&
	    !worker_is_live(live->worker, LIVE_SAMPLES))
		end_second(live, now_ns);
}

/* ---- clients ---- */

void live_say(struct live *live, uint64_t now_ns)
{
	_cleanup_free_ char *text = worker_live_text(live->worker, LIVE_SAMPLES);

	if (text)
		live_clients_say(&live->clients, text, now_ns);
}

void live_ask(struct live *live, uint64_t client, const struct peer *peer, uint64_t now_ns)
{
	if (!live_clients_admit(&live->clients, client, peer, now_ns) || live->second)
		return;
	tracking_consume(live->recorder->sources.tracking);
	tracking_walk(live->recorder->sources.tracking);
	show_last_second(live, now_ns);
}

void live_leave(struct live *live, uint64_t client, uint64_t now_ns)
{
	live_clients_leave(&live->clients, client, now_ns);
}

void live_interrupt(struct live *live, uint64_t now_ns)
{
	live_clients_interrupt(&live->clients, now_ns);
}
