/* SPDX-License-Identifier: GPL-2.0-only */
/* folded: one line per stack, in the format that flame graph tools read. */
#include "common/cleanup.h"
#include "report/format.h"
#include "report/query.h"
#include "report/report.h"

#include <string.h>

/*
 * The SQL function folded_text(X). It runs inside the query, so that lines that become equal by escaping are
 * added up.
 */
static void folded_text(sqlite3_context *context, int count, sqlite3_value **values)
{
	const char *text = (const char *)sqlite3_value_text(values[0]);
	size_t bytes;
	char *folded;

	(void)count;
	if (!text)
		return;               /* X is NULL: the result is NULL */
	bytes = 4 * strlen(text) + 1; /* \xHH */
	folded = sqlite3_malloc64(bytes);
	if (!folded) {
		sqlite3_result_error_nomem(context);
		return;
	}
	sqlite3_result_text(context, format_folded(text, folded, bytes), -1, sqlite3_free);
}

void folded_run(struct report *report)
{
	_cleanup_query_ struct query query = { 0 };

	if (sqlite3_create_function(report->database->sqlite, "folded_text", 1,
				    SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, NULL, folded_text,
				    NULL, NULL) != SQLITE_OK) {
		database_fail(report->database);
		return;
	}
	/*
	 * The text of a stack without frames is NULL. The view has already replaced semicolons in function
	 * names.
	 */
	query = query_begin(
		report->database,
		"SELECT folded_text(replace(comm, ';', ':')) || ifnull(';' || folded_text(stack), '')"
		" AS line, sum(samples) AS samples "
		"FROM folded WHERE capture_id = ?1 AND kind = 'on-cpu' GROUP BY line ORDER BY line",
		report->capture_id, 0);
	while (query_next(&query))
		fprintf(report->out, "%s %lld\n", query_text(&query, "line"),
			(long long)query_number(&query, "samples"));
}
