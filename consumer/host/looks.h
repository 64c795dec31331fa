/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * looks.h owns the last look at the threads: what the iterator `states` told, with the stack of each thread. The kernel
 * tells a stack once for as long as a thread stays where it is, so each look is completed from the one before.
 */
#ifndef BOURDON_CONSUMER_HOST_LOOKS_H
#define BOURDON_CONSUMER_HOST_LOOKS_H

#include "common/abi/abi.h"
#include "common/base/hash_index.h"
#include "consumer/process/kernel_objects.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct look {
	struct look_record record; /* with call, fd, lock and depth, also if nothing has changed */
	uint32_t first;            /* position in look_set.frames of its first frame */
};

/* Frames of threads, one after the other. Equal stacks of threads that follow each other are there once. */
struct look_frames {
	int32_t *all;
	uint32_t count, room;
};

/* All threads of one look. */
struct look_set {
	struct look *looks;
	uint32_t count, room;
	struct look_frames frames;
	bool is_full; /* some thread found no room */
	struct hash_index index;
};

/* Of a look, what the next one needs: where each thread was. */
struct look_places {
	struct look_place *places; /* positions in `index` are positions here */
	uint32_t room;
	struct look_frames frames;
	bool was_full;
	struct hash_index index;
};

struct looks {
	struct look_set last;
	struct look_places before;
	uint64_t lost; /* threads of the last look that found no room */
	bool has_missing; /* a thread's stack was told in a look that is not here: the next look asks for all stacks */
};

void looks_free(struct looks *looks);

/* Forgets all looks. The kernel then tells all stacks again. */
void looks_forget(struct looks *looks, struct control *control);

/* Takes a look. Returns 0 or -errno; then there are no looks, and the next one asks for all stacks. */
int looks_take(struct looks *looks, const struct kernel_objects *kernel);

/* The two parts of looks_take() around the reading, for tests. looks_add() has the form that iterator_stream.h wants. */
void looks_begin(struct looks *looks);
long looks_add(void *user, const char *records, size_t bytes);

#endif
