/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * query.h owns running one query and reading its rows by column name. An error ends the rows, is logged
 * once, and stays in database->failed, so that callers can write straight-line code.
 *
 * Nothing about the values is certain, as the database may be anyone's: a column that is not there, or of
 * another type, reads as an empty text or zero.
 */
#ifndef BOURDON_REPORT_QUERY_H
#define BOURDON_REPORT_QUERY_H

#include "common/cleanup.h"
#include "report/database.h"

#include <stdbool.h>
#include <stdint.h>

struct query {
	struct database *database;
	sqlite3_stmt *statement;
	int64_t id; /* ?1 */
};

/* Binds ?1 and ?2, as far as `sql` has them: everywhere an object's id, and the most rows. */
struct query query_begin(struct database *database, const char *sql, int64_t id, int64_t limit);
void query_end(struct query *query);

#define _cleanup_query_ _cleanup_(query_end)

/* Goes to the next row, at first to the first; false: there is none. */
bool query_next(struct query *query);

/* Back to before the first row. */
void query_rewind(struct query *query);

/* As the database has it, not escaped; never NULL. Lives until the row is left. */
const char *query_text(const struct query *query, const char *column);
int64_t query_number(const struct query *query, const char *column);
double query_real(const struct query *query, const char *column);
bool query_is_null(const struct query *query, const char *column);

#endif
