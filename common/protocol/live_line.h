/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * live_line.h defines what bourdond answers to the request "live": lines of status_line.h, for each second a line "sample" for
 * each thread and stack that was on a CPU, most samples first, then one line "second". Before those of a client that was too
 * slow there is a line "missed". consumer/worker/live_text.c writes them, report/live/live_text.c reads them.
 */
#ifndef BOURDON_COMMON_PROTOCOL_LIVE_LINE_H
#define BOURDON_COMMON_PROTOCOL_LIVE_LINE_H

#include "common/protocol/status_line.h"

#define LIVE_REQUEST "live"

/*
 * count: samples; tgid, tid, uid (empty: not known), cpu: the last one; process, comm: names of process and thread; cgroup;
 * function: the innermost one, and module: the path of what it is in, both empty without a stack; stack: the functions, the
 * innermost first, with ';' between, and LIVE_KERNEL behind those of the kernel.
 */
#define LIVE_SAMPLE "sample"

/*
 * at_ns: Unix time at which the second began; ticks: of each CPU's clock in it; cpus: that are sampled; samples: in the lines;
 * left_out: samples that are in none.
 */
#define LIVE_SECOND "second"

/* seconds, or of latencies intervals: that the client has not got, because it had not read those before. */
#define LIVE_MISSED "missed"

/* The daemon ends. */
#define LIVE_INTERRUPTED "interrupted"

#define LIVE_KERNEL "_[k]"

/* Of a second: the threads with the fewest samples are left out. */
#define LIVE_LINES_MAX 2000U
#define LIVE_BYTES_MAX (1U << 20)

/* Of a stack; behind what is cut off the outer end there is "...". */
#define LIVE_STACK_BYTES 2048U

#endif
