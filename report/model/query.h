/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * query.h owns running a query and reading its rows, or rows that were computed, by column name. An error ends the rows, is logged once,
 * and sets database->failed, so that callers need no error checks of their own.
 *
 * The database may be hostile: a column that is missing, or has another type, is read as an empty text or
 * zero.
 */
#ifndef BOURDON_REPORT_MODEL_QUERY_H
#define BOURDON_REPORT_MODEL_QUERY_H

#include "common/base/cleanup.h"
#include "report/model/database.h"
#include "report/model/rows.h"

#include <stdbool.h>
#include <stdint.h>

struct query {
	struct database *database;
	sqlite3_stmt *statement;
	const struct rows *rows; /* without a statement: the caller's rows, which outlive the query */
	uint32_t next;           /* of these */
	int64_t id;              /* ?1 */
};

/* Starts a query. ?1 is `id` and ?2 is `limit`, if `sql` has them. */
struct query query_begin(struct database *database, const char *sql, int64_t id, int64_t limit);
void query_end(struct query *query);

/* Binds one more parameter. The text outlives the query; NULL is the value NULL. */
void query_bind_text(struct query *query, int parameter, const char *text);

/* Reads computed rows. The caller need not end it. */
struct query query_of_rows(struct database *database, const struct rows *rows);

#define _cleanup_query_ _cleanup_(query_end)

/* Goes to the next row; first to the first row. Returns false at the end. */
bool query_next(struct query *query);

/* Starts the query again for another ?1, and goes to its first row. */
bool query_find(struct query *query, int64_t id);

/* Goes back to before the first row. */
void query_rewind(struct query *query);

/* The value as it is in the database, not escaped; never NULL. It is valid until the next row. */
const char *query_text(const struct query *query, const char *column);
int64_t query_number(const struct query *query, const char *column);
double query_real(const struct query *query, const char *column);
bool query_is_null(const struct query *query, const char *column);

/* The rows that a column of a computed row has; none if it has no rows. */
struct query query_nested(const struct query *query, const char *column);

/* The columns by their position, from 0. */
int query_columns(const struct query *query);
const char *query_column_name(const struct query *query, int column);
struct value query_value(const struct query *query, int column);

/* The same of a statement's columns, for queries with so many rows that finding a name takes time. */
static inline const char *query_text_at(const struct query *query, int column)
{
	const char *text = (const char *)sqlite3_column_text(query->statement, column);

	return text ? text : "";
}

static inline int64_t query_number_at(const struct query *query, int column)
{
	return sqlite3_column_int64(query->statement, column);
}

static inline bool query_is_null_at(const struct query *query, int column)
{
	return sqlite3_column_type(query->statement, column) == SQLITE_NULL;
}

#endif
