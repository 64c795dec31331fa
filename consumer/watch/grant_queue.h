/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * grants.h owns asking bourdon-grant for pressure files, without ever waiting for it: a few calls are under
 * way at once, each a connection of its own in the epoll set.
 */
#ifndef BOURDON_CONSUMER_WATCH_GRANT_QUEUE_H
#define BOURDON_CONSUMER_WATCH_GRANT_QUEUE_H

#include "common/grant_request.h"

#include <stdbool.h>
#include <stdint.h>

struct grants;
struct grant_call;

/*
 * What became of a call: the descriptor, which is the callee's then, or -errno. -EACCES: it was refused, and
 * would be again; anything else may change. The call is gone.
 */
typedef void (*grant_answered)(void *user, void *asker, int fd);

/* `socket_path` is kept, not copied. Connects to nothing yet. 0 or -ENOMEM. */
int grants_open(struct grants **ret_grants, const char *socket_path, int epoll, grant_answered answered,
		void *user);
void grants_free(struct grants *grants);

/*
 * Whether a call may begin: somebody serves the socket, as far as is known, none failed just now, and not too
 * many are under way.
 */
bool grants_have_room(const struct grants *grants, uint64_t now_ns);

/*
 * Begins a call; its answer comes from grants_event() or grants_tick(). NULL where that is not possible now.
 * The asker may go away before: then it cancels the call.
 */
struct grant_call *grants_ask(struct grants *grants, const struct grant_request *request, void *asker,
			      uint64_t now_ns);
void grants_cancel(struct grant_call *call);

/* epoll says that this call's descriptor is readable. */
void grants_event(struct grants *grants, struct grant_call *call);

/* Once a second: ends the calls that nobody answers. */
void grants_tick(struct grants *grants, uint64_t now_ns);

/* False after a call that found nobody behind the socket. */
bool grants_are_served(const struct grants *grants);

#endif
