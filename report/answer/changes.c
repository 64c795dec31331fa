/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/answer/changes.h"

#include "common/base/cleanup.h"
#include "report/answer/usual.h"
#include "report/text/format.h"
#include "report/text/time_text.h"

#include <inttypes.h>
#include <string.h>

/* Of each kind. */
#define CHANGES_MOST 8

struct gathering {
	struct answer *answer;
	int64_t since; /* the capture that is compared with */
	int64_t since_at;
	bool is_baseline;
	struct rows rows;
};

static const char previous_sql[] =
	"SELECT o.capture_id FROM capture t JOIN run tr ON tr.run_id = t.run_id JOIN capture o ON o.triggered_at < t.triggered_at "
	"AND o.rule = t.rule AND o.state = 'complete' JOIN run r ON r.run_id = o.run_id AND r.hostname = tr.hostname "
	"WHERE t.capture_id = ?1 ORDER BY o.triggered_at DESC LIMIT 1";

static int add_change(struct gathering *gathering, const char *what, const char *name, const char *before,
		      const char *after)
{
	struct profile *profile = gathering->answer->profile;
	const char *texts[] = { name, before, after };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		texts[i] = texts[i] ? profile_keep(profile, texts[i]) : NULL;
		if (!texts[i] && (i == 0 ? name : i == 1 ? before : after))
			return -ENOMEM;
	}
	return rows_add(&gathering->rows,
			(struct value[]){ value_number(gathering->since), value_number(gathering->since_at),
					  value_number(gathering->is_baseline), value_text(what),
					  value_text(texts[0]), value_text(texts[1]), value_text(texts[2]) });
}

static const char *text_or_null(const struct query *query, const char *column)
{
	return query_is_null(query, column) ? NULL : query_text(query, column);
}

/* Adds each row of a query with the columns name, before and after. ?1 is the capture, ?2 the one before. */
static int add_rows(struct gathering *gathering, const char *what, const char *sql)
{
	struct database *database = gathering->answer->report->database;
	_cleanup_query_ struct query query =
		query_begin(database, sql, gathering->answer->report->capture_id, gathering->since);
	int result = 0;

	for (int i = 0; i < CHANGES_MOST && !result && query_next(&query); i++)
		result = add_change(gathering, what, query_text(&query, "name"),
				    text_or_null(&query, "before"), text_or_null(&query, "after"));
	return result || !database->failed ? result : -EIO;
}

/* ---- builds ---- */

/* Files of the capture of which the database knows another build: only then it is worth reading what the other capture ran. */
static const char other_builds_sql[] =
	"SELECT o.module_id AS other_id, m.path AS name, ifnull(o.build_id, o.version) AS before, ifnull(m.build_id, m.version) AS after "
	"FROM module m JOIN module o ON o.path = m.path AND o.module_id <> m.module_id AND o.kind = m.kind "
	"AND ifnull(o.build_id, o.version) <> ifnull(m.build_id, m.version) WHERE m.module_id = ?1 AND m.kind = 'file' LIMIT 16";

static bool has_module(const struct profile *profile, int64_t module_id)
{
	for (uint32_t i = 0; i < profile->modules_count; i++)
		if (profile->modules[i].module_id == module_id)
			return true;
	return false;
}

/* `then` is loaded when it is first wanted. */
static int compare_module(struct gathering *gathering, struct query *query, int64_t module_id,
			  struct profile *then)
{
	struct database *database = gathering->answer->report->database;

	for (bool more = query_find(query, module_id); more; more = query_next(query)) {
		int64_t other_id = query_number(query, "other_id");

		if (!then->texts.count &&
		    profile_load(database, gathering->since, PROFILE_OF_TARGETS, then) < 0)
			return -EIO;
		/* both in one capture: of two processes, and nothing changed */
		if (has_module(then, other_id) && !has_module(then, module_id))
			return add_change(gathering, "build", query_text(query, "name"),
					  query_text(query, "before"), query_text(query, "after"));
	}
	return 0;
}

static int add_builds(struct gathering *gathering)
{
	const struct profile *profile = gathering->answer->profile;
	struct database *database = gathering->answer->report->database;
	_cleanup_query_ struct query query = query_begin(database, other_builds_sql, 0, 0);
	_cleanup_profile_ struct profile then = { 0 };
	uint32_t most = gathering->rows.count + CHANGES_MOST;
	int result = 0;

	for (uint32_t i = 0; i < profile->modules_count && !result && gathering->rows.count < most; i++)
		result = compare_module(gathering, &query, profile->modules[i].module_id, &then);
	return result || !database->failed ? result : -EIO;
}

/* ---- restarts ---- */

/* Targets; of a capture without usage those that have samples. */
#define TARGETS_OF(PARAMETER)                                                                                        \
	"SELECT p.comm, ifnull(p.unit, p.cgroup) AS place, p.tgid, p.started_ns FROM (SELECT process_id FROM usage " \
	"WHERE capture_id = " PARAMETER                                                                              \
	" AND role = 'target' AND process_id IS NOT NULL UNION SELECT process_id FROM sample "                       \
	"WHERE capture_id = " PARAMETER " AND NOT EXISTS (SELECT 1 FROM usage WHERE capture_id = " PARAMETER         \
	" AND role = 'target')) JOIN process p USING(process_id)"

/* Programs that were there, and of which no process is the same. */
static const char restarts_sql[] = "WITH here AS MATERIALIZED (" TARGETS_OF("?1") "), there AS MATERIALIZED (" TARGETS_OF(
	"?2") ") "
	      "SELECT h.comm || ifnull(' in ' || h.place, '') AS name, "
	      "(SELECT group_concat(tgid, ' ') FROM (SELECT tgid FROM there t WHERE t.comm = h.comm AND t.place IS h.place ORDER BY tgid LIMIT 4)) AS before, "
	      "(SELECT group_concat(tgid, ' ') FROM (SELECT tgid FROM here o WHERE o.comm = h.comm AND o.place IS h.place ORDER BY tgid LIMIT 4)) AS after "
	      "FROM here h GROUP BY h.comm, h.place "
	      "HAVING EXISTS (SELECT 1 FROM there t WHERE t.comm = h.comm AND t.place IS h.place) "
	      "AND NOT EXISTS (SELECT 1 FROM there t JOIN here s ON s.tgid = t.tgid AND s.started_ns = t.started_ns "
	      "WHERE t.comm = h.comm AND t.place IS h.place) ORDER BY count(*) DESC, name LIMIT 8";

/* ---- limits, and the rest ---- */

/* Of the same cgroups, if both captures looked at them. A limit that is not there is none. */
#define LIMITS_OF(PARAMETER)                                                                                      \
	"SELECT scope, source, name, ifnull(before, after) AS value FROM statistic WHERE capture_id = " PARAMETER \
	" AND (source = 'cpu.max' AND name = 'quota_usec' OR source IN ('memory.max', 'memory.high') AND name = 'bytes')"
#define SCOPES_OF(PARAMETER)                                                                                 \
	"SELECT DISTINCT scope FROM statistic WHERE capture_id = " PARAMETER                                 \
	" AND source IN ('cpu.max', 'memory.current', 'cpu.stat')"

static const char limits_sql[] = "WITH here AS MATERIALIZED (" LIMITS_OF("?1") "), there AS MATERIALIZED (" LIMITS_OF(
	"?2") "), "
	      "both AS MATERIALIZED (" SCOPES_OF("?1") " INTERSECT " SCOPES_OF(
		      "?2") "), "
			    "all_of AS MATERIALIZED (SELECT scope, source FROM here UNION SELECT scope, source FROM there) "
			    "SELECT a.source || ' of ' || a.scope AS name, "
			    "(SELECT t.value FROM there t WHERE t.scope = a.scope AND t.source = a.source) AS before, "
			    "(SELECT h.value FROM here h WHERE h.scope = a.scope AND h.source = a.source) AS after "
			    "FROM all_of a WHERE a.scope IN both AND (SELECT t.value FROM there t WHERE t.scope = a.scope AND t.source = a.source) "
			    "IS NOT (SELECT h.value FROM here h WHERE h.scope = a.scope AND h.source = a.source) ORDER BY a.scope, a.source LIMIT 8";

#define RUN_CHANGE(NAME, COLUMN)                                                                             \
	"SELECT '" NAME "' AS name, b." COLUMN " AS before, a." COLUMN                                       \
	" AS after FROM capture c JOIN run a ON a.run_id = c.run_id "                                        \
	"JOIN capture d ON d.capture_id = ?2 JOIN run b ON b.run_id = d.run_id WHERE c.capture_id = ?1 "     \
	"AND a." COLUMN " IS NOT b." COLUMN

static const char host_sql[] = RUN_CHANGE("kernel", "kernel") " UNION ALL " RUN_CHANGE(
	"bourdon", "version") " UNION ALL " RUN_CHANGE("number of CPUs",
						       "cpus") " UNION ALL " RUN_CHANGE("policy.conf",
											"policy");

static const char rule_sql[] =
	"SELECT 'thresholds of rule ' || c.rule AS name, NULL AS before, NULL AS after FROM capture c JOIN rule a ON a.rule_id = c.rule_id "
	"JOIN capture d ON d.capture_id = ?2 JOIN rule b ON b.rule_id = d.rule_id WHERE c.capture_id = ?1 "
	"AND (a.triggers IS NOT b.triggers OR a.comm <> b.comm OR a.cgroup IS NOT b.cgroup OR a.unit IS NOT b.unit)";

static int gather(struct gathering *gathering)
{
	static const struct {
		const char *what, *sql;
	} kinds[] = { { "restart", restarts_sql },
		      { "limit", limits_sql },
		      { "host", host_sql },
		      { "rule", rule_sql } };
	int result = add_builds(gathering);

	for (size_t i = 0; i < ARRAY_SIZE(kinds) && !result; i++)
		result = add_rows(gathering, kinds[i].what, kinds[i].sql);
	if (!result && !gathering->rows.count)
		result = add_change(gathering, NULL, NULL, NULL, NULL);
	return result;
}

/* The capture to compare with; `since` is 0 where there is none. */
static int find_since(struct gathering *gathering)
{
	struct database *database = gathering->answer->report->database;
	int64_t capture_id = gathering->answer->report->capture_id;

	gathering->since = usual_baseline(database, capture_id);
	gathering->is_baseline = gathering->since != 0;
	if (!gathering->since) {
		_cleanup_query_ struct query query = query_begin(database, previous_sql, capture_id, 0);

		if (query_next(&query))
			gathering->since = query_number(&query, "capture_id");
	}
	if (gathering->since) {
		_cleanup_query_ struct query query =
			query_begin(database, "SELECT triggered_at FROM capture WHERE capture_id = ?1",
				    gathering->since, 0);

		if (query_next(&query))
			gathering->since_at = query_number(&query, "triggered_at");
	}
	return database->failed ? -EIO : 0;
}

int changes_rows(struct answer *answer, struct rows *ret_rows)
{
	static const char *const names[] = { "since_id", "since_at", "since_baseline", "what",
					     "name",     "before",   "after" };
	struct gathering gathering = { .answer = answer, .rows = rows_of(names) };
	int result = 0;

	*ret_rows = gathering.rows;
	if (!answer->rule)
		return 0;
	result = find_since(&gathering);
	if (!result && gathering.since)
		result = gather(&gathering);
	return rows_finish(result, &gathering.rows, ret_rows);
}

/* ---- text ---- */

/* The first digits of a build id tell as much as all, to a person. */
#define BUILD_COLUMNS 12

static void say_limit(const char *name, const char *value, char into[64])
{
	double number = strtod(value, NULL);

	if (!*value)
		snprintf(into, 64, "none");
	else if (!strncmp(name, "cpu.max", strlen("cpu.max")))
		snprintf(into, 64, "%.0f us a period", number);
	else
		format_size(number, into, 64);
}

static void print_change(const struct layout *layout, const char *label, const struct query *query)
{
	const char *what = query_text(query, "what"), *name = query_text(query, "name"),
		   *before = query_text(query, "before"), *after = query_text(query, "after");
	char text[1024], from[64], to[64];

	if (!*what)
		snprintf(text, sizeof(text),
			 "nothing that was recorded: builds, restarts, limits, kernel, rule");
	else if (!strcmp(what, "build"))
		snprintf(text, sizeof(text), "%s: build %.*s, was %.*s", name, BUILD_COLUMNS, after,
			 BUILD_COLUMNS, before);
	else if (!strcmp(what, "restart"))
		snprintf(text, sizeof(text), "restart of %s: now %s, was %s", name, after, before);
	else if (!strcmp(what, "limit")) {
		say_limit(name, before, from);
		say_limit(name, after, to);
		snprintf(text, sizeof(text), "%s: %s, was %s", name, to, from);
	} else if (!strcmp(what, "rule"))
		snprintf(text, sizeof(text), "%s", name);
	else
		snprintf(text, sizeof(text), "%s: %s, was %s", name, *after ? after : "none",
			 *before ? before : "none");
	layout_fact(layout, label, LAYOUT_PLAIN, text);
}

void changes_print(const struct layout *layout, struct query *query)
{
	char text[128], when[TIME_TEXT_BYTES];

	snprintf(text, sizeof(text),
		 "since capture %" PRId64 " of this rule%s, %s:", query_number(query, "since_id"),
		 query_number(query, "since_baseline") ? ", the last baseline" : "",
		 time_text_write(query_number(query, "since_at"), when));
	layout_fact(layout, "changed", LAYOUT_PLAIN, text);
	do
		print_change(layout, "", query);
	while (query_next(query));
}
