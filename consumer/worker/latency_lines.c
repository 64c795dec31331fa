/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/worker/latency_lines.h"

#include "common/base/cleanup.h"
#include "common/protocol/latency_line.h"
#include "common/protocol/latency_metrics.h"
#include "consumer/store/latency_rows.h"

#include <inttypes.h>
#include <string.h>

/* For qsort_r(3): by metric, label, span and number. */
static int compare_rows(const void *a, const void *b, void *user)
{
	const struct latency_row_label *labels = user;
	const struct latency_row *left = a, *right = b;
	const struct latency_row_label *of_left = &labels[left->label], *of_right = &labels[right->label];

	if (of_left->metric != of_right->metric)
		return of_left->metric < of_right->metric ? -1 : 1;
	if (left->label != right->label)
		return strcmp(of_left->text, of_right->text);
	if (left->span != right->span)
		return left->span < right->span ? -1 : 1;
	return (left->bucket > right->bucket) - (left->bucket < right->bucket);
}

static void write_row(FILE *out, const struct latency_rows *rows, const struct latency_row *row)
{
	const struct latency_row_label *label = &rows->labels[row->label];

	status_line_begin(out, LATENCY_BUCKET);
	status_line_field(out, "metric", "%s", latency_metric_names[label->metric]);
	status_line_field(out, "label", "%s", label->text);
	status_line_field(out, "span", "%s", latency_span_names[row->span]);
	status_line_field(out, "bucket", "%" PRIu32, row->bucket);
	status_line_field(out, "count", "%" PRIu64, row->count);
	status_line_field(out, "sum", "%" PRIu64, row->sum);
	status_line_end(out);
}

static void write_measured(FILE *out, const struct latency *latency, uint32_t metric, uint32_t span,
			   int64_t wall_ns)
{
	const struct latency_events *events = &latency->events[span][metric];
	uint64_t from_ns, to_ns,
		wanted_ns = span == LATENCY_DURING ? latency->until_ns - latency->from_ns
						   : latency->from_ns - latency->before_ns;

	latency_measured(latency, latency_metric_group(metric), span, &from_ns, &to_ns);
	if (from_ns >= to_ns) /* the group was off */
		return;
	status_line_begin(out, LATENCY_MEASURED);
	status_line_field(out, "metric", "%s", latency_metric_names[metric]);
	status_line_field(out, "span", "%s", latency_span_names[span]);
	status_line_field(out, "from_at", "%" PRId64, wall_ns + (int64_t)from_ns);
	status_line_field(out, "to_at", "%" PRId64, wall_ns + (int64_t)to_ns);
	status_line_field(out, "wanted_ns", "%" PRIu64, wanted_ns);
	status_line_field(out, "events", "%" PRIu64, events->events);
	status_line_field(out, "lost", "%" PRIu64, events->lost);
	status_line_field(out, "unpaired", "%" PRIu64, events->unpaired);
	status_line_field(out, "absurd", "%" PRIu64, events->absurd);
	status_line_end(out);
}

static void write_interval(FILE *out, const struct latency *latency, int64_t wall_ns, uint64_t left_out)
{
	status_line_begin(out, LATENCY_INTERVAL);
	status_line_field(out, "from_at", "%" PRId64, wall_ns + (int64_t)latency->from_ns);
	status_line_field(out, "to_at", "%" PRId64, wall_ns + (int64_t)latency->until_ns);
	status_line_field(out, "left_out", "%" PRIu64, left_out);
	status_line_end(out);
}

char *latency_lines(const struct latency *latency, int64_t wall_ns)
{
	_cleanup_latency_rows_ struct latency_rows rows = { 0 };
	uint64_t left_out = 0;
	char *text = NULL;
	size_t bytes = 0;
	FILE *out;

	if (latency_rows_make(latency, NULL, NULL, &rows) < 0)
		return NULL;
	out = open_memstream(&text, &bytes);
	if (!out)
		return NULL;
	for (uint32_t metric = 0; metric < METRICS; metric++)
		for (uint32_t span = 0; span < LATENCY_SPANS; span++)
			if (latency->groups >> latency_metric_group(metric) & 1)
				write_measured(out, latency, metric, span, wall_ns);
	if (rows.count)
		qsort_r(rows.rows, rows.count, sizeof(rows.rows[0]), compare_rows, rows.labels);
	for (uint32_t i = 0; i < rows.count; i++)
		if (ftell(out) < (long)LATENCY_BYTES_MAX)
			write_row(out, &rows, &rows.rows[i]);
		else
			left_out += rows.rows[i].count;
	write_interval(out, latency, wall_ns, left_out);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}
