/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rows.h owns rows that were computed instead of queried. query.h reads them like those of a statement, so that
 * tables and JSON print both.
 */
#ifndef BOURDON_REPORT_MODEL_ROWS_H
#define BOURDON_REPORT_MODEL_ROWS_H

#include "common/base/cleanup.h"
#include "common/base/numbers.h"

#include <sqlite3.h>
#include <stdint.h>

enum value_type { VALUE_NULL, VALUE_NUMBER, VALUE_REAL, VALUE_TEXT, VALUE_ROWS, VALUE_ROW };

struct value {
	enum value_type type;
	union {
		int64_t number;
		double real;
		const char *text; /* somebody else's, who outlives the rows */
		/* rows_free() frees them, too. In JSON VALUE_ROWS is an array, and VALUE_ROW the object that the first one is. */
		struct rows *rows;
	};
};

struct rows {
	const char *const *columns;
	uint32_t columns_count;
	struct value *values; /* of the first row, then of the next */
	uint32_t count, room; /* rows */
};

/* The columns are the caller's, and outlive the rows. */
#define rows_of(columns) ((struct rows){ (columns), ARRAY_SIZE(columns), NULL, 0, 0 })

void rows_free(struct rows *rows);

#define _cleanup_rows_ _cleanup_(rows_free)

/* Moves the rows to *ret_rows if `result` is 0, and frees them otherwise. Returns `result`. */
int rows_finish(int result, struct rows *rows, struct rows *ret_rows);

/* Appends a row, of as many values as there are columns. Returns 0; or -ENOMEM, and the values were freed. */
int rows_add(struct rows *rows, const struct value *values);

static inline struct value value_number(int64_t number)
{
	return (struct value){ .type = VALUE_NUMBER, .number = number };
}

static inline struct value value_real(double real)
{
	return (struct value){ .type = VALUE_REAL, .real = real };
}

/* NULL is the value NULL. */
static inline struct value value_text(const char *text)
{
	return (struct value){ .type = text ? VALUE_TEXT : VALUE_NULL, .text = text };
}

static inline struct value value_rows(struct rows *rows)
{
	return (struct value){ .type = VALUE_ROWS, .rows = rows };
}

static inline struct value value_row(struct rows *rows)
{
	return (struct value){ .type = VALUE_ROW, .rows = rows };
}

/* What a column of a statement's row has. A text is valid until the next row. */
struct value value_of_column(sqlite3_stmt *row, int column);

/* SQL's round(100.0 * part / whole, 1): NULL if `whole` is 0. */
struct value value_percent(int64_t part, int64_t whole);

/* The sum, or the limit that it exceeds. */
int64_t add_saturated(int64_t one, int64_t other);

/* The first less the second, or the limit that it exceeds. */
int64_t subtract_saturated(int64_t from, int64_t what);

/* As strcmp(). */
static inline int compare_numbers(int64_t left, int64_t right)
{
	return COMPARE(left, right);
}

#endif
