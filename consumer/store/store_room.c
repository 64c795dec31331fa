/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/store/store_room.h"

#include "common/store/retention.h"
#include "common/system/log.h"
#include "common/text/plural.h"
#include "consumer/store/activity_retention.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

/*
 * Shares of the size limit, in eighths: for the database file, and for its write-ahead log when a commit
 * begins. The remaining two eighths are for what that commit adds to the log.
 */
#define FILE_EIGHTHS 5
#define LOG_EIGHTHS 1

/* Of the size limit: while activity takes more, it goes before captures. */
#define ACTIVITY_SHARE 4

/* Of the size limit: baselines take no more, so that captures keep the rest. */
#define BASELINE_SHARE 8

/*
 * Removing baselines takes a pass over the database, and one gets too old each hour: they go together, at most this part of
 * their age later.
 */
#define BASELINE_LATE_SHARE 16

/* Of a row of samples of a busy host with all that belongs to it, as measured: docs/SCHEMA.md. */
#define BASELINE_ROW_BYTES 128U

void store_room_trim_log(struct store_room *room)
{
	sql_wait_for_locks(room->sql, false);
	sqlite3_wal_checkpoint_v2(room->sql->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	sql_wait_for_locks(room->sql, true);
}

static bool log_is_too_large(struct store_room *room)
{
	struct stat at;

	if (stat(room->log_path, &at) || (uint64_t)at.st_size <= room->log_bytes_max)
		return false;
	store_room_trim_log(room);
	return !stat(room->log_path, &at) && (uint64_t)at.st_size > room->log_bytes_max;
}

int store_room_check_log(struct store_room *room)
{
	if (!log_is_too_large(room))
		return 0;
	snprintf(
		room->sql->error, sizeof(room->sql->error),
		"a reader keeps an old transaction open, so the write-ahead log cannot be emptied; end that reader");
	return -EBUSY;
}

static void log_removed(const char *why, const struct retention_removed *removed)
{
	if (removed->captures == 1)
		log_info("%s: capture %" PRId64 " was removed", why, removed->oldest);
	else if (removed->captures)
		log_info("%s: %u captures, from %" PRId64 " to %" PRId64 ", were removed", why,
			 removed->captures, removed->oldest, removed->newest);
}

static void log_removed_minutes(const char *why, uint32_t minutes)
{
	if (minutes)
		log_info("%s: the %u oldest %s of activity %s removed", why, minutes,
			 plural(minutes, "minute", "minutes"), plural(minutes, "was", "were"));
}

/*
 * Removes captures that have ended, but not the newest of each rule unless `last` says so. Returns -ENOENT if there is none.
 */
static int evict_captures(struct store_room *room, bool last)
{
	struct retention_removed removed;
	int result = retention_evict(room->sql, last, &removed);

	if (result < 0)
		return result;
	log_removed("the database is full", &removed);
	return removed.captures ? 0 : -ENOENT;
}

/* Removes the oldest minutes of activity. Returns -ENOENT if there is none. */
static int evict_activity(struct store_room *room)
{
	uint32_t minutes;
	int result = activity_retention_evict(room->sql, &minutes);

	if (result < 0)
		return result;
	log_removed_minutes("the database is full", minutes);
	store_activity_forget(room->activity);
	return minutes ? 0 : -ENOENT;
}

/*
 * Removes the oldest baselines, but not the newest of each rule unless `last` says so: a full database still has one to
 * compare with. Returns -ENOENT if there is none.
 */
static int evict_baselines(struct store_room *room, bool last)
{
	struct retention_removed removed;
	int result = retention_evict_baselines(room->sql, last, &removed);

	return result < 0 ? result : removed.captures ? 0 : -ENOENT;
}

int store_room_evict_baselines(struct store_room *room)
{
	int result = evict_baselines(room, false);

	return result == -ENOENT ? evict_baselines(room, true) : result;
}

int store_room_evict(struct store_room *room, bool last)
{
	uint64_t activity_bytes;
	int result = activity_retention_bytes(room->sql, &activity_bytes);

	if (!result && activity_bytes > room->activity_bytes_max) {
		result = evict_activity(room);
	} else if (!result) {
		result = evict_baselines(room, false);
		if (result == -ENOENT)
			result = evict_captures(room, last);
		if (result == -ENOENT && last)
			result = evict_baselines(room, true);
		if (result == -ENOENT && last)
			result = evict_activity(room);
	}
	if (!result)
		store_room_trim_log(room);
	return result;
}

bool store_room_eviction_helps(struct store_room *room)
{
	sqlite3_int64 pages = 0, most = 0;
	struct statvfs at;

	if (sql_run_once(room->sql, &pages, "PRAGMA page_count", "") ||
	    sql_run_once(room->sql, &most, "PRAGMA max_page_count", ""))
		return false;
	if (pages >= most / 8 * 7)
		return true;
	return !statvfs(room->log_path, &at) && (uint64_t)at.f_bavail * at.f_frsize > room->log_bytes_max;
}

bool store_room_made(struct store_room *room, int result)
{
	return result == -ENOSPC && store_room_eviction_helps(room) && !store_room_evict(room, true);
}

void store_room_set_limits(struct store_room *room, const struct store_limits *limits)
{
	room->log_bytes_max = limits->bytes_max / 8 * LOG_EIGHTHS;
	room->database_bytes_max = limits->bytes_max / 8 * FILE_EIGHTHS;
	room->activity_bytes_max = limits->bytes_max / ACTIVITY_SHARE;
	room->baseline_bytes_max = limits->bytes_max / BASELINE_SHARE;
	room->age_ns_max = limits->age_ns_max;
	room->baseline_age_ns_max = limits->baseline_age_ns_max;
	room->activity_age_ns_max = limits->activity_age_ns_max;
}

int store_room_shrink(struct store_room *room)
{
	sqlite3_int64 used = 0, most = (sqlite3_int64)(room->database_bytes_max / STORE_PAGE_BYTES);
	char sql[96];
	int result;

	do {
		result = sql_run_once(room->sql, &used,
				      "SELECT page_count - freelist_count FROM pragma_page_count, "
				      "pragma_freelist_count",
				      "");
		if (!result && used <= most)
			break;
		if (!result)
			result = store_room_evict(room, true);
	} while (!result);
	if (result < 0 && result != -ENOENT)
		return result;
	snprintf(sql, sizeof(sql), "PRAGMA incremental_vacuum; PRAGMA max_page_count = %lld", most);
	return sql_execute(room->sql, sql);
}

static int baseline_bytes(struct store_room *room, uint64_t *ret_bytes)
{
	sqlite3_int64 rows = 0;
	int result = sql_run_once(room->sql, &rows,
				  "SELECT count(*) FROM capture c CROSS JOIN sample_row s USING(capture_id) "
				  "WHERE c.trigger_mode = 'baseline'",
				  "");

	*ret_bytes = (uint64_t)rows * BASELINE_ROW_BYTES;
	return result;
}

int store_room_limit_baselines(struct store_room *room)
{
	uint64_t bytes;
	int result;

	while (!(result = baseline_bytes(room, &bytes)) && bytes > room->baseline_bytes_max) {
		result = store_room_evict_baselines(room);
		if (result < 0)
			break;
	}
	return result == -ENOENT ? 0 : result;
}

/* Stores when the oldest of the remaining captures was triggered; INT64_MAX: there is none. */
static int expire_captures(struct store_room *room, int64_t before_at, int64_t *ret_oldest_at)
{
	struct retention_removed removed = { 0 };
	int result = retention_oldest(room->sql, RETENTION_OF_ALL, ret_oldest_at);

	if (result < 0 || *ret_oldest_at >= before_at)
		return result;
	result = retention_expire(room->sql, RETENTION_OF_ALL, before_at, &removed);
	log_removed("older than max_age", &removed);
	if (removed.captures)
		store_room_trim_log(room);
	return result < 0 ? result : retention_oldest(room->sql, RETENTION_OF_ALL, ret_oldest_at);
}

/* The same of baselines, once there is one of before `late_at`. They go without a line: they are many. */
static int expire_baselines(struct store_room *room, int64_t before_at, int64_t late_at,
			    int64_t *ret_oldest_at)
{
	struct retention_removed removed = { 0 };
	int result = retention_oldest(room->sql, RETENTION_OF_BASELINES, ret_oldest_at);

	if (result < 0 || *ret_oldest_at >= late_at)
		return result;
	result = retention_expire(room->sql, RETENTION_OF_BASELINES, before_at, &removed);
	if (removed.captures)
		store_room_trim_log(room);
	return result < 0 ? result : retention_oldest(room->sql, RETENTION_OF_BASELINES, ret_oldest_at);
}

/* The same of minutes of activity. */
static int expire_activity(struct store_room *room, int64_t before_at, int64_t *ret_oldest_at)
{
	uint32_t minutes = 0;
	int result = activity_retention_oldest(room->sql, ret_oldest_at);

	if (result < 0 || *ret_oldest_at >= before_at)
		return result;
	result = activity_retention_expire(room->sql, before_at, &minutes);
	store_activity_forget(room->activity);
	if (minutes)
		store_room_trim_log(room);
	return result < 0 ? result : activity_retention_oldest(room->sql, ret_oldest_at);
}

/*
 * When what is from `oldest_at` will be older than the limit (CLOCK_MONOTONIC), or `before_ns`, which is earlier. 0 and
 * INT64_MAX: never.
 */
static uint64_t earlier_due_ns(uint64_t before_ns, int64_t oldest_at, int64_t before_at, uint64_t now_ns)
{
	uint64_t due_ns = now_ns + (oldest_at > before_at ? (uint64_t)(oldest_at - before_at) : 0);

	return oldest_at == INT64_MAX || (before_ns && before_ns < due_ns) ? before_ns : due_ns;
}

int store_room_expire(struct store_room *room, uint64_t *ret_next_ns)
{
	int64_t now_at = clock_wall_now_ns(room->clock), oldest_at = INT64_MAX, activity_at = INT64_MAX,
		baseline_at = INT64_MAX, before_at = now_at - (int64_t)room->age_ns_max,
		activity_before_at = now_at - (int64_t)room->activity_age_ns_max,
		baseline_before_at = now_at - (int64_t)room->baseline_age_ns_max,
		baseline_late_at =
			baseline_before_at - (int64_t)(room->baseline_age_ns_max / BASELINE_LATE_SHARE);
	uint64_t now_ns = clock_now_ns(room->clock), next_ns = 0;
	int result = 0;

	if (room->age_ns_max)
		result = expire_captures(room, before_at, &oldest_at);
	if (!result && room->activity_age_ns_max)
		result = expire_activity(room, activity_before_at, &activity_at);
	if (!result && room->baseline_age_ns_max)
		result = expire_baselines(room, baseline_before_at, baseline_late_at, &baseline_at);
	next_ns = earlier_due_ns(next_ns, oldest_at, before_at, now_ns);
	next_ns = earlier_due_ns(next_ns, activity_at, activity_before_at, now_ns);
	next_ns = earlier_due_ns(next_ns, baseline_at, baseline_late_at, now_ns);
	if (!result)
		*ret_next_ns = next_ns;
	return result;
}
