/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * column_text.h owns how a column of the current row looks in a sentence; in a table it is a cell (report/text/table.h). Each
 * function writes into FORMAT_BYTES bytes, and returns them.
 */
#ifndef BOURDON_REPORT_TEXT_COLUMN_TEXT_H
#define BOURDON_REPORT_TEXT_COLUMN_TEXT_H

#include "report/model/query.h"

#include <stddef.h>

/* Text for a terminal, cut to `columns`. */
char *column_text(const struct query *query, const char *name, size_t columns, char *into);

/* A number of units of so many ns. */
char *column_duration(const struct query *query, const char *name, double unit_ns, char *into);

/* "1 process", "3 processes". */
char *column_count(const struct query *query, const char *name, const char *one, const char *many,
		   char *into);

/* What fired where trigger_mode is latency: "runqueue p99 12 ms > 5 ms in 10 s". Needs the columns latency_*. */
char *column_latency(const struct query *query, char *into);

/* The column `percent`. */
char *column_percent(const struct query *query, char *into);

#endif
