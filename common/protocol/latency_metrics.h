/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * latency_metrics.h has the words for what is measured of latencies, and finds the quantiles of a histogram: rules, captures and
 * reports name and compute them in the same way.
 */
#ifndef BOURDON_COMMON_PROTOCOL_LATENCY_METRICS_H
#define BOURDON_COMMON_PROTOCOL_LATENCY_METRICS_H

#include "common/abi/latency.h"

#include <stdint.h>

#define LATENCY_BUCKETS 512U /* more than a value up to HISTOGRAM_VALUE_MAX can have */

enum latency_quantile {
	LATENCY_P50,
	LATENCY_P90,
	LATENCY_P99,
	LATENCY_P999,
	LATENCY_QUANTILES,
};

/* The spans that are measured: `during` is that of a capture, or an interval of what goes on. */
enum latency_span { LATENCY_BEFORE, LATENCY_DURING, LATENCY_SPANS };
extern const char *const latency_span_names[LATENCY_SPANS];

extern const char *const latency_metric_names[METRICS];
extern const char *const latency_quantile_names[LATENCY_QUANTILES];

/* Whether so many of `count` values are more than the quantile leaves above itself: it is then among those. */
int latency_quantile_is_above(enum latency_quantile quantile, uint64_t above, uint64_t count);

/*
 * The bucket that has the quantile: the first up to which there are so many of all counts. LATENCY_BUCKETS: there is none. What is
 * told of it is bucket_begins() of the next bucket, at most an eighth too high, as the view latency_percentile does.
 */
uint32_t latency_quantile_bucket(enum latency_quantile quantile, const uint64_t counts[LATENCY_BUCKETS]);

/* "runqueue p99 12 ms > 5 ms in 10 s": what was seen of a trigger. The words are cut to 16 bytes. */
#define LATENCY_TEXT_BYTES 160
const char *latency_text(const char *metric, const char *quantile, uint64_t observed_ns, uint64_t limit_ns,
			 uint64_t window_ns, char into[LATENCY_TEXT_BYTES]);

#endif
