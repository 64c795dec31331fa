/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * live.h owns the clients that watch what is on CPU now. While there is one, it reads the rings once a second and has the worker
 * thread make lines of that (live_line.h), which all of them share; nothing is written. While the worker thread is busy, the
 * present second goes on: then it is longer. What finds no room in it counts as left out.
 */
#ifndef BOURDON_CONSUMER_LIVE_H
#define BOURDON_CONSUMER_LIVE_H

#include "consumer/ask_limit.h"
#include "consumer/control.h"
#include "consumer/process/user_names.h"
#include "consumer/recorder.h"

/* At once: each user has a share of them (shares.h). */
#define LIVE_CLIENTS 4U

/* A client that has not read for so many seconds is dismissed. */
#define LIVE_MISSED_MAX 10U

struct live_client {
	uint64_t number; /* of the control socket; 0: a free place */
	uint32_t missed; /* seconds since the last one that it got */
};

struct live {
	struct recorder *recorder;      /* has the rings, and what tells whose samples these are */
	const struct user_names *names; /* for the log */
	struct control_socket *control; /* NULL until live_start() */
	struct worker *worker;
	struct ask_limit limit;
	struct shares places; /* by the clients' numbers */
	struct live_client clients[LIVE_CLIENTS];
	struct capture *second; /* the present one; NULL: nobody watches */
};

/* What it uses outlives it. */
void live_open(struct live *live, struct recorder *recorder, const struct user_names *names);
void live_close(struct live *live);

/* Before the first request. */
void live_start(struct live *live, struct control_socket *control, struct worker *worker);

/* A client asks: it gets the last second, if nobody watched before, and each one from now on; or is refused with the reason. */
void live_ask(struct live *live, uint64_t client, const struct peer *peer, uint64_t now_ns);

/* The client wants no more, or has gone. Accepts clients of other requests. */
void live_leave(struct live *live, uint64_t client, uint64_t now_ns);

/* Call it once a second: reads the rings, and ends the second where that is possible. */
void live_tick(struct live *live, uint64_t now_ns);

/* Call it when epoll reports results of the worker thread (SOURCE_STORED): says the lines of a second. */
void live_say(struct live *live, uint64_t now_ns);

/* Call it when the daemon ends: tells all clients. */
void live_interrupt(struct live *live, uint64_t now_ns);

#endif
