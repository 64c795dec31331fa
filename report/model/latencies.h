/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * latencies.h owns the histograms of one capture, or of an interval of what goes on: of each metric and label, from before it and during it, with the percentiles
 * that view latency_percentile has.
 */
#ifndef BOURDON_REPORT_MODEL_LATENCIES_H
#define BOURDON_REPORT_MODEL_LATENCIES_H

#include "common/base/cleanup.h"
#include "common/protocol/latency_metrics.h"
#include "report/model/database.h"
#include "report/model/query.h"

#include <stdbool.h>
#include <stdint.h>

struct latency_bucket {
	int64_t lower, upper; /* upper is no part of it */
	int64_t count;
};

/* Values are ns, or bytes. */
struct latency_histogram {
	struct latency_bucket *buckets; /* by their bounds, without empty ones */
	uint32_t buckets_count, buckets_room;
	int64_t count;
	int64_t sum;                       /* of the values */
	int64_t p50, p90, p99, p999, most; /* upper bounds of their buckets; 0 without a count */
};

struct latency_label {
	char *label;
	struct latency_histogram spans[LATENCY_SPANS];
};

/* What became of all events of a metric in a span. */
struct latency_measured {
	bool is_known; /* it was measured; else all is 0 */
	bool is_partial; /* events were lost, or a part of the span was not measured; always if it is not known */
	int64_t from_at, to_at, wanted_ns;
	int64_t events, lost, unpaired, absurd;
};

struct latency_metric {
	char *metric;
	bool is_bytes;
	struct latency_measured measured[LATENCY_SPANS];
	struct latency_label *labels; /* by name */
	uint32_t labels_count, labels_room;
};

struct latencies {
	struct latency_metric *metrics; /* those of a group together, in the order of the groups */
	uint32_t metrics_count, metrics_room;
};

/*
 * Loads all that the capture has. Returns 0 or -ENOMEM, and the caller frees it in any case. A query that fails sets
 * database->failed.
 */
int latencies_load(struct database *database, int64_t capture_id, struct latencies *ret_latencies);
void latencies_free(struct latencies *latencies);

/*
 * The same of rows: `measured` has the columns of table latency_measured; `rows` has metric, label, span, bucket, count and sum, in this
 * order.
 */
int latencies_of(struct query *measured, struct query *rows, struct latencies *ret_latencies);

#define _cleanup_latencies_ _cleanup_(latencies_free)

/* Whether the metric is `name`, or of the group `name`: block.queue is of block. `bytes` is the length of the name. */
bool latency_is_of(const char *metric, const char *name, size_t bytes);

/* Whether the label is of threads off CPU that had nothing to do: their time is no latency. */
bool latency_is_idle(const char *metric, const char *label);

#endif
