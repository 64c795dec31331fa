/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * store_frames.h owns looking up what earlier captures found out about a place in a file.
 */
#ifndef BOURDON_CONSUMER_STORE_STORE_FRAMES_H
#define BOURDON_CONSUMER_STORE_STORE_FRAMES_H

#include "consumer/store/sql.h"
#include "consumer/symbols/naming.h"

/* 0 or -errno, as all of sql.h. */
int store_frames_prepare(struct sql *sql, sqlite3_stmt **ret_statement);

/* What known_frames.find() of naming.h says. An error of the database is a place that is not known. */
int store_frames_find(sqlite3_stmt *statement, const char *path, const char *build_id, const char *version,
		      int64_t offset, frame_name_add add, void *user);

#endif
