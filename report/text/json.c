/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/text/json.h"

#include "common/text/escape.h"
#include "report/text/format.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void json_part(FILE *out, const char *text)
{
	format_escaped(out, text, '\\', escape_json);
}

void json_string(FILE *out, const char *text)
{
	if (!text) {
		fputs("null", out);
		return;
	}
	fputc('"', out);
	json_part(out, text);
	fputc('"', out);
}

void json_number(FILE *out, bool is_known, int64_t number)
{
	if (is_known)
		fprintf(out, "%" PRId64, number);
	else
		fputs("null", out);
}

static void print_value(FILE *out, struct database *database, struct value value)
{
	struct query rows;

	switch (value.type) {
	case VALUE_NUMBER:
		json_number(out, true, value.number);
		break;
	case VALUE_REAL:
		if (isfinite(value.real))
			fprintf(out, "%.15g", value.real);
		else
			fputs("null", out);
		break;
	case VALUE_TEXT:
		json_string(out, value.text);
		break;
	case VALUE_ROWS:
		rows = query_of_rows(database, value.rows);
		json_rows(out, &rows, NULL);
		break;
	case VALUE_ROW:
		rows = query_of_rows(database, value.rows);
		json_next_row(out, &rows);
		break;
	default:
		fputs("null", out);
	}
}

/* Whether a later column has the same name, as in "SELECT s.*, 1 AS a": that one counts. */
static bool is_replaced(const struct query *query, int column)
{
	for (int i = column + 1; i < query_columns(query); i++)
		if (!strcmp(query_column_name(query, i), query_column_name(query, column)))
			return true;
	return false;
}

void json_row(FILE *out, struct query *query, const struct json_nested *nested)
{
	const char *separator = "";

	fputc('{', out);
	for (int i = 0; i < query_columns(query); i++) {
		if (is_replaced(query, i))
			continue;
		fputs(separator, out);
		separator = ", ";
		json_string(out, query_column_name(query, i));
		fputs(": ", out);
		print_value(out, query->database, query_value(query, i));
	}
	if (nested && nested->name) {
		struct value first = query_value(query, 0);
		_cleanup_query_ struct query rows = query_begin(
			query->database, nested->sql, first.type == VALUE_NUMBER ? first.number : 0, -1);

		fprintf(out, ", \"%s\": ", nested->name);
		json_rows(out, &rows, NULL);
	}
	fputc('}', out);
}

void json_next_row(FILE *out, struct query *query)
{
	if (query_next(query))
		json_row(out, query, NULL);
	else
		fputs("null", out);
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
