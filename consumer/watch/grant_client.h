/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * grant_client.h owns the consumer's end of one call to bourdon-grant, in steps that never wait: for
 * grant_queue.h on the draining thread, and for symbols/file_grant.h, which waits between them, on the store
 * thread.
 */
#ifndef BOURDON_CONSUMER_WATCH_GRANT_CLIENT_H
#define BOURDON_CONSUMER_WATCH_GRANT_CLIENT_H

#include "common/base/clock.h"
#include "common/protocol/grant_request.h"

/*
 * Connects without waiting. Returns the non-blocking connection, or -errno: -EAGAIN when the backlog is full.
 */
int grant_client_connect(const char *socket_path);

/*
 * Receives the answer. Returns the descriptor, which the caller closes, or -errno. -EAGAIN: no answer yet.
 * -EACCES: refused. -EPERM: root's policy refuses all files. -EBUSY: asked too often, and not looked at. -EBADMSG:
 * not a valid answer. After a refusal `ret_refusal` holds the reason from bourdon-grant.
 */
int grant_client_receive(int connection, char ret_refusal[GRANT_ANSWER_BYTES_MAX]);

/* How long to pause after -EBUSY: 1, 2, 4, ..., 32 and 32 s. `before_ns` is the pause before, 0 at first. */
static inline uint64_t grant_client_pause_ns(uint64_t before_ns)
{
	return !before_ns ? CLOCK_SECOND_NS : before_ns < 32 * CLOCK_SECOND_NS ? 2 * before_ns : before_ns;
}

#endif
