/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * store_frames.h owns the lookup of names that earlier captures found for an offset in a file.
 */
#ifndef BOURDON_CONSUMER_STORE_STORE_FRAMES_H
#define BOURDON_CONSUMER_STORE_STORE_FRAMES_H

#include "common/sql/sql.h"
#include "consumer/symbols/naming.h"

/* Returns 0 or -errno, as all functions of sql.h do. */
int store_frames_prepare(struct sql *sql, sqlite3_stmt **ret_statement);

/* Implements known_frames.find() of naming.h. An error of the database counts as "not known". */
int store_frames_find(sqlite3_stmt *statement, const char *path, const char *build_id, const char *version,
		      int64_t offset, frame_name_add add, void *user);

#endif
