/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/store/migrate_stacks.h"

#include "common/array.h"
#include "common/cleanup.h"
#include "consumer/store/stack_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Limits the memory: a stack has at most some 500 frames, but most have 30. */
#define BATCH_STACKS 4096
#define BATCH_FRAMES (1U << 20)

struct batch {
	struct sql *sql;
	struct stack_tree tree;
	struct frame_hashes hashes;
	sqlite3_stmt *read_stacks, *read_frames, *add_move;
	struct stack_path paths[BATCH_STACKS];
	int64_t old_ids[BATCH_STACKS];
	uint32_t count;
	int64_t *frames; /* of all stacks */
	uint32_t frames_count, frames_room;
	int64_t last_id; /* of the stacks that were read */
	int failed;      /* -errno of a hash */
};

static int prepare(struct batch *batch)
{
	struct sql *sql = batch->sql;
	int result = stack_tree_prepare(sql, &batch->tree);

	if (!result)
		result = frame_hashes_prepare(sql, &batch->hashes);
	if (!result)
		result = sql_prepare(
			sql, &batch->read_stacks,
			"SELECT s.stack_id, c.class FROM old_stack s JOIN stack_class c "
			"ON c.truncated = s.truncated AND c.unwinder = s.unwinder AND c.ended IS s.ended "
			"WHERE s.stack_id > ?1 ORDER BY s.stack_id LIMIT ?2");
	if (!result)
		result = sql_prepare(
			sql, &batch->read_frames,
			"SELECT frame_id FROM old_stack_frame WHERE stack_id = ? ORDER BY position DESC");
	if (!result)
		result = sql_prepare(sql, &batch->add_move,
				     "INSERT INTO moved(stack_id, node_id) VALUES(?, ?)");
	return result;
}

static int read_frames(struct batch *batch, struct stack_path *path, int64_t stack_id)
{
	int result = 0, step = SQLITE_DONE;

	sqlite3_bind_int64(batch->read_frames, 1, stack_id);
	while (!result && (step = sqlite3_step(batch->read_frames)) == SQLITE_ROW) {
		if (array_make_room(batch->frames, batch->frames_count, batch->frames_room, 1U))
			result = -ENOMEM;
		else
			batch->frames[batch->frames_count++] = sqlite3_column_int64(batch->read_frames, 0);
		path->count++;
	}
	if (!result && step != SQLITE_DONE)
		result = sql_failed(batch->sql);
	sqlite3_reset(batch->read_frames);
	return result;
}

/* Reads the next stacks; none at the end. */
static int read_stacks(struct batch *batch)
{
	uint32_t first = 0;
	int result = 0, step = SQLITE_DONE;

	batch->count = batch->frames_count = 0;
	sqlite3_bind_int64(batch->read_stacks, 1, batch->last_id);
	sqlite3_bind_int64(batch->read_stacks, 2, BATCH_STACKS);
	while (!result && batch->frames_count < BATCH_FRAMES &&
	       (step = sqlite3_step(batch->read_stacks)) == SQLITE_ROW) {
		struct stack_path *path = &batch->paths[batch->count];

		batch->last_id = batch->old_ids[batch->count] = sqlite3_column_int64(batch->read_stacks, 0);
		*path = (struct stack_path){ .class = sqlite3_column_int64(batch->read_stacks, 1) };
		result = read_frames(batch, path, batch->last_id);
		batch->count++;
	}
	if (!result && step != SQLITE_DONE && step != SQLITE_ROW)
		result = sql_failed(batch->sql);
	sqlite3_reset(batch->read_stacks);
	for (uint32_t i = 0; i < batch->count; first += batch->paths[i++].count)
		batch->paths[i].frames = batch->frames + first;
	return result;
}

static void hash_path(void *user, uint32_t position, uint8_t hash[STACK_HASH_BYTES])
{
	struct batch *batch = user;
	const struct stack_path *path = &batch->paths[position];
	struct stack_hash sum;

	stack_hash_begin(&sum);
	for (uint32_t i = 0; i < path->count && !batch->failed; i++)
		batch->failed = frame_hashes_add(batch->sql, &batch->hashes, path->frames[i], &sum);
	stack_hash_end(&sum, hash);
}

static int write_stacks(struct batch *batch)
{
	int result = stack_tree_add(batch->sql, &batch->tree, batch->paths, batch->count, hash_path, batch);

	if (batch->failed == -ENOENT)
		snprintf(batch->sql->error, sizeof(batch->sql->error),
			 "a stack has a frame that does not exist");
	if (batch->failed)
		result = batch->failed == -ENOENT ? -EUCLEAN : batch->failed;
	for (uint32_t i = 0; i < batch->count && !result; i++)
		result = sql_run(batch->sql, batch->add_move, NULL, "ii", batch->old_ids[i],
				 batch->paths[i].stack_id);
	return result;
}

static int move_stacks(struct batch *batch)
{
	int result = prepare(batch);

	do {
		if (!result)
			result = read_stacks(batch);
		if (!result)
			result = write_stacks(batch);
	} while (!result && batch->count);
	sqlite3_finalize(batch->read_stacks);
	sqlite3_finalize(batch->read_frames);
	sqlite3_finalize(batch->add_move);
	sqlite3_finalize(batch->hashes.find);
	stack_tree_finalize(&batch->tree);
	frame_hashes_free(&batch->hashes);
	free(batch->frames);
	return result;
}

/* Capture by capture, in the order of the new key: the tree of the table grows at its end. */
static int move_samples(struct sql *sql)
{
	sqlite3_stmt *next = NULL, *move = NULL;
	sqlite3_int64 capture_id = INT64_MIN, before = INT64_MIN;
	int result = sql_prepare(sql, &next,
				 "SELECT ifnull(min(capture_id), ?1) FROM old_sample WHERE capture_id > ?1");

	if (!result)
		result = sql_prepare(
			sql, &move,
			"INSERT INTO sample_row(capture_id, stack_id, thread_id, class, second, samples, weight_ns) "
			"SELECT s.capture_id, m.node_id, t.thread_id, c.class, s.second, sum(s.samples), sum(s.weight_ns) "
			"FROM old_sample s JOIN moved m USING(stack_id) JOIN thread t ON t.process_id = s.process_id AND "
			"t.tid = s.tid AND t.thread = s.thread JOIN sample_class c ON c.kind = s.kind AND c.stall = s.stall "
			"WHERE s.capture_id = ? GROUP BY 1, 2, 3, 4, 5");
	while (!result) {
		result = sql_run(sql, next, &capture_id, "i", (int64_t)before);
		if (result < 0 || capture_id == before)
			break;
		result = sql_run(sql, move, NULL, "i", (int64_t)capture_id);
		before = capture_id;
	}
	sqlite3_finalize(next);
	sqlite3_finalize(move);
	return result;
}

/* Rows that lead nowhere are damage, and would vanish. */
static int check_sums(struct sql *sql)
{
	sqlite3_int64 missing = 0;
	int result = sql_run_once(sql, &missing,
				  "SELECT (SELECT ifnull(sum(samples), 0) FROM old_sample) - "
				  "(SELECT ifnull(sum(samples), 0) FROM sample_row)");

	if (!result && missing) {
		snprintf(sql->error, sizeof(sql->error),
			 "%lld samples have no stack: the database is damaged", (long long)missing);
		result = -EUCLEAN;
	}
	return result;
}

int migrate_stacks(struct sql *sql)
{
	_cleanup_free_ struct batch *batch = NULL;
	sqlite3_int64 present = 0;
	int result = sql_run_once(
		sql, &present,
		"SELECT count(*) = 3 FROM sqlite_schema WHERE type = 'table' AND name IN ('old_stack', "
		"'old_stack_frame', 'old_sample')");

	if (result < 0 || !present)
		return result;
	batch = calloc(1, sizeof(*batch));
	if (!batch)
		return -ENOMEM;
	batch->sql = sql;
	batch->last_id = INT64_MIN;
	result = sql_execute(
		sql,
		"INSERT INTO stack_class(truncated, unwinder, ended) SELECT DISTINCT truncated, unwinder, ended FROM old_stack;"
		"INSERT INTO sample_class(kind, stall) SELECT DISTINCT kind, stall FROM old_sample;"
		"INSERT INTO thread(process_id, tid, thread) SELECT DISTINCT process_id, tid, thread FROM old_sample;"
		"CREATE TABLE moved(stack_id INTEGER PRIMARY KEY, node_id INTEGER NOT NULL)");
	if (!result)
		result = move_stacks(batch);
	if (!result)
		result = move_samples(sql);
	if (!result)
		result = check_sums(sql);
	if (!result)
		result = sql_execute(
			sql,
			"UPDATE capture SET (process_count, stack_count, sample_count, interval_count) = ("
			"SELECT count(DISTINCT process_id), count(DISTINCT stack_id), ifnull(sum(samples), 0), "
			"ifnull(sum(samples) FILTER (WHERE kind = 'off-cpu'), 0) FROM sample WHERE "
			"sample.capture_id = capture.capture_id)");
	if (!result)
		result = sql_execute(
			sql,
			"UPDATE thread_state SET stack_id = (SELECT node_id FROM moved WHERE moved.stack_id = "
			"thread_state.stack_id);"
			"DROP TABLE moved; DROP TABLE old_stack; DROP TABLE old_stack_frame; DROP TABLE old_sample");
	return result;
}
