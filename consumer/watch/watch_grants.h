/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * watch_grants.h owns the kernel triggers that bourdon-grant gives to watches: which watch asks, what becomes of it with the answer,
 * and how many triggers need a privilege. watches.h has one, on the draining thread.
 */
#ifndef BOURDON_CONSUMER_WATCH_WATCH_GRANTS_H
#define BOURDON_CONSUMER_WATCH_WATCH_GRANTS_H

#include "common/system/log.h"
#include "consumer/watch/grant_queue.h"
#include "consumer/watch/watch.h"
#include "consumer/watch/watch_room.h"

/* The owner sets the first four members; the rest starts as zeros. */
struct watch_grants {
	int epoll;
	uint64_t root_id; /* id of the root cgroup, whose pressure files are those of the whole system */
	const struct watch_limits *limits;
	struct closer *closer;
	struct grant_queue *queue;
	uint32_t privileged; /* kernel triggers that need CAP_SYS_RESOURCE */
	uint64_t granted, refused;
	struct log_limit refusal_limit;
};

/* Keeps the path without copying it. Returns 0 or -ENOMEM. The owner frees the queue. */
int watch_grants_open(struct watch_grants *grants, const char *socket_path);

/* Asks for the watch's trigger, if it is to have one. Returns false if no more calls can begin now. */
bool watch_grants_ask(struct watch_grants *grants, struct watch *watch, uint64_t now_ns);

/* Before the watch is closed: its trigger counts no more, and its call is cancelled. */
void watch_grants_forget(struct watch_grants *grants, struct watch *watch);

/* Writes why a watch is read once a second, or not at all; "" if it has its kernel trigger. */
void watch_grants_explain(const struct watch_grants *grants, const struct watch *watch, char *into,
			  size_t bytes);

#endif
