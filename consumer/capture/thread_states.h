/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * thread_states.h owns what a capture's looks have seen: in which state each thread was, in which call, and where. Equal
 * looks of one second are one row, and so are seconds that follow each other in all of whose looks a thread was the same.
 */
#ifndef BOURDON_CONSUMER_CAPTURE_THREAD_STATES_H
#define BOURDON_CONSUMER_CAPTURE_THREAD_STATES_H

#include "common/abi/abi.h"
#include "common/base/hash_index.h"

#include <stdbool.h>
#include <stdint.h>

#define THREAD_STATE_NO_STACK UINT32_MAX

/* Rows are one whose members before `of_target` are the same. */
struct thread_state {
	uint64_t lock; /* as in struct look_record, as `call` and `fd` are */
	uint32_t process,
		stack; /* positions in the capture's processes and stacks; the latter may be missing */
	uint32_t tid;
	int32_t call, fd;
	char thread[ABI_COMM_BYTES]; /* zeros behind the name */
	uint8_t state;               /* THREAD_* */
	bool of_target;
	int32_t second;   /* the first one, relative to the trigger */
	uint32_t seconds; /* more than 1: it was so in each look of all of them */
	uint32_t samples; /* looks at it */
};

struct look_second {
	int32_t second;
	uint32_t looks;
	uint64_t threads; /* of targets, that these looks met: the average is threads / looks */
};

struct thread_states {
	struct thread_state *rows;
	uint32_t count, room;
	uint32_t settled;   /* of these, rows of seconds that are over */
	uint32_t of_others; /* of these, rows of others than targets */
	uint32_t
		continuing; /* of these, rows of the second at hand that are as whole ones before it: they may join those */
	uint64_t lost; /* looks that found no room after all, at the end of a second */
	struct look_second *seconds;
	uint32_t seconds_count, seconds_room;
	struct hash_index index; /* of the rows of the second at hand */
	struct hash_index whole; /* of the rows that were so in all looks of the second before */
};

void thread_states_free(struct thread_states *states);

/* Begins a look, in a second that is not before the last one's. Returns 0 or -ENOMEM. */
int thread_states_begin_look(struct thread_states *states, int32_t second);

/* Counts a thread of a target, whether or not there is room for its row. */
void thread_states_count(struct thread_states *states);

/*
 * Adds a thread to the look; the last three members are not read. Returns 0; -ENOSPC if there are too many rows; or -ENOMEM.
 */
int thread_states_add(struct thread_states *states, const struct thread_state *state);

/* Ends the last second, and gives back the memory that only adding needs. */
void thread_states_settle(struct thread_states *states);

#endif
