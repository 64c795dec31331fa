/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * thread_history.h keeps what many looks at all threads had in common, second by second, and has it grouped. A sample is a look
 * at one CPU, so the average of samples is the number of CPUs that a group used. Memory is bounded: the oldest seconds go.
 *
 * Room: what threads do now, and did before: `threads`, `top --live`, `activity`. It reads an iterator, the
 * control socket or the database, and has the terminal while its screen is on.
 */
#ifndef BOURDON_REPORT_LIVE_THREAD_HISTORY_H
#define BOURDON_REPORT_LIVE_THREAD_HISTORY_H

#include "report/live/thread_groups.h"

#include <stdbool.h>
#include <stdint.h>

#define HISTORY_SECONDS 600U
#define HISTORY_ENTRIES_MAX (2U << 20) /* in all seconds: 16 MiB */
#define HISTORY_KINDS_MAX (128U << 10)

/* A thread with all that it may be grouped by: numbers of names. */
struct thread_kind {
	uint32_t names[THREAD_GROUPING];
};

struct history_entry {
	uint32_t kind;
	uint32_t count; /* looks at which a thread was of this kind, or samples of such a thread */
};

struct history_second {
	int64_t at_ns;  /* wall clock, of its first look */
	uint32_t looks; /* or ticks of the clock that samples */
	struct history_entry *entries;
	uint32_t count;
};

struct thread_history {
	struct thread_names names;
	uint32_t *units; /* of the cgroup with this name; UINT32_MAX: not looked for yet */
	uint32_t units_count, units_room;
	struct thread_kind *kinds;
	uint32_t *counts; /* of this second, by kind */
	uint32_t kinds_count, kinds_room, counts_room;
	struct hash_index kinds_index;
	struct history_second seconds[HISTORY_SECONDS]; /* the oldest first */
	uint32_t seconds_count;
	uint64_t entries_count; /* in all of them */
	int64_t at_ns;          /* of the second that has not ended, */
	uint32_t looks;         /* and its looks */
	uint64_t malformed;     /* lines that could not be read */
};

/* Adds a look, or a second's samples, to the present second. 0 or -ENOMEM. */
int thread_history_add(struct thread_history *history, const struct thread_lines *lines);

/* Ends the present second, if it has looks. 0 or -ENOMEM. */
int thread_history_end_second(struct thread_history *history);

/* Forgets everything. */
void thread_history_free(struct thread_history *history);

/*
 * Groups the threads of the window that ends with the second number `last`; the last of the cells is that second, each other one
 * the second before. 0 or -ENOMEM. The groups are valid until the history changes.
 */
int thread_history_group(const struct thread_history *history, const struct thread_view *view, uint32_t last,
			 struct thread_groups *ret_groups);

#endif
