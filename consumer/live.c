/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/live.h"

#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/protocol/live_line.h"
#include "common/system/log.h"
#include "consumer/capture/capture_samples.h"
#include "consumer/capture/capture_scope.h"

#include <inttypes.h>
#include <string.h>

/* What is left of a second when a client comes is too short for a second of its own: it belongs to the next one. */
#define SECOND_NS_MIN (CLOCK_SECOND_NS / 2)

/* Names and users of processes may be so old: a walk over all processes takes more than everything else here. */
#define WALK_NS (5 * CLOCK_SECOND_NS)

void live_open(struct live *live, struct recorder *recorder, const struct user_names *names)
{
	*live = (struct live){ .recorder = recorder,
			       .names = names,
			       .limit = ASK_LIMIT,
			       .places = { .total = LIVE_CLIENTS, .at_once = true } };
}

void live_close(struct live *live)
{
	capture_free(live->second);
}

void live_start(struct live *live, struct control_socket *control, struct worker *worker)
{
	live->control = control;
	live->worker = worker;
}

static struct live_client *find(struct live *live, uint64_t number)
{
	for (size_t i = 0; i < ARRAY_SIZE(live->clients); i++)
		if (live->clients[i].number == number)
			return &live->clients[i];
	return NULL;
}

static bool has_clients(const struct live *live)
{
	for (size_t i = 0; i < ARRAY_SIZE(live->clients); i++)
		if (live->clients[i].number)
			return true;
	return false;
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
	if (history_ns >= SECOND_NS_MIN && !worker_is_live(live->worker))
		end_second(live, now_ns);
}

void live_tick(struct live *live, uint64_t now_ns)
{
	live_say(live, now_ns);
	if (!has_clients(live)) {
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
	if (now_ns - live->second->trigger.triggered_ns >= SECOND_NS_MIN && !worker_is_live(live->worker))
		end_second(live, now_ns);
}

/* ---- clients ---- */

/* One line: a kind, and perhaps a number. */
static void say_line(struct live *live, uint64_t number, const char *kind, const char *key, uint32_t value)
{
	char line[64];

	snprintf(line, sizeof(line), "%s\t%s=%" PRIu32 "\n", kind, key, value);
	control_say(live->control, number, line);
}

/* A client that is slow misses seconds, so that nothing piles up here, and in the end its place. */
static void say_second(struct live *live, struct live_client *client, const char *text, uint64_t now_ns)
{
	uint64_t number = client->number;

	if (control_is_behind(live->control, number)) {
		own_count(live->recorder->sources.own_counters, OWN_LINES_UNREAD);
		if (++client->missed > LIVE_MISSED_MAX)
			live_leave(live, number, now_ns);
		return;
	}
	if (client->missed)
		say_line(live, number, LIVE_MISSED, "seconds", client->missed);
	client->missed = 0;
	control_say_much(live->control, number, text);
}

void live_say(struct live *live, uint64_t now_ns)
{
	_cleanup_free_ char *text = worker_live_text(live->worker);

	for (size_t i = 0; i < ARRAY_SIZE(live->clients) && text; i++)
		if (live->clients[i].number)
			say_second(live, &live->clients[i], text, now_ns);
}

static void log_watcher(const struct live *live, const struct peer *peer)
{
	char by[CAPTURE_WHOSE_BYTES];

	log_info("%s watches what is on CPU",
		 user_name_write(user_names_find(live->names, peer->uid), peer->uid, by, sizeof(by)));
}

/* Returns NULL, or why the client may not watch. Stores the client that has to leave for it, or 0. */
static const char *find_refusal(struct live *live, const struct peer *peer, uint64_t now_ns,
				uint64_t *ret_loser)
{
	const struct share_owner owner = peer_owner(peer);

	if (!peer_may_ask(peer))
		return "only root and members of bourdond's group may watch";
	if (!shares_allow(&live->places, &owner, ret_loser))
		return "as many clients as may do so at once are watching; try again later";
	return ask_allowed(&live->limit, peer->uid, now_ns)
		       ? NULL
		       : "this was asked for too often; try again in a few seconds";
}

static void forget(struct live *live, struct live_client *place)
{
	shares_give(&live->places, place->number);
	*place = (struct live_client){ 0 };
}

/* It makes way: another user has no view yet, or is root. */
static void end_view(struct live *live, uint64_t client, uint64_t now_ns)
{
	forget(live, find(live, client));
	control_refuse(live->control, client, 0, "this view makes way for that of another user", now_ns);
}

void live_ask(struct live *live, uint64_t client, const struct peer *peer, uint64_t now_ns)
{
	const struct share_owner owner = peer_owner(peer);
	uint64_t loser;
	const char *why = find_refusal(live, peer, now_ns, &loser);

	if (why) {
		control_refuse(live->control, client, 0, why, now_ns);
		return;
	}
	if (loser)
		end_view(live, loser, now_ns);
	log_watcher(live, peer);
	*find(live, 0) = (struct live_client){ .number = client };
	shares_take(&live->places, &owner, client);
	if (live->second)
		return;
	tracking_consume(live->recorder->sources.tracking);
	tracking_walk(live->recorder->sources.tracking);
	show_last_second(live, now_ns);
}

void live_leave(struct live *live, uint64_t client, uint64_t now_ns)
{
	struct live_client *place = client ? find(live, client) : NULL;

	if (!place)
		return;
	forget(live, place);
	control_dismiss(live->control, client, "", now_ns);
}

void live_interrupt(struct live *live, uint64_t now_ns)
{
	for (size_t i = 0; i < ARRAY_SIZE(live->clients); i++)
		if (live->clients[i].number)
			control_dismiss(live->control, live->clients[i].number, LIVE_INTERRUPTED "\n",
					now_ns);
}
