/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sql_files.h owns how SQLite opens its files, in bourdond and bourdon: a FIFO in the place of a database, its log or its
 * shared memory is an error, and not a wait for whoever opens its other end.
 */
#ifndef BOURDON_COMMON_SQL_SQL_FILES_H
#define BOURDON_COMMON_SQL_SQL_FILES_H

#include <errno.h>

/* What sqlite3_system_errno() then gives; SQLite itself seeks in no file. */
#define SQL_FILES_IS_FIFO ESPIPE

/* For the whole process, before it opens a database. */
void sql_files_never_wait(void);

#endif
