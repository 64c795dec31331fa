/* SPDX-License-Identifier: GPL-2.0-only */
/* list: the captures, newest first. */
#include "common/cleanup.h"
#include "common/escape.h"
#include "report/format.h"
#include "report/json.h"
#include "report/report.h"
#include "report/table.h"

/* Writes "cpu some 1.24s/2s", in the form of a rule's threshold. */
static void cell_pressure(const struct query *query, const char *name, char *into, size_t into_bytes)
{
	char resource[16], kind[16], observed[32], window[32];

	snprintf(into, into_bytes, "%s %s %s/%s",
		 escape_terminal(query_text(query, "resource"), resource, sizeof(resource)),
		 escape_terminal(query_text(query, "kind"), kind, sizeof(kind)),
		 format_duration(query_real(query, name) * 1e3, "", observed, sizeof(observed)),
		 format_duration(query_real(query, "window_us") * 1e3, "", window, sizeof(window)));
}

/* A capture without a trigger has no threshold. */
static void cell_threshold(const struct query *query, const char *name, char *into, size_t into_bytes)
{
	if (query_number(query, name))
		format_duration(query_real(query, name) * 1e3, "", into, into_bytes);
	else
		snprintf(into, into_bytes, "-");
}

/*
 * The largest percentage in the capture's loss ledger; 'why' uses the same limit for PARTIAL. "-": the
 * capture has no ledger.
 */
static void cell_lost(const struct query *query, const char *name, char *into, size_t into_bytes)
{
	_cleanup_query_ struct query worst = query_begin(
		query->database,
		"SELECT count(*) AS reasons, max(percent) AS percent FROM data_quality WHERE capture_id = ?1",
		query_number(query, name), 0);
	char share[32];
	double percent;

	if (!query_next(&worst) || !query_number(&worst, "reasons")) {
		snprintf(into, into_bytes, "-");
		return;
	}
	percent = query_real(&worst, "percent");
	snprintf(into, into_bytes, "%s%s", percent >= PARTIAL_PERCENT ? "PARTIAL " : "",
		 format_percent(percent, share, sizeof(share)));
}

static void cell_where(const struct query *query, const char *name, char *into, size_t into_bytes)
{
	escape_terminal(query_is_null(query, name) ? "system" : query_text(query, name), into, into_bytes);
}

static const struct column columns[] = {
	{ "ID", "capture_id", 6, cell_number },
	{ "TRIGGERED", "triggered", -20, cell_text },
	{ "STATE", "state", -11, cell_text },
	{ "RULE", "rule", -16, cell_text },
	{ "PRESSURE", "observed_us", -24, cell_pressure },
	{ "THRESHOLD", "stall_us", 9, cell_threshold },
	{ "MODE", "trigger_mode", -8, cell_text },
	{ "SAMPLES", "samples", 8, cell_number },
	{ "LOST", "capture_id", 14, cell_lost },
	{ "WHERE", "cgroup", -60, cell_where },
};

void list_run(struct report *report)
{
	_cleanup_query_ struct query query = query_begin(
		report->database,
		"SELECT * FROM capture_summary ORDER BY triggered_at DESC, capture_id DESC LIMIT ?2", 0,
		report->limit);

	if (report->json) {
		json_rows(report->out, &query, NULL);
		fputc('\n', report->out);
	} else if (query_next(&query)) {
		table_print(report->out, &query, columns, ARRAY_SIZE(columns));
	} else if (!report->database->failed) {
		fputs("no captures yet: bourdond stores one when a rule fires; 'bourdon status' shows the rules\n",
		      report->out);
	}
}
