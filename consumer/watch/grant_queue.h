/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * grant_queue.h owns asking bourdon-grant for pressure files, without ever waiting for it: a few calls are under
 * way at once, each a connection of its own in the epoll set.
 */
#ifndef BOURDON_CONSUMER_WATCH_GRANT_QUEUE_H
#define BOURDON_CONSUMER_WATCH_GRANT_QUEUE_H

#include "common/grant_request.h"

#include <stdbool.h>
#include <stdint.h>

struct grant_queue;
struct grant_call;

/*
 * What became of a call: the descriptor, which is the callee's then, or -errno. -EACCES: it was refused, and
 * would be again, for the reason in `refusal`; anything else may change. The call is gone.
 */
typedef void (*grant_answered)(void *user, void *asker, int fd, const char *refusal);

/* `socket_path` is kept, not copied. Connects to nothing yet. 0 or -ENOMEM. */
int grant_queue_open(struct grant_queue **ret_grants, const char *socket_path, int epoll,
		     grant_answered answered, void *user);
void grant_queue_free(struct grant_queue *grants);

/*
 * Whether a call may begin: somebody serves the socket, as far as is known, none failed just now, and not too
 * many are under way.
 */
bool grant_queue_has_room(const struct grant_queue *grants, uint64_t now_ns);

/*
 * Begins a call; its answer comes from grant_queue_event() or grant_queue_tick(). NULL where that is not possible now.
 * The asker may go away before: then it cancels the call.
 */
struct grant_call *grant_queue_ask(struct grant_queue *grants, const struct grant_request *request,
				   void *asker, uint64_t now_ns);
void grant_queue_cancel(struct grant_call *call);

/* epoll says that this call's descriptor is readable. */
void grant_queue_event(struct grant_queue *grants, struct grant_call *call);

/* Once a second: ends the calls that nobody answers. */
void grant_queue_tick(struct grant_queue *grants, uint64_t now_ns);

/* Where it asks. */
const char *grant_queue_socket(const struct grant_queue *grants);

/* False after a call that found nobody behind the socket. */
bool grant_queue_is_served(const struct grant_queue *grants);

#endif
