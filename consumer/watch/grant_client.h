/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * grant_client.h owns the consumer's end of one call to bourdon-grant, in parts that never wait: for
 * grant_queue.h on the draining thread, and for symbols/file_grant.h, which does wait, on the store thread.
 */
#ifndef BOURDON_CONSUMER_WATCH_GRANT_CLIENT_H
#define BOURDON_CONSUMER_WATCH_GRANT_CLIENT_H

#include "common/grant_request.h"

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

#endif
