/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/live/activity_load.h"

#include "common/base/array.h"
#include "common/base/clock.h"
#include "report/model/id_index.h"
#include "report/model/query.h"

#include <string.h>

#define MINUTE_NS_MOST (3600 * (int64_t)CLOCK_SECOND_NS) /* a minute of rare looks */
#define INTERVAL_NS_LEAST 1000000
#define AT_NS_MOST (INT64_MAX - 2 * MINUTE_NS_MOST)

/* ?1 to ?2: minutes that may reach into the span. */
static const char minutes_sql[] =
	"SELECT minute_id, at, interval_ns, steps, looks, missed FROM activity_minute WHERE at > ?1 AND at < ?2 ORDER BY at, "
	"minute_id";
enum { MINUTE_ID, MINUTE_AT, MINUTE_INTERVAL, MINUTE_STEPS, MINUTE_LOOKS, MINUTE_MISSED };

static const char rows_sql[] =
	"SELECT key_id, threads, least, most, times FROM activity WHERE minute_id = ?1";
enum { ROW_KEY_ID, ROW_THREADS, ROW_LEAST, ROW_MOST, ROW_TIMES };

/* In the order of key_columns. */
static const char key_sql[] =
	"SELECT state, syscall, comm, unit, cgroup, container, function, kernel, uid FROM activity_key WHERE key_id = ?1";
static const uint32_t key_columns[] = { THREAD_STATE,    THREAD_SYSCALL, THREAD_COMM,
					THREAD_UNIT,     THREAD_CGROUP,  THREAD_CONTAINER,
					THREAD_FUNCTION, THREAD_KERNEL,  THREAD_UID };

struct loading {
	struct database *database;
	const struct thread_view *view;
	struct activity_groups *groups;
	struct query rows, key;
	struct id_index key_ids;
	struct activity_kind *kinds; /* by position among the ids */
	uint32_t kinds_room;
	struct step_list missed, times; /* of the minute and the row at hand */
	uint32_t steps, looks;          /* of the minute */
};

/* ---- keys ---- */

/* Reads what a key means: the query stands on its row. */
static int read_kind(struct loading *loading, struct activity_kind *ret_kind)
{
	const char *values[THREAD_GROUPING] = { NULL };
	int result;

	for (size_t i = 0; i < ARRAY_SIZE(key_columns); i++)
		values[key_columns[i]] = (const char *)sqlite3_column_text(loading->key.statement, (int)i);
	/* words, as everywhere that people read */
	if (values[THREAD_KERNEL])
		values[THREAD_KERNEL] = strcmp(values[THREAD_KERNEL], "0") != 0 ? "yes" : "no";
	ret_kind->is_rest = !values[THREAD_COMM];
	result = thread_groups_place(&loading->groups->threads, loading->view, values, &ret_kind->place);
	return !result && loading->groups->threads.count > ACTIVITY_GROUPS_MOST ? -E2BIG : result;
}

/* Finds what a key means, once. Returns 0; -ENOENT: there is no such key; or another error. */
static int find_kind(struct loading *loading, int64_t key_id, struct activity_kind *ret_kind)
{
	uint32_t position = id_index_find(&loading->key_ids, key_id);
	struct activity_kind kind;
	int result;

	if (position != HASH_INDEX_NONE) {
		*ret_kind = loading->kinds[position];
		return 0;
	}
	if (!query_find(&loading->key, key_id))
		return loading->database->failed ? -EIO : -ENOENT;
	result = read_kind(loading, &kind);
	if (result < 0)
		return result;
	if (array_make_room(loading->kinds, loading->key_ids.count, loading->kinds_room, 1U))
		return -ENOMEM;
	loading->kinds[loading->key_ids.count] = kind;
	*ret_kind = kind;
	return id_index_add(&loading->key_ids, key_id);
}

/* ---- rows ---- */

static int make_constant(struct step_list *times, uint32_t threads)
{
	times->count = 0;
	if (array_make_room(times->steps, times->count, times->room, 1U))
		return -ENOMEM;
	times->steps[times->count++] = (struct stored_step){ 0, threads };
	return 0;
}

/* Reads when there were how many. Returns 0, or 1 if that is not known, or -ENOMEM. */
static int read_times(struct loading *loading, const struct stored_activity *row, int64_t least)
{
	const struct query *query = &loading->rows;
	struct step_list *times = &loading->times;
	int result = 1;

	if (!query_is_null_at(query, ROW_TIMES))
		result = stored_steps_read(query->statement, ROW_TIMES, loading->steps, times);
	else if (least == row->most && row->threads == least * loading->looks)
		/* the same at all looks */
		result = make_constant(times, row->most);
	return result == -EUCLEAN ? 1 : result;
}

/* Adds the row that the query stands on. Returns 0; 1 if it is damaged; or an error. */
static int add_row(struct loading *loading)
{
	const struct query *query = &loading->rows;
	int64_t threads = query_number_at(query, ROW_THREADS), least = query_number_at(query, ROW_LEAST),
		most = query_number_at(query, ROW_MOST);
	struct stored_activity row = { .threads = threads, .most = (uint32_t)most };
	int result;

	if (least < 0 || least > most || most > UINT32_MAX || threads < 0 || threads > most * loading->looks)
		return 1;
	result = find_kind(loading, query_number_at(query, ROW_KEY_ID), &row.kind);
	if (result == -ENOENT)
		return 1;
	if (result < 0)
		return result;
	if (row.kind.place.group != THREAD_NO_GROUP || !activity_groups_minute_is_whole(loading->groups)) {
		result = read_times(loading, &row, least);
		if (result < 0)
			return result;
		row.times = result ? NULL : &loading->times;
	}
	return activity_groups_add(loading->groups, &row);
}

/* ---- minutes ---- */

/* Reads the minute that the query stands on. Returns false if its numbers cannot be true. */
static bool read_minute(const struct query *query, struct stored_minute *ret_minute)
{
	int64_t at_ns = query_number_at(query, MINUTE_AT),
		interval_ns = query_number_at(query, MINUTE_INTERVAL),
		steps = query_number_at(query, MINUTE_STEPS), looks = query_number_at(query, MINUTE_LOOKS);

	if (at_ns < 1 || at_ns > AT_NS_MOST || interval_ns < INTERVAL_NS_LEAST ||
	    interval_ns > MINUTE_NS_MOST || steps < 1 || steps > ACTIVITY_STEPS_MOST || looks < 0 ||
	    looks > steps || steps * interval_ns > MINUTE_NS_MOST)
		return false;
	*ret_minute = (struct stored_minute){ .at_ns = at_ns,
					      .interval_ns = interval_ns,
					      .steps = (uint32_t)steps };
	return true;
}

static int64_t end_of(const struct stored_minute *minute)
{
	return minute->at_ns + minute->steps * minute->interval_ns;
}

/* Reads which looks of the minute are missing. Returns 0; 1 if it says so of others than it lacks; or -ENOMEM. */
static int read_missed(struct loading *loading, const struct query *query, struct stored_minute *minute)
{
	uint32_t missed = 0;
	int result = 0;

	loading->steps = minute->steps;
	loading->looks = (uint32_t)query_number_at(query, MINUTE_LOOKS);
	if (!query_is_null_at(query, MINUTE_MISSED)) {
		result = stored_steps_read(query->statement, MINUTE_MISSED, minute->steps, &loading->missed);
		for (uint32_t i = 0; i < loading->missed.count && !result; i++)
			missed += loading->missed.steps[i].number;
		minute->missed = &loading->missed;
	}
	if (result == -ENOMEM)
		return result;
	return result < 0 || minute->steps - loading->looks != missed;
}

/* Adds the minute that the query stands on. Returns 0 or an error. */
static int add_minute(struct loading *loading, const struct query *query)
{
	struct activity_groups *groups = loading->groups;
	struct stored_minute minute;
	int result;

	if (!read_minute(query, &minute)) {
		groups->damaged++;
		return 0;
	}
	if (end_of(&minute) <= groups->span.from_ns)
		return 0;
	result = read_missed(loading, query, &minute);
	if (result < 0)
		return result;
	if (result || !activity_groups_begin_minute(groups, &minute)) {
		groups->damaged++;
		return 0;
	}
	for (bool more = query_find(&loading->rows, query_number_at(query, MINUTE_ID)); more;
	     more = query_next(&loading->rows)) {
		result = add_row(loading);
		if (result < 0)
			return result;
		groups->damaged += result > 0;
	}
	activity_groups_end_minute(groups);
	return loading->database->failed ? -EIO : 0;
}

/* Which part of the span minutes reach, and the longest interval of their looks. Returns 0, -ENODATA or -EIO. */
static int find_reach(struct query *minutes, const struct activity_span *span,
		      struct activity_span *ret_reach, int64_t *ret_interval_ns)
{
	struct activity_span reach = { INT64_MAX, INT64_MIN };
	int64_t interval_ns = 0;

	while (query_next(minutes)) {
		struct stored_minute minute;

		if (!read_minute(minutes, &minute) || end_of(&minute) <= span->from_ns)
			continue;
		reach.from_ns = minute.at_ns < reach.from_ns ? minute.at_ns : reach.from_ns;
		reach.until_ns = end_of(&minute) > reach.until_ns ? end_of(&minute) : reach.until_ns;
		interval_ns = minute.interval_ns > interval_ns ? minute.interval_ns : interval_ns;
	}
	if (minutes->database->failed)
		return -EIO;
	if (!interval_ns)
		return -ENODATA;
	*ret_reach =
		(struct activity_span){ reach.from_ns > span->from_ns ? reach.from_ns : span->from_ns,
					reach.until_ns < span->until_ns ? reach.until_ns : span->until_ns };
	*ret_interval_ns = interval_ns;
	query_rewind(minutes);
	return 0;
}

static void loading_free(struct loading *loading)
{
	query_end(&loading->rows);
	query_end(&loading->key);
	id_index_free(&loading->key_ids);
	free(loading->kinds);
	free(loading->missed.steps);
	free(loading->times.steps);
}

int activity_load(struct database *database, const struct thread_view *view, const struct activity_span *span,
		  struct activity_groups *ret_groups)
{
	_cleanup_activity_groups_ struct activity_groups groups = { 0 };
	_cleanup_(loading_free) struct loading loading = { .database = database,
							   .view = view,
							   .groups = &groups };
	_cleanup_query_ struct query minutes =
		query_begin(database, minutes_sql, span->from_ns - MINUTE_NS_MOST, span->until_ns);
	struct activity_span reach;
	int64_t interval_ns;
	int result;

	loading.rows = query_begin(database, rows_sql, 0, 0);
	loading.key = query_begin(database, key_sql, 0, 0);
	if (database->failed)
		return -EIO;
	result = find_reach(&minutes, span, &reach, &interval_ns);
	if (!result)
		result = activity_groups_begin(&groups, &reach, interval_ns);
	while (!result && query_next(&minutes))
		result = add_minute(&loading, &minutes);
	if (!result && database->failed)
		result = -EIO;
	if (result < 0)
		return result;
	activity_groups_finish(&groups, view);
	*ret_groups = groups;
	groups = (struct activity_groups){ 0 };
	return 0;
}

int activity_extent(struct database *database, struct activity_span *ret_span)
{
	/* each is one look into the index by time */
	_cleanup_query_ struct query query = query_begin(
		database,
		"SELECT (SELECT min(at) FROM activity_minute) AS from_at, at + interval_ns * steps AS until_at "
		"FROM activity_minute ORDER BY at DESC LIMIT 1",
		0, 0);

	if (!query_next(&query))
		return database->failed ? -EIO : -ENODATA;
	*ret_span =
		(struct activity_span){ query_number(&query, "from_at"), query_number(&query, "until_at") };
	return 0;
}
