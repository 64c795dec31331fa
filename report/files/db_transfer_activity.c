/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/files/db_transfer_activity.h"

#include "common/base/cleanup.h"
#include "common/store/stored_json.h"

static bool has_valid_steps(sqlite3_stmt *row, int first)
{
	return stored_steps_are_valid(row, first, sqlite3_column_int64(row, first + 1));
}

static const struct table minutes = {
	.name = "activity_minute",
	.where = "g.minute_id IN (SELECT minute_id FROM chosen_minute)",
	.checked = "g.missed, g.steps",
	.is_valid = has_valid_steps,
};

static const struct table keys = {
	.name = "activity_key",
	.where =
		"g.key_id IN (SELECT key_id FROM given.activity WHERE minute_id IN (SELECT minute_id FROM chosen_minute))",
	.find = "hash = :hash AND state = :state AND comm IS :comm AND kernel = :kernel AND syscall IS :syscall AND function IS "
		":function AND uid IS :uid AND cgroup IS :cgroup AND unit IS :unit AND container IS :container",
};

static const struct table rows = {
	.name = "activity",
	.where = "g.minute_id IN (SELECT minute_id FROM chosen_minute)",
	.checked = "g.times, (SELECT steps FROM given.activity_minute m WHERE m.minute_id = g.minute_id)",
	.is_valid = has_valid_steps,
};

/* Those that the output does not have. */
static const char choose_minutes[] =
	"CREATE TEMP TABLE chosen_minute AS SELECT g.minute_id FROM given.activity_minute g LEFT JOIN run_map m ON m.was = "
	"g.run_id WHERE NOT EXISTS (SELECT 1 FROM main.activity_minute o WHERE o.at = g.at AND o.run_id = m.id) ORDER BY 1";

int activity_transfer(struct row_transfer *transfer)
{
	static const struct table *const tables[] = { &minutes, &keys, &rows };
	int result = sql_execute(transfer->sql, choose_minutes);

	for (size_t i = 0; i < ARRAY_SIZE(tables) && !result; i++)
		result = db_rows_transfer(transfer, tables[i]);
	return result;
}
