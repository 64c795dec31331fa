/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * activity_minute.h owns what the looks of one minute have seen of all threads: for each key how many threads there were, and
 * at which steps the number changed. Its memory is bounded: what finds no room counts in the rest of its state.
 *
 * Steps are the moments at which a look was due, from 0 on. At some of them there may have been none.
 */
#ifndef BOURDON_CONSUMER_HOST_ACTIVITY_MINUTE_H
#define BOURDON_CONSUMER_HOST_ACTIVITY_MINUTE_H

#include "common/base/hash_index.h"
#include "consumer/host/activity_counts.h"

#define ACTIVITY_STEPS_MAX 600U
#define ACTIVITY_ROWS_MAX 16384U
#define ACTIVITY_CHANGES_MAX (1U << 18) /* 3 MiB; a stored minute has far fewer */
#define ACTIVITY_PATHS_BYTES_MAX (1U << 20)

struct activity_row {
	struct activity_key key;
	uint32_t cgroup;  /* position in activity_minute.cgroups */
	uint32_t threads; /* at its last look */
	uint32_t look;    /* which of the minute's looks that was */
	uint32_t change;  /* position of the last one, + 1; 0: none */
	bool is_rest;     /* found no more room: it counts in the rest of its state */
};

/* From this step on there were so many threads. */
struct activity_change {
	uint32_t before; /* as activity_row.change */
	uint32_t threads;
	uint32_t step;
};

struct activity_cgroup {
	uint64_t id;
	const char *path; /* of shared_text.h; NULL: not known */
};

struct activity_minute {
	int64_t at; /* wall clock of step 0 */
	uint64_t interval_ns;
	uint32_t steps; /* due; set by activity_minute_end() */
	uint32_t looks;
	uint32_t look_steps[ACTIVITY_STEPS_MAX];
	struct activity_row *rows;
	uint32_t rows_count, rows_room;
	struct hash_index rows_index;
	struct activity_change *changes;
	uint32_t changes_count, changes_room;
	uint32_t changes_free; /* the first of those that rows gave back, as activity_row.change */
	struct activity_cgroup *cgroups;
	uint32_t cgroups_count, cgroups_room;
	struct hash_index cgroups_index;
	size_t paths_bytes;
	uint32_t rest[THREAD_STATES][ACTIVITY_STEPS_MAX];
};

/* Returns NULL without memory. */
struct activity_minute *activity_minute_new(int64_t at, uint64_t interval_ns);
void activity_minute_free(struct activity_minute *minute);

/* Adds the look of a step, which lies behind that of the look before and below ACTIVITY_STEPS_MAX. */
void activity_minute_add(struct activity_minute *minute, uint32_t step, const struct activity_counts *counts,
			 struct cgroups *cgroups);

/* Ends the minute, in which so many looks were due. */
void activity_minute_end(struct activity_minute *minute, uint32_t steps, struct cgroups *cgroups);

/* Adds to `threads`, of ACTIVITY_STEPS_MAX numbers, how many threads a row that is no rest had at each step. */
void activity_minute_spread(const struct activity_minute *minute, const struct activity_row *row,
			    uint32_t *threads);

#endif
