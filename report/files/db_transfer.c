/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/files/db_transfer.h"

#include "common/base/array.h"
#include "common/store/incidents.h"
#include "common/store/sample_row.h"
#include "common/store/schema.h"
#include "common/store/stored_json.h"
#include "common/system/log.h"
#include "report/files/db_rows.h"
#include "report/files/db_transfer_activity.h"
#include "report/files/db_transfer_stacks.h"
#include "report/files/extend_stacks.h"

#include <inttypes.h>
#include <string.h>

struct table_of_capture {
	struct table table;
	struct table_rows rows;
};

struct transfer {
	struct row_transfer rows;
	bool logged; /* the reason of a failure */
	struct table_rows captures;
	struct sql_texts names; /* of the tables whose rows belong to a capture */
	struct table_of_capture *tables;
	struct stack_transfer stacks;
	sqlite3_stmt *count_added;
};

/* ---- tables ---- */

/* An id that every reader of JSON can hold. The source's ids beyond are not kept. */
#define KEPT_ID_MAX "9007199254740992"

#define NEXT_ID(table, id) "ifnull((SELECT max(" id ") FROM main." table "), 0) + 1"
/* The source's, if the output never had that one or a later one. */
#define KEPT_ID(table, id)                                                                                   \
	"(SELECT iif(?1 > last AND ?1 <= " KEPT_ID_MAX ", ?1, last + 1) FROM (SELECT max(ifnull((SELECT "    \
	"seq FROM main.sqlite_sequence WHERE name = '" table "'), 0), ifnull((SELECT max(" id                \
	") FROM main." table "), 0)) AS last))"

#define INSTEAD(column, value) "\"" column "\": \"" value "\""
#define NAMED_BY(column) "(SELECT n." column " FROM given.frame_row n WHERE n.frame_id = g.named_by)"
#define OF_CHOSEN "capture_id IN (SELECT capture_id FROM chosen)"

static const struct table databases = {
	.name = "database",
	.where =
		"g.database_id IN (SELECT database_id FROM given.run WHERE run_id IN (SELECT run_id FROM chosen_run))",
	.instead =
		"{" INSTEAD("id", "iif(length(g.id) = 32 AND g.id NOT GLOB '*[^0-9a-f]*', g.id, NULL)") "}",
	.find = "id = :id",
};

static const struct table runs = {
	.name = "run",
	.where = "g.run_id IN (SELECT run_id FROM chosen_run)",
	.find = "database_id IS :database_id AND ifnull(recorded_as, run_id) = :recorded_as AND started_at = :started_at",
	.renew = "SET ended_at = :ended_at WHERE ended_at IS NULL AND :ended_at IS NOT NULL",
	.id = NEXT_ID("run", "run_id"),
};

static const struct table counters = {
	.name = "counter",
	.where =
		"g.run_id IN (SELECT run_id FROM chosen_run) AND (EXISTS (SELECT 1 FROM chosen_run r WHERE r.run_id = "
		"g.run_id AND g.at BETWEEN r.from_at AND r.to_at) OR g.at = (SELECT max(at) FROM given.counter l WHERE "
		"l.run_id = g.run_id AND l.name = g.name))",
	.find = "run_id = :run_id AND name = :name AND at = :at",
};

static const struct table rules = {
	.name = "rule",
	.where = "g.rule_id IN (SELECT rule_id FROM given.capture WHERE " OF_CHOSEN ")",
	.find = "run_id = :run_id AND ifnull(recorded_as, rule_id) = :recorded_as",
	.id = NEXT_ID("rule", "rule_id"),
};

/* All of the source in a merge: a name that was found later applies to captures that the output has. */
static const struct table modules = {
	.name = "module",
	.where =
		":whole OR g.module_id IN (SELECT module_id FROM given.frame_row WHERE frame_id IN (SELECT frame_id FROM "
		"chosen_frame))",
	.find = "path = :path AND ifnull(build_id, '') = ifnull(:build_id, '') AND version = :version AND kind = :kind",
	.renew = "SET bias = :bias WHERE bias IS NULL AND :bias IS NOT NULL",
};

/* The name and the file are as in view `frame`: no view of a source runs. */
static const struct table frames = {
	.name = "frame_row",
	.where = ":whole OR g.frame_id IN (SELECT frame_id FROM chosen_frame)",
	.instead =
		"{" INSTEAD("function", "name_form(ifnull(g.function, " NAMED_BY("function") "))") ", " INSTEAD(
			"file", "name_form(iif(g.file IS NULL AND g.line IS NOT NULL, " NAMED_BY(
					"file") ", g.file))") ", " INSTEAD("named_by", "NULL") "}",
	.find = "module_id = :module_id AND offset = :offset AND inlined = :inlined",
	.renew =
		"SET function = iif(function_offset IS NULL AND :function_offset IS NOT NULL, :function, function), "
		"function_offset = ifnull(function_offset, :function_offset), line = iif(file IS NULL, :line, line), "
		"file = ifnull(file, :file) WHERE (function_offset IS NULL AND :function_offset IS NOT NULL OR file IS NULL "
		"AND :file IS NOT NULL)",
};

static const struct table stack_classes = {
	.name = "stack_class",
	.find = "truncated = :truncated AND unwinder = :unwinder AND ended IS :ended",
};

static const struct table sample_classes = {
	.name = "sample_class",
	.find = "kind = :kind AND stall = :stall AND role = :role",
};

static const struct table processes = {
	.name = "process",
	.where = "g.process_id IN (SELECT process_id FROM chosen_process)",
	.find = "run_id = :run_id AND tgid = :tgid AND started_ns = :started_ns AND comm = :comm AND ifnull(exe, '') = "
		"ifnull(:exe, '') AND ifnull(cgroup, '') = ifnull(:cgroup, '')",
};

static const struct table threads = {
	.name = "thread",
	.where = "g.thread_id IN (SELECT thread_id FROM chosen_thread)",
	.find = "process_id = :process_id AND tid = :tid AND thread = :thread",
};

static const struct table cgroups = {
	.name = "cgroup",
	.where =
		"g.path IN (SELECT cgroup FROM given.process WHERE process_id IN (SELECT process_id FROM chosen_process) "
		"UNION SELECT cgroup FROM given.capture WHERE " OF_CHOSEN ")",
	.clause = "ON CONFLICT DO NOTHING",
};

static const struct table histogram_labels = {
	.name = "histogram_label",
	.where = "g.label_id IN (SELECT label_id FROM given.histogram_row WHERE " OF_CHOSEN ")",
	.find = "metric = :metric AND label = :label",
};

/* Most of the row follows from the captures that the output has in the end. */
static const struct table incidents = {
	.name = "incident",
	.where = "g.incident_id IN (SELECT incident_id FROM given.capture WHERE " OF_CHOSEN ")",
	.instead = "{" INSTEAD("explained_by", "NULL") "}",
	.find = "run_id = :run_id AND number = :number",
	.id = KEPT_ID("incident", "incident_id"),
};

static const struct table captures = {
	.name = "capture",
	.where = "g.capture_id = :capture",
	/* of the same run */
	.instead = "{" INSTEAD(
		"incident_id",
		"iif(g.incident_id IS NULL, NULL, ifnull((SELECT m.id FROM given.incident i JOIN incident_map m ON "
		"m.was = i.incident_id WHERE i.incident_id = g.incident_id AND i.run_id = g.run_id), 'no such row'))") "}",
	.id = KEPT_ID("capture", "capture_id"),
};

static bool has_valid_times(sqlite3_stmt *row, int first)
{
	return stored_times_are_valid(row, first, sqlite3_column_int(row, first + 1),
				      sqlite3_column_int64(row, first + 2));
}

static const struct table samples = {
	.name = "sample_row",
	.where = "g.capture_id = :capture",
	.clause = SAMPLE_ROW_SUM,
	.checked = SAMPLE_ROW_TIMES
	", (SELECT kind = 'off-cpu' FROM given.sample_class k WHERE k.class = g.class), "
	"g.samples",
	.is_valid = has_valid_times,
};

/* The tables whose rows belong to a capture. */
static const char find_tables_of_capture[] =
	"SELECT s.name FROM main.sqlite_schema s, pragma_foreign_key_list(s.name, 'main') f WHERE s.type = 'table' AND "
	"f.\"table\" = 'capture' AND f.\"from\" = 'capture_id'";

/* The numbers of what was added to capture ?1: the source may have none, or others. */
static const char count_added[] =
	"UPDATE main.capture SET (process_count, stack_count, sample_count, interval_count) = (SELECT "
	"count(DISTINCT t.process_id), count(DISTINCT r.stack_id), ifnull(sum(r.samples), 0), ifnull(sum(r.samples) "
	"FILTER (WHERE k.kind = 'off-cpu'), 0) FROM main.sample_row r JOIN main.thread t USING(thread_id) JOIN "
	"main.sample_class k USING(class) WHERE r.capture_id = ?1 AND k.role = 'target') WHERE capture_id = ?1";

/* ---- what is wanted ---- */

/* Tables of ids: on the disk, if they become large. */
static const char make_temporary[] =
	"CREATE TEMP TABLE chosen(capture_id INTEGER PRIMARY KEY);"
	"CREATE TEMP TABLE chosen_run(run_id INTEGER PRIMARY KEY, from_at INTEGER, to_at INTEGER);"
	"CREATE TEMP TABLE chosen_frame(frame_id INTEGER PRIMARY KEY);"
	"CREATE TEMP TABLE unnamed(frame_id INTEGER PRIMARY KEY);"
	"CREATE TEMP TABLE chosen_thread(thread_id INTEGER PRIMARY KEY);"
	"CREATE TEMP TABLE chosen_process(process_id INTEGER PRIMARY KEY)";

static const char drop_temporary[] =
	"SELECT printf('DROP TABLE temp.\"%w\"', name) FROM temp.sqlite_schema WHERE type = 'table'";

/* The runs of single captures have counters within the captures' span; the last ones come in any case. */
static const char choose_runs_of_captures[] =
	"INSERT INTO chosen_run SELECT run_id, min(began_at), max(ifnull(ended_at, triggered_at)) FROM given.capture "
	"WHERE capture_id IN (SELECT capture_id FROM chosen) GROUP BY run_id;"
	"INSERT OR IGNORE INTO chosen_run(run_id) SELECT run_id FROM given.rule WHERE rule_id IN (SELECT rule_id FROM "
	"given.capture WHERE capture_id IN (SELECT capture_id FROM chosen))";
static const char choose_all_runs[] =
	"INSERT INTO chosen_run SELECT run_id, -0x7fffffffffffffff, 0x7fffffffffffffff FROM given.run";

/* Those that have ended and that the output does not have. */
static const char choose_new_captures[] =
	"INSERT INTO chosen SELECT c.capture_id FROM given.capture c LEFT JOIN run_map m ON m.was = c.run_id "
	"WHERE c.state <> 'recording' AND NOT EXISTS (SELECT 1 FROM main.capture o WHERE o.run_id = m.id AND "
	"o.triggered_at = c.triggered_at AND ifnull(o.recorded_as, o.capture_id) = ifnull(c.recorded_as, c.capture_id))";

static const char choose_processes[] =
	"INSERT INTO chosen_thread SELECT thread_id FROM given.sample_row WHERE capture_id IN (SELECT capture_id FROM chosen) "
	"UNION SELECT thread_id FROM given.wake_row WHERE capture_id IN (SELECT capture_id FROM chosen) "
	"UNION SELECT waker_thread_id FROM given.wake_row WHERE capture_id IN (SELECT capture_id FROM chosen) AND "
	"waker_thread_id IS NOT NULL;"
	"INSERT INTO chosen_process SELECT process_id FROM given.thread WHERE thread_id IN (SELECT thread_id FROM "
	"chosen_thread) UNION SELECT process_id FROM given.thread_state WHERE capture_id IN (SELECT capture_id FROM "
	"chosen) UNION SELECT process_id FROM given.usage WHERE capture_id IN (SELECT capture_id FROM chosen) AND "
	"process_id IS NOT NULL UNION SELECT process_id FROM given.growth_row WHERE capture_id IN (SELECT capture_id FROM "
	"chosen)";

/* All functions of one address, or none: a later lookup expects the complete set. */
static const char choose_frames[] =
	"INSERT INTO chosen_frame WITH RECURSIVE up(node_id) AS (SELECT stack_id FROM given.sample_row WHERE capture_id "
	"IN (SELECT capture_id FROM chosen) UNION SELECT stack_id FROM given.thread_state WHERE capture_id IN (SELECT "
	"capture_id FROM chosen) AND stack_id IS NOT NULL UNION SELECT stack_id FROM given.wake_row WHERE capture_id IN "
	"(SELECT capture_id FROM chosen) UNION SELECT waker_stack_id FROM given.wake_row WHERE capture_id IN (SELECT "
	"capture_id FROM chosen) AND waker_stack_id IS NOT NULL UNION SELECT stack_id FROM given.growth_row WHERE capture_id "
	"IN (SELECT capture_id FROM chosen) UNION SELECT n.parent_id FROM up JOIN given.stack_node n "
	"USING(node_id) WHERE n.parent_id IS NOT NULL) SELECT DISTINCT a.frame_id FROM up JOIN given.stack_node n "
	"USING(node_id), json_each(iif(json_valid(" NODE_FRAMES "), " NODE_FRAMES
	", '[]')) j JOIN given.frame_row f ON f.frame_id = "
	"j.value JOIN given.frame_row a ON a.module_id = f.module_id AND a.offset = f.offset";

/*
 * Functions that got a name in the output, and those that are inlined there: its stacks with such a function had none of
 * these, and hashes may count names.
 */
static const char find_unnamed[] =
	"INSERT INTO unnamed SELECT frame_id FROM main.frame_row WHERE inlined = 0 AND function_offset IS NULL";
static const char find_named[] =
	"SELECT u.frame_id, ifnull(i.frame_id, 0) FROM unnamed u JOIN main.frame_row f USING(frame_id) LEFT JOIN main.frame_row i "
	"ON i.module_id = f.module_id AND i.offset = f.offset AND i.inlined > 0 WHERE f.function_offset IS NOT NULL "
	"ORDER BY u.frame_id, i.inlined";

/* Chooses one capture by its id. */
static int choose_capture(struct transfer *transfer, const char *path, int64_t id)
{
	sqlite3_int64 is_recording = -1;
	int result = sql_run_once(transfer->rows.sql, &is_recording,
				  "SELECT state = 'recording' FROM given.capture WHERE capture_id = ?", "i",
				  id);

	if (result < 0)
		return result;
	if (is_recording) {
		transfer->logged = true;
		if (is_recording < 0)
			log_error("no capture %" PRId64 " in '%s': 'bourdon list' shows all captures", id,
				  path);
		else
			log_error("capture %" PRId64
				  " is still recording: try again when 'bourdon list' says complete",
				  id);
		return -EINVAL;
	}
	return sql_run_once(transfer->rows.sql, NULL, "INSERT OR IGNORE INTO chosen(capture_id) VALUES(?)",
			    "i", id);
}

/* ---- the source ---- */

/* Writes "file:PATH?mode=ro", without what has a meaning in a URI. NULL without memory. */
static char *uri_of(const char *path)
{
	char *uri = malloc(3 * strlen(path) + 32), *to = uri;

	if (!uri)
		return NULL;
	to += sprintf(to, "file:");
	for (; *path; path++)
		to += sprintf(to, strchr("%?#", *path) ? "%%%02x" : "%c", *path);
	strcpy(to, "?mode=ro");
	return uri;
}

static int attach(struct transfer *transfer, const char *path)
{
	_cleanup_free_ char *real = realpath(path, NULL), *uri = real ? uri_of(real) : NULL;
	sqlite3_stmt *statement;
	int result;

	if (!uri) {
		snprintf(transfer->rows.sql->error, sizeof(transfer->rows.sql->error), "%s", strerror(errno));
		return -errno;
	}
	result = sql_prepare(transfer->rows.sql, &statement, "ATTACH ? AS given");
	if (result < 0)
		return result;
	if (sqlite3_bind_text(statement, 1, uri, -1, SQLITE_STATIC) != SQLITE_OK ||
	    sqlite3_step(statement) != SQLITE_DONE)
		result = sql_failed(transfer->rows.sql);
	sqlite3_finalize(statement);
	return result;
}

/* The file may be another one than it was when it was checked. */
static int check_version(struct transfer *transfer)
{
	sqlite3_int64 version = 0;
	int result = sql_run_once(transfer->rows.sql, &version, "PRAGMA given.user_version", "");

	if (!result && version != SCHEMA_VERSION) {
		snprintf(transfer->rows.sql->error, sizeof(transfer->rows.sql->error),
			 "it was replaced meanwhile");
		return -EINVAL;
	}
	return result;
}

/* ---- the transfer ---- */

static int transfer_shared(struct transfer *transfer)
{
	static const struct table *const tables[] = { &modules, &frames, &stack_classes, &sample_classes };
	int result = sql_execute(transfer->rows.sql, transfer->rows.whole ? find_unnamed : choose_frames);

	for (size_t i = 0; i < ARRAY_SIZE(tables) && !result; i++)
		result = db_rows_transfer(&transfer->rows, tables[i]);
	return result;
}

static int extend_known_stacks(struct transfer *transfer)
{
	_cleanup_free_ struct frame_extension *extensions = NULL;
	uint32_t count = 0, room = 0;
	struct sql *sql = transfer->rows.sql;
	sqlite3_stmt *named;
	uint64_t damaged;
	int result = sql_prepare(sql, &named, find_named), step = SQLITE_DONE;

	while (!result && (step = sqlite3_step(named)) == SQLITE_ROW) {
		if (array_make_room(extensions, count, room, 1U))
			result = -ENOMEM;
		else
			extensions[count++] = (struct frame_extension){ sqlite3_column_int64(named, 0),
									sqlite3_column_int64(named, 1) };
	}
	if (!result && step != SQLITE_DONE)
		result = sql_failed(sql);
	sqlite3_finalize(named);
	if (!result && count)
		result = extend_stacks(sql->db, extensions, count, &damaged);
	return result == -EIO ? sql_failed(sql) : result;
}

static int transfer_owners(struct transfer *transfer)
{
	static const struct table *const tables[] = { &rules,   &incidents, &processes,
						      &threads, &cgroups,   &histogram_labels };
	int result = sql_execute(transfer->rows.sql, choose_processes);

	for (size_t i = 0; i < ARRAY_SIZE(tables) && !result; i++)
		result = db_rows_transfer(&transfer->rows, tables[i]);
	return result;
}

/* Prepares the statements of all captures. */
static int begin_captures(struct transfer *transfer)
{
	int result = db_rows_begin(&transfer->rows, &captures, &transfer->captures);

	if (!result)
		result = sql_prepare(transfer->rows.sql, &transfer->count_added, count_added);
	if (!result)
		result = sql_collect(transfer->rows.sql, find_tables_of_capture, &transfer->names);
	if (!result && !(transfer->tables = calloc(transfer->names.count + 1UL, sizeof(*transfer->tables))))
		result = -ENOMEM;
	for (uint32_t i = 0; i < transfer->names.count && !result; i++) {
		struct table_of_capture *of = &transfer->tables[i];

		of->table = (struct table){ .name = transfer->names.texts[i],
					    .where = "g.capture_id = :capture" };
		if (!strcmp(of->table.name, samples.name))
			of->table = samples;
		result = db_rows_begin(&transfer->rows, &of->table, &of->rows);
	}
	return result < 0 ? result : stack_transfer_begin(&transfer->stacks, transfer->rows.sql);
}

static void end_captures(struct transfer *transfer)
{
	db_rows_end(&transfer->captures);
	sqlite3_finalize(transfer->count_added);
	for (uint32_t i = 0; transfer->tables && i < transfer->names.count; i++)
		db_rows_end(&transfer->tables[i].rows);
	free(transfer->tables);
	sql_texts_free(&transfer->names);
	stack_transfer_end(&transfer->stacks);
}

static int transfer_capture(struct transfer *transfer, int64_t capture_id)
{
	int64_t into = 0;
	int result;

	transfer->rows.capture_id = capture_id;
	result = db_rows_run(&transfer->rows, &transfer->captures, &into);
	if (!result)
		result = stack_transfer_capture(&transfer->stacks, capture_id);
	for (uint32_t i = 0; i < transfer->names.count && !result; i++)
		result = db_rows_run(&transfer->rows, &transfer->tables[i].rows, NULL);
	if (!result)
		result = sql_run(transfer->rows.sql, transfer->count_added, NULL, "i", into);
	if (!result)
		transfer->rows.capture_id = 0;
	else if (!*transfer->rows.row)
		snprintf(transfer->rows.row, sizeof(transfer->rows.row), "capture %" PRId64, capture_id);
	return result;
}

static int transfer_captures(struct transfer *transfer, int64_t *ret_count)
{
	sqlite3_stmt *next;
	sqlite3_int64 capture_id = INT64_MIN, before;
	int64_t count = 0;
	int result =
		sql_prepare(transfer->rows.sql, &next,
			    "SELECT capture_id FROM chosen WHERE capture_id > ? ORDER BY capture_id LIMIT 1");

	while (!result) {
		before = capture_id;
		result = sql_run(transfer->rows.sql, next, &capture_id, "i", (int64_t)before);
		if (result < 0 || capture_id == before)
			break;
		result = transfer_capture(transfer, capture_id);
		count++;
	}
	sqlite3_finalize(next);
	*ret_count = count;
	return result;
}

static int count_others(struct transfer *transfer, struct transferred *counts)
{
	sqlite3_int64 all = 0, recording = 0;
	int result = sql_run_once(transfer->rows.sql, &all, "SELECT count(*) FROM given.capture", "");

	if (!result)
		result = sql_run_once(transfer->rows.sql, &recording,
				      "SELECT count(*) FROM given.capture WHERE state = 'recording'", "");
	counts->recording = recording;
	counts->known = all - recording - counts->added;
	return result;
}

/* Within a transaction. */
static int transfer_all(struct transfer *transfer, const char *path, const int64_t *ids, int ids_count,
			struct transferred *counts)
{
	int result = check_version(transfer);

	if (!result)
		result = sql_execute(transfer->rows.sql, make_temporary);
	if (!result)
		result = db_rows_make_maps(transfer->rows.sql);
	for (int i = 0; i < ids_count && !result; i++)
		result = choose_capture(transfer, path, ids[i]);
	if (!result)
		result = sql_execute(transfer->rows.sql,
				     transfer->rows.whole ? choose_all_runs : choose_runs_of_captures);
	if (!result)
		result = db_rows_transfer(&transfer->rows, &databases);
	if (!result)
		result = db_rows_transfer(&transfer->rows, &runs);
	if (!result)
		result = db_rows_transfer(&transfer->rows, &counters);
	if (!result && transfer->rows.whole)
		result = sql_execute(transfer->rows.sql, choose_new_captures);
	if (!result)
		result = transfer_shared(transfer);
	if (!result)
		result = extend_known_stacks(transfer);
	if (!result)
		result = transfer_owners(transfer);
	if (!result)
		result = begin_captures(transfer);
	if (!result)
		result = transfer_captures(transfer, &counts->added);
	if (!result && transfer->rows.whole)
		result = activity_transfer(&transfer->rows);
	if (!result)
		result = incidents_settle_where(transfer->rows.sql,
						"incident_id IN (SELECT id FROM incident_map)");
	if (!result)
		result = count_others(transfer, counts);
	end_captures(transfer);
	return result ? result : sql_execute_made(transfer->rows.sql, drop_temporary);
}

/* Logs what failed, unless that was done. Returns the result. */
static int report_failure(const struct transfer *transfer, const struct db_output *output, const char *path,
			  int result)
{
	if (transfer->logged)
		return result;
	if (result == -ENOSPC || result == -EBUSY)
		return db_output_failed(output, result);
	return log_failed(
		result,
		"cannot take captures from '%s': %s%s%s; 'bourdon --db FILE db check' tells what is wrong with it",
		path, transfer->rows.row, *transfer->rows.row ? ": " : "",
		result == -ENOMEM ? strerror(ENOMEM) : transfer->rows.sql->error);
}

int db_transfer(struct db_output *output, const char *path, const char *instead, const int64_t *ids,
		int ids_count, struct transferred *ret_transferred)
{
	struct transfer transfer = { .rows = { .sql = &output->sql, .whole = !ids } };
	struct transferred counts = { 0 };
	sqlite3 *db = output->sql.db;
	int result;

	/* the source's tables are read, never its views */
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	result = db_rows_prepare(&output->sql);
	if (!result)
		result = attach(&transfer, instead ? instead : path);
	if (result < 0)
		return report_failure(&transfer, output, path, result);
	result = sql_execute(&output->sql, "BEGIN IMMEDIATE");
	if (!result) {
		result = transfer_all(&transfer, path, ids, ids_count, &counts);
		/* after the reason was logged: a rollback that fails has another one */
		if (result < 0)
			report_failure(&transfer, output, path, result);
		else if ((result = sql_execute(&output->sql, "COMMIT")) < 0)
			db_output_failed(output, result);
		if (result < 0)
			sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	} else {
		db_output_failed(output, result);
	}
	sqlite3_exec(db, "DETACH given", NULL, NULL, NULL);
	if (!result)
		*ret_transferred = counts;
	return result;
}
