/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * live.h owns the seconds of those who watch what is on CPU now. While somebody does, it reads the rings once a second and has the
 * worker thread make lines of that (live_line.h), which all of them share; nothing is written. While the worker thread is busy, the
 * present second goes on: then it is longer. What finds no room in it counts as left out.
 */
#ifndef BOURDON_CONSUMER_LIVE_H
#define BOURDON_CONSUMER_LIVE_H

#include "consumer/live_clients.h"
#include "consumer/recorder.h"

struct live {
	struct recorder *recorder; /* has the rings, and what tells whose samples these are */
	struct worker *worker;     /* NULL until live_start() */
	struct live_clients clients;
	struct capture *second; /* the present one; NULL: nobody watches */
};

/* What it uses outlives it; `recorder` is open. */
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
