/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/store/activity_retention.h"

#include <stddef.h>

int activity_retention_bytes(struct sql *sql, uint64_t *ret_bytes)
{
	sqlite3_int64 bytes = 0;
	int result = sql_run_once(sql, &bytes, "SELECT ifnull(sum(bytes), 0) FROM activity_minute", "");

	if (!result)
		*ret_bytes = (uint64_t)bytes;
	return result;
}

static const char delete_sql[] =
	"DELETE FROM activity WHERE minute_id IN (SELECT minute_id FROM old_minute);"
	"DELETE FROM activity_minute WHERE minute_id IN (SELECT minute_id FROM old_minute);"
	"DELETE FROM activity_key WHERE key_id NOT IN (SELECT key_id FROM activity)";

/* `choose` fills the table `old_minute`; its parameter is a number. */
static int remove_chosen(struct sql *sql, const char *choose, int64_t number, uint32_t *ret_minutes)
{
	sqlite3_int64 minutes = 0;
	int result = sql_execute(sql, "CREATE TEMP TABLE old_minute(minute_id INTEGER PRIMARY KEY)");

	if (!result)
		result = sql_run_once(sql, NULL, choose, "i", number);
	if (!result)
		result = sql_run_once(sql, &minutes, "SELECT count(*) FROM old_minute", "");
	if (!result && minutes)
		result = sql_execute(sql, delete_sql);
	if (!result)
		result = sql_execute(sql, "DROP TABLE temp.old_minute");
	*ret_minutes = (uint32_t)minutes;
	return result;
}

static int remove_in_transaction(struct sql *sql, const char *choose, int64_t number, uint32_t *ret_minutes)
{
	uint32_t minutes = 0;
	int result = sql_execute(sql, "BEGIN IMMEDIATE");

	if (!result)
		result = sql_finish(sql, remove_chosen(sql, choose, number, &minutes));
	*ret_minutes = result < 0 ? 0 : minutes;
	return *ret_minutes ? sql_execute(sql, "PRAGMA incremental_vacuum") : result;
}

int activity_retention_evict(struct sql *sql, uint32_t *ret_minutes)
{
	return remove_in_transaction(
		sql,
		"INSERT INTO old_minute SELECT minute_id FROM activity_minute ORDER BY at, minute_id "
		"LIMIT (SELECT max(1, count(*) / ?) FROM activity_minute)",
		ACTIVITY_RETENTION_SHARE, ret_minutes);
}

int activity_retention_expire(struct sql *sql, int64_t before_at, uint32_t *ret_minutes)
{
	return remove_in_transaction(
		sql, "INSERT INTO old_minute SELECT minute_id FROM activity_minute WHERE at < ?", before_at,
		ret_minutes);
}

int activity_retention_oldest(struct sql *sql, int64_t *ret_at)
{
	sqlite3_int64 at = INT64_MAX;
	int result =
		sql_run_once(sql, &at, "SELECT ifnull(min(at), 0x7fffffffffffffff) FROM activity_minute", "");

	if (!result)
		*ret_at = at;
	return result;
}
