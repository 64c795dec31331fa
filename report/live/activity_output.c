/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/live/activity_output.h"

#include "common/base/clock.h"
#include "common/text/escape.h"
#include "common/text/plural.h"
#include "report/live/threads_output.h"
#include "report/text/csv.h"
#include "report/text/format.h"
#include "report/text/time_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#define AVERAGE_COLUMNS 7
#define SHARE_COLUMNS 4
#define BAR_COLUMNS 5
#define MOST_COLUMNS 6
#define COLUMNS_BEFORE (AVERAGE_COLUMNS + 1 + SHARE_COLUMNS + 1 + BAR_COLUMNS + 1 + MOST_COLUMNS + 1)
#define SPARK_LEAST 10U /* holds the title, too */
#define GAPS_SHOWN 5U
#define UNSTORED_NS (90 * (int64_t)CLOCK_SECOND_NS)
#define NO_LOOK "·"

static uint32_t rows_of_limit(const struct activity_groups *groups, int64_t limit)
{
	return limit < 0 || limit > groups->threads.count ? groups->threads.count : (uint32_t)limit;
}

/* ---- what the data covers ---- */

static void print_interval(FILE *out, const struct activity_groups *groups)
{
	char least[TIME_TEXT_BYTES], most[TIME_TEXT_BYTES];

	fprintf(out, "one each %s", time_text_write_duration(groups->interval_least_ns, least));
	if (groups->interval_most_ns != groups->interval_least_ns)
		fprintf(out, " to %s", time_text_write_duration(groups->interval_most_ns, most));
}

static void print_gap(FILE *out, int64_t from_ns, int64_t until_ns)
{
	char from[TIME_TEXT_BYTES], until[TIME_TEXT_BYTES], length[TIME_TEXT_BYTES];

	fprintf(out, "  no look from %s to %s, %s\n", time_text_write(from_ns, from),
		time_text_write(until_ns, until), time_text_write_duration(until_ns - from_ns, length));
}

/* The times without a look: before the first minute, between two, and after the last one. */
static void print_gaps(FILE *out, const struct activity_groups *groups, const struct activity_span *asked)
{
	uint32_t shown = groups->gaps_count < GAPS_SHOWN ? groups->gaps_count : GAPS_SHOWN;
	char length[TIME_TEXT_BYTES];

	if (groups->span.from_ns - asked->from_ns >= groups->interval_most_ns)
		print_gap(out, asked->from_ns, groups->span.from_ns);
	for (uint32_t i = 0; i < shown; i++)
		print_gap(out, groups->gaps[i].from_ns, groups->gaps[i].until_ns);
	if (groups->all_gaps > shown)
		fprintf(out, "  and %" PRIu64 " more such times; these are %s in all\n",
			groups->all_gaps - shown, time_text_write_duration(groups->all_gaps_ns, length));
	/* a minute is stored when it is over */
	if (asked->until_ns - groups->span.until_ns >= UNSTORED_NS + groups->interval_most_ns)
		print_gap(out, groups->span.until_ns, asked->until_ns);
}

static void print_coverage(FILE *out, const struct activity_groups *groups, const struct activity_span *asked)
{
	char from[TIME_TEXT_BYTES], until[TIME_TEXT_BYTES];
	uint64_t missed = groups->steps - groups->threads.looks;

	fprintf(out, "%s to %s: %" PRIu64 " %s, ", time_text_write(groups->span.from_ns, from),
		time_text_write(groups->span.until_ns, until), groups->threads.looks,
		plural(groups->threads.looks, "look", "looks"));
	print_interval(out, groups);
	fputc('\n', out);
	if (missed)
		fprintf(out, "  %" PRIu64 " more %s missed\n", missed, plural(missed, "was", "were"));
	print_gaps(out, groups, asked);
	if (groups->overlaps)
		fprintf(out, "  %u %s: several machines, or a clock that went back\n", groups->overlaps,
			plural(groups->overlaps, "minute overlaps another", "minutes overlap others"));
	if (groups->damaged)
		fprintf(out, "  %" PRIu64 " %s damaged and left out\n", groups->damaged,
			plural(groups->damaged, "row or minute is", "rows or minutes are"));
}

static void print_states(FILE *out, const struct activity_groups *groups)
{
	fprintf(out, "%.1f threads on average: %.1f running, %.1f queued, %.1f in D\n", groups->threads.all,
		groups->threads.states[ACTIVITY_RUNNING], groups->threads.states[ACTIVITY_QUEUED],
		groups->threads.states[ACTIVITY_DISK]);
	if (groups->rest > 0)
		fprintf(out, "  of %.2f of them the state alone is known: too many were different\n",
			groups->rest);
}

/* ---- the table ---- */

struct layout {
	int widths[THREAD_GROUPING];
	uint32_t spark; /* characters; 0: there is no room */
	uint32_t cells; /* of each */
};

static struct layout lay_out(const struct thread_view *view, const struct activity_groups *groups, int width)
{
	uint32_t room = width >= 160 ? 60 : width >= 100 ? 24 : width >= 72 ? SPARK_LEAST : 0;
	struct layout layout = { .spark = groups->cells_count < room ? groups->cells_count : room };

	if (layout.spark) {
		layout.cells = (groups->cells_count - 1) / layout.spark + 1;
		layout.spark = (groups->cells_count - 1) / layout.cells + 1;
	}
	threads_fit_columns(view, width - COLUMNS_BEFORE - (int)room, layout.widths);
	return layout;
}

/* Writes text that is safe for a terminal, cut and filled to that width, and a blank. */
static void print_cell(FILE *out, char text[FORMAT_BYTES], int width)
{
	format_cut(text, (size_t)width, FORMAT_BYTES);
	fprintf(out, "%s%*s ", text, width - (int)format_columns(text), "");
}

static void print_header(FILE *out, const struct thread_view *view, const struct layout *layout)
{
	char text[FORMAT_BYTES];

	fprintf(out, "\n%*s %-*s %*s ", AVERAGE_COLUMNS, "AVERAGE", SHARE_COLUMNS + 1 + BAR_COLUMNS, "SHARE",
		MOST_COLUMNS, "MOST");
	for (uint32_t i = 0; i < view->columns_count; i++) {
		snprintf(text, sizeof(text), "%s", thread_column_names[view->columns[i]]);
		for (char *at = text; *at; at++)
			*at = (char)toupper((unsigned char)*at);
		print_cell(out, text, layout->widths[i]);
	}
	fputs(layout->spark ? "OVER TIME\n" : "\n", out);
}

/* A full character is one thread, or the most that there were on average of a character. */
static void print_spark(FILE *out, const struct activity_groups *groups, const struct thread_group *group,
			const struct layout *layout)
{
	double values[THREAD_CELLS], most = 1;

	for (uint32_t i = 0; i < layout->spark; i++) {
		values[i] = thread_groups_cell(&groups->threads, group, i * layout->cells,
					       (i + 1) * layout->cells);
		most = values[i] > most ? values[i] : most;
	}
	for (uint32_t i = 0; i < layout->spark; i++)
		fputs(values[i] < 0 ? NO_LOOK : format_spark(values[i], most, true), out);
}

static void print_group(FILE *out, const struct thread_view *view, const struct activity_groups *groups,
			const struct thread_group *group, const struct layout *layout)
{
	char text[FORMAT_BYTES];

	fprintf(out, "%*.2f %*.0f%% ", AVERAGE_COLUMNS, group->average, SHARE_COLUMNS - 1,
		group->share * 100);
	format_bar((int64_t)(group->share * 1000), 1000, BAR_COLUMNS, text, sizeof(text));
	print_cell(out, text, BAR_COLUMNS);
	snprintf(text, sizeof(text), "%s%.0f", group->is_bound ? "≤" : "", group->most);
	fprintf(out, "%*s%s ", MOST_COLUMNS - (int)format_columns(text), "", text);
	for (uint32_t i = 0; i < view->columns_count; i++) {
		escape_terminal(group->values[i] ? group->values[i] : THREAD_NONE, text, sizeof(text));
		print_cell(out, text, layout->widths[i]);
	}
	print_spark(out, groups, group, layout);
	fputc('\n', out);
}

/* What the last column is: where it has room. */
static void explain_spark(FILE *out, const struct activity_groups *groups, const struct layout *layout)
{
	char length[TIME_TEXT_BYTES];
	bool has_empty = false;

	for (uint32_t i = 0; i < layout->spark; i++)
		has_empty = has_empty || thread_groups_cell(&groups->threads, &groups->threads.groups[0],
							    i * layout->cells, (i + 1) * layout->cells) < 0;
	if (layout->spark)
		fprintf(out, "\neach character of the last column is %s%s\n",
			time_text_write_duration(layout->cells * groups->cell_ns, length),
			has_empty ? "; in " NO_LOOK " there was no look" : "");
}

void activity_print_text(FILE *out, const struct thread_view *view, const struct activity_groups *groups,
			 int64_t limit, const struct activity_span *asked, int width)
{
	uint32_t rows = rows_of_limit(groups, limit);
	struct layout layout = lay_out(view, groups, width);

	print_coverage(out, groups, asked);
	print_states(out, groups);
	if (!groups->threads.count) {
		fputs(view->all_states || view->filter.has_state
			      ? "no thread matches\n"
			      : "none of them ran, was queued, or was in D; --all shows the others\n",
		      out);
		return;
	}
	print_header(out, view, &layout);
	for (uint32_t i = 0; i < rows; i++)
		print_group(out, view, groups, &groups->threads.groups[i], &layout);
	if (rows < groups->threads.count)
		fprintf(out, "and %u more; --limit shows them\n", groups->threads.count - rows);
	explain_spark(out, groups, &layout);
}

/* ---- JSON ---- */

static void print_json_span(FILE *out, int64_t from_ns, int64_t until_ns)
{
	char text[TIME_TEXT_BYTES];

	fprintf(out, "\"from\": \"%s\", ", time_text_write(from_ns, text));
	fprintf(out, "\"until\": \"%s\"", time_text_write(until_ns, text));
}

static void print_json_coverage(FILE *out, const struct activity_groups *groups)
{
	print_json_span(out, groups->span.from_ns, groups->span.until_ns);
	fprintf(out,
		", \"steps\": %" PRIu64 ", \"looks\": %" PRIu64
		", \"interval_seconds\": %.9g, \"gaps_seconds\": %.9g, \"overlaps\": %u, \"damaged\": %" PRIu64
		", \"gaps\": [",
		groups->steps, groups->threads.looks, (double)groups->interval_most_ns / 1e9,
		(double)groups->all_gaps_ns / 1e9, groups->overlaps, groups->damaged);
	for (uint32_t i = 0; i < groups->gaps_count; i++) {
		fputs(i ? ", {" : "{", out);
		print_json_span(out, groups->gaps[i].from_ns, groups->gaps[i].until_ns);
		fputc('}', out);
	}
	fprintf(out, "], \"cell_seconds\": %.9g, \"cell_looks\": [", (double)groups->cell_ns / 1e9);
	for (uint32_t i = 0; i < groups->cells_count; i++)
		fprintf(out, "%s%" PRIu64, i ? ", " : "", groups->threads.cell_looks[i]);
	fprintf(out,
		"], \"threads\": %.3f, \"running\": %.3f, \"queued\": %.3f, \"in_d\": %.3f, \"without_row\": %.3f",
		groups->threads.all, groups->threads.states[ACTIVITY_RUNNING],
		groups->threads.states[ACTIVITY_QUEUED], groups->threads.states[ACTIVITY_DISK], groups->rest);
}

static void print_json_value(FILE *out, uint32_t column, const char *value)
{
	if (column == THREAD_KERNEL && value)
		fputs(!strcmp(value, "yes") ? "true" : "false", out);
	else
		threads_print_json_value(out, column, value);
}

static void print_json_group(FILE *out, const struct thread_view *view, const struct activity_groups *groups,
			     const struct thread_group *group)
{
	fputc('{', out);
	for (uint32_t i = 0; i < view->columns_count; i++) {
		fprintf(out, "\"%s\": ", thread_column_names[view->columns[i]]);
		print_json_value(out, view->columns[i], group->values[i]);
		fputs(", ", out);
	}
	fprintf(out,
		"\"average\": %.3f, \"share\": %.4f, \"most\": %.0f, \"most_is_bound\": %s, \"cells\": [",
		group->average, group->share, group->most, group->is_bound ? "true" : "false");
	for (uint32_t i = 0; i < groups->cells_count; i++) {
		double value = thread_groups_cell(&groups->threads, group, i, i + 1);

		fputs(i ? ", " : "", out);
		if (value < 0)
			fputs("null", out);
		else
			fprintf(out, "%.3f", value);
	}
	fputs("]}", out);
}

void activity_print_json(FILE *out, const struct thread_view *view, const struct activity_groups *groups,
			 int64_t limit)
{
	uint32_t rows = rows_of_limit(groups, limit);

	fputc('{', out);
	print_json_coverage(out, groups);
	fputs(", \"groups\": [", out);
	for (uint32_t i = 0; i < rows; i++) {
		fputs(i ? ",\n" : "\n", out);
		print_json_group(out, view, groups, &groups->threads.groups[i]);
	}
	fputs("]}\n", out);
}

/* ---- CSV ---- */

void activity_print_csv(FILE *out, const struct thread_view *view, const struct activity_groups *groups,
			int64_t limit)
{
	uint32_t rows = rows_of_limit(groups, limit);
	char from[TIME_TEXT_BYTES], until[TIME_TEXT_BYTES];

	fputs("from,until,steps,looks,average,share,most,most_is_bound", out);
	for (uint32_t i = 0; i < view->columns_count; i++)
		fprintf(out, ",%s", thread_column_names[view->columns[i]]);
	fputs("\r\n", out);
	time_text_write(groups->span.from_ns, from);
	time_text_write(groups->span.until_ns, until);
	for (uint32_t row = 0; row < rows; row++) {
		const struct thread_group *group = &groups->threads.groups[row];

		fprintf(out, "%s,%s,%" PRIu64 ",%" PRIu64 ",%.3f,%.4f,%.0f,%d", from, until, groups->steps,
			groups->threads.looks, group->average, group->share, group->most, group->is_bound);
		for (uint32_t i = 0; i < view->columns_count; i++) {
			fputc(',', out);
			csv_text(out, group->values[i]);
		}
		fputs("\r\n", out);
	}
}
