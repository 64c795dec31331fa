/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * latency_lines.h reads the lines of one interval that bourdond answers to the request "latencies" (common/protocol/latency_line.h).
 * Labels in them have names that others chose; what is no line of it is counted.
 */
#ifndef BOURDON_REPORT_LATENCY_LATENCY_LINES_H
#define BOURDON_REPORT_LATENCY_LATENCY_LINES_H

#include "report/model/latencies.h"

#include <stdint.h>

struct latency_interval {
	struct latencies latencies;
	int64_t from_at, to_at; /* Unix time in ns */
	int64_t left_out;       /* events of which the buckets are missing: there were too many labels */
	uint32_t missed;        /* intervals before it that this client has not got */
	uint32_t malformed;     /* lines */
};

/*
 * Reads a text that a NUL ends, down to its line "interval", in place. 0; -EPROTO: that line is missing or damaged; or -ENOMEM. The
 * caller frees the interval in any case.
 */
int latency_lines_read(char *text, struct latency_interval *ret_interval);
void latency_interval_free(struct latency_interval *interval);

#define _cleanup_latency_interval_ _cleanup_(latency_interval_free)

#endif
