/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * latency_live.h owns those who watch latencies. While somebody does, the groups that were asked for are measured, and at the end of
 * each epoch it reads what the kernel has of it and has the worker thread make lines of that (latency_line.h), which all clients
 * share; nothing is written. While the worker thread is busy, the present interval goes on: then it is two epochs long.
 */
#ifndef BOURDON_CONSUMER_LATENCY_LIVE_H
#define BOURDON_CONSUMER_LATENCY_LIVE_H

#include "consumer/host/cgroups.h"
#include "consumer/live_clients.h"
#include "consumer/measuring.h"

struct latency_live {
	struct measuring *latencies; /* switches the groups, and has what the kernel keeps */
	struct cgroups *cgroups;
	const struct clock *clock;
	struct worker *worker; /* NULL until latency_live_start() */
	struct live_clients clients;
	uint64_t next_epoch; /* those before it were shown, or are of before the first client */
};

/* What it uses outlives it; `latencies` is open. */
void latency_live_open(struct latency_live *live, struct measuring *latencies, struct cgroups *cgroups,
		       const struct clock *clock, const struct user_names *names);

/* Before the first request. */
void latency_live_start(struct latency_live *live, struct control_socket *control, struct worker *worker);

/*
 * A client asks: it gets each interval that ends from now on, and the last one, if its groups were measured then already; or is refused
 * with the reason. measuring_note() then switches the groups on.
 */
void latency_live_ask(struct latency_live *live, uint64_t client, const struct peer *peer,
		      const struct status_line *line, uint64_t now_ns);

/* The client wants no more, or has gone; what it alone wanted is switched off. Accepts clients of other requests. */
void latency_live_leave(struct latency_live *live, uint64_t client, uint64_t now_ns);

/* Call it once a second: at the end of an epoch it reads the interval. */
void latency_live_tick(struct latency_live *live, uint64_t now_ns);

/* Call it when epoll reports results of the worker thread (SOURCE_STORED): says the lines of an interval. */
void latency_live_say(struct latency_live *live, uint64_t now_ns);

/* Call it when the daemon ends: tells all clients. */
void latency_live_interrupt(struct latency_live *live, uint64_t now_ns);

#endif
