/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sql.h owns the calls to SQLite: errors become -errno with the reason kept, statements are bound and run in
 * one call, and locks of other processes are waited for.
 */
#ifndef BOURDON_CONSUMER_SQL_SQL_H
#define BOURDON_CONSUMER_SQL_SQL_H

#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>

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

/*
 * Binds and runs a statement that returns at most one row with at most one number, which goes to *ret_number
 * (may be NULL). One letter for each parameter: i is int64_t, t is text (NULL is NULL), b is bytes and their
 * size_t. All text is escaped by escape_name().
 */
int sql_run(struct sql *sql, sqlite3_stmt *statement, sqlite3_int64 *ret_number, const char *types, ...);
int sql_run_once(struct sql *sql, sqlite3_int64 *ret_number, const char *text);

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
