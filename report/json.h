/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * json.h owns showing the rows of a query as JSON (RFC 8259): the members of an object are the columns.
 */
#ifndef BOURDON_REPORT_JSON_H
#define BOURDON_REPORT_JSON_H

#include "report/query.h"

#include <stdio.h>

/* A string with its quotes, whatever is in it. */
void json_string(FILE *out, const char *text);

/* A member that every row has besides its columns: the rows of `sql`, whose ?1 is the row's first column. */
struct json_nested {
	const char *name; /* NULL: there is none */
	const char *sql;
};

/* The row that the query stands on, as an object. `nested` may be NULL. */
void json_row(FILE *out, struct query *query, const struct json_nested *nested);

/* All rows that are still to come, as an array of objects. */
void json_rows(FILE *out, struct query *query, const struct json_nested *nested);

#endif
