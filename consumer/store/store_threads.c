/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/store/store_threads.h"

#include <string.h>

struct stored_thread {
	uint32_t process, tid;
	char name[ABI_COMM_BYTES]; /* zeros behind it */
	sqlite3_int64 thread_id;
};

int store_threads_find(struct sql *sql, struct store_threads *threads, uint32_t process, uint32_t tid,
		       const char name[ABI_COMM_BYTES], int64_t *ret_thread_id)
{
	struct stored_thread thread = { .process = process, .tid = tid };
	const struct hash_keys keys = HASH_KEYS_BEFORE(threads->rows, thread_id);
	uint32_t found;
	int result;

	memcpy(thread.name, name, strnlen(name, ABI_COMM_BYTES));
	found = hash_index_find_key(&threads->index, keys, &thread);
	if (found == HASH_INDEX_NONE) {
		result = sql_insert(sql, threads->add, "thread",
				    "ON CONFLICT DO UPDATE SET tid = excluded.tid RETURNING thread_id",
				    &thread.thread_id,
				    SQL_COLUMNS(SQL_NUMBER(process_id, threads->processes[process]),
						SQL_NUMBER(tid, tid), SQL_TEXT(thread, name)));
		if (!result)
			result = hash_index_intern(&threads->index, keys, threads->rows, threads->count,
						   threads->room, &thread, &found);
		if (result < 0)
			return result;
		threads->rows[found] = thread;
	}
	*ret_thread_id = threads->rows[found].thread_id;
	return 0;
}

void store_threads_free(struct store_threads *threads)
{
	free(threads->rows);
	hash_index_free(&threads->index);
}
