/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * grant.h owns the protocol between the consumer and bourdon-grant: one connection (a Unix stream socket),
 * one request, one answer, the end. A request is one line,
 *
 *     pressure CGROUP_ID RESOURCE WINDOW_US
 *
 * with decimal numbers, single blanks and a newline. The answer is one message: "ok\n" with the descriptor
 * beside it (SCM_RIGHTS), or "refused REASON\n" without.
 */
#ifndef BOURDON_GRANT_H
#define BOURDON_GRANT_H

#include "common/psi.h"

#include <stddef.h>
#include <stdint.h>

#define GRANT_REQUEST_BYTES_MAX 128
#define GRANT_ANSWER_BYTES_MAX 128
#define GRANT_SOCKET_DEFAULT "/run/bourdon-grant.sock"

struct grant_request {
	uint64_t cgroup_id;
	enum psi_resource resource;
	uint64_t window_us;
};

/*
 * Parses one whole request of `bytes` bytes, newline included. 0, -EAGAIN while its newline is missing,
 * -E2BIG for one that is longer than any is, -EINVAL for everything else that is none: unknown words, numbers
 * with signs, leading zeros or too many digits, windows that no kernel takes, anything behind the newline.
 */
int grant_parse(const char *text, size_t bytes, struct grant_request *ret_request);

/* Writes a request, with its newline, into `into` of GRANT_REQUEST_BYTES_MAX bytes. Returns its length. */
size_t grant_format(const struct grant_request *request, char *into);

#define GRANT_OK "ok\n"
#define GRANT_REFUSED "refused "

#endif
