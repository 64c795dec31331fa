/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/model/query.h"

#include <string.h>

struct query query_begin(struct database *database, const char *sql, int64_t id, int64_t limit)
{
	const int64_t values[] = { id, limit };
	struct query query = { .database = database, .id = id };

	if (sqlite3_prepare_v2(database->sqlite, sql, -1, &query.statement, NULL) != SQLITE_OK) {
		database_fail(database);
		return query;
	}
	for (int i = 0; i < (int)ARRAY_SIZE(values) && i < sqlite3_bind_parameter_count(query.statement); i++)
		sqlite3_bind_int64(query.statement, i + 1, values[i]);
	return query;
}

void query_bind_text(struct query *query, int parameter, const char *text)
{
	if (query->statement)
		sqlite3_bind_text(query->statement, parameter, text, -1, SQLITE_STATIC);
}

void query_end(struct query *query)
{
	sqlite3_finalize(query->statement);
}

struct query query_of_rows(struct database *database, const struct rows *rows)
{
	return (struct query){ .database = database, .rows = rows };
}

bool query_next(struct query *query)
{
	int result = query->statement ? sqlite3_step(query->statement) : SQLITE_DONE;

	if (query->rows) {
		query->next += query->next <= query->rows->count;
		return query->next <= query->rows->count;
	}
	if (result != SQLITE_ROW && result != SQLITE_DONE)
		database_fail(query->database);
	return result == SQLITE_ROW;
}

bool query_find(struct query *query, int64_t id)
{
	if (!query->statement)
		return false;
	sqlite3_reset(query->statement);
	sqlite3_bind_int64(query->statement, 1, id);
	query->id = id;
	return query_next(query);
}

void query_rewind(struct query *query)
{
	query->next = 0;
	sqlite3_reset(query->statement);
}

int query_columns(const struct query *query)
{
	return query->rows ? (int)query->rows->columns_count : sqlite3_column_count(query->statement);
}

const char *query_column_name(const struct query *query, int column)
{
	return query->rows ? query->rows->columns[column] : sqlite3_column_name(query->statement, column);
}

struct value query_value(const struct query *query, int column)
{
	if (query->rows)
		return query->rows
			->values[(size_t)(query->next - 1) * query->rows->columns_count + (size_t)column];
	return value_of_column(query->statement, column);
}

/* The value in that column; NULL if there is none. */
static struct value value_of(const struct query *query, const char *column)
{
	for (int i = 0; i < query_columns(query); i++)
		if (!strcmp(query_column_name(query, i), column))
			return query_value(query, i);
	return (struct value){ .type = VALUE_NULL };
}

/* The column's index; or -1, which SQLite reads as NULL. */
static int column_index(const struct query *query, const char *column)
{
	for (int i = 0; i < sqlite3_column_count(query->statement); i++)
		if (!strcmp(sqlite3_column_name(query->statement, i), column))
			return i;
	return -1;
}

const char *query_text(const struct query *query, const char *column)
{
	const unsigned char *text;

	if (query->rows) {
		struct value value = value_of(query, column);

		return value.type == VALUE_TEXT ? value.text : "";
	}
	text = sqlite3_column_text(query->statement, column_index(query, column));
	return text ? (const char *)text : "";
}

int64_t query_number(const struct query *query, const char *column)
{
	if (query->rows) {
		struct value value = value_of(query, column);

		return value.type == VALUE_NUMBER ? value.number : 0;
	}
	return sqlite3_column_int64(query->statement, column_index(query, column));
}

double query_real(const struct query *query, const char *column)
{
	if (query->rows) {
		struct value value = value_of(query, column);

		return value.type == VALUE_REAL     ? value.real
		       : value.type == VALUE_NUMBER ? (double)value.number
						    : 0;
	}
	return sqlite3_column_double(query->statement, column_index(query, column));
}

bool query_is_null(const struct query *query, const char *column)
{
	if (query->rows)
		return value_of(query, column).type == VALUE_NULL;
	return sqlite3_column_type(query->statement, column_index(query, column)) == SQLITE_NULL;
}

struct query query_nested(const struct query *query, const char *column)
{
	struct value value = query->rows ? value_of(query, column) : (struct value){ .type = VALUE_NULL };
	static const struct rows none;

	return query_of_rows(query->database, value.type == VALUE_ROWS ? value.rows : &none);
}
