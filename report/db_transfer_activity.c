/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/db_transfer_activity.h"

#include "common/cleanup.h"
#include "consumer/store/stored_json.h"

static bool has_valid_missed(sqlite3_stmt *row)
{
	return stored_steps_are_valid(row, 6, sqlite3_column_int64(row, 4));
}

static bool has_valid_times(sqlite3_stmt *row)
{
	return stored_steps_are_valid(row, 6, sqlite3_column_int64(row, 7));
}

static const struct table minutes = {
	.name = "activity_minute",
	.select =
		"SELECT g.minute_id, m.id, g.at, g.interval_ns, g.steps, g.looks, g.missed, g.threads, g.bytes FROM "
		"given.activity_minute g LEFT JOIN run_map m ON m.was = g.run_id WHERE g.minute_id IN (SELECT minute_id FROM "
		"chosen_minute) ORDER BY 1",
	.add = "INSERT INTO main.activity_minute(run_id, at, interval_ns, steps, looks, missed, threads, bytes) VALUES(?2, ?3, "
	       "?4, ?5, ?6, ?7, ?8, ?9) RETURNING minute_id",
	.map = "INSERT INTO minute_map(was, id) VALUES(?1, ?2)",
	.is_valid = has_valid_missed,
};

static const struct table keys = {
	.name = "activity_key",
	.select =
		"SELECT key_id, name_form(state), name_form(comm), kernel, name_form(syscall), name_form(function), uid, "
		"name_form(cgroup), name_form(unit), name_form(container), hash FROM given.activity_key WHERE key_id IN "
		"(SELECT key_id FROM given.activity WHERE minute_id IN (SELECT minute_id FROM chosen_minute)) ORDER BY 1",
	.find = "SELECT key_id FROM main.activity_key WHERE hash = ?11 AND state = ?2 AND comm IS ?3 AND kernel = ?4 AND "
		"syscall IS ?5 AND function IS ?6 AND uid IS ?7 AND cgroup IS ?8 AND unit IS ?9 AND container IS ?10",
	.add = "INSERT INTO main.activity_key(state, comm, kernel, syscall, function, uid, cgroup, unit, container, hash) "
	       "VALUES(?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) RETURNING key_id",
	.map = "INSERT INTO key_map(was, id) VALUES(?1, ?2)",
};

static const struct table rows = {
	.name = "activity",
	.select =
		"SELECT a.minute_id, n.id, k.id, a.threads, a.least, a.most, a.times, g.steps FROM chosen_minute c JOIN "
		"given.activity a USING(minute_id) JOIN given.activity_minute g USING(minute_id) LEFT JOIN minute_map n ON "
		"n.was = a.minute_id LEFT JOIN key_map k ON k.was = a.key_id ORDER BY 2, 3",
	.add = "INSERT INTO main.activity(minute_id, key_id, threads, least, most, times) VALUES(?2, ?3, ?4, ?5, ?6, ?7)",
	.is_valid = has_valid_times,
};

/* Those that the output does not have. */
static const char begin_sql[] =
	"CREATE TEMP TABLE minute_map(was INTEGER PRIMARY KEY, id INTEGER);"
	"CREATE TEMP TABLE key_map(was INTEGER PRIMARY KEY, id INTEGER);"
	"CREATE TEMP TABLE chosen_minute AS SELECT g.minute_id FROM given.activity_minute g LEFT JOIN run_map m ON m.was = "
	"g.run_id WHERE NOT EXISTS (SELECT 1 FROM main.activity_minute o WHERE o.at = g.at AND o.run_id = m.id) ORDER BY 1";
static const char end_sql[] =
	"DROP TABLE temp.minute_map; DROP TABLE temp.key_map; DROP TABLE temp.chosen_minute";

int activity_transfer(struct row_transfer *transfer)
{
	static const struct table *const tables[] = { &minutes, &keys, &rows };
	int result = sql_execute(transfer->sql, begin_sql);

	for (size_t i = 0; i < ARRAY_SIZE(tables) && !result; i++)
		result = db_rows_transfer(transfer, tables[i], NULL);
	return result ? result : sql_execute(transfer->sql, end_sql);
}
