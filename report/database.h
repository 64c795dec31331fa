/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * database.h owns opening a database that someone else wrote, perhaps in bad faith: read-only, refusing
 * what is not bourdon's, and in one read transaction while the daemon goes on writing.
 */
#ifndef BOURDON_REPORT_DATABASE_H
#define BOURDON_REPORT_DATABASE_H

#include "common/cleanup.h"

#include <sqlite3.h>
#include <stdbool.h>

struct database {
	sqlite3 *sqlite;
	const char *path;  /* the caller's */
	bool failed;       /* a query failed, and was logged; stays so, like ferror(3) */
	bool quiet;        /* failures are in `problem`, and not logged */
	char problem[600]; /* the last failure: what cannot be read, why, what to do */
};

/*
 * Opens and checks the file at `path`, which must outlive it. Root becomes who may have written it, for good.
 * What `ret_database` says of being quiet holds. Returns 0, or -EIO or -EPROTO, logged.
 */
int database_open(const char *path, struct database *ret_database);

/* The same to be written: no transaction has begun, and no trigger in it does anything. */
int database_open_to_write(const char *path, struct database *ret_database);

/* Accepts one that never was opened. */
void database_close(struct database *database);

#define _cleanup_database_ _cleanup_(database_close)

/* Does statements that give no rows. 0, or -EIO, logged. */
int database_execute(struct database *database, const char *statements);

/* Logs why the last call on it failed, and what to do; remembers that. Says it once. */
void database_fail(struct database *database);

#endif
