/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/table.h"

#include "common/escape.h"
#include "report/format.h"

void cell_text(const struct query *query, const char *name, char *into, size_t into_bytes)
{
	escape_terminal(query_is_null(query, name) ? "-" : query_text(query, name), into, into_bytes);
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

bool table_print_group(FILE *out, struct query *query, const struct column *columns, size_t columns_count,
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

void table_print(FILE *out, struct query *query, const struct column *columns, size_t columns_count)
{
	table_print_group(out, query, columns, columns_count, NULL);
}
