/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/live/activity_output.h"

#include "common/base/clock.h"
#include "common/text/plural.h"
#include "report/live/threads_output.h"
#include "report/text/format.h"
#include "report/text/time_text.h"

#include <inttypes.h>

#define COLUMNS_BEFORE 26 /* of the table, before the view's columns */
#define SPARK_LEAST 10U   /* holds the title, too */
#define GAPS_SHOWN 5U
#define UNSTORED_NS (90 * (int64_t)CLOCK_SECOND_NS)

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

static struct threads_layout lay_out(const struct thread_view *view, const struct activity_groups *groups,
				     int width)
{
	uint32_t room = width >= 160 ? 60 : width >= 100 ? 24 : width >= 72 ? SPARK_LEAST : 0;
	struct threads_layout layout = { .spark = groups->threads.cells_count < room
							  ? groups->threads.cells_count
							  : room };

	if (layout.spark) {
		layout.cells = (groups->threads.cells_count - 1) / layout.spark + 1;
		layout.spark = (groups->threads.cells_count - 1) / layout.cells + 1;
	}
	threads_fit_columns(view, width - COLUMNS_BEFORE - (int)room, layout.widths);
	return layout;
}

/* What the last column is: where it has room. */
static void explain_spark(FILE *out, const struct activity_groups *groups,
			  const struct threads_layout *layout)
{
	char length[TIME_TEXT_BYTES];
	bool has_empty = false;

	for (uint32_t i = 0; i < layout->spark; i++)
		has_empty = has_empty || thread_groups_cell(&groups->threads, &groups->threads.groups[0],
							    i * layout->cells, (i + 1) * layout->cells) < 0;
	if (layout->spark)
		fprintf(out, "\neach character of the last column is %s%s\n",
			time_text_write_duration(layout->cells * groups->cell_ns, length),
			has_empty ? "; in " SPARK_NO_LOOK " there was no look" : "");
}

void activity_print_text(FILE *out, const struct thread_view *view, const struct activity_groups *groups,
			 int64_t limit, const struct activity_span *asked, int width)
{
	struct threads_layout layout = lay_out(view, groups, width);

	print_coverage(out, groups, asked);
	print_states(out, groups);
	threads_print_groups(out, view, &groups->threads, limit, &layout);
	if (groups->threads.count)
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
	for (uint32_t i = 0; i < groups->threads.cells_count; i++)
		fprintf(out, "%s%" PRIu64, i ? ", " : "", groups->threads.cell_looks[i]);
	fprintf(out,
		"], \"threads\": %.3f, \"running\": %.3f, \"queued\": %.3f, \"in_d\": %.3f, \"without_row\": %.3f, ",
		groups->threads.all, groups->threads.states[ACTIVITY_RUNNING],
		groups->threads.states[ACTIVITY_QUEUED], groups->threads.states[ACTIVITY_DISK], groups->rest);
}

void activity_print_json(FILE *out, const struct thread_view *view, const struct activity_groups *groups,
			 int64_t limit)
{
	fputc('{', out);
	print_json_coverage(out, groups);
	threads_print_json_groups(out, view, &groups->threads, limit);
}

void activity_print_csv(FILE *out, const struct thread_view *view, const struct activity_groups *groups,
			int64_t limit)
{
	char from[TIME_TEXT_BYTES], until[TIME_TEXT_BYTES], time[FORMAT_BYTES];

	snprintf(time, sizeof(time), "%s,%s,%" PRIu64 ",%" PRIu64,
		 time_text_write(groups->span.from_ns, from), time_text_write(groups->span.until_ns, until),
		 groups->steps, groups->threads.looks);
	threads_print_csv_header(out, view);
	threads_print_csv(out, view, &groups->threads, limit, time);
}
