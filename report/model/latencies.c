/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/model/latencies.h"

#include "common/base/array.h"
#include "common/protocol/latency_groups.h"
#include "report/model/rows.h"

#include <string.h>

/* A hostile database has any metrics and labels; bourdond writes fewer. */
#define METRICS_MOST 64U
#define LABELS_MOST 4096U

static void metric_free(struct latency_metric *metric)
{
	for (uint32_t i = 0; i < metric->labels_count; i++) {
		for (int span = 0; span < LATENCY_SPANS; span++)
			free(metric->labels[i].spans[span].buckets);
		free(metric->labels[i].label);
	}
	free(metric->labels);
	free(metric->metric);
}

void latencies_free(struct latencies *latencies)
{
	for (uint32_t i = 0; i < latencies->metrics_count; i++)
		metric_free(&latencies->metrics[i]);
	free(latencies->metrics);
	*latencies = (struct latencies){ 0 };
}

bool latency_is_of(const char *metric, const char *name, size_t bytes)
{
	return !strncmp(metric, name, bytes) && (!metric[bytes] || metric[bytes] == '.');
}

bool latency_is_idle(const char *metric, const char *label)
{
	static const char *const accounts[] = { "sleep ", "rest " };

	for (size_t i = 0; i < ARRAY_SIZE(accounts); i++)
		if (!strcmp(metric, "offcpu") && !strncmp(label, accounts[i], strlen(accounts[i])))
			return true;
	return false;
}

/* ---- rows ---- */

/* LATENCY_SPANS: it is neither. */
static enum latency_span span_of(const struct query *query)
{
	enum latency_span span = LATENCY_BEFORE;

	while (span < LATENCY_SPANS && strcmp(query_text(query, "span"), latency_span_names[span]) != 0)
		span++;
	return span;
}

/* Finds the metric or adds it. Returns 0; -ENOMEM; or -E2BIG: there are too many. */
static int find_metric(struct latencies *latencies, const char *name, struct latency_metric **ret_metric)
{
	uint32_t at = latencies->metrics_count;

	for (uint32_t i = 0; i < latencies->metrics_count; i++)
		if (!strcmp(latencies->metrics[i].metric, name)) {
			*ret_metric = &latencies->metrics[i];
			return 0;
		}
	if (at == METRICS_MOST)
		return -E2BIG;
	if (array_make_room(latencies->metrics, at, latencies->metrics_room, 1U))
		return -ENOMEM;
	latencies->metrics[at] =
		(struct latency_metric){ .metric = strdup(name), .is_bytes = !strcmp(name, "block.size") };
	if (!latencies->metrics[at].metric)
		return -ENOMEM;
	for (int span = 0; span < LATENCY_SPANS; span++)
		latencies->metrics[at].measured[span].is_partial = true;
	latencies->metrics_count++;
	*ret_metric = &latencies->metrics[at];
	return 0;
}

/* The rows come by label. Returns as find_metric(). */
static int find_label(struct latency_metric *metric, const char *name, struct latency_label **ret_label)
{
	uint32_t at = metric->labels_count;

	if (at && !strcmp(metric->labels[at - 1].label, name)) {
		*ret_label = &metric->labels[at - 1];
		return 0;
	}
	if (at == LABELS_MOST)
		return -E2BIG;
	if (array_make_room(metric->labels, at, metric->labels_room, 1U))
		return -ENOMEM;
	metric->labels[at] = (struct latency_label){ .label = strdup(name) };
	if (!metric->labels[at].label)
		return -ENOMEM;
	metric->labels_count++;
	*ret_label = &metric->labels[at];
	return 0;
}

static int add_bucket(struct latency_histogram *histogram, uint32_t bucket, int64_t count, int64_t sum)
{
	uint32_t at = histogram->buckets_count;
	int64_t lower = (int64_t)bucket_begins(bucket);

	if (!at || histogram->buckets[at - 1].lower != lower) {
		if (array_make_room(histogram->buckets, at, histogram->buckets_room, 1U))
			return -ENOMEM;
		histogram->buckets[at] =
			(struct latency_bucket){ .lower = lower,
						 .upper = (int64_t)bucket_begins(bucket + 1) };
		histogram->buckets_count++;
		at++;
	}
	histogram->buckets[at - 1].count = add_saturated(histogram->buckets[at - 1].count, count);
	histogram->count = add_saturated(histogram->count, count);
	histogram->sum = add_saturated(histogram->sum, sum);
	return 0;
}

/* Rows that bourdond would not write are left out: 'db check' finds them. */
static int add_row(struct latencies *latencies, const struct query *query)
{
	int64_t bucket = query_number(query, "bucket"), count = query_number(query, "count");
	enum latency_span span = span_of(query);
	struct latency_metric *metric;
	struct latency_label *label;
	int result;

	if (span == LATENCY_SPANS || count <= 0 || bucket < 0 || bucket > bucket_of(HISTOGRAM_VALUE_MAX))
		return 0;
	result = find_metric(latencies, query_text(query, "metric"), &metric);
	if (!result)
		result = find_label(metric, query_text(query, "label"), &label);
	if (!result)
		result = add_bucket(&label->spans[span], (uint32_t)bucket, count, query_number(query, "sum"));
	return result == -E2BIG ? 0 : result;
}

static int add_measured(struct latencies *latencies, const struct query *query)
{
	enum latency_span span = span_of(query);
	struct latency_metric *metric;
	struct latency_measured *measured;
	int result = span == LATENCY_SPANS ? -E2BIG
					   : find_metric(latencies, query_text(query, "metric"), &metric);

	if (result < 0)
		return result == -E2BIG ? 0 : result;
	measured = &metric->measured[span];
	*measured = (struct latency_measured){
		.is_known = true,
		.from_at = query_number(query, "from_at"),
		.to_at = query_number(query, "to_at"),
		.wanted_ns = query_number(query, "wanted_ns"),
		.events = query_number(query, "events"),
		.lost = query_number(query, "lost"),
		.unpaired = query_number(query, "unpaired"),
		.absurd = query_number(query, "absurd"),
	};
	/* spans are measured by whole epochs */
	measured->is_partial = measured->lost > 0 ||
			       subtract_saturated(measured->to_at, measured->from_at) <
				       subtract_saturated(measured->wanted_ns, HISTOGRAM_EPOCH_NS);
	return 0;
}

/* ---- what follows from them ---- */

/* With the same sums of doubles as the view, so that both have the same bucket. */
static int64_t percentile(const struct latency_histogram *histogram, double part)
{
	int64_t upto = 0;

	for (uint32_t i = 0; i < histogram->buckets_count; i++) {
		upto = add_saturated(upto, histogram->buckets[i].count);
		if ((double)upto >= part * (double)histogram->count)
			return histogram->buckets[i].upper;
	}
	return 0;
}

static void find_percentiles(struct latency_histogram *histogram)
{
	histogram->p50 = percentile(histogram, 0.50);
	histogram->p90 = percentile(histogram, 0.90);
	histogram->p99 = percentile(histogram, 0.99);
	histogram->p999 = percentile(histogram, 0.999);
	histogram->most = percentile(histogram, 1.0);
}

/* LATENCY_GROUPS: of none. */
static uint32_t group_of(const char *metric)
{
	uint32_t group = 0;

	while (group < LATENCY_GROUPS &&
	       !latency_is_of(metric, latency_group_names[group], strlen(latency_group_names[group])))
		group++;
	return group;
}

static int compare_metrics(const void *a, const void *b)
{
	const struct latency_metric *left = a, *right = b;
	return compare_numbers(group_of(left->metric), group_of(right->metric))
		       ?: strcmp(left->metric, right->metric);
}

int latencies_of(struct query *measured, struct query *rows, struct latencies *ret_latencies)
{
	struct latencies *latencies = ret_latencies;
	int result = 0;

	*latencies = (struct latencies){ 0 };
	while (!result && query_next(measured))
		result = add_measured(latencies, measured);
	while (!result && query_next(rows))
		result = add_row(latencies, rows);
	if (latencies->metrics_count)
		qsort(latencies->metrics, latencies->metrics_count, sizeof(*latencies->metrics),
		      compare_metrics);
	for (uint32_t i = 0; i < latencies->metrics_count; i++)
		for (uint32_t k = 0; k < latencies->metrics[i].labels_count; k++)
			for (int span = 0; span < LATENCY_SPANS; span++)
				find_percentiles(&latencies->metrics[i].labels[k].spans[span]);
	return result;
}

int latencies_load(struct database *database, int64_t capture_id, struct latencies *ret_latencies)
{
	_cleanup_query_ struct query measured = query_begin(
		database, "SELECT * FROM latency_measured WHERE capture_id = ?1 ORDER BY metric, span",
		capture_id, 0);
	_cleanup_query_ struct query rows = query_begin(
		database,
		"SELECT l.metric, l.label, r.span, r.bucket, r.count, r.sum FROM histogram_row r JOIN histogram_label l "
		"USING(label_id) WHERE r.capture_id = ?1 ORDER BY l.metric, l.label, r.span, r.bucket",
		capture_id, 0);

	return latencies_of(&measured, &rows, ret_latencies);
}
