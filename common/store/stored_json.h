/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stored_json.h owns reading the arrays that the database holds: frames of stack_node, times of sample_row, and the steps of activity. It accepts
 * what bourdond writes and nothing else: whoever else wrote it may be hostile.
 */
#ifndef BOURDON_COMMON_STORE_STORED_JSON_H
#define BOURDON_COMMON_STORE_STORED_JSON_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

struct frame_list {
	int64_t *frames; /* the caller frees it */
	uint32_t count, room;
};

/*
 * Appends the numbers of a text like "12,7", or of older versions "[12,7]", to the list, `most` at most. Returns 0; -EUCLEAN if the column is no such
 * text; -EFBIG if it has more numbers; or -ENOMEM. After an error the list may have some of the numbers.
 */
int stored_frames_read(sqlite3_stmt *statement, int column, uint32_t most, struct frame_list *list);

/*
 * Whether the column is NULL or an array of at most `samples` elements: of [ms,cpu], or if they are intervals
 * [begin ms,end ms,cpu]. A cpu may be null.
 */
bool stored_times_are_valid(sqlite3_stmt *statement, int column, bool intervals, int64_t samples);

/* When a sample or an interval off CPU was; ms from the begin of its row's second. */
struct stored_time {
	int64_t begin_ms, end_ms; /* of a sample: equal */
	int64_t cpu;              /* negative: not known */
};

struct time_list {
	struct stored_time *times; /* the caller frees it */
	uint32_t count, room;
};

/*
 * Appends what such an array has to the list, `most` at most; nothing if the column is NULL. Returns 0; -EUCLEAN if it is no such
 * array; -EFBIG if it has more elements; or -ENOMEM. After an error the list may have some of the elements.
 */
int stored_times_read(sqlite3_stmt *statement, int column, bool intervals, uint32_t most,
		      struct time_list *list);

/*
 * Whether the column is NULL or an array of elements [step,number], each behind the one before, and below `steps`. Neither is
 * negative.
 */
bool stored_steps_are_valid(sqlite3_stmt *statement, int column, int64_t steps);

struct step_list {
	struct stored_step {
		uint32_t step, number;
	} * steps; /* the caller frees it */
	uint32_t count, room;
};

/*
 * Reads such an array into the list, whose elements before are gone. Returns 0; -EUCLEAN if it is no such array, or has a number
 * that does not fit; or -ENOMEM. After an error the list may have some of the elements.
 */
int stored_steps_read(sqlite3_stmt *statement, int column, uint32_t steps, struct step_list *list);

#endif
