/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/query.h"

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

void query_end(struct query *query)
{
	sqlite3_finalize(query->statement);
}

bool query_next(struct query *query)
{
	int result = query->statement ? sqlite3_step(query->statement) : SQLITE_DONE;

	if (result != SQLITE_ROW && result != SQLITE_DONE)
		database_fail(query->database);
	return result == SQLITE_ROW;
}

void query_rewind(struct query *query)
{
	sqlite3_reset(query->statement);
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
	const unsigned char *text = sqlite3_column_text(query->statement, column_index(query, column));

	return text ? (const char *)text : "";
}

int64_t query_number(const struct query *query, const char *column)
{
	return sqlite3_column_int64(query->statement, column_index(query, column));
}

double query_real(const struct query *query, const char *column)
{
	return sqlite3_column_double(query->statement, column_index(query, column));
}

bool query_is_null(const struct query *query, const char *column)
{
	return sqlite3_column_type(query->statement, column_index(query, column)) == SQLITE_NULL;
}
