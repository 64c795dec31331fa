/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * grant_queue.h owns the requests for pressure files to bourdon-grant. It never waits: a few calls are under
 * way at once, each a connection of its own in the epoll set. It sends fewer requests than bourdon-grant
 * answers (grant_limits.h), however many cgroups there are.
 */
#ifndef BOURDON_CONSUMER_WATCH_GRANT_QUEUE_H
#define BOURDON_CONSUMER_WATCH_GRANT_QUEUE_H

#include "common/protocol/grant_request.h"

#include <stdbool.h>
#include <stdint.h>

/* So many calls may be under way at once. */
#define GRANT_QUEUE_CALLS_MAX 8U

struct grant_queue;
struct grant_call;

/*
 * The result of a call: the descriptor, which the callback then owns, or -errno. -EACCES: refused, for the
 * reason in `refusal`; asking again is useless. Any other error may pass. The call is freed.
 */
typedef void (*grant_answered)(void *user, void *asker, int fd, const char *refusal);

/* Keeps `socket_path` without copying it. Does not connect yet. Returns 0 or -ENOMEM. */
int grant_queue_open(struct grant_queue **ret_grants, const char *socket_path, int epoll,
		     grant_answered answered, void *user);
void grant_queue_free(struct grant_queue *grants);

/*
 * Whether a call may begin: not too many are under way or were begun this second, and no pause after a failed
 * call lasts.
 */
bool grant_queue_has_room(const struct grant_queue *grants, uint64_t now_ns);

/*
 * Begins a call; its result comes from grant_queue_event() or grant_queue_tick(). Returns NULL when no call
 * is possible now. An asker that is freed before the result cancels the call.
 */
struct grant_call *grant_queue_ask(struct grant_queue *grants, const struct grant_request *request,
				   void *asker, uint64_t now_ns);
void grant_queue_cancel(struct grant_call *call);

/* Call it when epoll reports this call's descriptor as readable. */
void grant_queue_event(struct grant_queue *grants, struct grant_call *call, uint64_t now_ns);

/* Call it once a second: ends the calls without an answer in time. */
void grant_queue_tick(struct grant_queue *grants, uint64_t now_ns);

/* The path of the socket. */
const char *grant_queue_socket(const struct grant_queue *grants);

/* False after a connect that found nobody listening at the socket. */
bool grant_queue_is_served(const struct grant_queue *grants);

#endif
