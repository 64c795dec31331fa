/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * table_workers.h owns the symbolizers that compile unwind tables, some at a time, so that a large file holds up no other one.
 * What is under way goes on while the caller does something else. For one thread.
 */
#ifndef BOURDON_CONSUMER_UNWIND_TABLE_WORKERS_H
#define BOURDON_CONSUMER_UNWIND_TABLE_WORKERS_H

#include "common/symbolizer/spawner.h"
#include "consumer/process/cpu_budget.h"
#include "consumer/unwind/table_cache.h"
#include "consumer/unwind/unwind_space.h"

#include <stdbool.h>
#include <stdint.h>

#define TABLE_WORKERS 2U

/* Longest time for one table, from the request on. */
#define TABLE_WORKER_NS (60 * CLOCK_SECOND_NS)

/* What became of a table. */
struct table_outcome {
	void *of;   /* of table_workers_begin() */
	int result; /* 0, or -errno as unwind_reception_take() returns it; -EPIPE, -ETIMEDOUT, -EBADMSG */
	uint32_t runtime;
	struct unwind_place place; /* the caller releases it */
	struct kept_bytes bytes;   /* its messages, if it may be kept (files_read.h); the caller frees */
	uint64_t spent_ns;         /* wall-clock time of a symbolizer */
};

struct table_workers;

/*
 * `space`, which may be NULL (unwind_reception_new()), and `budget` outlive it. `spawn` returns a socket to a new symbolizer, or
 * -errno (spawner_request()).
 */
struct table_workers *table_workers_new(struct unwind_space *space, struct cpu_budget *budget,
					int (*spawn)(void *user, enum symbolizer_priority priority),
					void *user);
void table_workers_free(struct table_workers *workers);

/* Whether table_workers_begin() can begin one. */
bool table_workers_idle(const struct table_workers *workers);

/* How many are under way. */
uint32_t table_workers_busy(const struct table_workers *workers);

/*
 * Begins a table; the descriptor stays the caller's. `later`: at the lowest priority, because nothing needs it now. Returns 0,
 * or -errno: -EAGAIN if there is no symbolizer at the moment.
 */
int table_workers_begin(struct table_workers *workers, int elf_fd, bool later, void *of);

/*
 * Waits until one has ended, or until `until_ns` (CLOCK_MONOTONIC), and receives what has arrived. Returns true with the
 * outcome of one.
 */
bool table_workers_wait(struct table_workers *workers, uint64_t until_ns, struct table_outcome *ret_outcome);

/* Ends the work for `of`; NULL: all work. */
void table_workers_cancel(struct table_workers *workers, const void *of);

/* Ends the symbolizers that have no work. */
void table_workers_rest(struct table_workers *workers);

#endif
