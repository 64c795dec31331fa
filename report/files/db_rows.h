/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * db_rows.h owns adding the rows of one table of an attached database, `given`, to the same table of the main one. A row
 * that equals one of the main database is found there and not added again; each id is translated.
 *
 * The schema says how, so that a new column needs nothing here. An id that refers to a row of table T is looked up in
 * the temporary table T_map(was, id): of the row in the source and in the output. There is one for each table with an id,
 * and the rows of a table are noted there when they are added or found. `recorded_as` is the id where a row was recorded. A
 * text takes the form of escape_name(), whatever the source has there. Everything else stays as it is.
 */
#ifndef BOURDON_REPORT_FILES_DB_ROWS_H
#define BOURDON_REPORT_FILES_DB_ROWS_H

#include "common/sql/sql.h"

#include <stdint.h>

#define ROW_BYTES 256

/* What rows come from and go to. */
struct row_transfer {
	struct sql *sql;
	char row[ROW_BYTES]; /* of the source, at hand: the table and the id; "" without one */
	int64_t capture_id;  /* of the source, at hand; 0: none */
	bool whole;          /* all captures are wanted */
};

/*
 * A table, and what its columns do not tell, in SQL. In WHERE, `instead` and `checked`, g is the table in the source; WHERE
 * may use :capture and :whole. In FIND and RENEW, :COLUMN is the value for a column of the output. All but `name` may be
 * NULL.
 */
struct table {
	const char *name;
	const char *where;   /* which rows; NULL: all */
	const char *instead; /* a JSON object: columns whose value is another one */
	const char *find;    /* which row of the output is equal; NULL: none */
	const char *renew;   /* SET and WHERE: adds to such a row what was found out later */
	const char *id;      /* of a new row, whose id in the source is ?1; NULL: the next one */
	const char *clause;  /* of a table without ids: follows the values of a new row */
	const char *checked; /* values that is_valid() finds in the row, from column `first` on */
	bool (*is_valid)(sqlite3_stmt *row, int first);
};

/* The statements for a table. */
struct table_rows {
	const struct table *table;
	sqlite3_stmt *select, *find, *renew, *add, *map;
	int checked; /* the first column of what is checked */
};

/*
 * Prepares a connection: the SQL function name_form(TEXT), and within the transaction of the caller the maps. The caller
 * drops the temporary tables. All functions return 0 or -errno, as those of sql.h do.
 */
int db_rows_prepare(struct sql *sql);
int db_rows_make_maps(struct sql *sql);

/* Prepares the statements of a table. The caller finalizes them in any case. */
int db_rows_begin(struct row_transfer *transfer, const struct table *table, struct table_rows *ret_rows);
void db_rows_end(struct table_rows *rows);

/*
 * Transfers the selected rows; stores the id of the last one, unless `ret_id` is NULL. If it fails, transfer->row names
 * the row.
 */
int db_rows_run(struct row_transfer *transfer, const struct table_rows *rows, int64_t *ret_id);

/* The three at once. */
int db_rows_transfer(struct row_transfer *transfer, const struct table *table);

#endif
