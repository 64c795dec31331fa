/* SPDX-License-Identifier: GPL-2.0-only */
/* list: the captures, newest first; those of an incident stand together. */
#include "common/cleanup.h"
#include "common/escape.h"
#include "report/format.h"
#include "report/json.h"
#include "report/report.h"
#include "report/table.h"

#include <string.h>

/* Writes "cpu some 1.24s/2s", in the form of a rule's threshold. */
static void cell_pressure(const struct query *query, const char *name, char *into, size_t into_bytes)
{
	char resource[16], kind[16], observed[32], window[32];

	if (query_is_null(query, "resource")) {
		snprintf(into, into_bytes, "on demand");
		return;
	}
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

/* A capture on demand has no rule. */
static void cell_rule(const struct query *query, const char *name, char *into, size_t into_bytes)
{
	escape_terminal(query_is_null(query, name) ? "-" : query_text(query, name), into, into_bytes);
}

static void cell_where(const struct query *query, const char *name, char *into, size_t into_bytes)
{
	escape_terminal(query_is_null(query, name) ? "system" : query_text(query, name), into, into_bytes);
}

/* A database of an older schema has no incidents, and its list is as it was. */
#define SINCE_SCHEMA 9

static const char sql[] =
	"SELECT s.*, c.incident_id FROM (SELECT capture_id, incident_id, triggered_at, "
	"max(triggered_at) OVER (PARTITION BY ifnull(incident_id, -capture_id)) AS newest_at FROM capture "
	"ORDER BY newest_at DESC, incident_id DESC, triggered_at DESC, capture_id DESC LIMIT ?2) c "
	"CROSS JOIN capture_summary s USING(capture_id) "
	"ORDER BY c.newest_at DESC, c.incident_id DESC, c.triggered_at DESC, c.capture_id DESC";
static const char older_sql[] =
	"SELECT * FROM capture_summary ORDER BY triggered_at DESC, capture_id DESC LIMIT ?2";

static void print_text(struct report *report, struct query *query)
{
	static const struct column columns[] = {
		{ "ID", "capture_id", 6, cell_number },
		{ "INCIDENT", "incident_id", 8, cell_number },
		{ "TRIGGERED", "triggered", -20, cell_text },
		{ "STATE", "state", -11, cell_text },
		{ "RULE", "rule", -16, cell_rule },
		{ "PRESSURE", "observed_us", -24, cell_pressure },
		{ "THRESHOLD", "stall_us", 9, cell_threshold },
		{ "MODE", "trigger_mode", -8, cell_text },
		{ "SAMPLES", "samples", 8, cell_number },
		{ "LOST", "capture_id", 14, cell_lost },
		{ "WHERE", "cgroup", -60, cell_where },
	};
	struct column shown[ARRAY_SIZE(columns)];
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		if (report->database->version >= SINCE_SCHEMA || strcmp(columns[i].name, "incident_id") != 0)
			shown[count++] = columns[i];
	table_print(report->out, query, shown, count);
}

void list_run(struct report *report)
{
	_cleanup_query_ struct query query =
		query_begin(report->database, report->database->version < SINCE_SCHEMA ? older_sql : sql, 0,
			    report->limit);

	if (report->json) {
		json_rows(report->out, &query, NULL);
		fputc('\n', report->out);
	} else if (query_next(&query)) {
		print_text(report, &query);
	} else if (!report->database->failed) {
		fputs("no captures yet: bourdond stores one when a rule fires; 'bourdon status' shows the rules\n",
		      report->out);
	}
}
