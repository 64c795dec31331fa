/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * past_looks.h keeps whole looks, with what a history does without, such as stacks: the last one alone, or those of many
 * seconds. Memory is bounded: the oldest ones go.
 */
#ifndef BOURDON_REPORT_LIVE_PAST_LOOKS_H
#define BOURDON_REPORT_LIVE_PAST_LOOKS_H

#include "report/live/thread_history.h"

#include <stddef.h>

#define PAST_BYTES_MAX (32UL << 20)

struct past_looks {
	struct thread_lines looks[HISTORY_SECONDS]; /* the oldest first */
	uint32_t count;
	size_t bytes; /* of all of them */
};

/* Takes the look over. `most`: looks that are kept, of HISTORY_SECONDS. */
void past_looks_keep(struct past_looks *past, struct thread_lines *lines, uint32_t most);

/* The look of the second that began at that time, and the last look; NULL: there is none, or it is gone. */
const struct thread_lines *past_looks_find(const struct past_looks *past, int64_t at_ns);
const struct thread_lines *past_looks_last(const struct past_looks *past);

void past_looks_free(struct past_looks *past);

#endif
