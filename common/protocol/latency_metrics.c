/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/protocol/latency_metrics.h"

#include "common/text/format.h"

#include <stdio.h>

const char *const latency_span_names[LATENCY_SPANS] = { "before", "during" };
const char *const latency_metric_names[METRICS] = { METRIC_NAMES };

const char *const latency_quantile_names[LATENCY_QUANTILES] = {
	[LATENCY_P50] = "p50",
	[LATENCY_P90] = "p90",
	[LATENCY_P99] = "p99",
	[LATENCY_P999] = "p999",
};

/* How many of a thousand values are above it. */
static const uint64_t above_permille[LATENCY_QUANTILES] = {
	[LATENCY_P50] = 500,
	[LATENCY_P90] = 100,
	[LATENCY_P99] = 10,
	[LATENCY_P999] = 1,
};

int latency_quantile_is_above(enum latency_quantile quantile, uint64_t above, uint64_t count)
{
	return above * 1000 > count * above_permille[quantile];
}

uint32_t latency_quantile_bucket(enum latency_quantile quantile, const uint64_t counts[LATENCY_BUCKETS])
{
	uint64_t all = 0, above;

	for (uint32_t i = 0; i < LATENCY_BUCKETS; i++)
		all += counts[i];
	above = all;
	for (uint32_t i = 0; i < LATENCY_BUCKETS && all; i++) {
		above -= counts[i];
		if (!latency_quantile_is_above(quantile, above, all))
			return i;
	}
	return LATENCY_BUCKETS;
}

const char *latency_text(const char *metric, const char *quantile, uint64_t observed_ns, uint64_t limit_ns,
			 uint64_t window_ns, char into[LATENCY_TEXT_BYTES])
{
	char observed[32], limit[32], window[32];

	snprintf(into, LATENCY_TEXT_BYTES, "%.16s %.16s %s > %s in %s", metric, quantile,
		 format_duration((double)observed_ns, " ", observed, sizeof(observed)),
		 format_duration((double)limit_ns, " ", limit, sizeof(limit)),
		 format_duration((double)window_ns, " ", window, sizeof(window)));
	return into;
}
