/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * live_clients.h owns the clients that watch something, interval by interval: who may, how many at once, and what becomes of those
 * that do not read. Two of it: of samples (live.h), and of latencies (latency_live.h).
 */
#ifndef BOURDON_CONSUMER_LIVE_CLIENTS_H
#define BOURDON_CONSUMER_LIVE_CLIENTS_H

#include "consumer/ask_limit.h"
#include "consumer/control.h"
#include "consumer/process/own_counters.h"
#include "consumer/process/shares.h"
#include "consumer/process/user_names.h"

#include <stdbool.h>
#include <stdint.h>

/* At once: each user has a share of them (shares.h). */
#define LIVE_CLIENTS 4U

/* A client that has not read for so many intervals is dismissed. */
#define LIVE_MISSED_MAX 10U

struct live_client {
	uint64_t number; /* of the control socket; 0: a free place */
	uint32_t missed; /* intervals since the last one that it got */
	uint32_t groups; /* of latencies, that it wants: a bit for each LATENCY_* */
};

struct live_clients {
	const char *what;      /* they watch, for the log */
	const char *intervals; /* what the line "missed" counts */
	const struct user_names *names;
	struct own_counters *own_counters;
	struct control_socket *control; /* NULL until there are clients */
	struct ask_limit limit;
	struct shares places; /* by the clients' numbers */
	struct live_client clients[LIVE_CLIENTS];
};

/* What is passed outlives it. */
void live_clients_open(struct live_clients *clients, const char *what, const char *intervals,
		       const struct user_names *names, struct own_counters *own_counters);

bool live_clients_are(const struct live_clients *clients);

/* A client asks. NULL: it was refused, with the reason. */
struct live_client *live_clients_admit(struct live_clients *clients, uint64_t number, const struct peer *peer,
				       uint64_t now_ns);

/* Says the lines of an interval. A client that is slow misses it, so that nothing piles up here, and in the end its place. */
void live_clients_say(struct live_clients *clients, const char *text, uint64_t now_ns);

/* The client wants no more, or has gone. Accepts clients of other requests. */
void live_clients_leave(struct live_clients *clients, uint64_t number, uint64_t now_ns);

/* When the daemon ends: tells all of them. */
void live_clients_interrupt(struct live_clients *clients, uint64_t now_ns);

#endif
