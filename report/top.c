/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/top.h"

#include "report/json.h"
#include "report/report.h"
#include "report/table.h"

/*
 * What view hot_function gives for one capture, in a fraction of the time: where enough functions were
 * leaves, only those that can be among the first ?2 are counted on whole stacks, which is the costly part.
 */
const char top_sql[] =
	"WITH per_stack AS MATERIALIZED ("
	" SELECT stack_id, sum(samples) AS samples, sum(weight_ns) AS weight_ns"
	" FROM sample WHERE capture_id = ?1 AND kind = 'on-cpu' GROUP BY stack_id"
	"), leaf AS MATERIALIZED ("
	" SELECT f.function, f.module_id, sum(p.samples) AS samples"
	" FROM per_stack p JOIN stack_frame sf ON sf.stack_id = p.stack_id AND sf.position = 0"
	" JOIN frame f USING(frame_id) GROUP BY f.function, f.module_id"
	"), last AS MATERIALIZED (" /* the ?2nd leaf's samples; NULL: there are fewer, or no limit */
	" SELECT (SELECT samples FROM leaf ORDER BY samples DESC LIMIT ?2 > 0 OFFSET ?2 - 1) AS samples"
	"), in_stack AS (" /* each function of a stack once, however often it recurs */
	" SELECT f.function, f.module_id, p.samples, p.weight_ns, min(sf.position) = 0 AS is_leaf"
	" FROM per_stack p JOIN stack_frame sf USING(stack_id) JOIN frame f USING(frame_id)"
	" WHERE (SELECT samples FROM last) IS NULL OR (f.function, f.module_id) IN"
	" (SELECT function, module_id FROM leaf WHERE samples >= (SELECT samples FROM last))"
	" GROUP BY p.stack_id, f.function, f.module_id"
	"), per_function AS ("
	" SELECT function, module_id, sum(samples * is_leaf) AS samples, sum(samples) AS total_samples,"
	" sum(weight_ns * is_leaf) AS weight_ns, (SELECT sum(samples) FROM per_stack) AS all_samples"
	" FROM in_stack GROUP BY function, module_id"
	") "
	"SELECT p.function, m.path AS module, m.kind AS module_kind, p.samples, p.total_samples, p.weight_ns,"
	" round(100.0 * p.samples / p.all_samples, 1) AS percent,"
	" round(100.0 * p.total_samples / p.all_samples, 1) AS total_percent "
	"FROM per_function p JOIN module m USING(module_id) "
	"ORDER BY p.samples DESC, p.total_samples DESC, p.function, p.module_id LIMIT ?2";

static const struct column columns[] = {
	{ "SAMPLES", "samples", 8, cell_number },      { "SELF", "percent", 7, cell_percent },
	{ "TOTAL", "total_percent", 7, cell_percent }, { "FUNCTION", "function", -46, cell_text },
	{ "MODULE", "module", -24, cell_basename },
};

void top_print(FILE *out, struct query *query)
{
	table_print(out, query, columns, ARRAY_SIZE(columns));
}

void top_run(struct report *report)
{
	_cleanup_query_ struct query query =
		query_begin(report->database, top_sql, report->capture_id, report->limit);

	if (report->json) {
		json_rows(report->out, &query, NULL);
		fputc('\n', report->out);
	} else if (query_next(&query)) {
		top_print(report->out, &query);
	} else if (!report->database->failed) {
		fprintf(report->out, "capture %lld has no samples on CPU\n", (long long)report->capture_id);
	}
}
