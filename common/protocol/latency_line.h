/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * latency_line.h defines what bourdond answers to the request "latencies": lines of status_line.h, for each interval a line "measured"
 * for each metric and span, a line "bucket" for each one that is not empty, by metric, label, span and number, and then one line
 * "interval". The line "missed" before those of a client that was too slow, and "interrupted", are those of live_line.h.
 * consumer/worker/latency_lines.c writes them, report/latency/latency_lines.c reads them.
 */
#ifndef BOURDON_COMMON_PROTOCOL_LATENCY_LINE_H
#define BOURDON_COMMON_PROTOCOL_LATENCY_LINE_H

#include "common/protocol/status_line.h"

/* groups: that are to be measured, as latency_groups_parse() reads them. What others watch is in the answer, too. */
#define LATENCY_WATCH "latencies"

/*
 * metric; span: "during" is the interval, "before" the epoch before it; from_at, to_at: Unix time in ns; wanted_ns; events, lost,
 * unpaired, absurd: what the columns of table latency_measured have. A span in which the group was off has none.
 */
#define LATENCY_MEASURED "measured"

/* metric, label, span; bucket: its number (common/abi/latency.h); count, sum: of its values. */
#define LATENCY_BUCKET "bucket"

/* from_at, to_at: Unix time in ns; left_out: events of which the buckets are in no line. */
#define LATENCY_INTERVAL "interval"

/* Of an interval: buckets that have no room are left out. */
#define LATENCY_BYTES_MAX (2U << 20)

#endif
