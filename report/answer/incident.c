/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * why --incident: what all captures of an incident say together. Their spans overlap, so nothing is added up over them:
 * of each program, the capture counts in which it has most. A target of one rule is another process to the others.
 */
#include "report/answer/incident.h"

#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "common/text/escape.h"
#include "common/text/plural.h"
#include "report/model/judged.h"
#include "report/model/profile.h"
#include "report/text/column_text.h"
#include "report/text/format.h"
#include "report/text/json.h"
#include "report/text/table.h"
#include "report/text/wrap.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What fired. */
static char *resource_of(const struct query *query, char *into)
{
	return query_is_null(query, "resource") ? strcpy(into, "a kill")
						: column_text(query, "resource", 8, into);
}

/* "3 captures over 14 s" */
static char *size_of(const struct query *query, char *into)
{
	int64_t captures = query_number(query, "captures");
	char span[FORMAT_BYTES];

	snprintf(into, FORMAT_BYTES, "%" PRId64 " %s %s%s", captures,
		 plural((uint64_t)captures, "capture", "captures"),
		 query_is_null(query, "duration_ns") ? "so far" : "over ",
		 query_is_null(query, "duration_ns") ? "" : column_duration(query, "duration_ns", 1, span));
	return into;
}

/* That of the capture which explains it. */
static void print_verdict(const struct layout *layout, const struct query *query)
{
	int64_t capture_id = query_number(query, "explained_by");
	char headline[VERDICT_TEXT_BYTES] = "", text[4 * VERDICT_TEXT_BYTES], all[sizeof(text) + 64];
	int result = judged_headline(query->database, capture_id, headline);

	if (result < 0)
		profile_fail(query->database, result);
	fputs("  verdict   ", layout->out);
	if (!*headline)
		snprintf(all, sizeof(all), "not known yet: none of its captures is complete");
	else
		snprintf(all, sizeof(all), "%s (of capture %" PRId64 ")",
			 escape_terminal(headline, text, sizeof(text)), capture_id);
	print_wrapped_on(layout, all, 12);
}

/* ---- the remark on a capture ---- */

const char incident_remark_sql[] =
	"SELECT s.incident_id, s.captures, s.duration_ns, s.began, s.explained_by, s.verdict, c.resource, c.rule, "
	"c.after_ns FROM (SELECT incident_id, capture_id, resource, rule, after_ns, row_number() OVER (PARTITION BY "
	"resource ORDER BY after_ns, capture_id) AS of_resource FROM incident_capture WHERE incident_id = "
	"(SELECT incident_id FROM capture WHERE capture_id = ?1)) c JOIN incident_summary s USING(incident_id) "
	"WHERE c.of_resource = 1 AND s.captures > 1 ORDER BY c.after_ns, c.capture_id LIMIT 4";

void incident_print_remark(const struct layout *layout, struct query *query)
{
	char sentence[4 * FORMAT_BYTES], a[FORMAT_BYTES], b[FORMAT_BYTES], c[FORMAT_BYTES];
	int64_t incident_id = query_number(query, "incident_id");
	size_t used = (size_t)snprintf(sentence, sizeof(sentence), "%s came first, at %s (rule %s)",
				       resource_of(query, a), column_text(query, "began", 20, b),
				       column_text(query, "rule", 36, c));

	fprintf(layout->out, "incident %" PRId64 ": %s\n", incident_id, size_of(query, a));
	while (query_next(query) && used < sizeof(sentence))
		used += (size_t)snprintf(sentence + used, sizeof(sentence) - used,
					 ", then %s after %s (rule %s)", resource_of(query, a),
					 column_duration(query, "after_ns", 1, b),
					 column_text(query, "rule", 36, c));
	fputs("  order     ", layout->out);
	print_wrapped_on(layout, sentence, 12);
	query_rewind(query);
	if (query_next(query))
		print_verdict(layout, query);
	fprintf(layout->out, "  as whole  bourdon why --incident %" PRId64 "\n", incident_id);
}

/* ---- the report on an incident ---- */

static const char summary_sql[] = "SELECT * FROM incident_summary WHERE incident_id = ?1";
static const char captures_sql[] =
	"SELECT capture_id, state, rule, resource, kind, cgroup, onset_at, triggered_at, ended_at, after_ns, "
	"stalled_percent, verdict, blamed_percent, explains FROM incident_capture WHERE incident_id = ?1 "
	"ORDER BY after_ns, capture_id LIMIT 100";

/* A sum that exceeds its limit is the limit: total() does not fail, as sum() does. */
static const char victims_sql[] =
	"SELECT resource, program, stalled_ns, capture_id, unit, cgroup, ifnull(unit, cgroup) AS place FROM ("
	"SELECT *, row_number() OVER (PARTITION BY resource, program, unit, cgroup ORDER BY stalled_ns DESC, capture_id) "
	"AS of_program FROM ("
	"SELECT ifnull(c.resource, c.latency_metric) AS resource, c.capture_id, p.comm AS program, p.unit, p.cgroup, CAST(total(CASE c.resource "
	"WHEN 'io' THEN u.stalled_io_ns WHEN 'memory' THEN u.stalled_memory_ns ELSE u.stalled_cpu_ns END) AS INTEGER) "
	"AS stalled_ns FROM capture c JOIN usage u USING(capture_id) JOIN process p USING(process_id) "
	"WHERE c.incident_id = ?1 AND u.role = 'target' GROUP BY c.capture_id, p.comm, p.unit, p.cgroup"
	")) WHERE of_program = 1 AND stalled_ns > 0 ORDER BY stalled_ns DESC, resource, program LIMIT 10";

/*
 * The view's rows of each capture by itself: SQLite pushes one capture's id down into it, but no list of ids. The daemon
 * makes no incident of more than 32 captures (consumer/capture/incident.h).
 */
#define CAPTURES_MOST 32
static const char culprits_of_capture_sql[] =
	"SELECT * FROM (SELECT capture_id, ifnull(resource, (SELECT latency_metric FROM capture c WHERE c.capture_id = "
	"culprit_group.capture_id)) AS resource, role, program, processes, ended, cpu_ns, read_bytes, write_bytes, "
	"rss_bytes, percent, unit, container, cgroup, taken FROM culprit_group WHERE capture_id = %" PRId64
	" AND taken > 0 ORDER BY taken DESC LIMIT 10)";
static const char culprits_sql[] =
	"SELECT resource, role, program, processes, ended, cpu_ns, read_bytes, write_bytes, rss_bytes, percent, unit, "
	"container, cgroup, ifnull(unit, cgroup) AS place, capture_id FROM ("
	"SELECT *, row_number() OVER (PARTITION BY resource ORDER BY taken DESC, program) AS of_resource FROM ("
	"SELECT *, row_number() OVER (PARTITION BY resource, role = 'kernel', program, unit, container, cgroup ORDER BY taken DESC, "
	"capture_id) AS of_program FROM (%s)) WHERE of_program = 1) WHERE of_resource <= 5 "
	"ORDER BY resource IS NOT (SELECT resource FROM incident WHERE incident_id = ?1), resource, taken DESC, program";

/* The caller frees. NULL without memory, and for an incident without captures. */
static char *make_culprits_sql(struct database *database, int64_t incident_id)
{
	_cleanup_query_ struct query captures = query_begin(
		database,
		"SELECT capture_id FROM capture WHERE incident_id = ?1 ORDER BY capture_id LIMIT ?2",
		incident_id, CAPTURES_MOST);
	_cleanup_free_ char *each = NULL;
	char *all = NULL;

	while (query_next(&captures)) {
		_cleanup_free_ char *before = TAKE_PTR(each), *one = NULL;

		if (asprintf(&one, culprits_of_capture_sql, query_number(&captures, "capture_id")) < 0) {
			one = NULL;
			return NULL;
		}
		if (asprintf(&each, "%s%s%s", before ? before : "", before ? " UNION ALL " : "", one) < 0) {
			each = NULL;
			return NULL;
		}
	}
	return each && asprintf(&all, culprits_sql, each) >= 0 ? all : NULL;
}

static void cell_after(const struct query *query, const char *name, char *into, size_t into_bytes)
{
	char text[FORMAT_BYTES];

	snprintf(into, into_bytes, "+%s", format_duration(query_real(query, name), " ", text, sizeof(text)));
}

static void cell_resource(const struct query *query, const char *name, char *into, size_t into_bytes)
{
	if (query_is_null(query, name))
		snprintf(into, into_bytes, "a kill");
	else
		cell_text(query, name, into, into_bytes);
}

static void print_summary(const struct layout *layout, struct query *query)
{
	char a[FORMAT_BYTES], b[FORMAT_BYTES], c[FORMAT_BYTES], first[4 * FORMAT_BYTES];

	fprintf(layout->out, "incident %" PRId64 " (%s), %s, %s\n", query_number(query, "incident_id"),
		column_text(query, "state", 16, a), size_of(query, b), column_text(query, "began", 20, c));
	snprintf(first, sizeof(first), "%s, capture %" PRId64 ", rule %s, on %s%s", resource_of(query, a),
		 query_number(query, "first_id"), column_text(query, "first_rule", 36, b),
		 query_is_null(query, "first_cgroup") ? "the whole system" : "cgroup ",
		 column_text(query, "first_cgroup", (size_t)layout->columns - 12, c));
	fputs("  first     ", layout->out);
	print_wrapped_on(layout, first, 12);
	print_verdict(layout, query);
}

static const struct column captures_columns[] = {
	{ "BEGAN", "after_ns", 8, cell_after },   { "RESOURCE", "resource", -8, cell_resource },
	{ "KIND", "kind", -4, cell_text },        { "STALLED", "stalled_percent", 7, cell_percent },
	{ "ID", "capture_id", 5, cell_number },   { "RULE", "rule", -12, cell_text },
	{ "VERDICT", "verdict", -15, cell_text }, { "WHERE", "cgroup", -27, cell_scope },
};

static const struct column victims_columns[] = {
	{ "RESOURCE", "resource", -8, cell_resource },    { "PROGRAM", "program", -15, cell_text },
	{ "STALLED", "stalled_ns", 8, cell_duration_ns }, { "ID", "capture_id", 5, cell_number },
	{ "UNIT OR CGROUP", "place", -56, cell_text },
};

static const struct column culprits_columns[] = {
	{ "RESOURCE", "resource", -8, cell_resource }, { "PROGRAM", "program", -15, cell_text },
	{ "COUNT", "processes", 5, cell_number },      { "CPU TIME", "cpu_ns", 8, cell_duration_ns },
	{ "READ", "read_bytes", 8, cell_size },        { "WRITTEN", "write_bytes", 8, cell_size },
	{ "SHARE", "percent", 7, cell_percent },       { "ID", "capture_id", 5, cell_number },
	{ "UNIT OR CGROUP", "place", -20, cell_text },
};

struct section {
	const char *name;
	const char *sql;  /* NULL: that of make_culprits_sql() */
	const char *head; /* NULL: one row, which print_summary() prints */
	const struct column *columns;
	size_t columns_count;
};

static const struct section sections[] = {
	{ "incident", summary_sql, NULL, NULL, 0 },
	{ "captures", captures_sql, "its captures, in the order in which their stalls began",
	  captures_columns, ARRAY_SIZE(captures_columns) },
	{ "victims", victims_sql,
	  "targets that stalled, by program; of each program, the capture in which it stalled longest",
	  victims_columns, ARRAY_SIZE(victims_columns) },
	{ "culprits", NULL,
	  "who used most of each resource, by program; of each program, the capture in which it used most",
	  culprits_columns, ARRAY_SIZE(culprits_columns) },
};

static void print_section(struct report *report, const struct section *section, const char *sql,
			  int64_t incident_id)
{
	_cleanup_query_ struct query query = query_begin(report->database, sql, incident_id, 0);
	bool is_first = section == sections;

	if (report->json) {
		fprintf(report->out, "%s\"%s\": ", is_first ? "{" : ",\n", section->name);
		if (!section->head)
			json_next_row(report->out, &query);
		else
			json_rows(report->out, &query, NULL);
	} else if (query_next(&query)) {
		if (!section->head) {
			print_summary(&report->layout, &query);
			return;
		}
		fprintf(report->out, "\n%s\n", section->head);
		table_print_on(&report->layout, &query, section->columns, section->columns_count);
	}
}

bool incident_choose(struct database *database, int64_t wanted, int64_t *ret_incident_id)
{
	_cleanup_query_ struct query query =
		query_begin(database,
			    wanted < 0 ? "SELECT incident_id FROM capture WHERE incident_id IS NOT NULL "
					 "ORDER BY triggered_at DESC, capture_id DESC LIMIT 1"
				       : "SELECT incident_id FROM incident_summary WHERE incident_id = ?1",
			    wanted, 0);
	bool found = query_next(&query);

	if (found)
		*ret_incident_id = query_number(&query, "incident_id");
	else if (!database->failed && wanted < 0)
		log_error("no incident in '%s': 'bourdon list' shows the captures", database->path);
	else if (!database->failed)
		log_error("no incident %lld in '%s': 'bourdon list' shows the incident of each capture",
			  (long long)wanted, database->path);
	return found;
}

void incident_print(struct report *report, int64_t incident_id)
{
	_cleanup_free_ char *culprits = make_culprits_sql(report->database, incident_id);

	for (size_t i = 0; i < ARRAY_SIZE(sections) && !report->database->failed; i++) {
		const char *sql = sections[i].sql ? sections[i].sql : culprits;

		if (sql)
			print_section(report, &sections[i], sql, incident_id);
		else
			profile_fail(report->database, -ENOMEM);
	}
	if (report->json)
		fputs("}\n", report->out);
}
