/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/json.h"

#include "common/escape.h"

#include <math.h>
#include <string.h>

/* Writes one character at a time: a text may have any length, and nothing is allocated. */
void json_string(FILE *out, const char *text)
{
	fputc('"', out);
	while (*text) {
		unsigned int code, length = escape_utf8(text, &code);
		char character[5] = { 0 }, escaped[8];

		if (!length)
			length = 1;
		memcpy(character, text, length);
		fputs(escape_json(character, escaped, sizeof(escaped)), out);
		text += length;
	}
	fputc('"', out);
}

static void print_value(FILE *out, sqlite3_stmt *row, int column)
{
	const char *text;

	switch (sqlite3_column_type(row, column)) {
	case SQLITE_INTEGER:
		fprintf(out, "%lld", (long long)sqlite3_column_int64(row, column));
		break;
	case SQLITE_FLOAT:
		if (isfinite(sqlite3_column_double(row, column))) {
			fprintf(out, "%.15g", sqlite3_column_double(row, column));
			break;
		}
		/* fall through */
	case SQLITE_NULL:
		fputs("null", out);
		break;
	default:
		text = (const char *)sqlite3_column_text(row, column);
		json_string(out, text ? text : "");
	}
}

void json_row(FILE *out, struct query *query, const struct json_nested *nested)
{
	sqlite3_stmt *row = query->statement;

	fputc('{', out);
	for (int i = 0; i < sqlite3_column_count(row); i++) {
		fputs(i ? ", " : "", out);
		json_string(out, sqlite3_column_name(row, i));
		fputs(": ", out);
		print_value(out, row, i);
	}
	if (nested && nested->name) {
		_cleanup_query_ struct query rows =
			query_begin(query->database, nested->sql, sqlite3_column_int64(row, 0), -1);

		fprintf(out, ", \"%s\": ", nested->name);
		json_rows(out, &rows, NULL);
	}
	fputc('}', out);
}

void json_rows(FILE *out, struct query *query, const struct json_nested *nested)
{
	const char *separator = "\n";

	fputc('[', out);
	while (query_next(query)) {
		fputs(separator, out);
		json_row(out, query, nested);
		separator = ",\n";
	}
	fputc(']', out);
}
