/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/text/table.h"

#include "common/base/cleanup.h"
#include "common/text/escape.h"
#include "report/text/format.h"

#include <stdlib.h>
#include <string.h>

void cell_text(const struct query *query, const char *name, char *into, size_t into_bytes)
{
	escape_terminal(query_is_null(query, name) ? "-" : query_text(query, name), into, into_bytes);
}

void cell_scope(const struct query *query, const char *name, char *into, size_t into_bytes)
{
	escape_terminal(query_is_null(query, name) ? "system" : query_text(query, name), into, into_bytes);
}

void cell_basename(const struct query *query, const char *name, char *into, size_t into_bytes)
{
	format_basename(query_text(query, name), into, into_bytes);
}

void cell_number(const struct query *query, const char *name, char *into, size_t into_bytes)
{
	if (query_is_null(query, name))
		snprintf(into, into_bytes, "-");
	else
		snprintf(into, into_bytes, "%lld", (long long)query_number(query, name));
}

void cell_percent(const struct query *query, const char *name, char *into, size_t into_bytes)
{
	if (query_is_null(query, name))
		snprintf(into, into_bytes, "-");
	else
		format_percent(query_real(query, name), into, into_bytes);
}

void cell_duration_ns(const struct query *query, const char *name, char *into, size_t into_bytes)
{
	format_duration(query_real(query, name), " ", into, into_bytes);
}

void cell_size(const struct query *query, const char *name, char *into, size_t into_bytes)
{
	if (query_is_null(query, name))
		snprintf(into, into_bytes, "-");
	else
		format_size(query_real(query, name), into, into_bytes);
}

/* Text is cut to its column. A number that is too wide is written whole and shifts the line. */
static void print_cell(FILE *out, const struct column *column, bool is_last, char *text)
{
	size_t width = (size_t)abs(column->width), columns;
	int padding;

	if (column->width < 0)
		format_cut(text, width, FORMAT_BYTES);
	columns = format_columns(text);
	padding = columns < width ? (int)(width - columns) : 0;
	if (column->width > 0)
		fprintf(out, "%*s%s", padding, "", text);
	else
		fprintf(out, "%s%*s", text, is_last ? 0 : padding, "");
	fputs(is_last ? "\n" : "  ", out);
}

/* What tells two names apart, mostly. */
#define WIDTH_LEAST 7
#define TABLE_COLUMNS_MOST 16U

/* The column of text that can become narrower by most, or NULL. */
static struct column *widest_text(struct column *columns, size_t columns_count)
{
	struct column *widest = NULL;

	for (size_t i = 0; i < columns_count; i++)
		if (columns[i].width < 0 && -columns[i].width > WIDTH_LEAST &&
		    (!widest || columns[i].width < widest->width))
			widest = &columns[i];
	return widest;
}

/* Changes the widths so that the rows fit. Where text cannot become narrower, the lines are longer than the page. */
static void fit(struct column *columns, size_t columns_count, int layout_columns)
{
	int wanted = 2 * (int)(columns_count - 1);
	struct column *widest;

	for (size_t i = 0; i < columns_count; i++)
		wanted += abs(columns[i].width);
	for (; wanted > layout_columns && (widest = widest_text(columns, columns_count)); wanted--)
		widest->width++;
	if (layout_columns <= REPORT_COLUMNS)
		return;
	for (size_t i = columns_count; i-- > 0;)
		if (columns[i].width < 0) {
			columns[i].width -= layout_columns - REPORT_COLUMNS;
			return;
		}
}

/* Prints the rows; see table_print_group(). */
static bool print_rows(FILE *out, struct query *query, const struct column *columns, size_t columns_count,
		       const char *group)
{
	int64_t first = group ? query_number(query, group) : 0;
	char text[FORMAT_BYTES];
	bool more;

	for (size_t i = 0; i < columns_count; i++) {
		snprintf(text, sizeof(text), "%s", columns[i].title);
		print_cell(out, &columns[i], i + 1 == columns_count, text);
	}
	do {
		for (size_t i = 0; i < columns_count; i++) {
			columns[i].cell(query, columns[i].name, text, sizeof(text));
			print_cell(out, &columns[i], i + 1 == columns_count, text);
		}
		more = query_next(query);
	} while (more && (!group || query_number(query, group) == first));
	return more;
}

bool table_print_group(const struct layout *layout, struct query *query, const struct column *columns,
		       size_t columns_count, const char *group)
{
	struct column fitted[TABLE_COLUMNS_MOST];

	columns_count = columns_count < ARRAY_SIZE(fitted) ? columns_count : ARRAY_SIZE(fitted);
	memcpy(fitted, columns, columns_count * sizeof(*columns));
	fit(fitted, columns_count, layout->columns);
	return print_rows(layout->out, query, fitted, columns_count, group);
}

void table_print_on(const struct layout *layout, struct query *query, const struct column *columns,
		    size_t columns_count)
{
	table_print_group(layout, query, columns, columns_count, NULL);
}

void table_print(FILE *out, struct query *query, const struct column *columns, size_t columns_count)
{
	print_rows(out, query, columns, columns_count, NULL);
}
