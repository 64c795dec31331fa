/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * store_activity.h owns writing a minute of activity: its row, the rows of its keys, and how many bytes it may take.
 */
#ifndef BOURDON_CONSUMER_STORE_STORE_ACTIVITY_H
#define BOURDON_CONSUMER_STORE_STORE_ACTIVITY_H

#include "common/sql/sql.h"
#include "consumer/store/activity_keys.h"
#include "consumer/store/activity_rows.h"

/*
 * A minute takes so much on average: 30 MiB a day. It may also take what the minutes before it have not, so that the first
 * ones have room for their keys, which are all new.
 */
#define ACTIVITY_MINUTE_BYTES 21504U
#define ACTIVITY_SAVED_BYTES_MAX (8U * ACTIVITY_MINUTE_BYTES)

struct activity_statements {
	struct activity_keys keys;
	sqlite3_stmt *add_minute, *add_activity;
	uint64_t saved_bytes; /* that the minutes before have not taken */
};

/* Return 0 or -errno, as all functions of sql.h do. */
int store_activity_prepare(struct sql *sql, struct activity_statements *ret_statements);

/* Writes a minute. The caller begins and ends the transaction, and if that or this fails, calls store_activity_forget(). */
int store_activity_write(struct sql *sql, struct activity_statements *statements, int64_t run_id,
			 struct activity_rows *rows, uint64_t *ret_bytes);

/* Call it after a minute was written, which took so many bytes. */
void store_activity_save(struct activity_statements *statements, uint64_t bytes);

/* Forgets which keys the database has: some were removed, or not written after all. */
void store_activity_forget(struct activity_statements *statements);

#endif
