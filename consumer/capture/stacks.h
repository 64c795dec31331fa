/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stacks.h owns the distinct stacks of a capture: each is kept once, however many samples had it.
 */
#ifndef BOURDON_CONSUMER_CAPTURE_STACKS_H
#define BOURDON_CONSUMER_CAPTURE_STACKS_H

#include "common/abi.h"
#include "common/hash_index.h"

#include <stdbool.h>
#include <stdint.h>

struct stack {
	uint32_t process; /* user addresses mean something in one process only */
	uint32_t first;   /* position in frames: kernel frames, then user frames, leaf first */
	uint16_t kernel_depth, user_depth;
	uint8_t unwinder; /* UNWINDER_* bits, 0 without user frames */
	uint8_t ended;    /* UNWIND_ENDED_*: why there are no more user frames; 0 without any */
	bool truncated;   /* some are missing */
	uint32_t hash;
};

/* Kernel frames are sign-extended offsets from _text, user frames virtual addresses. */
struct stacks {
	struct stack *stacks;
	uint64_t *frames;
	uint32_t count, room;
	uint32_t frames_count, frames_room;
	uint32_t most; /* stacks */
	uint64_t seed;
	struct hash_index index;
};

void stacks_init(struct stacks *stacks, uint64_t seed, uint32_t most);
void stacks_free(struct stacks *stacks);

/*
 * The position of the sample's stack in stacks->stacks, added if it is new. A depth that is an error counts
 * as no frames. 0, -ENOSPC when there are as many stacks as there may be, or -ENOMEM.
 */
int stacks_intern(struct stacks *stacks, uint32_t process, const struct sample *sample, uint32_t *ret_stack);

#endif
