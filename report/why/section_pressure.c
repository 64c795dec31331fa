/* SPDX-License-Identifier: GPL-2.0-only */
/* The sections of `why` about pressure: PSI's totals beside the stalls of the targets' threads. */
#include "report/why/section.h"

#include "common/base/cleanup.h"
#include "report/model/sums.h"
#include "report/text/format.h"
#include "report/text/table.h"
#include "report/text/wrap.h"

#include <errno.h>
#include <string.h>

#define PRESSURE_ROWS_MOST                                                                                   \
	1024U /* three resources of a few scopes; a hostile view may have rows without end */

/* Why a row has no share: the reason's index, as a bit; 0: it has one. */
static unsigned int unexplained(const struct query *query, const char *fired_scope)
{
	if (!query_is_null(query, "explained_percent"))
		return 0;
	if (strcmp(query_text(query, "scope"), fired_scope))
		return 1;
	if (query_is_null(query, "formula_ns") || query_is_null(query, "formula_some_ns"))
		return 2;
	return query_number(query, "formula_some_ns") ? 4 : 8;
}

static void print_reason(const struct layout *layout, const char *reason)
{
	char text[FORMAT_BYTES];

	snprintf(text, sizeof(text), "'-' in EXPLAINED: %s", reason);
	fputs("  ", layout->out);
	print_lines_on(layout, text, 2);
}

static void print_unexplained(const struct layout *layout, struct query *query)
{
	static const char *const reasons[] = {
		"the targets' stalls are compared only with the scope that fired",
		"not measured, because another capture was under way, or this one ended within a second",
		"other processes ran in this scope, and the kernel's formula counts them, too",
		"the pressure did not rise",
	};
	_cleanup_query_ struct query fired = query_begin(
		query->database,
		"SELECT ifnull(cgroup, 'system') AS scope FROM capture WHERE capture_id = ?1", query->id, 0);
	unsigned int found = 0;

	if (!query_next(&fired))
		return;
	query_rewind(query);
	while (query_next(query))
		found |= unexplained(query, query_text(&fired, "scope"));
	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		if (found & 1U << i)
			print_reason(layout, reasons[i]);
}

static void print_pressure(const struct layout *layout, struct query *query)
{
	static const struct column columns[] = {
		{ "RESOURCE", "resource", -8, cell_text },
		{ "PSI SOME", "some_ns", 8, cell_duration_ns },
		{ "PSI FULL", "full_ns", 8, cell_duration_ns },
		{ "ELAPSED", "of_ns", 8, cell_duration_ns },
		{ "TARGETS", "targets_ns", 8, cell_duration_ns },
		{ "EXPLAINED", "explained_percent", 9, cell_percent },
		{ "SCOPE", "scope", -40, cell_text },
	};

	section_print_head(
		layout,
		"since the trigger: stall time by PSI, by the targets' threads (TARGETS, all threads added up),\nand the share of PSI SOME that the targets' stalls explain");
	table_print_on(layout, query, columns, ARRAY_SIZE(columns));
	print_unexplained(layout, query);
}

/* Stores the row of view reconciliation on which the query stands, with the targets' stalls. */
static int pressure_row(struct why *why, const struct query *query, int64_t stalled_ns, struct value *values)
{
	for (int i = 0; i < query_columns(query); i++) {
		values[i] = query_value(query, i);
		if (!strcmp(query_column_name(query, i), "targets_ns"))
			values[i] = value_number(stalled_ns);
		if (values[i].type != VALUE_TEXT)
			continue;
		values[i].text = profile_keep(&why->profile, values[i].text);
		if (!values[i].text)
			return -ENOMEM;
	}
	return 0;
}

/* Rows of view reconciliation, which would add up the targets' stalls for each row again. */
static int compute_pressure(struct why *why, struct rows *ret_rows)
{
	static const char *const names[] = {
		"capture_id",      "scope",          "resource",         "of_ns",
		"some_ns",         "full_ns",        "targets_ns",       "formula_ns",
		"formula_some_ns", "unexplained_ns", "explained_percent"
	};
	_cleanup_query_ struct query query = query_begin(
		why->report->database,
		"SELECT capture_id, scope, resource, of_ns, some_ns, full_ns, NULL AS targets_ns, formula_ns,"
		" formula_some_ns, unexplained_ns, explained_percent FROM reconciliation WHERE capture_id = ?1",
		why->report->capture_id, 0);
	struct rows rows = rows_of(names);
	int result = 0;

	while (!result && query_next(&query)) {
		struct value values[ARRAY_SIZE(names)];
		int64_t stalled_ns = sums_stalled_ns(&why->profile, query_text(&query, "resource"));

		if (!stalled_ns && !query_number(&query, "some_ns") && !query_number(&query, "full_ns"))
			continue;
		result = rows.count == PRESSURE_ROWS_MOST ? -E2BIG
							  : pressure_row(why, &query, stalled_ns, values);
		if (!result)
			result = rows_add(&rows, values);
	}
	if (!result && why->report->database->failed)
		result = -EIO;
	return rows_finish(result, &rows, ret_rows);
}

const struct section pressure_section = {
	.name = "pressure",
	.shows = "PSI's totals beside the targets' stalls",
	.compute = compute_pressure,
	.print = print_pressure,
};
