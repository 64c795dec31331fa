/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * activity_groups.h adds up what all threads did, minute by minute, into groups of threads. Looks that were not taken count
 * nowhere: a time without a look has no average, and no neighbour lends it one.
 *
 * The looks of a minute are its steps. A row of the minute says from which step on how many threads there were, so that a
 * span may begin and end within a minute, and the most threads of a group at one look are known although a group has
 * several rows.
 */
#ifndef BOURDON_REPORT_LIVE_ACTIVITY_GROUPS_H
#define BOURDON_REPORT_LIVE_ACTIVITY_GROUPS_H

#include "common/store/stored_json.h"
#include "report/live/thread_groups.h"

#include <stdbool.h>
#include <stdint.h>

#define ACTIVITY_STEPS_MOST 6000U /* of a minute */
#define ACTIVITY_GAPS_MOST 1000U  /* that are told one by one */
#define ACTIVITY_GROUPS_MOST (1U << 17)

/* Unix time. */
struct activity_span {
	int64_t from_ns, until_ns; /* `until` is not in it */
};

struct stored_minute {
	int64_t at_ns, interval_ns;     /* of the first step, and to the next one */
	uint32_t steps;                 /* at most ACTIVITY_STEPS_MOST */
	const struct step_list *missed; /* first step, how many; NULL: none */
};

/* Threads that a look finds alike. */
struct activity_kind {
	struct thread_place place;
	bool is_rest; /* they found no row of their own */
};

/* What they did in a minute. */
struct stored_activity {
	struct activity_kind kind;
	int64_t threads;               /* the sum over all looks */
	uint32_t most;                 /* at one look */
	const struct step_list *times; /* from which step on, how many; NULL: not known */
};

struct activity_groups {
	struct activity_span span;
	int64_t cell_ns;
	struct thread_groups threads;
	double rest;    /* threads that match and have no row of their own */
	uint64_t steps; /* looks that were due */
	int64_t interval_least_ns, interval_most_ns;
	uint64_t damaged;  /* minutes and rows that whoever reads the database left out */
	uint32_t overlaps; /* minutes that began before another one had ended */
	struct activity_gap {
		int64_t from_ns, until_ns;
	} * gaps; /* between minutes */
	uint32_t gaps_count;
	uint64_t all_gaps; /* with those beyond ACTIVITY_GAPS_MOST */
	int64_t all_gaps_ns;
	struct activity_sums *sums; /* while it is added up */
};

/* Begins with a span that is not empty. `interval_ns`: the longest from one look to the next. 0 or -ENOMEM. */
int activity_groups_begin(struct activity_groups *groups, const struct activity_span *span,
			  int64_t interval_ns);

/* Begins a minute, the next by time. Returns false if the steps that were missed are not among its steps. */
bool activity_groups_begin_minute(struct activity_groups *groups, const struct stored_minute *minute);

/* Whether the sum of a row is enough for kinds that are not shown: the whole minute belongs to the span. */
bool activity_groups_minute_is_whole(const struct activity_groups *groups);

/* Adds a row of the minute. 0 or -ENOMEM. */
int activity_groups_add(struct activity_groups *groups, const struct stored_activity *row);

void activity_groups_end_minute(struct activity_groups *groups);

/* Makes averages of sums, and sorts the groups. */
void activity_groups_finish(struct activity_groups *groups, const struct thread_view *view);

void activity_groups_free(struct activity_groups *groups);

#define _cleanup_activity_groups_ _cleanup_(activity_groups_free)

#endif
