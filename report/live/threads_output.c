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

#define BAR_COLUMNS 10U
#define COLUMNS_LEAST 4
#define WIDE_COLUMNS 28 /* of a column without a width of its own: functions, cgroups, */
#define WIDE_MORE 6     /* and where there is no room it is by so many wider than the others */

int threads_column_width(uint32_t column)
{
	static const int widths[THREAD_GROUPING] = {
		[THREAD_STATE] = 7,  [THREAD_SYSCALL] = 15, [THREAD_COMM] = 15, [THREAD_PROCESS] = 15,
		[THREAD_UNIT] = 24,  [THREAD_MODULE] = 20,  [THREAD_UID] = 6,   [THREAD_FD] = 5,
		[THREAD_FUTEX] = 16, [THREAD_TGID] = 8,     [THREAD_TID] = 8,   [THREAD_CONTAINER] = 12,
		[THREAD_KERNEL] = 6,
	};

	return widths[column];
}

/* How soon a column is made narrower. A number or a state that is cut tells nothing, so these come last. */
static int excess(uint32_t column, int width)
{
	switch (column) {
	case THREAD_STATE:
	case THREAD_KERNEL:
	case THREAD_UID:
	case THREAD_FD:
	case THREAD_TGID:
	case THREAD_TID:
		return width - FORMAT_BYTES;
	default:
		return width - (threads_column_width(column) ? 0 : WIDE_MORE);
	}
}

void threads_fit_columns(const struct thread_view *view, int room, int widths[THREAD_GROUPING])
{
	int wanted = 0;

	for (uint32_t i = 0; i < view->columns_count; i++) {
		widths[i] = threads_column_width(view->columns[i]);
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

static bool is_number(const char *text)
{
	return isdigit((unsigned char)*text) && !text[strspn(text, "0123456789")] && strlen(text) < 16 &&
	       (*text != '0' || !text[1]);
}

/* ---- text ---- */

static void print_cell(FILE *out, const char *text, int width, bool is_last)
{
	char cell[FORMAT_BYTES];
	size_t columns;

	escape_terminal(text, cell, sizeof(cell));
	if (width && !is_last)
		format_cut(cell, (size_t)width, sizeof(cell));
	columns = format_columns(cell);
	fprintf(out, "%s%*s", cell, is_last || columns >= (size_t)width ? 0 : width - (int)columns, "");
	fputs(is_last ? "\n" : "  ", out);
}

/* Of a column whose width is not fixed: that of its longest value. */
static int width_of(const struct thread_groups *groups, const struct thread_view *view, uint32_t place,
		    uint32_t rows)
{
	int width = threads_column_width(view->columns[place]);
	size_t longest = strlen(thread_column_names[view->columns[place]]);
	char cell[FORMAT_BYTES];

	for (uint32_t i = 0; i < rows && !width; i++) {
		size_t columns =
			format_columns(escape_terminal(groups->groups[i].values[place], cell, sizeof(cell)));

		longest = columns > longest ? columns : longest;
	}
	return width ? width : (int)longest;
}

static void print_upper(FILE *out, const char *name, int width, bool is_last)
{
	char title[32];
	size_t i = 0;

	for (; name[i] && i + 1 < sizeof(title); i++)
		title[i] = (char)toupper((unsigned char)name[i]);
	title[i] = '\0';
	print_cell(out, title, width, is_last);
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

void threads_print_text(FILE *out, const struct thread_view *view, const struct thread_groups *groups,
			int64_t limit, const struct thread_lines *look)
{
	uint32_t rows = rows_of_limit(groups, limit);
	int widths[THREAD_GROUPING];
	char bar[FORMAT_BYTES];

	print_summary(out, view, groups, look);
	if (!groups->count) {
		fputs(view->origin == THREADS_SAMPLED ? "nothing on a CPU matches\n"
		      : view->all_states || view->filter.has_state
			      ? "no thread matches\n"
			      : "none of them runs, is queued, or is in D; --match 'state=*' shows the others\n",
		      out);
		return;
	}
	for (uint32_t i = 0; i < view->columns_count; i++)
		widths[i] = width_of(groups, view, i, rows);
	fprintf(out, "\n%8s  %6s  %-*s  ", view->origin == THREADS_SAMPLED ? "CPUS" : "AVERAGE", "SHARE",
		(int)BAR_COLUMNS, "");
	for (uint32_t i = 0; i < view->columns_count; i++)
		print_upper(out, thread_column_names[view->columns[i]], widths[i],
			    i + 1 == view->columns_count);
	for (uint32_t row = 0; row < rows; row++) {
		const struct thread_group *group = &groups->groups[row];
		size_t columns;

		format_bar((int64_t)(group->share * 1000), 1000, BAR_COLUMNS, bar, sizeof(bar));
		columns = format_columns(bar);
		fprintf(out, "%8.2f  %4.0f %%  %s%*s  ", group->average, group->share * 100, bar,
			(int)(BAR_COLUMNS - columns), "");
		for (uint32_t i = 0; i < view->columns_count; i++)
			print_cell(out, group->values[i], widths[i], i + 1 == view->columns_count);
	}
	if (rows < groups->count)
		fprintf(out, "and %u more; --limit shows them\n", groups->count - rows);
}

/* ---- JSON ---- */

void threads_print_json_value(FILE *out, uint32_t column, const char *value)
{
	if (!value || (!strcmp(value, THREAD_NONE) && column != THREAD_COMM))
		fputs("null", out);
	else if (column >= THREAD_UID && column != THREAD_FUTEX && is_number(value))
		fputs(value, out);
	else
		json_string(out, value);
}

void threads_print_json(FILE *out, const struct thread_view *view, const struct thread_groups *groups,
			int64_t limit, const struct thread_lines *look, int64_t at_ns)
{
	uint32_t rows = rows_of_limit(groups, limit);
	char at[TIME_TEXT_BYTES];

	fputs("{\"at\": \"", out);
	fputs(time_text_write(at_ns, at), out);
	if (view->origin == THREADS_SAMPLED)
		fprintf(out,
			"\", \"ticks\": %" PRIu64
			", \"cpus\": %.3f, \"cpus_sampled\": %u, \"left_out\": %" PRIu64
			", \"missed\": %u, \"groups\": [",
			groups->looks, groups->all, look->cpus, look->left_out, look->missed);
	else
		fprintf(out,
			"\", \"looks\": %" PRIu64
			", \"threads\": %.3f, \"running\": %.3f, \"queued\": %.3f, \"in_d\": %.3f, \"groups\": [",
			groups->looks, groups->all, groups->states[ACTIVITY_RUNNING],
			groups->states[ACTIVITY_QUEUED], groups->states[ACTIVITY_DISK]);
	for (uint32_t row = 0; row < rows; row++) {
		const struct thread_group *group = &groups->groups[row];

		fputs(row ? ", {" : "{", out);
		for (uint32_t i = 0; i < view->columns_count; i++) {
			fprintf(out, "\"%s\": ", thread_column_names[view->columns[i]]);
			threads_print_json_value(out, view->columns[i], group->values[i]);
			fputs(", ", out);
		}
		fprintf(out, "\"%s\": %.3f, \"share\": %.4f}",
			view->origin == THREADS_SAMPLED ? "cpus" : "average", group->average, group->share);
	}
	fputs("]}\n", out);
}

/* ---- CSV ---- */

void threads_print_csv_header(FILE *out, const struct thread_view *view)
{
	fprintf(out, "at,%s,share", view->origin == THREADS_SAMPLED ? "cpus" : "average");
	for (uint32_t i = 0; i < view->columns_count; i++)
		fprintf(out, ",%s", thread_column_names[view->columns[i]]);
	fputs("\r\n", out);
}

void threads_print_csv(FILE *out, const struct thread_view *view, const struct thread_groups *groups,
		       int64_t limit, int64_t at_ns)
{
	uint32_t rows = rows_of_limit(groups, limit);
	char at[TIME_TEXT_BYTES];

	for (uint32_t row = 0; row < rows; row++) {
		const struct thread_group *group = &groups->groups[row];

		fputs(time_text_write(at_ns, at), out);
		fprintf(out, ",%.3f,%.4f", group->average, group->share);
		for (uint32_t i = 0; i < view->columns_count; i++) {
			fputc(',', out);
			if (strcmp(group->values[i], THREAD_NONE) != 0 || view->columns[i] == THREAD_COMM)
				csv_text(out, group->values[i]);
		}
		fputs("\r\n", out);
	}
}
