/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * database.h owns opening a database that another user wrote and that may be hostile: read-only, only if
 * bourdon wrote it, and in one read transaction while the daemon goes on writing.
 */
#ifndef BOURDON_REPORT_MODEL_DATABASE_H
#define BOURDON_REPORT_MODEL_DATABASE_H

#include "common/base/cleanup.h"

#include <sqlite3.h>
#include <stdbool.h>

/* Where bourdond writes it unless it is told otherwise. */
#define DATABASE_DEFAULT "/var/lib/bourdon/bourdon.db"

struct database {
	sqlite3 *sqlite;
	const char *path;  /* the caller's */
	int version;       /* of its schema */
	bool failed;       /* a query failed and was logged; never cleared, like ferror(3) */
	bool quiet;        /* failures are kept in `problem` and not logged */
	char problem[600]; /* the last failure: file, reason, remedy */
};

/*
 * Opens and checks the file at `path`, which must outlive it. A root process becomes the user who may have
 * written the file, for good. The caller may set ret_database->quiet. A database of an older schema
 * (report/model/older_schema.h) has the names and columns of this one. Returns 0; or -EIO or -EPROTO, and the reason
 * was logged.
 */
int database_open(const char *path, struct database *ret_database);

/*
 * Opens it for writing, unless it has an older schema. No transaction has begun. Triggers in it have no effect. When it is
 * closed, its log stays, and is empty.
 */
int database_open_to_write(const char *path, struct database *ret_database);

/* Limits what a hostile database, or one that is attached to this connection, can do to this process. */
void database_protect(sqlite3 *sqlite);

/* Accepts a database that was never opened. */
void database_close(struct database *database);

#define _cleanup_database_ _cleanup_(database_close)

/* Executes statements that return no rows. Returns 0; or -EIO, and the reason was logged. */
int database_execute(struct database *database, const char *statements);

/* Logs the error of the last call with its remedy, once, and sets `failed`. */
void database_fail(struct database *database);

#endif
