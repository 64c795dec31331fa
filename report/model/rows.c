/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/model/rows.h"

#include <stdlib.h>
#include <string.h>

static void free_values(const struct value *values, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (values[i].type == VALUE_ROWS || values[i].type == VALUE_ROW) {
			rows_free(values[i].rows);
			free(values[i].rows);
		}
}

void rows_free(struct rows *rows)
{
	free_values(rows->values, (size_t)rows->count * rows->columns_count);
	free(rows->values);
	rows->values = NULL;
	rows->count = rows->room = 0;
}

int rows_finish(int result, struct rows *rows, struct rows *ret_rows)
{
	if (result < 0)
		rows_free(rows);
	else
		*ret_rows = *rows;
	return result;
}

int rows_add(struct rows *rows, const struct value *values)
{
	if (rows->count == rows->room) {
		uint32_t room = rows->room ? 2 * rows->room : 8;
		struct value *grown =
			reallocarray(rows->values, (size_t)room * rows->columns_count, sizeof(*grown));

		if (!grown) {
			free_values(values, rows->columns_count);
			return -ENOMEM;
		}
		rows->values = grown;
		rows->room = room;
	}
	memcpy(rows->values + (size_t)rows->count * rows->columns_count, values,
	       rows->columns_count * sizeof(*values));
	rows->count++;
	return 0;
}

struct value value_of_column(sqlite3_stmt *row, int column)
{
	const char *text;

	switch (sqlite3_column_type(row, column)) {
	case SQLITE_INTEGER:
		return value_number(sqlite3_column_int64(row, column));
	case SQLITE_FLOAT:
		return value_real(sqlite3_column_double(row, column));
	case SQLITE_NULL:
		return (struct value){ .type = VALUE_NULL };
	default:
		text = (const char *)sqlite3_column_text(row, column);
		return value_text(text ? text : "");
	}
}

struct value value_percent(int64_t part, int64_t whole)
{
	char text[64];

	if (!whole)
		return (struct value){ .type = VALUE_NULL };
	/* SQLite's own format, whose ties are those of its round() */
	sqlite3_snprintf((int)sizeof(text), text, "%!.1f", 100.0 * (double)part / (double)whole);
	return value_real(strtod(text, NULL));
}

int64_t add_saturated(int64_t one, int64_t other)
{
	int64_t sum;

	if (__builtin_add_overflow(one, other, &sum))
		return one < 0 ? INT64_MIN : INT64_MAX;
	return sum;
}

int64_t subtract_saturated(int64_t from, int64_t what)
{
	int64_t rest;

	if (__builtin_sub_overflow(from, what, &rest))
		return what < 0 ? INT64_MAX : INT64_MIN;
	return rest;
}
