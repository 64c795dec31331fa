/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/store/store_threads.h"

#include "common/base/array.h"

#include <string.h>

struct stored_thread {
	uint32_t process, tid;
	const char *name; /* of the capture */
	sqlite3_int64 thread_id;
};

/* The wanted one stands behind the others. */
static bool is_thread(const void *user, uint32_t position)
{
	const struct store_threads *threads = user;
	const struct stored_thread *there = &threads->rows[position],
				   *wanted = &threads->rows[threads->count];

	return there->process == wanted->process && there->tid == wanted->tid &&
	       !strncmp(there->name, wanted->name, ABI_COMM_BYTES);
}

int store_threads_find(struct sql *sql, struct store_threads *threads, uint32_t process, uint32_t tid,
		       const char name[ABI_COMM_BYTES], int64_t *ret_thread_id)
{
	uint32_t hash = hash_number_and_bytes((uint64_t)process << 32 | tid, name,
					      strnlen(name, ABI_COMM_BYTES)),
		 found;
	struct stored_thread *thread;
	int result = 0;

	if (array_make_room(threads->rows, threads->count, threads->room, 1U))
		return -ENOMEM;
	thread = &threads->rows[threads->count];
	*thread = (struct stored_thread){ .process = process, .tid = tid, .name = name };
	found = hash_index_find(&threads->index, hash, is_thread, threads);
	if (found != HASH_INDEX_NONE) {
		thread = &threads->rows[found];
	} else {
		result = sql_insert(sql, threads->add, "thread",
				    "ON CONFLICT DO UPDATE SET tid = excluded.tid RETURNING thread_id",
				    &thread->thread_id,
				    SQL_COLUMNS(SQL_NUMBER(process_id, threads->processes[process]),
						SQL_NUMBER(tid, tid), SQL_TEXT(thread, name)));
		if (!result)
			result = hash_index_add(&threads->index, hash, threads->count);
		if (!result)
			threads->count++;
	}
	if (!result)
		*ret_thread_id = thread->thread_id;
	return result;
}

void store_threads_free(struct store_threads *threads)
{
	free(threads->rows);
	hash_index_free(&threads->index);
}
