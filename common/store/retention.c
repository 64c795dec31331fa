/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/store/retention.h"

#include "common/base/cleanup.h"
#include "common/store/incidents.h"
#include "common/store/stack_tree.h"

/* Temporary tables are in memory: they hold the ids of what might go, never of all that there is. */
static const char begin_sql[] =
	"CREATE TEMP TABLE evicted(capture_id INTEGER PRIMARY KEY);"
	"CREATE TEMP TABLE node(node_id INTEGER PRIMARY KEY);"
	"CREATE TEMP TABLE leaf(node_id INTEGER PRIMARY KEY, parent_id INTEGER, frames TEXT);"
	"CREATE TEMP TABLE place(module_id INTEGER, offset INTEGER, PRIMARY KEY(module_id, offset)) WITHOUT ROWID;"
	"CREATE TEMP TABLE part(frame_id INTEGER PRIMARY KEY)";
static const char end_sql[] =
	"DROP TABLE temp.evicted; DROP TABLE temp.node; DROP TABLE temp.leaf; DROP TABLE temp.place;"
	"DROP TABLE temp.part";

static const char note_nodes_sql[] =
	"INSERT INTO node SELECT stack_id FROM sample_row WHERE capture_id IN (SELECT capture_id FROM evicted) UNION "
	"SELECT stack_id FROM thread_state WHERE capture_id IN (SELECT capture_id FROM evicted) AND stack_id IS NOT NULL UNION "
	"SELECT stack_id FROM wake_row WHERE capture_id IN (SELECT capture_id FROM evicted) UNION "
	"SELECT waker_stack_id FROM wake_row WHERE capture_id IN (SELECT capture_id FROM evicted) AND waker_stack_id NOTNULL UNION "
	"SELECT stack_id FROM growth_row WHERE capture_id IN (SELECT capture_id FROM evicted)";

/* Whatever else refers to a capture as what it belongs to. */
static const char delete_rows_sql[] =
	"SELECT printf('DELETE FROM \"%w\" WHERE capture_id IN (SELECT capture_id FROM evicted)', s.name) FROM "
	"sqlite_schema s, pragma_foreign_key_list(s.name) f WHERE s.type = 'table' AND f.\"from\" = 'capture_id'";

static const char delete_captures_sql[] =
	"DELETE FROM capture WHERE capture_id IN (SELECT capture_id FROM evicted);"
	/* there is no index of samples by stack: one pass over them finds the stacks that others have, too */
	"DELETE FROM node WHERE node_id IN (SELECT n.node_id FROM sample_row s CROSS JOIN node n ON n.node_id = s.stack_id);"
	"DELETE FROM node WHERE node_id IN (SELECT stack_id FROM thread_state);"
	"DELETE FROM node WHERE node_id IN (SELECT stack_id FROM wake_row UNION SELECT waker_stack_id FROM wake_row);"
	"DELETE FROM node WHERE node_id IN (SELECT stack_id FROM growth_row);"
	"UPDATE stack_node SET class = NULL, depth = NULL, hash = NULL WHERE node_id IN (SELECT node_id FROM node)";

/* From the leaves upwards: a node stays while a stack ends there or leads through it. */
static const char find_leaves_sql[] =
	"INSERT INTO leaf SELECT n.node_id, n.parent_id, n.frames FROM node JOIN stack_node n USING(node_id) "
	"WHERE n.class IS NULL AND NOT EXISTS (SELECT 1 FROM stack_node c WHERE c.parent_id = n.node_id)";
static const char delete_leaves_sql[] =
	"INSERT OR IGNORE INTO part SELECT j.value FROM leaf, json_each(" NODE_FRAMES ") j;"
	"DELETE FROM stack_node WHERE node_id IN (SELECT node_id FROM leaf);"
	"DELETE FROM node;"
	"INSERT OR IGNORE INTO node SELECT parent_id FROM leaf WHERE parent_id IS NOT NULL;"
	"DELETE FROM leaf";

/* All functions of one address stay, or none: a later look-up expects the complete set. */
static const char choose_frames_sql[] =
	"INSERT OR IGNORE INTO part SELECT other.frame_id FROM part JOIN frame f USING(frame_id) "
	"JOIN frame other ON other.module_id = f.module_id AND other.offset = f.offset;"
	"INSERT OR IGNORE INTO place SELECT module_id, offset FROM frame WHERE frame_id IN (SELECT part.frame_id "
	"FROM stack_node n CROSS JOIN json_each(" NODE_FRAMES
	") j CROSS JOIN part ON part.frame_id = j.value);"
	"DELETE FROM part WHERE frame_id IN (SELECT f.frame_id FROM frame f JOIN place USING(module_id, offset))";

const char retention_frames_sql[] =
	/* a name stays with those that used it */
	"UPDATE frame_row SET (function, file, named_by) = (SELECT f.function, f.file, NULL FROM frame f WHERE "
	"f.frame_id = frame_row.frame_id) WHERE named_by IN (SELECT frame_id FROM part);"
	"DELETE FROM frame_row WHERE frame_id IN (SELECT frame_id FROM part);"
	"DELETE FROM module WHERE module_id NOT IN (SELECT module_id FROM frame)";

static const char delete_counters_sql[] =
	"DELETE FROM counter WHERE at < (SELECT ifnull(min(triggered_at), counter.at + 1) FROM capture)";

const char retention_unused_sql[] =
	"DELETE FROM thread WHERE thread_id NOT IN (SELECT thread_id FROM sample_row UNION ALL SELECT thread_id FROM wake_row "
	"UNION ALL SELECT waker_thread_id FROM wake_row WHERE waker_thread_id IS NOT NULL);"
	"DELETE FROM process WHERE process_id NOT IN (SELECT process_id FROM thread UNION ALL "
	"SELECT process_id FROM thread_state UNION ALL SELECT process_id FROM usage WHERE process_id IS NOT NULL UNION ALL "
	"SELECT process_id FROM growth_row);"
	"DELETE FROM histogram_label WHERE label_id NOT IN (SELECT label_id FROM histogram_row);"
	"DELETE FROM cgroup WHERE path NOT IN (SELECT cgroup FROM process WHERE cgroup IS NOT NULL UNION ALL "
	"SELECT cgroup FROM capture WHERE cgroup IS NOT NULL);"
	/* ids of rules are not given twice: the highest one is of the newest run */
	"DELETE FROM rule WHERE run_id < (SELECT max(run_id) FROM run) AND "
	"rule_id NOT IN (SELECT rule_id FROM capture WHERE rule_id IS NOT NULL);"
	"DELETE FROM run WHERE run_id < (SELECT max(run_id) FROM run) AND run_id NOT IN (SELECT run_id FROM capture "
	"UNION ALL SELECT run_id FROM rule UNION ALL SELECT run_id FROM process UNION ALL SELECT run_id FROM counter UNION ALL "
	"SELECT run_id FROM activity_minute)";

static int delete_nodes(struct sql *sql)
{
	int result;

	do {
		result = sql_execute(sql, find_leaves_sql);
		if (result < 0 || !sqlite3_changes(sql->db))
			return result;
		result = sql_execute(sql, delete_leaves_sql);
	} while (!result);
	return result;
}

/* `choose` fills the table `evicted`; its parameter is a number. */
static int remove_chosen(struct sql *sql, const char *choose, int64_t number,
			 struct retention_removed *ret_removed)
{
	struct retention_removed removed = { 0 };
	sqlite3_int64 captures = 0, oldest = 0, newest = 0;
	int result = sql_execute(sql, begin_sql);

	if (!result)
		result = sql_run_once(sql, NULL, choose, "i", number);
	if (!result)
		result = sql_run_once(sql, &captures, "SELECT count(*) FROM evicted", "");
	if (!result && captures) {
		const char *const steps[] = { choose_frames_sql, retention_frames_sql, delete_counters_sql,
					      retention_unused_sql };

		result = sql_run_once(sql, &oldest, "SELECT min(capture_id) FROM evicted", "");
		if (!result)
			result = sql_run_once(sql, &newest, "SELECT max(capture_id) FROM evicted", "");
		if (!result)
			result = sql_execute(sql, note_nodes_sql);
		if (!result)
			result = sql_execute_made(sql, delete_rows_sql);
		if (!result)
			result = sql_execute(sql, delete_captures_sql);
		if (!result)
			result = sql_execute(sql, incidents_shrink_sql);
		if (!result)
			result = delete_nodes(sql);
		for (size_t i = 0; i < ARRAY_SIZE(steps) && !result; i++)
			result = sql_execute(sql, steps[i]);
		removed = (struct retention_removed){ (uint32_t)captures, oldest, newest };
	}
	if (!result)
		result = sql_execute(sql, end_sql);
	*ret_removed = removed;
	return result;
}

static int remove_in_transaction(struct sql *sql, const char *choose, int64_t number,
				 struct retention_removed *ret_removed)
{
	struct retention_removed removed = { 0 };
	int result = sql_execute(sql, "BEGIN IMMEDIATE");

	if (!result)
		result = sql_finish(sql, remove_chosen(sql, choose, number, &removed));
	if (result < 0)
		removed = (struct retention_removed){ 0 };
	*ret_removed = removed;
	return removed.captures ? sql_execute(sql, "PRAGMA incremental_vacuum") : result;
}

/*
 * Each capture that may go is of a group, and captures of the first group that has any go at once. A rule is one by its name:
 * a changed rule has another id, and the same purpose.
 */
#define EVICTED_OF_GROUPS(last)                                                                               \
	"WITH ended AS (SELECT capture_id, triggered_at, trigger_mode = 'manual' AS is_asked, asked_by_uid, " \
	"ifnull(sample_count, 0) + 1 AS weight, row_number() OVER (PARTITION BY trigger_mode = 'manual', "    \
	"rule, asked_by_uid ORDER BY state = 'complete' DESC, triggered_at DESC, capture_id DESC) = 1 AS "    \
	"is_newest FROM capture WHERE state <> 'recording' AND trigger_mode <> 'baseline'), "                 \
	"greedy AS (SELECT asked_by_uid FROM ended WHERE is_asked AND (SELECT 4 * sum(weight) FILTER "        \
	"(WHERE is_asked) > sum(weight) FROM ended) GROUP BY 1 ORDER BY sum(weight) DESC, 1 LIMIT 1), "       \
	"grouped AS (SELECT capture_id, triggered_at, CASE WHEN is_newest THEN 4 - is_asked WHEN is_asked "   \
	"AND asked_by_uid = (SELECT asked_by_uid FROM greedy) THEN 1 ELSE 2 END AS number FROM ended) "       \
	"INSERT INTO evicted SELECT capture_id FROM grouped WHERE number = (SELECT min(number) FROM "         \
	"grouped WHERE number <= " last ") ORDER BY triggered_at, capture_id LIMIT (SELECT max(1, "           \
	"count(*) / ?) FROM ended)"

int retention_evict(struct sql *sql, bool last, struct retention_removed *ret_removed)
{
	static const char any[] = EVICTED_OF_GROUPS("4"), spare[] = EVICTED_OF_GROUPS("3");

	return remove_in_transaction(sql, last ? any : spare, RETENTION_SHARE, ret_removed);
}

/* A changed rule has another id, and the same purpose. */
#define OLDEST_BASELINES(condition)                                                                          \
	"INSERT INTO evicted SELECT c.capture_id FROM capture c WHERE c.trigger_mode = 'baseline'" condition \
	" ORDER BY c.triggered_at, c.capture_id LIMIT (SELECT max(1, count(*) / ?) FROM capture WHERE "      \
	"trigger_mode = 'baseline')"

int retention_evict_baselines(struct sql *sql, bool last, struct retention_removed *ret_removed)
{
	static const char any
		[] = OLDEST_BASELINES(""),
	     spare[] = OLDEST_BASELINES(
		     " AND EXISTS (SELECT 1 FROM capture n WHERE n.trigger_mode = 'baseline' AND "
		     "n.rule = c.rule AND (n.triggered_at, n.capture_id) > (c.triggered_at, c.capture_id))");

	return remove_in_transaction(sql, last ? any : spare, RETENTION_SHARE, ret_removed);
}

#define ENDED "capture WHERE state <> 'recording'"
#define OF_BASELINES " AND trigger_mode = 'baseline'"

int retention_expire(struct sql *sql, enum retention_of of, int64_t before_at,
		     struct retention_removed *ret_removed)
{
	static const char *const choose[] = {
		[RETENTION_OF_ALL] = "INSERT INTO evicted SELECT capture_id FROM " ENDED
				     " AND triggered_at < ?",
		[RETENTION_OF_BASELINES] = "INSERT INTO evicted SELECT capture_id FROM " ENDED OF_BASELINES
					   " AND triggered_at < ?"
	};

	return remove_in_transaction(sql, choose[of], before_at, ret_removed);
}

int retention_oldest(struct sql *sql, enum retention_of of, int64_t *ret_triggered_at)
{
	static const char *const find[] = {
		[RETENTION_OF_ALL] = "SELECT ifnull(min(triggered_at), 0x7fffffffffffffff) FROM " ENDED,
		[RETENTION_OF_BASELINES] =
			"SELECT ifnull(min(triggered_at), 0x7fffffffffffffff) FROM " ENDED OF_BASELINES
	};
	sqlite3_int64 at = INT64_MAX;
	int result = sql_run_once(sql, &at, find[of], "");

	if (!result)
		*ret_triggered_at = at;
	return result;
}
