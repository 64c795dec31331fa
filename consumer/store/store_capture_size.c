/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/store/store_capture_size.h"

#include "common/base/cleanup.h"
#include "consumer/store/store_room.h"

#include <stdlib.h>

struct sizing {
	const struct stacks *stacks;
	const struct resolved *resolved;
};

/* Frame `number` of a stack, the outermost first. */
static uint32_t frame_from_outside(const struct sizing *sizing, uint32_t stack, uint32_t number)
{
	return sizing->resolved->of_stack_frame[sizing->stacks->stacks[stack].first +
						sizing->resolved->depths[stack] - 1 - number];
}

static uint32_t common_depth(const struct sizing *sizing, uint32_t one, uint32_t other)
{
	uint32_t depth = 0;

	while (depth < sizing->resolved->depths[one] && depth < sizing->resolved->depths[other] &&
	       frame_from_outside(sizing, one, depth) == frame_from_outside(sizing, other, depth))
		depth++;
	return depth;
}

static int compare_stacks(const void *a, const void *b, void *user)
{
	const struct sizing *sizing = user;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b,
		 depth = common_depth(sizing, left, right);

	if (depth == sizing->resolved->depths[left] || depth == sizing->resolved->depths[right])
		return sizing->resolved->depths[left] - sizing->resolved->depths[right];
	return frame_from_outside(sizing, left, depth) < frame_from_outside(sizing, right, depth) ? -1 : 1;
}

/* With the functions that are inlined there. */
static uint32_t frames_of_function(const struct resolved *resolved, uint32_t at)
{
	uint32_t count = 0;

	do
		count++;
	while ((at = resolved->frames[at].inner));
	return count;
}

/* The frames in the tree of all stacks, which holds those that several stacks share outside once. */
static uint64_t count_tree_frames(const struct capture *capture, const struct resolved *resolved)
{
	struct sizing sizing = { &capture->stacks, resolved };
	uint32_t stacks = capture->stacks.count;
	_cleanup_free_ uint32_t *order = calloc(stacks + 1UL, sizeof(*order));
	uint64_t count = 0;

	for (uint32_t i = 0; order && i < stacks; i++)
		order[i] = i;
	if (order)
		qsort_r(order, stacks, sizeof(*order), compare_stacks, &sizing);
	for (uint32_t i = 0; i < stacks; i++) {
		uint32_t stack = order ? order[i] : i;
		uint32_t depth = order && i ? common_depth(&sizing, order[i - 1], stack) : 0;

		for (; depth < resolved->depths[stack]; depth++)
			count += frames_of_function(resolved, frame_from_outside(&sizing, stack, depth));
	}
	return count;
}

/* Of samples with their times, each a text in its row; one that is long has pages of its own, the last of them not full. */
static uint64_t rows_bytes(const struct capture *capture)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < capture->rows_count; i++) {
		const struct capture_row *row = &capture->rows[i];
		uint64_t times = row->samples * (row->kind == SAMPLE_ON_CPU ? 10UL : 16UL);

		bytes += 64 + times + (times > STORE_PAGE_BYTES / 8 ? STORE_PAGE_BYTES : 0);
	}
	return bytes;
}

/* Bytes of a row of each table with its indices, and of each id in a stack: measured, with some room more (unit/store_limit). */
uint64_t store_capture_bytes(const struct capture *capture, const struct resolved *resolved)
{
	return rows_bytes(capture) + capture->wakes.count * 128UL + capture->growths.count * 48UL +
	       capture->thread_states.count * 128UL + capture->thread_states.seconds_count * 32UL +
	       capture->pressure.count * 64UL +
	       (capture->usage.count + capture->usage.ended_count + capture->usage.kills.count) * 192UL +
	       capture->accounts.victims_count * 512UL + capture->accounts.parties_count * 160UL +
	       capture->kernel_stats.count * 128UL + capture->stacks.count * 96UL +
	       count_tree_frames(capture, resolved) * 8UL + resolved->frames_count * 64UL +
	       resolved->names_bytes + resolved->modules_count * 256UL + capture->processes_count * 192UL;
}
