/* SPDX-License-Identifier: GPL-2.0-only */
/* file_grant.h requests a file from bourdon-grant and waits for the answer. For the worker thread only. */
#ifndef BOURDON_CONSUMER_SYMBOLS_FILE_GRANT_H
#define BOURDON_CONSUMER_SYMBOLS_FILE_GRANT_H

#include "common/protocol/grant_request.h"

#include <stdint.h>

/*
 * Waits until `deadline_ns` (CLOCK_MONOTONIC). Returns the descriptor, which the caller closes, or -errno as
 * grant_client_connect() and grant_client_receive() do, or -ETIMEDOUT.
 */
int file_grant_ask(const char *socket_path, const struct grant_request *request, uint64_t deadline_ns);

#endif
