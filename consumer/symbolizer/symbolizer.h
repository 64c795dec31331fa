/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef BOURDON_SYMBOLIZER_SYMBOLIZER_H
#define BOURDON_SYMBOLIZER_SYMBOLIZER_H

#include "consumer/symbolizer/protocol.h"

#include <stdbool.h>

/*
 * SYMBOLIZER: confines itself to reading descriptors that it is handed, and answers requests until the
 * socket ends. Limits of memory and CPU time end it earlier.
 */
void symbolizer_run(int socket) __attribute__((noreturn));

/*
 * CONSUMER: one batch. 0, or -errno: the symbolizer is gone, has not answered by `deadline_ns`
 * (CLOCK_MONOTONIC), or what it said cannot be believed.
 */
int symbolizer_ask(int socket, int elf_fd, const struct symbolize_request *request, uint64_t deadline_ns,
		   struct symbolize_reply *ret_reply);

/* Whether a reply of this length is one that `request` can have. */
bool symbolizer_reply_is_valid(const struct symbolize_reply *reply, size_t bytes,
			       const struct symbolize_request *request);

#endif
