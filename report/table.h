/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * table.h owns printing the rows of a query as a text table. A static array of columns has the title, the
 * query's column, the format and the width of each.
 */
#ifndef BOURDON_REPORT_TABLE_H
#define BOURDON_REPORT_TABLE_H

#include "report/query.h"

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

cell_fn cell_text, cell_basename, cell_number, cell_percent, cell_duration_ns, cell_size;

/* Prints the current row and all rows after it. */
void table_print(FILE *out, struct query *query, const struct column *columns, size_t columns_count);

/*
 * Prints the current row and the rows after it that have the same number in column `group`. Returns true if
 * the query then stands on the next row, false at the end.
 */
bool table_print_group(FILE *out, struct query *query, const struct column *columns, size_t columns_count,
		       const char *group);

#endif
