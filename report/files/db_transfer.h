/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * db_transfer.h owns adding captures of one database to another: 'db merge' adds all of them, 'db copy OUT ID...' some to
 * an empty database. Rows that both have are found by what they mean, not by their ids. The source may be hostile: what
 * it holds is checked, or the tables of the output refuse it.
 */
#ifndef BOURDON_REPORT_FILES_DB_TRANSFER_H
#define BOURDON_REPORT_FILES_DB_TRANSFER_H

#include "report/files/db_output.h"

#include <stdint.h>

/* Numbers of captures. */
struct transferred {
	int64_t added;
	int64_t known;     /* the output had them */
	int64_t recording; /* left out */
};

/*
 * Adds the captures with these ids, or all if `ids` is NULL, of the database at `path` and all that they refer to, in one
 * transaction. The caller has checked the source with database_open(). They are read from the file `instead`, the same
 * database in this schema, unless that is NULL. A capture keeps its id if the output never had
 * that one or a later one. Returns 0; or -errno, the output is unchanged, and the reason was logged: -EUCLEAN or
 * -EINVAL if it is the source's fault.
 */
int db_transfer(struct db_output *output, const char *path, const char *instead, const int64_t *ids,
		int ids_count, struct transferred *ret_transferred);

#endif
