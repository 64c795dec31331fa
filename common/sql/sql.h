/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sql.h owns the calls to SQLite: errors become -errno with the reason kept, statements are bound and run in
 * one call, and locks of other processes are waited for.
 *
 * Room: calls to SQLite. Called by the daemon's worker thread and by bourdon; it touches the connection that
 * it is given, and may wait for the disk.
 */
#ifndef BOURDON_COMMON_SQL_SQL_H
#define BOURDON_COMMON_SQL_SQL_H

#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sql {
	sqlite3 *db;
	/* How long to wait for a lock (CLOCK_MONOTONIC; 0: for ever). Another thread may set it. */
	const atomic_uint_fast64_t *give_up_ns;
	char error[256]; /* why the last call failed */
};

/*
 * All functions return 0 or -errno: -EBUSY (locked), -ENOSPC (disk or database full), -EUCLEAN (damaged, or
 * not a database), -EINTR (given up), -EACCES, -ENOMEM, -EIO.
 */

/* Opens or creates a database. The caller has set give_up_ns, and calls sql_close() in any case. */
int sql_open(struct sql *sql, const char *path);

/* Also finalizes every statement. */
void sql_close(struct sql *sql);

int sql_execute(struct sql *sql, const char *statements);

/* For statements that run often. sql_close() finalizes them, unless the caller does before. */
int sql_prepare(struct sql *sql, sqlite3_stmt **ret_statement, const char *statement);

/* Some of such statements, and where each goes. */
struct sql_prepared {
	sqlite3_stmt **ret_statement;
	const char *text;
};

int sql_prepare_all(struct sql *sql, const struct sql_prepared *each, size_t count);

/* The same with a format of sqlite3_mprintf(). */
int sql_prepare_format(struct sql *sql, sqlite3_stmt **ret_statement, const char *format, ...);

/*
 * Binds and runs a statement that returns at most one row with at most one number, which goes to *ret_number
 * (may be NULL). One letter for each parameter: i is int64_t, t is text (NULL is NULL), b is bytes and their
 * size_t. All text is escaped by escape_name().
 */
int sql_run(struct sql *sql, sqlite3_stmt *statement, sqlite3_int64 *ret_number, const char *types, ...);
/* The same with a statement that is made for it. */
int sql_run_once(struct sql *sql, sqlite3_int64 *ret_number, const char *text, const char *types, ...);

/* A column of a row, with its value. SQL_COLUMNS() makes a list of these. */
struct sql_column {
	const char *name; /* NULL: the end of the list */
	int type;         /* SQLITE_INTEGER, SQLITE_FLOAT, SQLITE_TEXT, SQLITE_NULL, or SQL_TYPE_STORED */
	union {
		int64_t number;
		double real;
		const char *text; /* of SQLITE_TEXT, escaped as by sql_run(); NULL is NULL */
	};
};

#define SQL_COLUMNS(...) ((const struct sql_column[]){ __VA_ARGS__, { .name = NULL } })
#define SQL_COLUMN(column, kind, member, value)                                                              \
	((struct sql_column){ .name = #column, .type = (kind), .member = (value) })
#define SQL_TEXT(column, value) SQL_COLUMN(column, SQLITE_TEXT, text, value)
/* A text of the database, which has its escapes. */
#define SQL_TYPE_STORED (-SQLITE_TEXT)
#define SQL_STORED(column, value) SQL_COLUMN(column, SQL_TYPE_STORED, text, value)
#define SQL_NUMBER(column, value) SQL_COLUMN(column, SQLITE_INTEGER, number, (int64_t)(value))
/* NULL where `known` is false; then the value is not evaluated. */
#define SQL_NUMBER_IF(column, known, value)                                                                  \
	SQL_COLUMN(column, (known) ? SQLITE_INTEGER : SQLITE_NULL, number, (known) ? (int64_t)(value) : 0)
#define SQL_REAL_IF(column, known, value)                                                                    \
	SQL_COLUMN(column, (known) ? SQLITE_FLOAT : SQLITE_NULL, real, (known) ? (value) : 0)

/*
 * Adds a row. Columns that are not listed have their DEFAULT. `clause` follows the values, such as ON CONFLICT; NULL: none.
 * *ret_number gets the number of its RETURNING, or without a clause the row's id: SQLite makes a table of its own for each row
 * that it returns. It may be NULL. Prepares *statement at the first call if it is NULL: each list of
 * columns has a statement of its own, which sql_close() finalizes, unless the caller does before.
 */
int sql_insert(struct sql *sql, sqlite3_stmt **statement, const char *table, const char *clause,
	       sqlite3_int64 *ret_number, const struct sql_column *columns);

/* Changes these columns of the row whose column `key` is `id`, with a statement as that of sql_insert(). */
int sql_update(struct sql *sql, sqlite3_stmt **statement, const char *table, const char *key, int64_t id,
	       const struct sql_column *columns);

struct sql_texts {
	char **texts;
	uint32_t count, room;
};

void sql_texts_free(struct sql_texts *texts);
#define _cleanup_sql_texts_ _cleanup_(sql_texts_free)

/* Appends the first column of all rows. The caller frees the texts in any case. */
int sql_collect(struct sql *sql, const char *query, struct sql_texts *texts);

/* Each text is one statement: whatever follows it, in a damaged or hostile database, does not run. */
int sql_execute_all(struct sql *sql, const struct sql_texts *texts);

/* Runs the statements that are the rows of a query. */
int sql_execute_made(struct sql *sql, const char *query);

/* After a call of SQLite that failed: notes its message in sql->error. Returns -errno. */
int sql_failed(struct sql *sql);

/* Binds one text, escaped in the same way; it must live until it is bound again. Returns 0 or -ENOMEM. */
int sql_bind_text(sqlite3_stmt *statement, int column, const char *text);

/* The text of a column without its escapes. The caller frees it. NULL for NULL, and without memory. */
char *sql_column_text(sqlite3_stmt *statement, int column);

/*
 * Ends the transaction whose statements returned `result`: commits on 0, else rolls back. Returns the
 * outcome.
 */
int sql_finish(struct sql *sql, int result);

/* Whether to wait for a lock of another process; the default is true. */
void sql_wait_for_locks(struct sql *sql, bool wait);

#endif
