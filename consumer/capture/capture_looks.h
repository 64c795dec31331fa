/* SPDX-License-Identifier: GPL-2.0-only */
/* capture_looks.h adds looks at all threads (looks.h) to a capture. On the draining thread. */
#ifndef BOURDON_CONSUMER_CAPTURE_CAPTURE_LOOKS_H
#define BOURDON_CONSUMER_CAPTURE_CAPTURE_LOOKS_H

#include "consumer/capture/capture.h"

/* Adds a look at all threads, of `at_ns` (CLOCK_MONOTONIC), if that is between the trigger and the end. */
void capture_add_looks(struct capture *capture, const struct looks *looks, uint64_t at_ns,
		       capture_describe describe, void *user);

#endif
