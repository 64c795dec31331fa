/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/latency/latency_json.h"

#include "report/text/json.h"

#include <inttypes.h>

/* An interval is one line, as of all live output. */
static const char *line_end(const struct latency_choice *choice)
{
	return choice->is_live ? "" : "\n";
}

static void write_label(FILE *out, const struct latency_metric *metric, const struct latency_label *label,
			enum latency_span span)
{
	const struct latency_histogram *histogram = &label->spans[span];
	const struct {
		const char *name;
		int64_t number;
	} numbers[] = {
		{ "count", histogram->count }, { "sum_ns", histogram->sum }, { "p50_ns", histogram->p50 },
		{ "p90_ns", histogram->p90 },  { "p99_ns", histogram->p99 }, { "p999_ns", histogram->p999 },
		{ "max_ns", histogram->most },
	};

	fputs("{\"label\": ", out);
	json_string(out, label->label);
	fprintf(out, ", \"span\": \"%s\"", latency_span_names[span]);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		fprintf(out, ", \"%s\": %" PRId64, numbers[i].name, numbers[i].number);
	fprintf(out, ", \"per_second\": %.3f, \"buckets\": [", latency_rate(metric, label, span));
	for (uint32_t i = 0; i < histogram->buckets_count; i++)
		fprintf(out, "%s[%" PRId64 ", %" PRId64 ", %" PRId64 "]", i ? ", " : "",
			histogram->buckets[i].lower, histogram->buckets[i].upper,
			histogram->buckets[i].count);
	fputs("]}", out);
}

static void write_measured(FILE *out, const struct latency_metric *metric, enum latency_span span)
{
	const struct latency_measured *measured = &metric->measured[span];
	const struct {
		const char *name;
		int64_t number;
	} numbers[] = {
		{ "events", measured->events },       { "lost", measured->lost },
		{ "unpaired", measured->unpaired },   { "absurd", measured->absurd },
		{ "from_at", measured->from_at },     { "to_at", measured->to_at },
		{ "wanted_ns", measured->wanted_ns },
	};

	fputs("{\"metric\": ", out);
	json_string(out, metric->metric);
	fprintf(out, ", \"span\": \"%s\", \"unit\": \"%s\"", latency_span_names[span],
		metric->is_bytes ? "bytes" : "ns");
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		fprintf(out, ", \"%s\": ", numbers[i].name);
		json_number(out, measured->is_known, numbers[i].number);
	}
	fprintf(out, ", \"is_partial\": %s", measured->is_partial ? "true" : "false");
}

static bool has_span(const struct latency_metric *metric, enum latency_span span)
{
	bool has = metric->measured[span].is_known;

	for (uint32_t i = 0; i < metric->labels_count && !has; i++)
		has = metric->labels[i].spans[span].count;
	return has;
}

static int write_metric(FILE *out, const struct latency_choice *choice, const struct latency_metric *metric,
			enum latency_span span)
{
	struct latency_choice of_span = *choice;
	_cleanup_chosen_labels_ struct chosen_labels chosen = { 0 };
	int result;

	of_span.span = span;
	result = latency_choose_labels(&of_span, metric, &chosen);
	if (result < 0)
		return result;
	write_measured(out, metric, span);
	fputs(", \"labels\": [", out);
	for (uint32_t i = 0; i < chosen.count; i++) {
		fprintf(out, "%s%s", i ? "," : "", line_end(choice));
		write_label(out, metric, chosen.labels[i], span);
	}
	fputs("]}", out);
	return 0;
}

int latency_write_json(FILE *out, const struct latency_choice *choice, const struct latencies *latencies)
{
	const char *separator = "";
	int result = 0;

	fputc('[', out);
	for (uint32_t i = 0; i < latencies->metrics_count; i++) {
		const struct latency_metric *metric = &latencies->metrics[i];

		for (enum latency_span span = 0; span < LATENCY_SPANS && !result; span++) {
			if ((choice->span != LATENCY_SPANS && choice->span != span) ||
			    !latency_choice_names(choice, metric->metric) || !has_span(metric, span))
				continue;
			fprintf(out, "%s%s", separator, line_end(choice));
			result = write_metric(out, choice, metric, span);
			separator = ",";
		}
	}
	fputc(']', out);
	return result;
}
