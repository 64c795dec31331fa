/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * stacks.h owns the distinct stacks of a capture. Each is kept once, however many samples share it.
 */
#ifndef BOURDON_CONSUMER_CAPTURE_STACKS_H
#define BOURDON_CONSUMER_CAPTURE_STACKS_H

#include "common/abi/abi.h"
#include "common/base/hash_index.h"

#include <stdbool.h>
#include <stdint.h>

struct stack {
	/* user addresses have a meaning only within one process; kernel frames alone: the first that had them */
	uint32_t process;
	uint32_t first; /* position in `frames`: kernel frames, then user frames, leaf first */
	uint16_t kernel_depth, user_depth;
	uint8_t unwinder; /* UNWINDER_* bits, 0 without user frames */
	uint8_t ended;    /* UNWIND_ENDED_*: why the user frames end; 0 without user frames */
	bool truncated;   /* some frames are missing */
	uint32_t hash;
	/*
	 * The scan that tells what its addresses were (mapping_sighting()); STACK_OF_NO_SCAN: something was replaced, and no scan
	 * tells; 0: what is mapped there now
	 */
	uint32_t sighting;
};

#define STACK_OF_NO_SCAN UINT32_MAX

/* Kernel frames are sign-extended offsets from _text, user frames virtual addresses. */
struct stacks {
	struct stack *stacks;
	uint64_t *frames;
	uint32_t count, room;
	uint32_t frames_count, frames_room;
	uint32_t most; /* stacks */
	struct hash_index index;
};

void stacks_init(struct stacks *stacks, uint32_t most);
void stacks_free(struct stacks *stacks);

/*
 * Stores the position of the sample's stack in stacks->stacks, adding the stack if it is new. A depth that is
 * an error counts as no frames. 0, -ENOSPC at the limit of stacks, or -ENOMEM.
 */
int stacks_intern(struct stacks *stacks, uint32_t process, const struct sample *sample, uint32_t *ret_stack);

/* The same of a look's kernel frames, innermost first. */
int stacks_intern_look(struct stacks *stacks, uint32_t process, const int32_t *frames, uint32_t depth,
		       uint32_t *ret_stack);

/* Adds a stack of the same frames, as that scan saw them. 0, -ENOSPC at the limit of frames, or -ENOMEM. */
int stacks_add_seen(struct stacks *stacks, uint32_t position, uint32_t sighting, uint32_t *ret_stack);

/* Gives back the memory that only adding needs: an equal stack would not be found any more. */
void stacks_settle(struct stacks *stacks);

#endif
