/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * table.h owns showing the rows of a query as a table of text: a static array of columns says what each
 * is called, where its value is, how it reads and how wide it is.
 */
#ifndef BOURDON_REPORT_TABLE_H
#define BOURDON_REPORT_TABLE_H

#include "report/query.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Writes the value for a terminal: escaped, but not yet cut to the column. */
typedef void cell_fn(const struct query *query, const char *name, char *into, size_t into_bytes);

struct column {
	const char *title;
	const char *name; /* of the query's column */
	int width;        /* columns; negative: aligned to the left */
	cell_fn *cell;
};

cell_fn cell_text, cell_basename, cell_number, cell_percent, cell_duration_ns, cell_size;

/* Shows the row that the query stands on, and all behind it. */
void table_print(FILE *out, struct query *query, const struct column *columns, size_t columns_count);

/*
 * The same as far as column `group` of the query, a number, keeps its value. True: the query stands on the first row
 * behind.
 */
bool table_print_group(FILE *out, struct query *query, const struct column *columns, size_t columns_count,
		       const char *group);

#endif
