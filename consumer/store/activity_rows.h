/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * activity_rows.h owns what is stored of one minute of activity: its rows in words, of which those with the same words are
 * one, and how they become fewer until they take no more bytes than they may.
 */
#ifndef BOURDON_CONSUMER_STORE_ACTIVITY_ROWS_H
#define BOURDON_CONSUMER_STORE_ACTIVITY_ROWS_H

#include "common/text/call_name.h"
#include "consumer/host/activity_minute.h"
#include "consumer/symbols/kernel_symbols.h"

/* A row of activity_key; NULL and -1 as there NULL. */
struct activity_words {
	const char *state, *comm, *syscall, *function, *cgroup;
	int64_t uid;
	bool is_kernel;
	char unknown_call[CALL_NAME_BYTES];
};

struct activity_sums {
	uint64_t threads;
	uint32_t least, most;
};

struct activity_stored {
	uint32_t first, count; /* positions in activity_rows.named */
	bool is_folded;        /* it counts in the rest of its state */
	uint32_t state;
	struct activity_sums sums;
	char *times; /* NULL: left out */
	int64_t key_id;
	uint32_t key_bytes; /* that the key will take; 0: the database has it */
};

struct activity_rows {
	struct activity_minute *minute;
	struct named_activity *named; /* the minute's rows, those with the same words beside each other */
	uint32_t named_count;
	struct activity_stored *rows;
	uint32_t count, room;
	char **functions; /* names by id - 1 */
	uint32_t functions_count, functions_room;
};

/* The minute outlives the rows. Returns 0 or -ENOMEM; the caller frees the rows in either case. */
int activity_rows_make(struct activity_rows *rows, struct activity_minute *minute,
		       const struct kernel_symbols *symbols);
void activity_rows_free(struct activity_rows *rows);

/* The words of a row, valid as long as it and `ret_words`; and of the rest of a state. */
void activity_rows_words(const struct activity_rows *rows, const struct activity_stored *row,
			 struct activity_words *ret_words);
void activity_rows_rest_words(uint32_t state, struct activity_words *ret_words);

/* Sums up the rest of a state. Returns false if it had no threads. */
bool activity_rows_rest(const struct activity_rows *rows, uint32_t state, struct activity_sums *ret_sums);

/* An estimate of what a new key takes. */
uint32_t activity_rows_key_bytes(const struct activity_words *words);

/*
 * Leaves out times, those of sleeping and idle threads and of few threads first, and then puts rows, in the same order, into the
 * rest of their state, until all takes `bytes_max`, about. Returns how much it takes. Each row has its key_bytes.
 */
uint64_t activity_rows_bound(struct activity_rows *rows, uint64_t bytes_max);

#endif
