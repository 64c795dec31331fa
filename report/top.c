/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/top.h"

#include "report/json.h"
#include "report/report.h"
#include "report/table.h"

/*
 * The columns of view hot_function for one capture, without its cost: with enough leaf functions, only those
 * that can be among the first ?2 are counted over whole stacks, which is the expensive part.
 */
const char top_sql[] =
	"WITH per_stack AS MATERIALIZED ("
	" SELECT stack_id, sum(samples) AS samples, sum(weight_ns) AS weight_ns"
	" FROM sample WHERE capture_id = ?1 AND kind = 'on-cpu' GROUP BY stack_id"
	"), leaf AS MATERIALIZED ("
	" SELECT f.function, f.module_id, sum(p.samples) AS samples"
	" FROM per_stack p JOIN stack_frame sf ON sf.stack_id = p.stack_id AND sf.position = 0"
	" JOIN frame f USING(frame_id) GROUP BY f.function, f.module_id"
	/* the samples of leaf number ?2; NULL: there are fewer leaves, or no limit */
	"), last AS MATERIALIZED ("
	" SELECT (SELECT samples FROM leaf ORDER BY samples DESC LIMIT ?2 > 0 OFFSET ?2 - 1) AS samples"
	"), in_stack AS (" /* a recursive function counts once per stack */
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

/* SAMPLES is what the list is sorted by. */
#define COLUMNS(samples)                                                                                     \
	{                                                                                                    \
		{ "SAMPLES", samples, 8, cell_number }, { "SELF", "percent", 7, cell_percent },              \
			{ "TOTAL", "total_percent", 7, cell_percent },                                       \
			{ "FUNCTION", "function", -46, cell_text },                                          \
			{ "MODULE", "module", -24, cell_basename },                                          \
	}

static const struct column columns[][5] = { COLUMNS("samples"), COLUMNS("total_samples") };

const char top_leaders_sql[] =
	"WITH per_stack AS MATERIALIZED ("
	" SELECT stack_id, sum(samples) AS samples"
	" FROM sample WHERE capture_id = ?1 AND kind = 'on-cpu' GROUP BY stack_id"
	"), in_stack AS (" /* a recursive function counts once per stack */
	" SELECT iif(f.function_offset IS NULL, NULL, f.function) AS function, f.module_id, p.samples,"
	" min(sf.position) = 0 AS is_leaf"
	" FROM per_stack p JOIN stack_frame sf USING(stack_id) JOIN frame f USING(frame_id)"
	" GROUP BY p.stack_id, 1, f.module_id"
	"), per_function AS MATERIALIZED ("
	" SELECT function, module_id, sum(samples * is_leaf) AS samples, sum(samples) AS total_samples"
	" FROM in_stack GROUP BY function, module_id"
	"), leader AS ("
	" SELECT * FROM (SELECT 0 AS by_total, * FROM per_function WHERE samples > 0"
	" ORDER BY samples DESC, total_samples DESC, function, module_id LIMIT ?2)"
	" UNION ALL SELECT * FROM (SELECT 1 AS by_total, * FROM per_function"
	" ORDER BY total_samples DESC, samples DESC, function, module_id LIMIT ?2)"
	") "
	"SELECT l.by_total, l.function IS NOT NULL AS resolved, m.path AS module, m.kind AS module_kind, l.samples, l.total_samples,"
	" ifnull(l.function, '[unresolved] in ' || replace(m.path, rtrim(m.path, replace(m.path, '/', '')), ''))"
	" AS function,"
	" round(100.0 * l.samples / (SELECT sum(samples) FROM per_stack), 1) AS percent,"
	" round(100.0 * l.total_samples / (SELECT sum(samples) FROM per_stack), 1) AS total_percent "
	"FROM leader l JOIN module m USING(module_id) "
	"ORDER BY l.by_total, iif(l.by_total, l.total_samples, l.samples) DESC,"
	" iif(l.by_total, l.samples, l.total_samples) DESC, l.function, l.module_id";

void top_print(FILE *out, struct query *query)
{
	static const char *const titles[] = {
		"functions with most samples in themselves (SELF)",
		"functions with most samples in themselves and their callees (TOTAL)"
	};
	const char *separator = "";
	bool more = true;

	for (; more; separator = "\n") {
		bool by_total = query_number(query, "by_total") != 0;

		fprintf(out, "%s%s\n", separator, titles[by_total]);
		more = table_print_group(out, query, columns[by_total], ARRAY_SIZE(columns[by_total]),
					 "by_total");
	}
}

void top_run(struct report *report)
{
	_cleanup_query_ struct query query = query_begin(report->database,
							 report->json ? top_sql : top_leaders_sql,
							 report->capture_id, report->limit);

	if (report->json) {
		json_rows(report->out, &query, NULL);
		fputc('\n', report->out);
	} else if (query_next(&query)) {
		top_print(report->out, &query);
	} else if (!report->database->failed) {
		fprintf(report->out, "capture %lld has no samples on CPU\n", (long long)report->capture_id);
	}
}
