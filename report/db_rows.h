/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * db_rows.h owns adding the rows of one table of an attached database, `given`, to the same table of the main one. A row
 * that equals one of the main database is found there and not added again; each id is translated.
 */
#ifndef BOURDON_REPORT_DB_ROWS_H
#define BOURDON_REPORT_DB_ROWS_H

#include "consumer/sql/sql.h"

#include <stdint.h>

#define ROW_BYTES 256

/* What rows come from and go to. */
struct row_transfer {
	struct sql *sql;
	char row[ROW_BYTES];      /* of the source, at hand: the table and the id; "" without one */
	int64_t capture_id, into; /* the capture at hand: its id in the source, and in the output */
	bool whole;               /* all captures are wanted */
};

/*
 * How the rows of a table come from the source. In all statements parameter N is the selected column N, of which the
 * first one names the row in messages. SELECT itself may use :capture, :into and :whole, RENEW may use :id.
 */
struct table {
	const char *name;
	const char *select;
	const char *find;  /* the id of an equal row in the output; NULL: there can be none */
	const char *renew; /* adds to such a row what was found out later; may be NULL */
	const char *add;   /* returns the id of the new row if `map` is not NULL */
	const char *map;   /* notes the row's ids in the source and in the output; may be NULL */
	bool (*is_valid)(sqlite3_stmt *row);
};

/*
 * Prepares a connection: the SQL function name_form(TEXT) gives a name in the form of escape_name(), whatever the source
 * has there. Returns 0 or -errno, as all functions of sql.h do.
 */
int db_rows_prepare(struct sql *sql);

/*
 * Transfers the selected rows; stores the id of the last one, unless `ret_id` is NULL. Returns 0; or -errno, and
 * transfer->row names the row.
 */
int db_rows_transfer(struct row_transfer *transfer, const struct table *table, int64_t *ret_id);

#endif
