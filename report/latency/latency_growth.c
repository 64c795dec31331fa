/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/latency/latency_growth.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/text/escape.h"
#include "report/text/column_text.h"
#include "report/text/format.h"
#include "report/text/wrap.h"

#include <string.h>

/* With fewer events p99 is one of the longest two or three. */
#define EVENTS_LEAST 20
#define P99_LEAST_NS 100000
#define TIMES_LONGER 2

struct grown {
	const struct latency_metric *metric;
	const struct latency_label *label;
	double excess; /* of time, in each ns */
};

/* What a metric is told with: its parts, the columns of their p99, and words for the time in them. */
static const struct {
	const char *part, *column, *words;
} parts[] = {
	{ "queue", "queue_p99_ns", "queued" },   { "service", "service_p99_ns", "in the device" },
	{ "unread", "unread_p99_ns", "unread" }, { "on_cpu", "on_cpu_p99_ns", "on a CPU" },
	{ "queued", "queued_p99_ns", "queued" }, { "blocked", "blocked_p99_ns", "blocked" },
};
#define PARTS ARRAY_SIZE(parts)

/* Parts are told with the whole; and a thread that sleeps longer is not slower. */
static bool is_left_out(const struct latency_metric *metric, const struct latency_label *label)
{
	return strchr(metric->metric, '.') || latency_is_idle(metric->metric, label->label);
}

/* Time in each ns that was measured; 0: none was. */
static double rate_of(const struct latency_metric *metric, const struct latency_label *label,
		      enum latency_span span)
{
	const struct latency_measured *measured = &metric->measured[span];
	int64_t ns = subtract_saturated(measured->to_at, measured->from_at);

	return ns > 0 ? (double)label->spans[span].sum / (double)ns : 0;
}

static bool has_grown(const struct latency_metric *metric, const struct latency_label *label)
{
	const struct latency_histogram *during = &label->spans[LATENCY_DURING],
				       *before = &label->spans[LATENCY_BEFORE];
	const struct latency_measured *measured = &metric->measured[LATENCY_BEFORE];

	return !is_left_out(metric, label) && measured->is_known && measured->to_at > measured->from_at &&
	       during->count >= EVENTS_LEAST && during->p99 >= P99_LEAST_NS &&
	       during->p99 / TIMES_LONGER >= before->p99;
}

/* Keeps the largest, largest first. Returns how many there are. */
static uint32_t keep(struct grown *grown, uint32_t count, struct grown one)
{
	uint32_t at = count;

	while (at && grown[at - 1].excess < one.excess)
		at--;
	if (at == LATENCIES_GROWN_MOST)
		return count;
	count += count < LATENCIES_GROWN_MOST;
	memmove(grown + at + 1, grown + at, (count - at - 1) * sizeof(*grown));
	grown[at] = one;
	return count;
}

/* Of a server whose threads take several requests at once, parts have another label than the whole. */
static bool is_same_label(const char *of_part, const char *of_whole)
{
	size_t bytes = strlen(of_whole);

	return !strncmp(of_part, of_whole, bytes) && (!of_part[bytes] || !strcmp(of_part + bytes, " shared"));
}

/* p99 of a part of the metric, of the same label; NULL: there is none. */
static struct value part_of(const struct latencies *latencies, const struct grown *grown, const char *part)
{
	int64_t p99 = 0;
	char name[64];

	snprintf(name, sizeof(name), "%.32s.%s", grown->metric->metric, part);
	for (uint32_t i = 0; i < latencies->metrics_count; i++) {
		const struct latency_metric *metric = &latencies->metrics[i];

		for (uint32_t k = 0; !strcmp(metric->metric, name) && k < metric->labels_count; k++)
			if (is_same_label(metric->labels[k].label, grown->label->label) &&
			    metric->labels[k].spans[LATENCY_DURING].p99 > p99)
				p99 = metric->labels[k].spans[LATENCY_DURING].p99;
	}
	return p99 ? value_number(p99) : (struct value){ .type = VALUE_NULL };
}

static int add_row(const struct latencies *latencies, const struct grown *grown, struct rows *rows)
{
	const struct latency_histogram *during = &grown->label->spans[LATENCY_DURING],
				       *before = &grown->label->spans[LATENCY_BEFORE];
	bool is_partial = grown->metric->measured[LATENCY_BEFORE].is_partial ||
			  grown->metric->measured[LATENCY_DURING].is_partial;
	struct value values[6 + PARTS + 1] = { value_text(grown->metric->metric),
					       value_text(grown->label->label),
					       value_number(during->count),
					       value_number(before->count),
					       value_number(during->p99),
					       before->count ? value_number(before->p99)
							     : (struct value){ .type = VALUE_NULL } };

	for (size_t i = 0; i < PARTS; i++)
		values[6 + i] = part_of(latencies, grown, parts[i].part);
	values[6 + PARTS] = value_number(is_partial);
	return rows_add(rows, values);
}

int latency_growth_rows(const struct latencies *latencies, struct rows *ret_rows)
{
	static const char *const names[] = { "metric",        "label",          "count",
					     "before_count",  "p99_ns",         "before_p99_ns",
					     "queue_p99_ns",  "service_p99_ns", "unread_p99_ns",
					     "on_cpu_p99_ns", "queued_p99_ns",  "blocked_p99_ns",
					     "is_partial" };
	struct grown grown[LATENCIES_GROWN_MOST];
	struct rows rows = rows_of(names);
	uint32_t count = 0;
	int result = 0;

	for (uint32_t i = 0; i < latencies->metrics_count; i++) {
		const struct latency_metric *metric = &latencies->metrics[i];

		for (uint32_t k = 0; k < metric->labels_count; k++) {
			const struct latency_label *label = &metric->labels[k];
			double excess = rate_of(metric, label, LATENCY_DURING) -
					rate_of(metric, label, LATENCY_BEFORE);

			if (has_grown(metric, label) && excess > 0)
				count = keep(grown, count, (struct grown){ metric, label, excess });
		}
	}
	for (uint32_t i = 0; i < count && !result; i++)
		result = add_row(latencies, &grown[i], &rows);
	return rows_finish(result, &rows, ret_rows);
}

/* ---- text ---- */

/* ", of it 380 ms queued": the part that is at least half of it. */
static void append_part(const struct query *query, char *text, size_t text_bytes)
{
	char part[FORMAT_BYTES];

	for (size_t i = 0; i < PARTS; i++) {
		size_t used = strlen(text);

		if (query_real(query, parts[i].column) * 2 < query_real(query, "p99_ns"))
			continue;
		snprintf(text + used, text_bytes - used, ", of it %s %s",
			 column_duration(query, parts[i].column, 1, part), parts[i].words);
		return;
	}
}

/* "block vda write db.service: p99 3 ms -> 410 ms, of it 380 ms queued" */
static void print_row(const struct layout *layout, const struct query *query)
{
	char text[2 * FORMAT_BYTES], metric[FORMAT_BYTES], label[FORMAT_BYTES], before[FORMAT_BYTES],
		during[FORMAT_BYTES];

	snprintf(text, sizeof(text), "%s %s: p99 %s -> %s", column_text(query, "metric", 20, metric),
		 column_text(query, "label", 80, label),
		 query_is_null(query, "before_p99_ns") ? "none"
						       : column_duration(query, "before_p99_ns", 1, before),
		 column_duration(query, "p99_ns", 1, during));
	append_part(query, text, sizeof(text));
	fputs("  ", layout->out);
	print_wrapped_on(layout, text, 4);
}

void latency_growth_print(const struct layout *layout, struct query *query)
{
	char head[] = "which waits grew most since before the capture; 'bourdon latency' has all";
	bool is_partial = false;

	print_lines_on(layout, head, 0);
	do {
		print_row(layout, query);
		is_partial = is_partial || query_number(query, "is_partial");
	} while (query_next(query));
	if (is_partial)
		fputs("  partial: events were lost, or a part of the time was not measured\n", layout->out);
}
