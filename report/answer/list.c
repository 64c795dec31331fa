/* SPDX-License-Identifier: GPL-2.0-only */
/* list: the captures, newest first; those of an incident stand together. */
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/system/log.h"
#include "common/text/escape.h"
#include "report/context/subcommand.h"
#include "report/text/format.h"
#include "report/text/json.h"
#include "report/text/table.h"

#include <string.h>

struct list_words {
	struct shared_words shared;
	const char *rule, *unit; /* globs */
	const char *since, *resource, *all, *baseline;
};

/* Writes "cpu some 1.24s/2s", in the form of a rule's threshold. */
static void cell_pressure(const struct query *query, const char *name, char *into, size_t into_bytes)
{
	char resource[16], kind[16], observed[32], window[32];

	if (!query_is_null(query, "latency_metric")) {
		char metric[16], quantile[8];

		snprintf(into, into_bytes, "%s %s %s",
			 escape_terminal(query_text(query, "latency_metric"), metric, sizeof(metric)),
			 escape_terminal(query_text(query, "latency_quantile"), quantile, sizeof(quantile)),
			 format_duration(query_real(query, "latency_observed_ns"), "", observed,
					 sizeof(observed)));
		return;
	}
	if (query_is_null(query, "resource")) {
		const char *mode = query_text(query, "trigger_mode");

		snprintf(into, into_bytes, "%s",
			 !strcmp(mode, "kill")       ? "a kill"
			 : !strcmp(mode, "baseline") ? "-"
						     : "on demand");
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
	if (!query_is_null(query, "latency_limit_ns"))
		format_duration(query_real(query, "latency_limit_ns"), "", into, into_bytes);
	else if (query_number(query, name))
		format_duration(query_real(query, name) * 1e3, "", into, into_bytes);
	else
		snprintf(into, into_bytes, "-");
}

/* 'why' uses the same limit for PARTIAL. "-": the capture has no ledger of losses. */
static void cell_lost(const struct query *query, const char *name, char *into, size_t into_bytes)
{
	double percent = query_real(query, name);
	char share[32];

	if (query_is_null(query, name))
		snprintf(into, into_bytes, "-");
	else
		snprintf(into, into_bytes, "%s%s", percent >= PARTIAL_PERCENT ? "PARTIAL " : "",
			 format_percent(percent, share, sizeof(share)));
}

/* A capture on demand has no rule. */
static void cell_rule(const struct query *query, const char *name, char *into, size_t into_bytes)
{
	escape_terminal(query_is_null(query, name) ? "-" : query_text(query, name), into, into_bytes);
}

#define ORDER "newest_at DESC, incident_id DESC, triggered_at DESC, capture_id DESC"
static const char sql[] = "SELECT s.*, " LOSSES_OF(
	"s.capture_id") ", c.incident_id FROM (SELECT capture_id, incident_id, triggered_at, "
			"max(triggered_at) OVER (PARTITION BY ifnull(incident_id, -capture_id)) AS newest_at FROM capture "
			"WHERE %s ORDER BY " ORDER " LIMIT ?2) c "
			"CROSS JOIN capture_summary s USING(capture_id) "
			"ORDER BY c.newest_at DESC, c.incident_id DESC, c.triggered_at DESC, c.capture_id DESC";

/* Targets with that unit: what they used, living or ended; of a baseline, which has no such rows, their samples. */
#define OF_UNIT                                                                                                         \
	" AND (EXISTS (SELECT 1 FROM usage u JOIN process p USING(process_id) WHERE u.capture_id = capture.capture_id " \
	"AND u.role = 'target' AND p.unit GLOB %Q) OR EXISTS (SELECT 1 FROM ended e WHERE e.capture_id = "              \
	"capture.capture_id AND e.role = 'target' AND e.unit GLOB %Q) OR trigger_mode = 'baseline' AND EXISTS ("        \
	"SELECT 1 FROM sample s JOIN process p USING(process_id) WHERE s.capture_id = capture.capture_id AND p.unit "   \
	"GLOB %Q))"

/* Returns the statement, which sqlite3_free() frees; NULL without memory. */
static char *make_sql(const struct list_words *words, int64_t since_at)
{
	sqlite3_str *condition = sqlite3_str_new(NULL);
	char *text, *result;

	sqlite3_str_appendall(condition, words->all        ? "1"
					 : words->baseline ? "trigger_mode = 'baseline'"
							   : "trigger_mode <> 'baseline'");
	if (words->rule)
		sqlite3_str_appendf(condition, " AND rule GLOB %Q", words->rule);
	if (words->resource)
		sqlite3_str_appendf(condition, " AND resource = %Q", words->resource);
	if (words->since)
		sqlite3_str_appendf(condition, " AND triggered_at >= %lld", (long long)since_at);
	if (words->unit)
		sqlite3_str_appendf(condition, OF_UNIT, words->unit, words->unit, words->unit);
	text = sqlite3_str_finish(condition);
	result = text ? sqlite3_mprintf(sql, text) : NULL;
	sqlite3_free(text);
	return result;
}

static bool is_filtered(const struct list_words *words)
{
	return words->all || words->baseline || words->rule || words->resource || words->unit || words->since;
}

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
		{ "LOST", "lost_percent", 14, cell_lost },
		{ "WHERE", "cgroup", -60, cell_scope },
	};

	table_print(report->out, query, columns, ARRAY_SIZE(columns));
}

/* ---- the subcommand ---- */

#define WORD(name) .at = offsetof(struct list_words, name)

static const struct command_option options[] = {
	{ "db", "FILE", DB_HELP, SHARED(db) },
	{ "json", NULL, JSON_HELP, SHARED(json) },
	{ "limit", "N", "print at most N rows (50; JSON: all)", SHARED(limit) },
	{ "unit", "UNIT", "captures with targets of this unit, or of those that a glob names", WORD(unit) },
	{ "all", NULL, "baselines, too", WORD(all) },
	{ "baseline", NULL, "baselines alone", WORD(baseline) },
	{ "rule", "RULE", "captures of this rule, or of those that a glob names", WORD(rule) },
	{ "resource", "RESOURCE", ONE_OF("captures of pressure on ", "cpu, memory, io or irq"),
	  WORD(resource) },
	{ "since", "TIME", "from so long ago on, or from a time such as 2026-11-25T14:03:00Z", WORD(since) },
};

static int list_main(struct report *report, int count, char **arguments)
{
	struct list_words words = { 0 };
	_cleanup_query_ struct query query = { .database = report->database };
	int64_t since_at = 0;
	int status = subcommand_parse(report, &list_subcommand, count, arguments, &words);
	char *text;

	if (status == OPTIONS_RUN && words.all && words.baseline)
		return log_failed(
			EXIT_USAGE,
			"--all and --baseline exclude each other: --all has baselines and captures");
	if (status == OPTIONS_RUN && words.since)
		status = subcommand_read_time("--since", words.since, clock_wall_ns(), &since_at);
	if (status == OPTIONS_RUN)
		status = subcommand_open(report);
	if (status != OPTIONS_RUN)
		return status;
	text = make_sql(&words, since_at);
	if (!text)
		return log_failed(EXIT_FAILED, "cannot list the captures: %s", strerror(ENOMEM));
	query = query_begin(report->database, text, 0, report->limit);
	sqlite3_free(text);
	if (report->json) {
		json_rows(report->out, &query, NULL);
		fputc('\n', report->out);
	} else if (query_next(&query)) {
		print_text(report, &query);
	} else if (!report->database->failed) {
		fputs(is_filtered(&words)
			      ? "no such captures: 'bourdon list --all' shows all\n"
			      : "no captures yet: bourdond stores one when a rule fires; 'bourdon status' shows the rules\n",
		      report->out);
	}
	return status;
}

SUBCOMMAND(list, "list", "", "list the captures, newest first",
	   "Lists the captures, newest first: rule, pressure, samples, and the largest share that was lost.\n"
	   "Baselines, which bourdond takes of calm rules, are listed with --all or --baseline.",
	   "bourdon list --rule web --since 7d --resource cpu", .limit = 50);
