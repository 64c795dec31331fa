/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * store_threads.h owns the rows of threads. Samples and waits of a capture are of the same few threads, so each is written
 * once and remembered until the capture is written.
 */
#ifndef BOURDON_CONSUMER_STORE_STORE_THREADS_H
#define BOURDON_CONSUMER_STORE_STORE_THREADS_H

#include "common/base/hash_index.h"
#include "common/sql/sql.h"
#include "consumer/capture/capture.h"

/* The rest is zeroed before its first use, and freed by store_threads_free(). */
struct store_threads {
	sqlite3_stmt **add;             /* made at the first call of store_threads_find() */
	const sqlite3_int64 *processes; /* the ids of the capture's, by position */
	struct stored_thread *rows;
	uint32_t count, room;
	struct hash_index index;
};

/* The ids of one capture's rows: its own, and those of its processes and stacks by their position. */
struct capture_ids {
	int64_t capture_id;
	const sqlite3_int64 *processes;
	const int64_t *stacks;
	struct store_threads *threads;
};

/*
 * Stores the id of a thread of the capture's process at that position, which is written where it is new. Returns 0 or
 * -errno, as all functions of sql.h do.
 */
int store_threads_find(struct sql *sql, struct store_threads *threads, uint32_t process, uint32_t tid,
		       const char name[ABI_COMM_BYTES], int64_t *ret_thread_id);

void store_threads_free(struct store_threads *threads);

#endif
