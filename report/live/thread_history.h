/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * thread_history.h keeps what many looks at all threads had in common, second by second, and adds it up into groups. The
 * average of a group is the number of threads that were in it at a look: "average active threads". A sample is a look at one CPU,
 * so the average of samples is the number of CPUs that a group used. Memory is bounded: the oldest seconds go.
 *
 * Room: what threads do now, and did before: `threads`, `top --live`, `activity`. It reads an iterator, the
 * control socket or the database, and has the terminal while its screen is on.
 */
#ifndef BOURDON_REPORT_LIVE_THREAD_HISTORY_H
#define BOURDON_REPORT_LIVE_THREAD_HISTORY_H

#include "common/base/hash_index.h"
#include "report/live/thread_filter.h"

#include <stdbool.h>
#include <stdint.h>

#define HISTORY_SECONDS 600U
#define HISTORY_ENTRIES_MAX (2U << 20) /* in all seconds: 16 MiB */
#define HISTORY_KINDS_MAX (128U << 10)
#define SPARK_SECONDS 60U

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
	char **names;
	uint32_t *units; /* of the cgroup with this name; UINT32_MAX: not looked for yet */
	uint32_t names_count, names_room, units_room;
	struct hash_index names_index;
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

#define _cleanup_thread_history_ _cleanup_(thread_history_free)

/* What is to be shown of it. */
struct thread_view {
	uint32_t columns[THREAD_GROUPING]; /* by which threads are grouped */
	uint32_t columns_count;
	struct thread_filter filter;
	char *exact[THREAD_GROUPING]; /* only threads with these values; NULL: any. The view's owner's */
	bool is_live;                 /* it is of samples on CPU: numbers are CPUs, and nobody has a state */
	bool all_states;  /* otherwise, without a word on the state in the filter: running, queued, D */
	uint32_t window;  /* seconds over which averages go; at least 1 */
	uint32_t sort;    /* a position in `columns`; columns_count: by the average */
	bool is_reversed; /* of the usual order: averages descend, texts ascend */
};

struct thread_group {
	const char *values[THREAD_GROUPING]; /* by position in the view's columns; the history's */
	double average;                      /* threads */
	double share;                        /* of all that the view shows: 0 to 1 */
	float spark[SPARK_SECONDS];          /* average of each second, the last one at the end */
};

struct thread_groups {
	struct thread_group *groups;
	uint32_t count, room;
	double average;               /* of all of them */
	double running, queued, disk; /* of all threads that match the filter, whatever their state */
	double all;
	uint32_t looks; /* in the window */
};

/*
 * Groups the threads of the window that ends with the second number `last`. Sorted; ties by text. 0 or -ENOMEM. The groups
 * are valid until the history changes.
 */
int thread_history_group(const struct thread_history *history, const struct thread_view *view, uint32_t last,
			 struct thread_groups *ret_groups);

void thread_groups_free(struct thread_groups *groups);

#define _cleanup_thread_groups_ _cleanup_(thread_groups_free)

#endif
