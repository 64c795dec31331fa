/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The section of `why` that stands alone, and that 'bourdon show' prints: what the database has of one capture, as it is there. No
 * words, no stacks; those are in the other sections.
 */
#include "report/why/section.h"

#include "common/base/cleanup.h"
#include "common/text/escape.h"
#include "report/text/format.h"
#include "report/text/json.h"
#include "report/text/table.h"
#include "report/text/time_text.h"
#include "report/text/wrap.h"

#include <inttypes.h>
#include <string.h>

/* A row of one table as names and values, or a table of several. */
static const struct part {
	const char *name; /* in JSON, and the title */
	const char *sql;
	bool is_list;
} parts[] = {
	{ "capture",
	  "SELECT c.*, ifnull(c.ended_at, c.triggered_at) - c.triggered_at AS after_ns, s.processes, s.stacks, s.samples, " LOSSES_OF(
		  "c.capture_id") " FROM capture c JOIN capture_summary s USING(capture_id) WHERE c.capture_id = ?1",
	  false },
	{ "rule", "SELECT r.* FROM capture c JOIN rule r USING(rule_id) WHERE c.capture_id = ?1", false },
	{ "run", "SELECT r.* FROM capture c JOIN run r USING(run_id) WHERE c.capture_id = ?1", false },
	/* bytes: of the times of samples, which are the largest part of a capture that it does not share with others */
	{ "rows",
	  "SELECT 'sample' AS name, count(*) AS rows, ifnull(sum(length(times)), 0) AS bytes FROM sample WHERE capture_id = ?1 "
	  "UNION ALL SELECT 'other_sample', count(*), ifnull(sum(length(times)), 0) FROM other_sample WHERE capture_id = ?1 "
	  "UNION ALL SELECT 'waker', count(*), NULL FROM waker WHERE capture_id = ?1 "
	  "UNION ALL SELECT 'thread_state', count(*), NULL FROM thread_state WHERE capture_id = ?1 "
	  "UNION ALL SELECT 'usage', count(*), NULL FROM usage WHERE capture_id = ?1 "
	  "UNION ALL SELECT 'ended', count(*), NULL FROM ended WHERE capture_id = ?1 "
	  "UNION ALL SELECT 'account', count(*), NULL FROM account WHERE capture_id = ?1 "
	  "UNION ALL SELECT 'blame', count(*), NULL FROM blame WHERE capture_id = ?1 "
	  "UNION ALL SELECT 'machine_time', count(*), NULL FROM machine_time WHERE capture_id = ?1 "
	  "UNION ALL SELECT 'machine_bytes', count(*), NULL FROM machine_bytes WHERE capture_id = ?1 "
	  "UNION ALL SELECT 'interrupt', count(*), NULL FROM interrupt WHERE capture_id = ?1 "
	  "UNION ALL SELECT 'killed', count(*), NULL FROM killed WHERE capture_id = ?1 "
	  "UNION ALL SELECT 'cgroup_memory', count(*), NULL FROM cgroup_memory WHERE capture_id = ?1 "
	  "UNION ALL SELECT 'histogram', count(*), NULL FROM histogram WHERE capture_id = ?1 "
	  "UNION ALL SELECT 'growth_stack', count(*), NULL FROM growth_stack WHERE capture_id = ?1 "
	  "UNION ALL SELECT 'pressure', count(*), NULL FROM pressure WHERE capture_id = ?1 "
	  "UNION ALL SELECT 'statistic', count(*), NULL FROM statistic WHERE capture_id = ?1 "
	  "UNION ALL SELECT 'loss', count(*), NULL FROM loss WHERE capture_id = ?1",
	  true },
	{ "losses",
	  "SELECT reason, unit, events, percent FROM data_quality WHERE capture_id = ?1 ORDER BY events = 0, percent DESC, "
	  "reason",
	  true },
};

static bool ends_with(const char *text, const char *end)
{
	size_t bytes = strlen(text), end_bytes = strlen(end);

	return bytes >= end_bytes && !strcmp(text + bytes - end_bytes, end);
}

/* A number with its unit, where the name of the column tells it; then the number itself. */
static void write_number(const char *name, int64_t number, char *into, size_t into_bytes)
{
	char time[TIME_TEXT_BYTES], text[32];

	if (ends_with(name, "_at"))
		snprintf(into, into_bytes, "%s (%" PRId64 ")", time_text_write(number, time), number);
	else if (ends_with(name, "_ns") || ends_with(name, "_us"))
		snprintf(into, into_bytes, "%s (%" PRId64 ")",
			 format_duration((double)number * (ends_with(name, "_us") ? 1e3 : 1), " ", text,
					 sizeof(text)),
			 number);
	else if (ends_with(name, "_bytes"))
		snprintf(into, into_bytes, "%s (%" PRId64 ")",
			 format_size((double)number, text, sizeof(text)), number);
	else
		snprintf(into, into_bytes, "%" PRId64, number);
}

static void print_value(FILE *out, const char *name, const struct value *value)
{
	char text[4096], shown[64];

	if (value->type == VALUE_NUMBER)
		write_number(name, value->number, text, sizeof(text));
	else if (value->type == VALUE_REAL && ends_with(name, "_percent"))
		format_percent(value->real, text, sizeof(text));
	else if (value->type == VALUE_REAL)
		snprintf(text, sizeof(text), "%.6g", value->real);
	else
		escape_terminal(value->type == VALUE_TEXT ? value->text : "-", text, sizeof(text));
	fprintf(out, "  %-18s ", escape_terminal(name, shown, sizeof(shown)));
	print_wrapped(out, text, 21);
}

static void print_row(FILE *out, const struct part *part, const struct query *query)
{
	fprintf(out, "%s\n", part->name);
	for (int i = 0; i < query_columns(query); i++) {
		struct value value = query_value(query, i);

		if (value.type != VALUE_NULL)
			print_value(out, query_column_name(query, i), &value);
	}
}

static void print_rows(FILE *out, struct query *query)
{
	static const struct column columns[] = {
		{ "TABLE OR VIEW", "name", -18, cell_text },
		{ "ROWS", "rows", 9, cell_number },
		{ "TIMES", "bytes", 10, cell_size },
	};

	table_print(out, query, columns, ARRAY_SIZE(columns));
}

static void print_losses(FILE *out, struct query *query)
{
	static const struct column columns[] = {
		{ "LOSS", "reason", -22, cell_text },
		{ "EVENTS", "events", 9, cell_number },
		{ "UNIT", "unit", -9, cell_text },
		{ "SHARE", "percent", 8, cell_percent },
	};

	table_print(out, query, columns, ARRAY_SIZE(columns));
}

static void print_text(struct report *report, const struct part *part, struct query *query)
{
	if (!query_next(query))
		return;
	fputs(part == parts ? "" : "\n", report->out);
	if (!part->is_list)
		print_row(report->out, part, query);
	else if (!strcmp(part->name, "rows"))
		print_rows(report->out, query);
	else
		print_losses(report->out, query);
}

static void print_json(struct report *report, const struct part *part, struct query *query)
{
	fprintf(report->out, "%s\"%s\": ", part == parts ? "{" : ",\n", part->name);
	if (part->is_list)
		json_rows(report->out, query, NULL);
	else
		json_next_row(report->out, query);
}

static void print_stored(struct report *report)
{
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		_cleanup_query_ struct query query =
			query_begin(report->database, parts[i].sql, report->capture_id, 0);

		(report->json ? print_json : print_text)(report, &parts[i], &query);
	}
	if (report->json)
		fputs("}\n", report->out);
}

const struct section stored_section = {
	.name = "stored",
	.shows = "what the database has of the capture, as it is; alone",
	.print_alone = print_stored,
};
