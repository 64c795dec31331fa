/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/capture/stacks.h"

#include "common/base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* About 2 MiB for all stacks of a capture: deep stacks that never repeat are noise. */
#define FRAMES_KEPT_MAX (256U << 10)

#define FRAMES_MAX (SAMPLE_KERNEL_FRAMES + SAMPLE_USER_FRAMES)

void stacks_init(struct stacks *stacks, uint32_t most)
{
	*stacks = (struct stacks){ .most = most };
}

void stacks_free(struct stacks *stacks)
{
	free(stacks->stacks);
	free(stacks->frames);
	hash_index_free(&stacks->index);
	*stacks = (struct stacks){ 0 };
}

struct wanted {
	const struct stacks *stacks;
	const struct stack *stack;
	const uint64_t *frames;
};

static bool is_wanted(const void *user, uint32_t position)
{
	const struct wanted *wanted = user;
	const struct stack *there = &wanted->stacks->stacks[position], *stack = wanted->stack;
	size_t depth = (size_t)stack->kernel_depth + stack->user_depth;

	return (there->process == stack->process || !stack->user_depth) &&
	       there->kernel_depth == stack->kernel_depth && there->user_depth == stack->user_depth &&
	       there->unwinder == stack->unwinder && there->ended == stack->ended &&
	       there->truncated == stack->truncated &&
	       !memcmp(wanted->stacks->frames + there->first, wanted->frames,
		       depth * sizeof(*wanted->frames));
}

/* Returns 0, -ENOSPC at the limit of frames, or -ENOMEM. */
static int make_room(struct stacks *stacks, uint32_t depth)
{
	if (stacks->frames_count + depth > FRAMES_KEPT_MAX)
		return -ENOSPC;
	return array_make_room(stacks->stacks, stacks->count, stacks->room, 1U) ||
			       array_make_room(stacks->frames, stacks->frames_count, stacks->frames_room,
					       depth)
		       ? -ENOMEM
		       : 0;
}

/* Appends the stack, for which there is room, and returns its position. */
static uint32_t append(struct stacks *stacks, const struct stack *stack, const uint64_t *frames)
{
	uint32_t depth = (uint32_t)stack->kernel_depth + stack->user_depth;

	memcpy(stacks->frames + stacks->frames_count, frames, depth * sizeof(*frames));
	stacks->stacks[stacks->count] = *stack;
	stacks->stacks[stacks->count].first = stacks->frames_count;
	stacks->frames_count += depth;
	return stacks->count++;
}

/* Finds or adds the stack, whose frames are kernel frames and then user frames. Its place and hash follow. */
static int intern(struct stacks *stacks, struct stack *stack, const uint64_t *frames, uint32_t *ret_stack)
{
	const struct wanted wanted = { stacks, stack, frames };
	uint32_t depth = (uint32_t)stack->kernel_depth + stack->user_depth, found;
	uint64_t process = stack->user_depth ? stack->process : 0;
	int result;

	stack->hash =
		hash_number_and_bytes(process << 32 | stack->kernel_depth, frames, depth * sizeof(frames[0]));
	found = hash_index_find(&stacks->index, stack->hash, is_wanted, &wanted);
	if (found != HASH_INDEX_NONE) {
		*ret_stack = found;
		return 0;
	}
	result = stacks->count == stacks->most ? -ENOSPC : make_room(stacks, depth);
	if (!result)
		result = hash_index_add(&stacks->index, stack->hash, stacks->count);
	if (!result)
		*ret_stack = append(stacks, stack, frames);
	return result;
}

int stacks_intern(struct stacks *stacks, uint32_t process, const struct sample *sample, uint32_t *ret_stack)
{
	uint64_t frames[FRAMES_MAX];
	struct stack stack = {
		.process = process,
		.kernel_depth = (uint16_t)(sample->kernel_depth > 0 ? sample->kernel_depth : 0),
		.user_depth = (uint16_t)(sample->user_depth > 0 ? sample->user_depth : 0),
	};
	uint32_t depth = 0;

	for (size_t i = 0; i < stack.kernel_depth; i++)
		frames[depth++] = (uint64_t)(int64_t)sample->kernel_frames[i];
	for (size_t i = 0; i < stack.user_depth; i++)
		frames[depth++] = sample->user_frames[i];
	if (stack.user_depth) {
		stack.unwinder = sample->unwinder;
		stack.ended = sample->user_ended;
	}
	stack.truncated = sample->kernel_depth == (int)SAMPLE_KERNEL_FRAMES ||
			  (stack.user_depth && stack.ended != UNWIND_ENDED_ROOT);
	return intern(stacks, &stack, frames, ret_stack);
}

int stacks_intern_look(struct stacks *stacks, uint32_t process, const int32_t *frames, uint32_t depth,
		       uint32_t *ret_stack)
{
	uint64_t wide[LOOK_FRAMES];
	struct stack stack = { .process = process, .truncated = depth == LOOK_FRAMES };

	for (; stack.kernel_depth < depth && stack.kernel_depth < LOOK_FRAMES; stack.kernel_depth++)
		wide[stack.kernel_depth] = (uint64_t)(int64_t)frames[stack.kernel_depth];
	return intern(stacks, &stack, wide, ret_stack);
}

int stacks_add_seen(struct stacks *stacks, uint32_t position, uint32_t sighting, uint32_t *ret_stack)
{
	struct stack stack = stacks->stacks[position];
	int result = make_room(stacks, (uint32_t)stack.kernel_depth + stack.user_depth);

	stack.sighting = sighting;
	if (!result)
		*ret_stack = append(stacks, &stack, stacks->frames + stack.first);
	return result;
}

void stacks_settle(struct stacks *stacks)
{
	hash_index_free(&stacks->index);
	array_fit(stacks->stacks, stacks->count, stacks->room);
	array_fit(stacks->frames, stacks->frames_count, stacks->frames_room);
}
