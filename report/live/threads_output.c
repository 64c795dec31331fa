/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/live/threads_output.h"

#include "common/text/escape.h"
#include "common/text/plural.h"
#include "report/text/csv.h"
#include "report/text/format.h"
#include "report/text/json.h"
#include "report/text/time_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#define COLUMNS_LEAST 4
#define WIDE_COLUMNS 28 /* of a column without a width of its own: functions, cgroups, */
#define WIDE_MORE 6     /* and where there is no room it is by so many wider than the others */
#define MOST_COLUMNS 6

/* How soon a column is made narrower. A number or a state that is cut tells nothing, so these come last. */
static int excess(uint32_t column, int width)
{
	const struct thread_column_facts *facts = &thread_columns[column];

	return width - (facts->is_whole ? FORMAT_BYTES : facts->width ? 0 : WIDE_MORE);
}

void threads_fit_columns(const struct thread_view *view, int room, int widths[THREAD_GROUPING])
{
	int wanted = 0;

	for (uint32_t i = 0; i < view->columns_count; i++) {
		widths[i] = thread_columns[view->columns[i]].width;
		if (!widths[i])
			widths[i] = WIDE_COLUMNS;
		wanted += widths[i] + 1;
	}
	for (; wanted > room; wanted--) {
		uint32_t widest = 0;

		for (uint32_t i = 1; i < view->columns_count; i++)
			if (excess(view->columns[i], widths[i]) >
			    excess(view->columns[widest], widths[widest]))
				widest = i;
		if (widths[widest] <= COLUMNS_LEAST)
			break; /* the last ones are cut off */
		widths[widest]--;
	}
	if (wanted < room && view->columns_count)
		widths[view->columns_count - 1] += room - wanted;
}

static uint32_t rows_of_limit(const struct thread_groups *groups, int64_t limit)
{
	return limit < 0 || limit > groups->count ? groups->count : (uint32_t)limit;
}

/* ---- text ---- */

/* How a table looks, by where threads come from. */
static const struct form {
	const char *header, *gap, *before_percent;
	int average_columns, share_columns, bar_columns;
	const char *nothing, *nothing_active;
} forms[] = {
	[THREADS_NOW] = { "\n AVERAGE   SHARE              ", "  ", " ", 8, 4, 10, "no thread matches\n",
			  "none of them runs, is queued, or is in D; --match 'state=*' shows the others\n" },
	[THREADS_SAMPLED] = { "\n    CPUS   SHARE              ", "  ", " ", 8, 4, 10,
			      "nothing on a CPU matches\n", "nothing on a CPU matches\n" },
	[THREADS_STORED] = { "\nAVERAGE SHARE        MOST ", " ", "", 7, 3, 5, "no thread matches\n",
			     "none of them ran, was queued, or was in D; --all shows the others\n" },
};

/* Writes text that is safe for a terminal, cut and filled to that width. */
static void print_cell(FILE *out, char text[FORMAT_BYTES], int width, const char *gap)
{
	int columns;

	if (width)
		format_cut(text, (size_t)width, FORMAT_BYTES);
	columns = (int)format_columns(text);
	fprintf(out, "%s%*s%s", text, columns < width ? width - columns : 0, "", width ? gap : "");
}

static void print_header(FILE *out, const struct thread_view *view, const struct threads_layout *layout)
{
	const struct form *form = &forms[view->origin];
	char text[FORMAT_BYTES];

	fputs(form->header, out);
	for (uint32_t i = 0; i < view->columns_count; i++) {
		snprintf(text, sizeof(text), "%s", thread_columns[view->columns[i]].name);
		for (char *at = text; *at; at++)
			*at = (char)toupper((unsigned char)*at);
		print_cell(out, text, layout->widths[i], form->gap);
	}
	fputs(layout->spark ? "OVER TIME\n" : "\n", out);
}

/* A full character is one thread, or the most that there were on average of a character. */
static void print_spark(FILE *out, const struct thread_groups *groups, const struct thread_group *group,
			const struct threads_layout *layout)
{
	double values[THREAD_CELLS], most = 1;

	for (uint32_t i = 0; i < layout->spark; i++) {
		values[i] = thread_groups_cell(groups, group, i * layout->cells, (i + 1) * layout->cells);
		most = values[i] > most ? values[i] : most;
	}
	for (uint32_t i = 0; i < layout->spark; i++)
		fputs(values[i] < 0 ? SPARK_NO_LOOK : format_spark(values[i], most, true), out);
}

static void print_group(FILE *out, const struct thread_view *view, const struct thread_groups *groups,
			const struct thread_group *group, const struct threads_layout *layout)
{
	const struct form *form = &forms[view->origin];
	char text[FORMAT_BYTES];

	fprintf(out, "%*.2f%s%*.0f%s%%%s", form->average_columns, group->average, form->gap,
		form->share_columns, group->share * 100, form->before_percent, form->gap);
	format_bar((int64_t)(group->share * 1000), 1000, (size_t)form->bar_columns, text, sizeof(text));
	print_cell(out, text, form->bar_columns, form->gap);
	if (view->origin == THREADS_STORED) {
		snprintf(text, sizeof(text), "%s%.0f", group->is_bound ? "≤" : "", group->most);
		fprintf(out, "%*s%s ", MOST_COLUMNS - (int)format_columns(text), "", text);
	}
	for (uint32_t i = 0; i < view->columns_count; i++) {
		escape_terminal(group->values[i] ? group->values[i] : THREAD_NONE, text, sizeof(text));
		print_cell(out, text, layout->widths[i], form->gap);
	}
	print_spark(out, groups, group, layout);
	fputc('\n', out);
}

void threads_print_groups(FILE *out, const struct thread_view *view, const struct thread_groups *groups,
			  int64_t limit, const struct threads_layout *layout)
{
	const struct form *form = &forms[view->origin];
	uint32_t rows = rows_of_limit(groups, limit);

	if (!groups->count) {
		fputs(view->all_states || view->filter.has_state ? form->nothing : form->nothing_active, out);
		return;
	}
	print_header(out, view, layout);
	for (uint32_t i = 0; i < rows; i++)
		print_group(out, view, groups, &groups->groups[i], layout);
	if (rows < groups->count)
		fprintf(out, "and %u more; --limit shows them\n", groups->count - rows);
}

void threads_describe_samples(const struct thread_groups *groups, const struct thread_lines *look, char *into,
			      size_t into_bytes)
{
	char of[32] = "", left_out[64] = "", missed[64] = "";

	if (look)
		snprintf(of, sizeof(of), " of %u", look->cpus);
	if (look && look->left_out)
		snprintf(left_out, sizeof(left_out), ", %" PRIu64 " %s left out", look->left_out,
			 plural(look->left_out, "sample", "samples"));
	if (look && look->missed)
		snprintf(missed, sizeof(missed), ", %u %s missed", look->missed,
			 plural(look->missed, "second", "seconds"));
	snprintf(into, into_bytes, "%.2f%s CPUs in use%s%s", groups->all, of, left_out, missed);
}

static void print_summary(FILE *out, const struct thread_view *view, const struct thread_groups *groups,
			  const struct thread_lines *look)
{
	char text[FORMAT_BYTES];

	if (view->origin == THREADS_SAMPLED) {
		threads_describe_samples(groups, look, text, sizeof(text));
		fprintf(out, "%s, over %" PRIu64 " %s of the clock\n", text, groups->looks,
			plural(groups->looks, "tick", "ticks"));
		return;
	}
	fprintf(out, "%.1f threads on average over %" PRIu64 " %s: %.1f running, %.1f queued, %.1f in D\n",
		groups->all, groups->looks, plural(groups->looks, "look", "looks"),
		groups->states[ACTIVITY_RUNNING], groups->states[ACTIVITY_QUEUED],
		groups->states[ACTIVITY_DISK]);
}

/* Of a column whose width is not fixed: that of its longest value. */
static int width_of(const struct thread_groups *groups, const struct thread_view *view, uint32_t place,
		    uint32_t rows)
{
	int width = thread_columns[view->columns[place]].width;
	size_t longest = strlen(thread_columns[view->columns[place]].name);
	char cell[FORMAT_BYTES];

	for (uint32_t i = 0; i < rows && !width; i++) {
		size_t columns =
			format_columns(escape_terminal(groups->groups[i].values[place], cell, sizeof(cell)));

		longest = columns > longest ? columns : longest;
	}
	return width ? width : (int)longest;
}

void threads_print_text(FILE *out, const struct thread_view *view, const struct thread_groups *groups,
			int64_t limit, const struct thread_lines *look)
{
	uint32_t rows = rows_of_limit(groups, limit);
	struct threads_layout layout = { .spark = 0 };

	for (uint32_t i = 0; i + 1 < view->columns_count; i++)
		layout.widths[i] = width_of(groups, view, i, rows);
	print_summary(out, view, groups, look);
	threads_print_groups(out, view, groups, limit, &layout);
}

/* ---- JSON ---- */

/* Whether it stands for none, or not known. A thread may have the name "-": NULL alone is none there. */
static bool is_none(uint32_t column, const char *value)
{
	return !value || (!strcmp(value, THREAD_NONE) && column != THREAD_COMM);
}

static bool is_number(const char *text)
{
	return isdigit((unsigned char)*text) && !text[strspn(text, "0123456789")] && strlen(text) < 16 &&
	       (*text != '0' || !text[1]);
}

/* A number, a text, true or false, or null where there is none. */
static void print_json_value(FILE *out, uint32_t column, const char *value)
{
	if (is_none(column, value))
		fputs("null", out);
	else if (column == THREAD_KERNEL)
		fputs(!strcmp(value, "yes") ? "true" : "false", out);
	else if (column >= THREAD_UID && column != THREAD_FUTEX && is_number(value))
		fputs(value, out);
	else
		json_string(out, value);
}

/* What is known of stored minutes alone. */
static void print_json_stored(FILE *out, const struct thread_groups *groups, const struct thread_group *group)
{
	fprintf(out, ", \"most\": %.0f, \"most_is_bound\": %s, \"cells\": [", group->most,
		group->is_bound ? "true" : "false");
	for (uint32_t i = 0; i < groups->cells_count; i++) {
		double value = thread_groups_cell(groups, group, i, i + 1);

		fputs(i ? ", " : "", out);
		if (value < 0)
			fputs("null", out);
		else
			fprintf(out, "%.3f", value);
	}
	fputc(']', out);
}

/* The name of the average, which of samples is a number of CPUs. */
static const char *average_name(const struct thread_view *view)
{
	return view->origin == THREADS_SAMPLED ? "cpus" : "average";
}

void threads_print_json_groups(FILE *out, const struct thread_view *view, const struct thread_groups *groups,
			       int64_t limit)
{
	bool is_stored = view->origin == THREADS_STORED;

	fputs("\"groups\": [", out);
	for (uint32_t row = 0; row < rows_of_limit(groups, limit); row++) {
		const struct thread_group *group = &groups->groups[row];

		/* a second is one line, a stored group is one */
		fprintf(out, "%s%s{", row ? "," : "", is_stored ? "\n" : row ? " " : "");
		for (uint32_t i = 0; i < view->columns_count; i++) {
			fprintf(out, "\"%s\": ", thread_columns[view->columns[i]].name);
			print_json_value(out, view->columns[i], group->values[i]);
			fputs(", ", out);
		}
		fprintf(out, "\"%s\": %.3f, \"share\": %.4f", average_name(view), group->average,
			group->share);
		if (is_stored)
			print_json_stored(out, groups, group);
		fputc('}', out);
	}
	fputs("]}\n", out);
}

void threads_print_json(FILE *out, const struct thread_view *view, const struct thread_groups *groups,
			int64_t limit, const struct thread_lines *look, int64_t at_ns)
{
	char at[TIME_TEXT_BYTES];

	fprintf(out, "{\"at\": \"%s\", ", time_text_write(at_ns, at));
	if (view->origin == THREADS_SAMPLED)
		fprintf(out,
			"\"ticks\": %" PRIu64 ", \"cpus\": %.3f, \"cpus_sampled\": %u, \"left_out\": %" PRIu64
			", \"missed\": %u, ",
			groups->looks, groups->all, look->cpus, look->left_out, look->missed);
	else
		fprintf(out,
			"\"looks\": %" PRIu64
			", \"threads\": %.3f, \"running\": %.3f, \"queued\": %.3f, \"in_d\": %.3f, ",
			groups->looks, groups->all, groups->states[ACTIVITY_RUNNING],
			groups->states[ACTIVITY_QUEUED], groups->states[ACTIVITY_DISK]);
	threads_print_json_groups(out, view, groups, limit);
}

/* ---- CSV ---- */

void threads_print_csv_header(FILE *out, const struct thread_view *view)
{
	bool is_stored = view->origin == THREADS_STORED;

	fprintf(out, "%s,%s,share%s", is_stored ? "from,until,steps,looks" : "at", average_name(view),
		is_stored ? ",most,most_is_bound" : "");
	for (uint32_t i = 0; i < view->columns_count; i++)
		fprintf(out, ",%s", thread_columns[view->columns[i]].name);
	fputs("\r\n", out);
}

void threads_print_csv(FILE *out, const struct thread_view *view, const struct thread_groups *groups,
		       int64_t limit, const char *time)
{
	for (uint32_t row = 0; row < rows_of_limit(groups, limit); row++) {
		const struct thread_group *group = &groups->groups[row];

		fprintf(out, "%s,%.3f,%.4f", time, group->average, group->share);
		if (view->origin == THREADS_STORED)
			fprintf(out, ",%.0f,%d", group->most, group->is_bound);
		for (uint32_t i = 0; i < view->columns_count; i++) {
			fputc(',', out);
			if (!is_none(view->columns[i], group->values[i]))
				csv_text(out, group->values[i]);
		}
		fputs("\r\n", out);
	}
}
