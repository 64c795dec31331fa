/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * found_names.h owns the names that symbolize has found until they are in the database: noted in a temporary table, then written
 * with the stacks that get the functions inlined there.
 */
#ifndef BOURDON_REPORT_FILES_FOUND_NAMES_H
#define BOURDON_REPORT_FILES_FOUND_NAMES_H

#include "common/symbolizer/protocol.h"
#include "report/model/database.h"

#include <sqlite3.h>
#include <stdint.h>

struct found_names {
	struct database *database;
	sqlite3_stmt *note;
	uint32_t noted;
	uint64_t damaged; /* nodes of stacks that could not be read */
};

/* A frame without a name. */
struct found_place {
	int64_t frame_id, offset;
};

/* All of these return 0; or -errno, and the reason was logged. */

int found_names_begin(struct found_names *names);

/* The functions at one address: the function itself, and those that are inlined there. `first` is the position in the reply. */
int found_names_add(struct found_names *names, const char *build_id, const struct found_place *place,
		    const struct symbolize_reply *reply, uint32_t first, uint32_t depth);

/* Writes what was noted, in one transaction: no reader sees a name without the functions inlined there. */
int found_names_write(struct found_names *names);

/* Accepts zeroed names. What is noted can still be written. */
void found_names_end(struct found_names *names);

#endif
