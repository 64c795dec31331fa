/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads any text as an interval of bourdond's latencies: each histogram is the sum of its buckets. */
#include "report/latency/latency_lines.h"
#include "report/model/rows.h"
#include "tests/fuzz/fuzz.h"

#include <errno.h>

static void look_at(const struct latency_histogram *histogram)
{
	int64_t count = 0;

	for (uint32_t i = 0; i < histogram->buckets_count; i++) {
		HOLDS(histogram->buckets[i].lower < histogram->buckets[i].upper &&
		      histogram->buckets[i].count > 0);
		count = add_saturated(count, histogram->buckets[i].count);
	}
	HOLDS(count == histogram->count);
	HOLDS((histogram->p50 > 0) == (histogram->count > 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct latency_interval interval;
	char *text = copy_text(data, bytes);
	int result = latency_lines_read(text, &interval);

	HOLDS(!result || result == -EPROTO);
	HOLDS(interval.from_at >= 0 && interval.to_at >= 0 && interval.left_out >= 0);
	for (uint32_t i = 0; i < interval.latencies.metrics_count; i++)
		for (uint32_t k = 0; k < interval.latencies.metrics[i].labels_count; k++)
			for (int span = 0; span < LATENCY_SPANS; span++)
				look_at(&interval.latencies.metrics[i].labels[k].spans[span]);
	latency_interval_free(&interval);
	free(text);
	return 0;
}
