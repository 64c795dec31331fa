/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * grant_client.h owns the consumer's end of one call to bourdon-grant: the draining thread's part by part
 * (grant_queue.h), so that it never waits, and the store thread's as a whole.
 */
#ifndef BOURDON_CONSUMER_WATCH_GRANT_CLIENT_H
#define BOURDON_CONSUMER_WATCH_GRANT_CLIENT_H

#include "common/grant_request.h"

#include <stdint.h>

/*
 * Connects without waiting. Returns the connection, which does not block, or -errno; -EAGAIN where too many
 * wait to be served.
 */
int grant_client_connect(const char *socket_path);

/*
 * Takes the answer. Returns the descriptor, which the caller closes, or -errno: -EAGAIN where it has yet to
 * come, -EACCES where it is refused, -EPERM where all files are, -EBADMSG where that was no answer. Of a refusal
 * `ret_refusal` has the reason, as bourdon-grant sent it.
 */
int grant_client_receive(int connection, char ret_refusal[GRANT_ANSWER_BYTES_MAX]);

/*
 * The whole call, which waits until `deadline_ns` (CLOCK_MONOTONIC): not for the draining thread. Returns the
 * descriptor or -errno, as above and -ETIMEDOUT.
 */
int grant_client_ask(const char *socket_path, const struct grant_request *request, uint64_t deadline_ns);

#endif
