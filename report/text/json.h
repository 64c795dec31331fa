/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * json.h owns printing the rows of a query as JSON (RFC 8259). The columns are the members of each object. Of columns with
 * the same name, the last one is: it replaces one that a view has.
 */
#ifndef BOURDON_REPORT_TEXT_JSON_H
#define BOURDON_REPORT_TEXT_JSON_H

#include "report/model/query.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Writes any text as a JSON string, with its quotes; NULL as null. */
void json_string(FILE *out, const char *text);

/* Writes a number; null if it is not known. */
void json_number(FILE *out, bool is_known, int64_t number);

/* The same without the quotes around it, for a string that is written in parts. */
void json_part(FILE *out, const char *text);

/*
 * An additional member of each object: the rows of `sql`, whose ?1 is the first column of the object's row.
 */
struct json_nested {
	const char *name; /* NULL: no such member */
	const char *sql;
};

/* Writes the query's current row as an object. `nested` may be NULL. */
void json_row(FILE *out, struct query *query, const struct json_nested *nested);

/* Writes the next row as an object; null: there is none. */
void json_next_row(FILE *out, struct query *query);

/* Writes all remaining rows as an array of objects. */
void json_rows(FILE *out, struct query *query, const struct json_nested *nested);

#endif
