/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/latency/latency_text.h"

#include "common/abi/latency.h"
#include "common/base/cleanup.h"
#include "common/text/escape.h"
#include "common/text/plural.h"
#include "report/model/query.h"
#include "report/model/rows.h"
#include "report/text/format.h"
#include "report/text/table.h"
#include "report/text/wrap.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

/* ---- what became of the events ---- */

/* Appends what fits. */
static void __attribute__((format(printf, 2, 3))) append(char text[FORMAT_BYTES], const char *format, ...)
{
	size_t used = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + used, FORMAT_BYTES - used, format, arguments);
	va_end(arguments);
}

/* "3 lost (<0.1 %)": a part of events and itself. */
static void append_share(char text[FORMAT_BYTES], int64_t part, int64_t events, const char *what)
{
	char share[32];

	append(text, ", %" PRId64 " %s", part, what);
	if (part > 0)
		append(text, " (%s)",
		       format_percent(100.0 * (double)part / (double)add_saturated(events, part), share,
				      sizeof(share)));
}

/* What of an interval goes on is now. */
static const char *span_word(const struct latency_choice *choice, enum latency_span span)
{
	return choice->is_live && span == LATENCY_DURING ? "now" : latency_span_names[span];
}

static void print_measured(const struct layout *layout, const struct latency_choice *choice,
			   const struct latency_metric *metric, enum latency_span span)
{
	const struct latency_measured *measured = &metric->measured[span];
	double wanted_ns = (double)measured->wanted_ns,
	       got_ns = (double)subtract_saturated(measured->to_at, measured->from_at);
	char text[FORMAT_BYTES], wanted[32], got[32];

	snprintf(text, sizeof(text), "%s: ", span_word(choice, span));
	if (!measured->is_known) {
		append(text, "not measured");
	} else {
		append(text, "%" PRId64 " %s", measured->events,
		       plural((uint64_t)measured->events, "event", "events"));
		append_share(text, measured->lost, subtract_saturated(measured->events, measured->lost),
			     "lost");
		append_share(text, measured->unpaired, measured->events, "unpaired");
		if (measured->absurd)
			append_share(text, measured->absurd, measured->events, "absurd");
		append(text, "; %s", format_duration(got_ns, " ", got, sizeof(got)));
		if (got_ns < wanted_ns)
			append(text, " of %s", format_duration(wanted_ns, " ", wanted, sizeof(wanted)));
		append(text, "%s", measured->is_partial ? ": partial" : "");
	}
	fputs("  ", layout->out);
	print_wrapped_on(layout, text, 2);
}

/* ---- the table ---- */

/* Without a blank before the unit: labels need the room. */
static void cell_value(const struct query *query, const char *name, char *into, size_t into_bytes)
{
	if (query_is_null(query, name))
		snprintf(into, into_bytes, "-");
	else
		format_duration(query_real(query, name), "", into, into_bytes);
}

static void cell_bytes(const struct query *query, const char *name, char *into, size_t into_bytes)
{
	char *blank;

	cell_size(query, name, into, into_bytes);
	blank = strchr(into, ' ');
	if (blank)
		memmove(blank, blank + 1, strlen(blank));
}

static void cell_rate(const struct query *query, const char *name, char *into, size_t into_bytes)
{
	double rate = query_real(query, name);

	snprintf(into, into_bytes, rate < 9.95 ? "%.1f" : "%.0f", rate);
}

static struct value value_of(const struct latency_histogram *histogram, int64_t value)
{
	return histogram->count ? value_number(value) : (struct value){ .type = VALUE_NULL };
}

/* Columns of a table beside its labels, with the blanks. */
#define NUMBERS(width) (8 + 5 * (width) + 7 + 14)

/* The page, or what of it the labels need: numbers stand beside them. */
static struct layout fit_labels(const struct layout *layout, const struct chosen_labels *chosen, int width)
{
	struct layout fitted = *layout;
	int longest = 12;

	for (uint32_t i = 0; i < chosen->count; i++) {
		char label[FORMAT_BYTES];
		int columns =
			(int)format_columns(escape_terminal(chosen->labels[i]->label, label, sizeof(label)));

		longest = columns > longest ? columns : longest;
	}
	if (fitted.columns > longest + NUMBERS(width))
		fitted.columns = longest + NUMBERS(width);
	return fitted;
}

/* What the last column has: of a capture p99 before it, of what goes on events in each second. */
static struct value last_value(const struct latency_choice *choice, const struct latency_metric *metric,
			       const struct latency_label *label)
{
	const struct latency_histogram *before = &label->spans[LATENCY_BEFORE];

	return choice->is_live ? value_real(latency_rate(metric, label, choice->span))
			       : value_of(before, before->p99);
}

static int print_table(const struct layout *layout, struct database *database,
		       const struct latency_choice *choice, const struct latency_metric *metric,
		       const struct chosen_labels *chosen)
{
	static const char *const names[] = { "label", "count", "p50", "p90", "p99", "p999", "most", "last" };
	const bool is_bytes = metric->is_bytes;
	const enum latency_span span = choice->span;
	cell_fn *cell = is_bytes ? cell_bytes : cell_value;
	const int width = is_bytes ? 7 : 6;
	const struct column columns[] = {
		{ "LABEL", "label", -(REPORT_COLUMNS - NUMBERS(width)), cell_text },
		{ "COUNT", "count", 8, cell_number },
		{ "P50", "p50", width, cell },
		{ "P90", "p90", width, cell },
		{ "P99", "p99", width, cell },
		{ "P99.9", "p999", width, cell },
		{ "MAX", "most", width, cell },
		{ choice->is_live ? "/S" : "P99 WAS", "last", 7, choice->is_live ? cell_rate : cell },
	};
	const struct layout fitted = fit_labels(layout, chosen, width);
	_cleanup_rows_ struct rows rows = rows_of(names);
	struct query query;
	int result = 0;

	for (uint32_t i = 0; i < chosen->count && !result; i++) {
		const struct latency_histogram *histogram = &chosen->labels[i]->spans[span];

		result = rows_add(&rows, (struct value[]){ value_text(chosen->labels[i]->label),
							   value_number(histogram->count),
							   value_of(histogram, histogram->p50),
							   value_of(histogram, histogram->p90),
							   value_of(histogram, histogram->p99),
							   value_of(histogram, histogram->p999),
							   value_of(histogram, histogram->most),
							   last_value(choice, metric, chosen->labels[i]) });
	}
	query = query_of_rows(database, &rows);
	if (!result && query_next(&query))
		table_print_on(&fitted, &query, columns,
			       ARRAY_SIZE(columns) - (span == LATENCY_BEFORE ? 1 : 0));
	return result;
}

/* ---- bars ---- */

/* Octaves of the buckets: the first one has all values below 8. */
#define OCTAVES (64U - BUCKET_BITS)

struct octaves {
	int64_t counts[LATENCY_SPANS][OCTAVES];
	uint32_t first, end;
};

static int64_t octave_begins(uint32_t octave)
{
	return (int64_t)bucket_begins(octave * BUCKETS_AN_OCTAVE);
}

static struct octaves octaves_of(const struct latency_label *label)
{
	struct octaves octaves = { .first = OCTAVES };

	for (int span = 0; span < LATENCY_SPANS; span++)
		for (uint32_t i = 0; i < label->spans[span].buckets_count; i++) {
			const struct latency_bucket *bucket = &label->spans[span].buckets[i];
			uint32_t octave = bucket_of((uint64_t)bucket->lower) / BUCKETS_AN_OCTAVE;
			int64_t *count = &octaves.counts[span][octave];

			*count = add_saturated(*count, bucket->count);
			octaves.first = octave < octaves.first ? octave : octaves.first;
			octaves.end = octave >= octaves.end ? octave + 1 : octaves.end;
		}
	return octaves;
}

static void write_bound(bool is_bytes, int64_t bound, char into[32])
{
	if (is_bytes)
		format_size((double)bound, into, 32);
	else
		format_duration((double)bound, " ", into, 32);
}

static void print_count(const struct layout *layout, int64_t count)
{
	if (count)
		fprintf(layout->out, " %8" PRId64, count);
	else
		fprintf(layout->out, " %8s", "-");
}

/* Columns of a line before its bar, with the blanks. */
#define BAR_AT 42

static void print_bars(const struct layout *layout, const struct latency_choice *choice, bool is_bytes,
		       const struct latency_label *label)
{
	const enum latency_span span = choice->span;
	const struct octaves octaves = octaves_of(label);
	const int64_t *counts = octaves.counts[span];
	char name[FORMAT_BYTES], bar[4 * LAYOUT_COLUMNS_MOST], from[32], to[32];
	int64_t peak = 0;

	for (uint32_t i = octaves.first; i < octaves.end; i++)
		peak = counts[i] > peak ? counts[i] : peak;
	escape_terminal(label->label, name, sizeof(name));
	fprintf(layout->out, "\n  %s\n", format_cut(name, (size_t)layout->columns - 2, sizeof(name)));
	fprintf(layout->out, "  %8s %9s  %8s %8s\n", "FROM", "TO", "BEFORE",
		choice->is_live ? "NOW" : "DURING");
	for (uint32_t i = octaves.first; i < octaves.end; i++) {
		write_bound(is_bytes, octave_begins(i), from);
		write_bound(is_bytes, octave_begins(i + 1), to);
		format_fine_bar(counts[i], peak, (size_t)(layout->columns - BAR_AT), bar, sizeof(bar));
		fprintf(layout->out, "  %*s%s %*s%s ", 8 - (int)format_columns(from), "", from,
			9 - (int)format_columns(to), "", to);
		print_count(layout, octaves.counts[LATENCY_BEFORE][i]);
		print_count(layout, octaves.counts[LATENCY_DURING][i]);
		fputs(*bar ? "  " : "", layout->out);
		layout_put(layout, span == LATENCY_DURING ? LAYOUT_WAITING : LAYOUT_RUNNING, bar);
		fputc('\n', layout->out);
	}
}

/* ---- a metric ---- */

static int print_metric(const struct layout *layout, struct database *database,
			const struct latency_choice *choice, bool all_bars,
			const struct latency_metric *metric, bool *has_printed)
{
	_cleanup_chosen_labels_ struct chosen_labels chosen = { 0 };
	char name[FORMAT_BYTES];
	int result = latency_choose_labels(choice, metric, &chosen);

	/* whoever asks for a label wants no metric without it */
	if (result < 0 || (choice->label && !chosen.count))
		return result;
	*has_printed = true;
	escape_terminal(metric->metric, name, sizeof(name));
	fputc('\n', layout->out);
	layout_put(layout, LAYOUT_STRONG, format_cut(name, (size_t)layout->columns, sizeof(name)));
	fprintf(layout->out, "%s%s\n", *latency_metric_text(metric->metric) ? ": " : "",
		latency_metric_text(metric->metric));
	print_measured(layout, choice, metric, LATENCY_DURING);
	print_measured(layout, choice, metric, LATENCY_BEFORE);
	result = print_table(layout, database, choice, metric, &chosen);
	if (chosen.left_out)
		fprintf(layout->out, "and %u more %s: --limit %u shows all\n", chosen.left_out,
			plural(chosen.left_out, "label", "labels"), chosen.count + chosen.left_out);
	for (uint32_t i = 0; i < (all_bars || !chosen.count ? chosen.count : 1); i++)
		print_bars(layout, choice, metric->is_bytes, chosen.labels[i]);
	return result;
}

int latency_print(const struct layout *layout, struct database *database, const struct latency_choice *choice,
		  bool all_bars, const struct latencies *latencies)
{
	bool has_printed = false;
	int result = 0;

	for (uint32_t i = 0; i < latencies->metrics_count && !result; i++)
		if (latency_choice_names(choice, latencies->metrics[i].metric))
			result = print_metric(layout, database, choice, all_bars, &latencies->metrics[i],
					      &has_printed);
	if (!result && !has_printed)
		fprintf(layout->out, "\nnothing that was asked for was measured in this %s\n",
			choice->is_live ? "interval" : "capture");
	return result;
}
