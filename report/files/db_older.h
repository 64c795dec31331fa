/* SPDX-License-Identifier: GPL-2.0-only */
/* db_older.h owns reading captures from a database of an older schema: from a temporary copy that is migrated. */
#ifndef BOURDON_REPORT_FILES_DB_OLDER_H
#define BOURDON_REPORT_FILES_DB_OLDER_H

#include "report/files/db_output.h"

/*
 * Copies the opened database to a temporary file beside OUT, converted->unfinished, and migrates that. db_output_end()
 * removes it. Returns 0; or -errno, and the reason was logged.
 */
int db_older_convert(struct db_output *converted, struct database *database, const char *out);

#endif
