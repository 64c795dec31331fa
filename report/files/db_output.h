/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * db_output.h owns the file that 'db copy' and 'db merge' write. While it is written it stands beside its place under a
 * name that says so, "OUT.unfinished-PID", and it gets its own name when it is whole.
 *
 * Room: whole databases and symbol files: `db check|compact|copy|merge`, `symbolize`. It writes new
 * databases, or the one that it is given, never the daemon's while that runs.
 */
#ifndef BOURDON_REPORT_FILES_DB_OUTPUT_H
#define BOURDON_REPORT_FILES_DB_OUTPUT_H

#include "common/base/cleanup.h"
#include "common/sql/sql.h"
#include "report/model/database.h"

struct db_output {
	const char *path; /* the caller's */
	char *final;      /* absolute and without symbolic links, except for the last part */
	char *unfinished;
	struct sql sql;
	bool is_new;
};

/*
 * Makes an empty database, which nobody else may read, with the rights of this process: as root, call owner_become()
 * before. It holds no tables. Refuses a path that exists. Returns 0; or -errno, and the reason was logged.
 */
int db_output_make(struct db_output *output, const char *path);

/* Gives a new output bourdon's tables. Returns 0; or -errno, and the reason was logged. */
int db_output_make_tables(struct db_output *output);

/* Copies another database as it is, as its read transaction sees it. Returns 0; or -errno, and the reason was logged. */
int db_output_copy(struct db_output *output, struct database *database);

/* Opens a database of bourdon's that exists, to add to it. Returns 0; or -errno, and the reason was logged. */
int db_output_open(struct db_output *output, const char *path);

/* Closes it; a new one gets its name after it was written to the disk. Returns 0; or -errno, and the reason was logged. */
int db_output_finish(struct db_output *output);

/* Closes it, and removes one that is unfinished. Accepts one that was never made. */
void db_output_end(struct db_output *output);

#define _cleanup_db_output_ _cleanup_(db_output_end)

/* Logs sql->error, with what to do. Returns `result`. */
int db_output_failed(const struct db_output *output, int result);

#endif
