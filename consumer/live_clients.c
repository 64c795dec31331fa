/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/live_clients.h"

#include "common/base/cleanup.h"
#include "common/protocol/live_line.h"
#include "common/system/log.h"
#include "consumer/capture/capture.h"

#include <inttypes.h>

void live_clients_open(struct live_clients *clients, const char *what, const char *intervals,
		       const struct user_names *names, struct own_counters *own_counters)
{
	*clients = (struct live_clients){ .what = what,
					  .intervals = intervals,
					  .names = names,
					  .own_counters = own_counters,
					  .limit = ASK_LIMIT,
					  .places = { .total = LIVE_CLIENTS, .at_once = true } };
}

static struct live_client *find(struct live_clients *clients, uint64_t number)
{
	for (size_t i = 0; i < ARRAY_SIZE(clients->clients); i++)
		if (clients->clients[i].number == number)
			return &clients->clients[i];
	return NULL;
}

bool live_clients_are(const struct live_clients *clients)
{
	for (size_t i = 0; i < ARRAY_SIZE(clients->clients); i++)
		if (clients->clients[i].number)
			return true;
	return false;
}

/* ---- who may ---- */

static void log_watcher(const struct live_clients *clients, const struct peer *peer)
{
	char by[CAPTURE_WHOSE_BYTES];

	log_info("%s watches %s",
		 user_name_write(user_names_find(clients->names, peer->uid), peer->uid, by, sizeof(by)),
		 clients->what);
}

/* Returns NULL, or why the client may not watch. Stores the client that has to leave for it, or 0. */
static const char *find_refusal(struct live_clients *clients, const struct peer *peer, uint64_t now_ns,
				uint64_t *ret_loser)
{
	const struct share_owner owner = peer_owner(peer);

	if (!peer_may_ask(peer))
		return "only root and members of bourdond's group may watch";
	if (!shares_allow(&clients->places, &owner, ret_loser))
		return "as many clients as may do so at once are watching; try again later";
	return ask_allowed(&clients->limit, peer->uid, now_ns)
		       ? NULL
		       : "this was asked for too often; try again in a few seconds";
}

static void forget(struct live_clients *clients, struct live_client *place)
{
	shares_give(&clients->places, place->number);
	*place = (struct live_client){ 0 };
}

/* It makes way: another user has no view yet, or is root. */
static void end_view(struct live_clients *clients, uint64_t number, uint64_t now_ns)
{
	forget(clients, find(clients, number));
	control_refuse(clients->control, number, 0, "this view makes way for that of another user", now_ns);
}

struct live_client *live_clients_admit(struct live_clients *clients, uint64_t number, const struct peer *peer,
				       uint64_t now_ns)
{
	const struct share_owner owner = peer_owner(peer);
	struct live_client *place;
	uint64_t loser;
	const char *why = find_refusal(clients, peer, now_ns, &loser);

	if (why) {
		control_refuse(clients->control, number, 0, why, now_ns);
		return NULL;
	}
	if (loser)
		end_view(clients, loser, now_ns);
	log_watcher(clients, peer);
	place = find(clients, 0);
	*place = (struct live_client){ .number = number };
	shares_take(&clients->places, &owner, number);
	return place;
}

void live_clients_leave(struct live_clients *clients, uint64_t number, uint64_t now_ns)
{
	struct live_client *place = number ? find(clients, number) : NULL;

	if (!place)
		return;
	forget(clients, place);
	control_dismiss(clients->control, number, "", now_ns);
}

void live_clients_interrupt(struct live_clients *clients, uint64_t now_ns)
{
	for (size_t i = 0; i < ARRAY_SIZE(clients->clients); i++)
		if (clients->clients[i].number)
			control_dismiss(clients->control, clients->clients[i].number, LIVE_INTERRUPTED "\n",
					now_ns);
}

/* ---- intervals ---- */

static void say_missed(struct live_clients *clients, const struct live_client *client)
{
	char line[64];

	snprintf(line, sizeof(line), "%s\t%s=%" PRIu32 "\n", LIVE_MISSED, clients->intervals, client->missed);
	control_say(clients->control, client->number, line);
}

static void say(struct live_clients *clients, struct live_client *client, const char *text, uint64_t now_ns)
{
	if (control_is_behind(clients->control, client->number)) {
		own_count(clients->own_counters, OWN_LINES_UNREAD);
		if (++client->missed > LIVE_MISSED_MAX)
			live_clients_leave(clients, client->number, now_ns);
		return;
	}
	if (client->missed)
		say_missed(clients, client);
	client->missed = 0;
	control_say_much(clients->control, client->number, text);
}

void live_clients_say(struct live_clients *clients, const char *text, uint64_t now_ns)
{
	for (size_t i = 0; i < ARRAY_SIZE(clients->clients); i++)
		if (clients->clients[i].number)
			say(clients, &clients->clients[i], text, now_ns);
}
