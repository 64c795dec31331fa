/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * db check: is the database as bourdond writes it? First what SQLite can tell, then what the rows mean. It changes
 * nothing, and says one line for each problem.
 */
#include "common/base/cleanup.h"
#include "common/store/sample_row.h"
#include "common/store/schema.h"
#include "common/store/store_verdict.h"
#include "common/store/stored_json.h"
#include "common/system/log.h"
#include "common/text/escape.h"
#include "common/text/plural.h"
#include "report/context/subcommand.h"
#include "report/files/db_check_stacks.h"
#include "report/model/query.h"
#include "report/text/format.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

/* The lines of problems that are written; others are counted. */
#define PROBLEMS_MAX 100
#define PROBLEM_BYTES 400

struct check {
	struct report *report;
	struct database *database;
	int64_t problems, rows;
	int views;
	struct stacks_checked stacks;
};

/* A note_problem. */
static void __attribute__((format(printf, 2, 3))) note(void *user, const char *format, ...)
{
	struct check *check = user;
	char line[PROBLEM_BYTES], safe[2 * PROBLEM_BYTES];
	va_list arguments;

	if (check->problems++ >= PROBLEMS_MAX)
		return;
	va_start(arguments, format);
	vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	fprintf(check->report->out, "%s\n", escape_terminal(line, safe, sizeof(safe)));
}

/* ---- what SQLite can tell ---- */

static void check_pages(struct check *check)
{
	_cleanup_query_ struct query query =
		query_begin(check->database, "PRAGMA main.integrity_check(1000)", 0, 0);

	while (query_next(&query)) {
		const char *line = query_text(&query, "integrity_check");

		if (strcmp(line, "ok") != 0)
			note(check, "%s", line);
	}
}

static void check_references(struct check *check)
{
	_cleanup_query_ struct query query =
		query_begin(check->database, "PRAGMA main.foreign_key_check", 0, 0);

	while (query_next(&query)) {
		const char *parent = query_text(&query, "parent");
		char table[64];

		snprintf(table, sizeof(table), "%s", query_text(&query, "table"));
		if (query_is_null(&query, "rowid")) /* a table without row ids */
			note(check, "%s: a row refers to a row of %s that does not exist", table, parent);
		else
			note(check, "%s: row %" PRId64 " refers to a row of %s that does not exist", table,
			     query_number(&query, "rowid"), parent);
	}
}

/* ---- tables and views ---- */

/* An empty database of this schema version; NULL, and the reason was logged. */
static sqlite3 *open_model(void)
{
	sqlite3 *model = NULL;

	if (sqlite3_open(":memory:", &model) == SQLITE_OK &&
	    sqlite3_exec(model, schema_sql, NULL, NULL, NULL) == SQLITE_OK)
		return model;
	log_error("cannot make a database in memory: %s", sqlite3_errmsg(model));
	sqlite3_close(model);
	return NULL;
}

/* Returns 0 or 1 rows of a statement with two texts; negative if it fails. */
static int count_rows(sqlite3 *sqlite, const char *statement, const char *first, const char *second)
{
	sqlite3_stmt *prepared = NULL;
	int count = -1;

	if (sqlite3_prepare_v2(sqlite, statement, -1, &prepared, NULL) == SQLITE_OK) {
		int step;

		sqlite3_bind_text(prepared, 1, first, -1, SQLITE_STATIC);
		sqlite3_bind_text(prepared, 2, second, -1, SQLITE_STATIC);
		step = sqlite3_step(prepared);
		count = step == SQLITE_ROW ? 1 : step == SQLITE_DONE ? 0 : -1;
	}
	sqlite3_finalize(prepared);
	return count;
}

/* Each table and view of the model has its columns in the database, and refers to the same tables. */
static void check_columns(struct check *check, struct database *model)
{
	static const char columns[] =
		"SELECT s.name AS owner, p.name AS name FROM sqlite_schema s, pragma_table_info(s.name) p "
		"WHERE s.type IN ('table', 'view') AND s.name NOT LIKE 'sqlite_%'";
	static const char references[] =
		"SELECT s.name AS owner, p.\"from\" AS name FROM sqlite_schema s, pragma_foreign_key_list(s.name) p "
		"WHERE s.type = 'table'";
	_cleanup_query_ struct query column = query_begin(model, columns, 0, 0),
				     reference = query_begin(model, references, 0, 0);

	while (query_next(&column)) {
		const char *owner = query_text(&column, "owner"), *name = query_text(&column, "name");
		int count = count_rows(check->database->sqlite,
				       "SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2", owner, name);

		if (count < 0)
			note(check, "%s cannot be queried: %s", owner,
			     sqlite3_errmsg(check->database->sqlite));
		else if (!count)
			note(check, "%s: there is no column %s", owner, name);
	}
	while (query_next(&reference))
		if (count_rows(check->database->sqlite,
			       "SELECT 1 FROM pragma_foreign_key_list(?1) WHERE \"from\" = ?2",
			       query_text(&reference, "owner"), query_text(&reference, "name")) < 1)
			note(check, "%s: column %s refers to no table", query_text(&reference, "owner"),
			     query_text(&reference, "name"));
}

/* The end of a condition in parentheses; `at` is behind the first one. NULL: it has none. */
static const char *end_of_condition(const char *at)
{
	for (int open = 1; *at; at++) {
		open += *at == '(' ? 1 : *at == ')' ? -1 : 0;
		if (!open)
			return at;
	}
	return NULL;
}

/* SQLite does not check these conditions in a database that is opened for reading (3.40). */
static void check_conditions(struct check *check, const char *table, const char *definition)
{
	static const char begin[] = "CHECK(";
	sqlite3 *sqlite = check->database->sqlite;

	for (const char *at = definition, *end; (at = strstr(at, begin)); at = end) {
		char *statement;

		at += sizeof(begin) - 1;
		end = end_of_condition(at);
		if (!end)
			return;
		statement = sqlite3_mprintf("SELECT 1 FROM \"%w\" WHERE NOT (%.*s) LIMIT 1", table,
					    (int)(end - at), at);
		if (!statement || count_rows(sqlite, statement, NULL, NULL) != 0)
			note(check, "%s: a row is not as it must be: %.*s", table, (int)(end - at), at);
		sqlite3_free(statement);
	}
}

/* Asks the view for one capture, or a view without captures for one row. */
static void check_view(struct check *check, const char *view, int64_t capture_id)
{
	sqlite3 *sqlite = check->database->sqlite;
	bool of_captures = count_rows(sqlite, "SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2", view,
				      "capture_id") == 1;
	/* a number, and no subquery, so that SQLite pushes the condition down into the view */
	char *statement = of_captures
				  ? sqlite3_mprintf("SELECT * FROM \"%w\" WHERE capture_id = %lld LIMIT 1",
						    view, (long long)capture_id)
				  : sqlite3_mprintf("SELECT * FROM \"%w\" LIMIT 1", view);

	check->views++;
	if (!statement || count_rows(sqlite, statement, NULL, NULL) < 0)
		note(check, "view %s: %s", view, sqlite3_errmsg(sqlite));
	sqlite3_free(statement);
}

static void check_tables(struct check *check, struct database *model)
{
	_cleanup_query_ struct query tables = query_begin(
		model, "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND sql NOTNULL", 0, 0);

	check_columns(check, model);
	while (query_next(&tables) && !check->problems)
		check_conditions(check, query_text(&tables, "name"), query_text(&tables, "sql"));
}

static void check_views(struct check *check, struct database *model)
{
	_cleanup_query_ struct query views =
		query_begin(model, "SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY rowid", 0, 0);

	_cleanup_query_ struct query newest = query_begin(
		check->database,
		"SELECT capture_id FROM capture WHERE state = 'complete' ORDER BY triggered_at DESC, "
		"capture_id DESC LIMIT 1",
		0, 0);
	int64_t capture_id = query_next(&newest) ? query_number(&newest, "capture_id") : 0;

	while (query_next(&views))
		check_view(check, query_text(&views, "name"), capture_id);
}

/* ---- rows ---- */

static void check_samples(struct check *check)
{
	_cleanup_query_ struct query query = query_begin(
		check->database,
		"SELECT r.capture_id, r.stack_id, r.second, r.samples, " SAMPLE_ROW_TIMES
		" AS times, k.kind = 'off-cpu' AS interval, "
		"n.class IS NULL AS is_bare FROM sample_row r LEFT JOIN stack_node n ON n.node_id = r.stack_id "
		"LEFT JOIN sample_class k ON k.class = r.class",
		0, 0);

	while (query_next(&query)) {
		int64_t capture = query_number(&query, "capture_id"),
			stack = query_number(&query, "stack_id");

		check->rows++;
		if (!stored_times_are_valid(query.statement, 4, query_number(&query, "interval"),
					    query_number(&query, "samples")))
			note(check,
			     "sample_row of capture %" PRId64 ", stack %" PRId64 ", second %" PRId64
			     ": times is not an array of one element a sample",
			     capture, stack, query_number(&query, "second"));
		if (query_number(&query, "is_bare"))
			note(check, "sample_row of capture %" PRId64 ": no stack ends at stack_node %" PRId64,
			     capture, stack);
	}
}

/* Whether the column of a row has this value. Texts of it are words, or as the database has them. */
static bool has_value(sqlite3_stmt *row, int at, const struct sql_column *column)
{
	const unsigned char *text = sqlite3_column_text(row, at);

	switch (column->type) {
	case SQLITE_INTEGER:
		return text && sqlite3_column_int64(row, at) == column->number;
	case SQLITE_FLOAT:
		return text && sqlite3_column_double(row, at) == column->real;
	case SQLITE_NULL:
		return !text;
	default:
		return column->text ? text && !strcmp((const char *)text, column->text) : !text;
	}
}

/* The statement that reads these columns of capture ?1; NULL: it failed, and that was logged. */
static sqlite3_stmt *select_columns(struct check *check, const struct sql_column *columns)
{
	sqlite3_str *text = sqlite3_str_new(check->database->sqlite);
	sqlite3_stmt *statement = NULL;
	char *sql;

	for (int i = 0; columns[i].name; i++)
		sqlite3_str_appendf(text, "%s %s", i ? "," : "SELECT", columns[i].name);
	sqlite3_str_appendall(text, " FROM main.capture WHERE capture_id = ?1");
	sql = sqlite3_str_finish(text);
	if (!sql || sqlite3_prepare_v2(check->database->sqlite, sql, -1, &statement, NULL) != SQLITE_OK)
		database_fail(check->database);
	sqlite3_free(sql);
	return statement;
}

/* Compares the columns of a capture with its verdict by the rules of today. Older rules may have had another one. */
static void compare_verdict(struct check *check, int64_t capture_id, const struct verdict *verdict)
{
	struct sql_column columns[STORE_VERDICT_COLUMNS + 1];
	sqlite3_stmt *row;

	store_verdict_columns(verdict, columns);
	row = select_columns(check, columns);
	sqlite3_bind_int64(row, 1, capture_id);
	if (row && sqlite3_step(row) == SQLITE_ROW) {
		int64_t version = sqlite3_column_int64(row, STORE_VERDICT_VERSION);
		bool is_older = version < VERDICT_VERSION;

		for (int i = 0; columns[i].name; i++) {
			if (i == STORE_VERDICT_VERSION || has_value(row, i, &columns[i]))
				continue;
			if (!is_older)
				note(check, "capture %" PRId64 ": its %s is not what its rows say (%s)",
				     capture_id, columns[i].name, verdict_kind_names[verdict->kind]);
			else if (!i)
				fprintf(check->report->out,
					"capture %" PRId64
					": by the rules of this bourdon its verdict is '%s'\n",
					capture_id, verdict_kind_names[verdict->kind]);
		}
	}
	sqlite3_finalize(row);
}

static void check_verdicts(struct check *check)
{
	struct database *database = check->database;
	_cleanup_query_ struct query query = query_begin(
		database,
		"SELECT capture_id FROM main.capture WHERE verdict_version > 0 AND state <> 'recording'", 0,
		0);

	while (!database->failed && query_next(&query)) {
		int64_t capture_id = query_number(&query, "capture_id");
		struct verdict_facts facts;
		int result = verdict_facts_load(database->sqlite, capture_id, &facts);

		if (result < 0) {
			database_fail(database);
			break;
		}
		struct verdict verdict = verdict_judge(&facts);

		compare_verdict(check, capture_id, &verdict);
		verdict_facts_free(&facts);
	}
}

/* Each selects the problems of some rows, in words. */
static const char *const row_problems[] = {
	/* of thread_state, wake_row and growth_row: each of their stacks ends at a node */
	"SELECT format('thread_state of capture %d: no stack ends at stack_node %d', t.capture_id, "
	"t.stack_id) AS problem FROM thread_state t LEFT JOIN stack_node n ON n.node_id = t.stack_id WHERE "
	"t.stack_id IS NOT NULL AND n.class IS NULL",
	"SELECT format('wake_row of capture %d: no stack ends at stack_node %d', w.capture_id, n.node_id) AS "
	"problem FROM wake_row w JOIN stack_node n ON n.node_id IN (w.stack_id, w.waker_stack_id) WHERE "
	"n.class IS NULL",
	"SELECT format('growth_row of capture %d: no stack ends at stack_node %d', g.capture_id, g.stack_id) "
	"AS problem FROM growth_row g LEFT JOIN stack_node n ON n.node_id = g.stack_id WHERE n.class IS NULL",
	/* each row has events of a metric that was measured in its span, and no more events were lost than there were */
	"SELECT DISTINCT format('histogram_row of capture %d: %s %s has a row without events, or was not "
	"measured', r.capture_id, l.metric, r.span) AS problem FROM histogram_row r JOIN histogram_label l "
	"USING(label_id) WHERE r.count <= 0 OR r.sum < 0 OR NOT EXISTS (SELECT 1 FROM latency_measured m "
	"WHERE m.capture_id = r.capture_id AND m.metric = l.metric AND m.span = r.span)",
	"SELECT format('latency_measured of capture %d: the numbers of %s %s cannot be', capture_id, metric, "
	"span) AS problem FROM latency_measured WHERE events < 0 OR NOT lost BETWEEN 0 AND events OR unpaired "
	"< 0 OR absurd < 0 OR to_at < from_at",
	/* the sums of a minute follow from its rows */
	"SELECT format('activity_minute %d: its row does not agree with those of activity', minute_id) AS "
	"problem FROM activity_minute m WHERE NOT looks BETWEEN 1 AND steps OR threads <> (SELECT "
	"ifnull(sum(a.threads), 0) FROM activity a WHERE a.minute_id = m.minute_id)",
	/* the numbers that a capture has of its samples, from which views answer */
	"SELECT format('capture %d: its numbers of processes, stacks and samples are not those of its rows', "
	"c.capture_id) AS problem FROM capture c WHERE sample_count IS NOT NULL AND (process_count, "
	"stack_count, sample_count, interval_count) IS NOT (SELECT count(DISTINCT t.process_id), "
	"count(DISTINCT r.stack_id), ifnull(sum(r.samples), 0), ifnull(sum(r.samples) FILTER (WHERE k.kind = "
	"'off-cpu'), 0) FROM sample_row r JOIN thread t USING(thread_id) JOIN sample_class k USING(class) "
	"WHERE r.capture_id = c.capture_id AND k.role = 'target')",
	/* incidents follow from their captures; without a capture, there is no incident */
	"SELECT format('incident %d: its row does not agree with its %d captures', i.incident_id, "
	"count(c.capture_id)) AS problem FROM incident i LEFT JOIN capture c USING(incident_id) GROUP BY "
	"i.incident_id HAVING count(c.capture_id) = 0 OR count(c.capture_id) <> i.captures OR sum(c.run_id <> "
	"i.run_id) OR i.ended_at IS NOT iif(sum(c.state = 'recording'), NULL, max(ifnull(c.ended_at, "
	"c.triggered_at))) OR (i.verdict, i.blamed_percent) IS NOT (SELECT e.verdict, e.blamed_percent FROM "
	"capture e WHERE e.capture_id = i.explained_by AND e.incident_id = i.incident_id)",
};

static void check_rows(struct check *check)
{
	for (size_t i = 0; i < ARRAY_SIZE(row_problems) && !check->database->failed; i++) {
		_cleanup_query_ struct query query = query_begin(check->database, row_problems[i], 0, 0);

		while (query_next(&query))
			note(check, "%s", query_text(&query, "problem"));
	}
}

/* Arrays of steps have one element a step. */
static void check_steps(struct check *check)
{
	_cleanup_query_ struct query missed =
		query_begin(check->database, "SELECT minute_id, missed, steps FROM activity_minute", 0, 0);
	_cleanup_query_ struct query times = query_begin(
		check->database,
		"SELECT minute_id, key_id, times, steps FROM activity JOIN activity_minute USING(minute_id)",
		0, 0);

	while (query_next(&missed))
		if (!stored_steps_are_valid(missed.statement, 1, query_number(&missed, "steps")))
			note(check, "activity_minute %" PRId64 ": missed is not an array of steps",
			     query_number(&missed, "minute_id"));
	while (query_next(&times))
		if (!stored_steps_are_valid(times.statement, 2, query_number(&times, "steps")))
			note(check,
			     "activity of minute %" PRId64 ", key %" PRId64
			     ": times is not an array of steps",
			     query_number(&times, "minute_id"), query_number(&times, "key_id"));
}

/* ---- the whole ---- */

/* Each step relies on those before it: without an intact tree, for example, a view may take very long. */
static void check_meaning(struct check *check)
{
	static void (*const checks[])(struct check * check) = { check_samples, check_rows, check_steps,
								check_verdicts };
	_cleanup_database_ struct database model = { .path = ":memory:" };
	struct database *database = check->database;

	model.sqlite = open_model();
	if (!model.sqlite) {
		database->failed = true;
		return;
	}
	check_tables(check, &model);
	if (!database->failed && !check->problems)
		db_check_stacks(database, note, check, &check->stacks);
	for (size_t i = 0; i < ARRAY_SIZE(checks) && !database->failed; i++)
		checks[i](check);
	if (!database->failed && !check->problems)
		check_views(check, &model);
}

static void check_all(struct check *check)
{
	check_pages(check);
	if (!check->database->failed && !check->problems)
		check_references(check);
	if (!check->database->failed && !check->problems && check->database->version == SCHEMA_VERSION)
		check_meaning(check);
}

static void report_ok(const struct check *check)
{
	const struct database *database = check->database;
	FILE *out = check->report->out;
	_cleanup_query_ struct query query =
		query_begin(check->database, "SELECT count(*) AS captures FROM main.capture", 0, 0);

	fprintf(out, "ok: pages, references between tables");
	if (database->version != SCHEMA_VERSION)
		fprintf(out, "; no more is checked of schema version %d, which is older than %d\n",
			database->version, SCHEMA_VERSION);
	else if (query_next(&query))
		fprintf(out,
			", %d views, %" PRId64 " %s, %" PRId64 " %s in %" PRId64 " %s, %" PRId64
			" %s of samples\n",
			check->views, query_number(&query, "captures"),
			plural((uint64_t)query_number(&query, "captures"), "capture", "captures"),
			check->stacks.stacks, plural((uint64_t)check->stacks.stacks, "stack", "stacks"),
			check->stacks.nodes, plural((uint64_t)check->stacks.nodes, "node", "nodes"),
			check->rows, plural((uint64_t)check->rows, "row", "rows"));
}

static const struct command_option options[] = { { "db", "FILE", DB_HELP, SHARED(db) } };

static int db_check_main(struct report *report, int count, char **arguments)
{
	struct shared_words words = { 0 };
	struct database *database = report->database;
	struct check check = { .report = report, .database = database };
	char name[FORMAT_BYTES];
	int status = subcommand_parse(report, &db_check_subcommand, count, arguments, &words);

	if (status == OPTIONS_RUN)
		status = subcommand_open(report);
	if (status != OPTIONS_RUN)
		return status;
	check_all(&check);
	if (check.problems > PROBLEMS_MAX)
		fprintf(report->out, "and %" PRId64 " more\n", check.problems - PROBLEMS_MAX);
	if (check.problems)
		fprintf(report->out, "%s is damaged: %" PRId64 " %s\n",
			escape_terminal(database->path, name, sizeof(name)), check.problems,
			plural((uint64_t)check.problems, "problem", "problems"));
	else if (!database->failed)
		report_ok(&check);
	report->unwell = check.problems;
	return status;
}

SUBCOMMAND(
	db_check, "db check", "", "check that the database is intact",
	"Checks the database, and changes nothing: its pages, its references between tables, each stack and\n"
	"its hash, each sample, each view. Exit status 1: it is damaged, or cannot be read.",
	"bourdon --db copy.db db check");
