/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sql.h owns talking to SQLite: errors as -errno with the reason kept, statements bound and run in one
 * call, and waiting for other people's locks.
 */
#ifndef BOURDON_CONSUMER_STORE_SQL_H
#define BOURDON_CONSUMER_STORE_SQL_H

#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>

struct sql {
	sqlite3 *db;
	/* A lock is waited for until then (CLOCK_MONOTONIC; 0: for ever). Another thread may set it. */
	const atomic_uint_fast64_t *give_up_ns;
	char error[256]; /* why the last call failed */
};

/*
 * All return 0 or -errno: -EBUSY (locked), -ENOSPC (disk or database full), -EUCLEAN (damaged, or no
 * database), -EACCES, -ENOMEM, -EIO.
 */

/* Opens or makes a database. The caller has set give_up_ns, and ends with sql_close() in any case. */
int sql_open(struct sql *sql, const char *path);

/* Finalizes every statement, too. */
void sql_close(struct sql *sql);

int sql_execute(struct sql *sql, const char *statements);

/* For statements that are run often. sql_close() finalizes them, or the caller before. */
int sql_prepare(struct sql *sql, sqlite3_stmt **ret_statement, const char *statement);

/*
 * Binds and runs a statement that yields at most one row of at most one number, which *ret_number (may be
 * NULL) takes. One letter a parameter: i is int64_t, t is text (NULL is NULL), b is bytes and their size_t.
 * Text is written in the form of escape_name(), whoever chose it.
 */
int sql_run(struct sql *sql, sqlite3_stmt *statement, sqlite3_int64 *ret_number, const char *types, ...);
int sql_run_once(struct sql *sql, sqlite3_int64 *ret_number, const char *text);

/* Binds one text, in that form; it must live until it is bound anew. 0 or -ENOMEM. */
int sql_bind_text(sqlite3_stmt *statement, int column, const char *text);

/*
 * The text of a column as it was before it was written. The caller frees; NULL for NULL, and without memory.
 */
char *sql_column_text(sqlite3_stmt *statement, int column);

/* Ends the transaction that `result` is the outcome of: all of it, or nothing. Returns what came of it. */
int sql_finish(struct sql *sql, int result);

/* Whether a lock of somebody else's is waited for; at first it is. */
void sql_wait_for_locks(struct sql *sql, bool wait);

#endif
