/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * thread_groups.h groups threads by their values, whatever has seen them: looks and samples of seconds (thread_history.h), or
 * stored minutes (activity_groups.h). Whoever adds threads up asks once what becomes of those with the same values, and then
 * adds how many there were. The average of a group is the number of its threads at a look: "average active threads".
 */
#ifndef BOURDON_REPORT_LIVE_THREAD_GROUPS_H
#define BOURDON_REPORT_LIVE_THREAD_GROUPS_H

#include "common/base/hash_index.h"
#include "report/live/thread_filter.h"

#include <stdbool.h>
#include <stdint.h>

#define THREAD_CELLS 60U /* at most, into which the time is divided */
#define THREAD_NO_GROUP UINT32_MAX

/* Texts, each kept once: equal ones have the same number, and the same address. */
struct thread_names {
	char **texts;
	uint32_t count, room;
	struct hash_index index;
};

/* 0 or -ENOMEM. */
int thread_names_keep(struct thread_names *names, const char *text, uint32_t *ret_name);
void thread_names_free(struct thread_names *names);

/* What is to be shown. */
struct thread_view {
	enum thread_origin origin;
	uint32_t columns[THREAD_GROUPING]; /* by which threads are grouped */
	uint32_t columns_count;
	struct thread_filter filter;
	char *exact[THREAD_GROUPING]; /* only threads with these values; NULL: any. The view's owner's */
	bool all_states;  /* otherwise, without a word on the state in the filter: running, queued, D */
	uint32_t window;  /* seconds of a history over which averages go; at least 1 */
	uint32_t sort;    /* a position in `columns`; columns_count: by the average */
	bool is_reversed; /* of the usual order: averages descend, texts ascend */
};

enum thread_activity { ACTIVITY_RUNNING, ACTIVITY_QUEUED, ACTIVITY_DISK, ACTIVITY_OTHERS };

/* What becomes of threads with the same values. */
struct thread_place {
	uint32_t group; /* THREAD_NO_GROUP: they are not shown */
	bool is_known;  /* it was asked for */
	bool matches;   /* the filter, whatever their state is */
	enum thread_activity state;
};

struct thread_group {
	const char *values[THREAD_GROUPING]; /* by position in the view's columns; NULL: none, or not known */
	double average;                      /* threads; until the end the sum over all looks */
	double share;                        /* of all that the view shows: 0 to 1 */
	double cells[THREAD_CELLS]; /* the sum over the looks of each; thread_groups_cell() has the average */
	/* of stored minutes alone */
	double most;   /* threads at one look */
	bool is_bound; /* there may have been fewer: the times of some rows were left out */
};

struct thread_groups {
	struct thread_group *groups;
	uint32_t count, room;
	struct hash_index index;
	struct thread_names names; /* of the values; unused if `texts_last` */
	bool texts_last;           /* whoever adds threads keeps the texts, each once */
	double average;            /* of all groups */
	double all,
		states[ACTIVITY_OTHERS + 1]; /* of all threads that match the filter, whatever their state */
	uint64_t looks;                      /* that averages are of */
	uint64_t cell_looks[THREAD_CELLS];
	uint32_t cells_count; /* that are in use */
};

/*
 * Decides what becomes of threads that have these values in the columns before THREAD_GROUPING (NULL: none, or not known), and
 * makes their group. 0 or -ENOMEM.
 */
int thread_groups_place(struct thread_groups *groups, const struct thread_view *view,
			const char *const *values, struct thread_place *ret_place);

/* Adds threads, the sum over looks. Those of cells and the looks are up to the caller. */
void thread_groups_add(struct thread_groups *groups, const struct thread_place *place, double threads);

/* Makes averages of sums, leaves out groups without threads, and sorts the others; ties by text. */
void thread_groups_finish(struct thread_groups *groups, const struct thread_view *view);

/* The average of cells [first, end), or a negative number if no look was taken in them. */
double thread_groups_cell(const struct thread_groups *groups, const struct thread_group *group,
			  uint32_t first, uint32_t end);

void thread_groups_free(struct thread_groups *groups);

#define _cleanup_thread_groups_ _cleanup_(thread_groups_free)

#endif
