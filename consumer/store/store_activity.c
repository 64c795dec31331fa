/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/store/store_activity.h"

#include "common/base/cleanup.h"
#include "common/base/numbers.h"

#include <string.h>

#define MISSED_TEXT_BYTES sizeof("[600,600],")

int store_activity_prepare(struct sql *sql, struct activity_statements *ret_statements)
{
	*ret_statements = (struct activity_statements){ .saved_bytes = ACTIVITY_SAVED_BYTES_MAX };
	return activity_keys_prepare(sql, &ret_statements->keys);
}

void store_activity_forget(struct activity_statements *statements)
{
	activity_keys_forget(&statements->keys);
}

void store_activity_save(struct activity_statements *statements, uint64_t bytes)
{
	uint64_t room = statements->saved_bytes + ACTIVITY_MINUTE_BYTES;

	statements->saved_bytes = bytes < room ? room - bytes : 0;
	if (statements->saved_bytes > ACTIVITY_SAVED_BYTES_MAX)
		statements->saved_bytes = ACTIVITY_SAVED_BYTES_MAX;
}

/* ---- keys ---- */

static int find_keys(struct sql *sql, struct activity_keys *keys, struct activity_rows *rows)
{
	int result = 0;

	for (uint32_t i = 0; i < rows->count && !result; i++) {
		struct activity_stored *row = &rows->rows[i];
		struct activity_words words;

		if (row->is_folded)
			continue;
		activity_rows_words(rows, row, &words);
		result = activity_keys_find(sql, keys, &words, &row->key_id);
		row->key_bytes = row->key_id ? 0 : activity_rows_key_bytes(&words);
	}
	return result;
}

static int add_keys(struct sql *sql, struct activity_keys *keys, struct activity_rows *rows)
{
	int result = 0;

	for (uint32_t i = 0; i < rows->count && !result; i++) {
		struct activity_stored *row = &rows->rows[i];
		struct activity_words words;

		if (row->is_folded || row->key_id)
			continue;
		activity_rows_words(rows, row, &words);
		result = activity_keys_add(sql, keys, &words, &row->key_id);
	}
	return result;
}

static int find_rest_key(struct sql *sql, struct activity_keys *keys, uint32_t state, int64_t *ret_key_id)
{
	struct activity_words words;
	int result;

	activity_rows_rest_words(state, &words);
	result = activity_keys_find(sql, keys, &words, ret_key_id);
	return result < 0 || *ret_key_id ? result : activity_keys_add(sql, keys, &words, ret_key_id);
}

/* ---- rows ---- */

/* Returns the text of activity_minute.missed in `text`, or NULL if there is no such step. */
static const char *missed_text(const struct activity_minute *minute, char *text)
{
	uint32_t next = 0;
	size_t used = 0;

	for (uint32_t i = 0; i <= minute->looks; i++) {
		uint32_t step = i < minute->looks ? minute->look_steps[i] : minute->steps;

		if (step > next)
			used += (size_t)sprintf(text + used, "%s[%u,%u]", used ? "," : "[", next,
						step - next);
		next = step + 1;
	}
	strcpy(text + used, "]");
	return used ? text : NULL;
}

static int compare_ids(const void *a, const void *b)
{
	const struct activity_stored *left = a, *right = b;

	return COMPARE(left->key_id, right->key_id);
}

static int add_activity(struct sql *sql, struct activity_statements *statements, int64_t minute_id,
			int64_t key_id, const struct activity_sums *sums, const char *times)
{
	return sql_insert(sql, &statements->add_activity, "activity", NULL, NULL,
			  SQL_COLUMNS(SQL_NUMBER(minute_id, minute_id), SQL_NUMBER(key_id, key_id),
				      SQL_NUMBER(threads, sums->threads), SQL_NUMBER(least, sums->least),
				      SQL_NUMBER(most, sums->most), SQL_TEXT(times, times)));
}

/* In the order of the primary key, which fills the pages. */
static int add_rows(struct sql *sql, struct activity_statements *statements, int64_t minute_id,
		    struct activity_rows *rows)
{
	int result = 0;

	qsort(rows->rows, rows->count, sizeof(*rows->rows), compare_ids);
	for (uint32_t i = 0; i < rows->count && !result; i++)
		if (!rows->rows[i].is_folded)
			result = add_activity(sql, statements, minute_id, rows->rows[i].key_id,
					      &rows->rows[i].sums, rows->rows[i].times);
	for (uint32_t state = 0; state < THREAD_STATES && !result; state++) {
		struct activity_sums sums;
		int64_t key_id;

		if (!activity_rows_rest(rows, state, &sums))
			continue;
		result = find_rest_key(sql, &statements->keys, state, &key_id);
		if (!result)
			result = add_activity(sql, statements, minute_id, key_id, &sums, NULL);
	}
	return result;
}

static int64_t count_threads(const struct activity_rows *rows)
{
	struct activity_sums sums;
	uint64_t threads = 0;

	for (uint32_t state = 0; state < THREAD_STATES; state++)
		threads += activity_rows_rest(rows, state, &sums) ? sums.threads : 0;
	for (uint32_t i = 0; i < rows->count; i++)
		threads += rows->rows[i].is_folded ? 0 : rows->rows[i].sums.threads;
	return (int64_t)threads;
}

int store_activity_write(struct sql *sql, struct activity_statements *statements, int64_t run_id,
			 struct activity_rows *rows, uint64_t *ret_bytes)
{
	const struct activity_minute *minute = rows->minute;
	char missed[ACTIVITY_STEPS_MAX * MISSED_TEXT_BYTES];
	sqlite3_int64 minute_id;
	uint64_t bytes = 0;
	int result = find_keys(sql, &statements->keys, rows);

	if (!result) {
		bytes = activity_rows_bound(rows, ACTIVITY_MINUTE_BYTES + statements->saved_bytes);
		result = sql_insert(
			sql, &statements->add_minute, "activity_minute", NULL, &minute_id,
			SQL_COLUMNS(SQL_NUMBER(run_id, run_id), SQL_NUMBER(at, minute->at),
				    SQL_NUMBER(interval_ns, minute->interval_ns),
				    SQL_NUMBER(steps, minute->steps), SQL_NUMBER(looks, minute->looks),
				    SQL_TEXT(missed, missed_text(minute, missed)),
				    SQL_NUMBER(threads, count_threads(rows)), SQL_NUMBER(bytes, bytes)));
	}
	if (!result)
		result = add_keys(sql, &statements->keys, rows);
	if (!result)
		result = add_rows(sql, statements, minute_id, rows);
	if (!result)
		*ret_bytes = bytes;
	return result;
}
