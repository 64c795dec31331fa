/* SPDX-License-Identifier: GPL-2.0-only */
/* latency_lines.h makes of an interval of latencies the lines that clients of `latencies` get (latency_line.h). */
#ifndef BOURDON_CONSUMER_WORKER_LATENCY_LINES_H
#define BOURDON_CONSUMER_WORKER_LATENCY_LINES_H

#include "consumer/capture/latency.h"

#include <stdint.h>

/* wall_ns: the Unix time at which CLOCK_MONOTONIC was 0. Returns the text, which the caller frees; NULL without memory. */
char *latency_lines(const struct latency *latency, int64_t wall_ns);

#endif
