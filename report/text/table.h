/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * table.h owns printing the rows of a query as a text table. A static array of columns has the title, the
 * query's column, the format and the width of each.
 *
 * Room: rows as tables, JSON, CSV and XML, for a terminal or a file. Called by every room of report/ but
 * model; it writes to the stream that it is given.
 */
#ifndef BOURDON_REPORT_TEXT_TABLE_H
#define BOURDON_REPORT_TEXT_TABLE_H

#include "report/model/query.h"
#include "report/text/layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Writes a value for a terminal: escaped, and not yet cut to the column's width. */
typedef void cell_fn(const struct query *query, const char *name, char *into, size_t into_bytes);

struct column {
	const char *title;
	const char *name; /* of the query's column */
	int width;        /* in characters; negative: left-aligned */
	cell_fn *cell;
};

cell_fn cell_text, cell_scope, cell_basename, cell_number, cell_percent, cell_duration_ns, cell_size;

/* Prints the current row and all rows after it, with the columns as wide as the array says. */
void table_print(FILE *out, struct query *query, const struct column *columns, size_t columns_count);

/*
 * The same, fitted to the page: on one of REPORT_COLUMNS as the array says. On a narrower one columns of text are narrower, the
 * widest first; on a wider one the last column of text is wider.
 */
void table_print_on(const struct layout *layout, struct query *query, const struct column *columns,
		    size_t columns_count);

/*
 * The same of the current row and the rows after it that have the same number in column `group`. Returns true if the query then
 * stands on the next row, false at the end.
 */
bool table_print_group(const struct layout *layout, struct query *query, const struct column *columns,
		       size_t columns_count, const char *group);

#endif
