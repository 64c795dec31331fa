/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that each distinct stack of a process is kept once and can be read back: what makes two stacks
 * different, which stacks are missing, the limits, and thousands of random stacks compared with a plain list.
 */
#include "common/base/cleanup.h"
#include "consumer/capture/stacks.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <string.h>

static uint32_t intern(struct stacks *stacks, uint32_t process, const struct sample *sample)
{
	uint32_t position = UINT32_MAX;

	HOLDS(stacks_intern(stacks, process, sample, &position) == 0);
	HOLDS(position < stacks->count);
	return position;
}

START_TEST(the_same_stack_is_kept_once)
{
	struct sample sample = sample_make(1, 1, 5, 7, 0x1000), later = sample_make(2, 99, 5, 7, 0x1000);
	struct stacks stacks;
	uint32_t first;

	stacks_init(&stacks, 10);
	later.tid = 77;
	later.user_frames[7] = 1; /* above the depth of the stack: no frame of it */
	later.kernel_frames[5] = 1;
	first = intern(&stacks, 3, &sample);
	ck_assert_uint_eq(intern(&stacks, 3, &later), first);
	ck_assert_uint_eq(stacks.count, 1);
	ck_assert_uint_eq(stacks.frames_count, 12);
	stacks_free(&stacks);
}
END_TEST

START_TEST(frames_come_back_as_they_were)
{
	struct sample sample = sample_make(1, 1, 3, 2, 0);
	struct stacks stacks;
	const struct stack *stack;
	const uint64_t *frames;

	stacks_init(&stacks, 10);
	sample.kernel_frames[0] = 0x1234;
	sample.kernel_frames[1] = -16; /* modules lie before _text */
	sample.kernel_frames[2] = KERNEL_FRAME_UNKNOWN;
	sample.user_frames[0] = UINT64_MAX;
	sample.user_frames[1] = 0x7fff00001234;
	intern(&stacks, 9, &sample);
	stack = &stacks.stacks[0];
	frames = stacks.frames + stack->first;
	ck_assert_uint_eq(stack->process, 9);
	ck_assert_uint_eq(stack->kernel_depth, 3);
	ck_assert_uint_eq(stack->user_depth, 2);
	ck_assert_uint_eq(stack->unwinder, UNWINDER_FRAME_POINTER);
	ck_assert(!stack->truncated);
	ck_assert_int_eq((int64_t)frames[0], 0x1234);
	ck_assert_int_eq((int64_t)frames[1], -16);
	ck_assert_int_eq((int64_t)frames[2], -2147483648L);
	ck_assert_uint_eq(frames[3], UINT64_MAX);
	ck_assert_uint_eq(frames[4], 0x7fff00001234);
	stacks_free(&stacks);
}
END_TEST

struct pair_case {
	uint32_t process;
	int kernel_depth, user_depth;
	uint8_t unwinder;
	uint64_t frames;
	uint8_t ended;
	bool same; /* { 1, 2, 2, frame pointer, 0x1000, root } */
};

static const struct pair_case pair_cases[] = {
	{ 1, 2, 2, UNWINDER_FRAME_POINTER, 0x1000, UNWIND_ENDED_ROOT, true },
	{ 1, 2, 2, UNWINDER_FRAME_POINTER, 0x1000, UNWIND_ENDED_MEMORY, false },
	{ 2, 2, 2, UNWINDER_FRAME_POINTER, 0x1000, UNWIND_ENDED_ROOT, false },
	{ 1, 2, 2, UNWINDER_EH_FRAME, 0x1000, UNWIND_ENDED_ROOT, false },
	{ 1, 2, 2, UNWINDER_FRAME_POINTER, 0x1001, UNWIND_ENDED_ROOT, false },
	{ 1, 1, 2, UNWINDER_FRAME_POINTER, 0x1000, UNWIND_ENDED_ROOT, false },
	{ 1, 2, 1, UNWINDER_FRAME_POINTER, 0x1000, UNWIND_ENDED_ROOT, false },
	{ 1, 0, 2, UNWINDER_FRAME_POINTER, 0x1000, UNWIND_ENDED_ROOT, false },
	{ 1, 2, 0, UNWINDER_FRAME_POINTER, 0x1000, UNWIND_ENDED_ROOT, false },
	{ 1, 2, -EFAULT, UNWINDER_FRAME_POINTER, 0x1000, UNWIND_ENDED_ROOT, false },
};

START_TEST(differences_that_make_two_stacks)
{
	const struct pair_case *one = &pair_cases[_i];
	struct sample first = sample_make(1, 1, 2, 2, 0x1000);
	struct sample second = sample_make(1, 1, one->kernel_depth, one->user_depth, one->frames);
	struct stacks stacks;

	stacks_init(&stacks, 10);
	second.unwinder = one->unwinder;
	second.user_ended = one->ended;
	ck_assert_uint_eq(intern(&stacks, 1, &first), 0);
	ck_assert_uint_eq(intern(&stacks, one->process, &second), one->same ? 0 : 1);
	stacks_free(&stacks);
}
END_TEST

/* Four kernel frames, and two kernel frames with two user frames of the same numbers, are two stacks. */
START_TEST(kernel_and_user_frames_are_not_mixed_up)
{
	struct sample kernel = sample_make(1, 1, 4, 0, 0x10), both = sample_make(1, 1, 2, 2, 0x10);
	struct sample user = sample_make(1, 1, 0, 4, 0x10);
	struct stacks stacks;

	both.user_frames[0] = 0x12;
	both.user_frames[1] = 0x13;
	kernel.unwinder = both.unwinder = user.unwinder = UNWINDER_FRAME_POINTER;
	stacks_init(&stacks, 10);
	intern(&stacks, 1, &kernel);
	intern(&stacks, 1, &both);
	intern(&stacks, 1, &user);
	ck_assert_uint_eq(stacks.count, 3);
	ck_assert_uint_eq(stacks.stacks[0].unwinder, 0); /* no unwinder ran */
	stacks_free(&stacks);
}
END_TEST

START_TEST(a_missing_stack_has_no_frames)
{
	static const int depths[] = { 0, -1, -EFAULT, INT16_MIN };
	struct stacks stacks;

	stacks_init(&stacks, 10);
	for (size_t i = 0; i < ARRAY_SIZE(depths); i++) {
		struct sample sample = sample_make(1, 1, depths[i], depths[ARRAY_SIZE(depths) - 1 - i], 1);

		ck_assert_uint_eq(intern(&stacks, 1, &sample), 0);
	}
	ck_assert_uint_eq(stacks.count, 1);
	ck_assert_uint_eq(stacks.frames_count, 0);
	ck_assert_uint_eq(stacks.stacks[0].unwinder, 0);
	ck_assert(!stacks.stacks[0].truncated);
	stacks_free(&stacks);
}
END_TEST

/* A stack that ends elsewhere lacks the frames above. */
START_TEST(a_stack_is_whole_if_it_ends_at_the_root)
{
	for (uint8_t ended = 0; ended <= UNWIND_ENDED_POLICY; ended++) {
		struct sample sample = sample_make(1, 1, 1, 3, 1);
		struct stacks stacks;

		stacks_init(&stacks, 10);
		sample.user_ended = ended;
		intern(&stacks, 1, &sample);
		ck_assert_uint_eq(stacks.stacks[0].ended, ended);
		ck_assert_int_eq(stacks.stacks[0].truncated, ended != UNWIND_ENDED_ROOT);
		stacks_free(&stacks);
	}
}
END_TEST

START_TEST(a_full_slot_is_truncated)
{
	struct sample kernel = sample_make(1, 1, SAMPLE_KERNEL_FRAMES, 1, 1);
	struct sample user = sample_make(1, 1, 1, SAMPLE_USER_FRAMES, 1);
	struct sample neither = sample_make(1, 1, SAMPLE_KERNEL_FRAMES - 1, SAMPLE_USER_FRAMES - 1, 1);
	struct stacks stacks;

	stacks_init(&stacks, 10);
	intern(&stacks, 1, &kernel);
	intern(&stacks, 1, &user);
	intern(&stacks, 1, &neither);
	ck_assert(stacks.stacks[0].truncated);
	ck_assert(stacks.stacks[1].truncated);
	ck_assert(!stacks.stacks[2].truncated);
	stacks_free(&stacks);
}
END_TEST

START_TEST(there_is_a_limit)
{
	struct stacks stacks;
	uint32_t position = 42;

	stacks_init(&stacks, 3);
	for (uint64_t i = 0; i < 3; i++) {
		struct sample sample = sample_make(1, 1, 0, 1, i);

		intern(&stacks, 1, &sample);
	}
	for (uint64_t i = 0; i < 5; i++) {
		struct sample sample = sample_make(1, 1, 0, 1, i);

		ck_assert_int_eq(stacks_intern(&stacks, 1, &sample, &position), i < 3 ? 0 : -ENOSPC);
		ck_assert_uint_eq(position, i < 3 ? i : 2);
	}
	ck_assert_uint_eq(stacks.count, 3);
	stacks_free(&stacks);
	stacks_free(&stacks);
}
END_TEST

/* All stacks together keep at most so many frames, and these stay readable. */
START_TEST(there_is_a_limit_of_frames)
{
	struct sample sample = sample_make(1, 1, 0, SAMPLE_USER_FRAMES, 0);
	struct stacks stacks;
	uint32_t position;
	int result = 0;

	stacks_init(&stacks, UINT32_MAX);
	for (uint64_t i = 0; i < 1 << 20 && !result; i++) {
		sample.user_frames[0] = i;
		result = stacks_intern(&stacks, 1, &sample, &position);
	}
	ck_assert_int_eq(result, -ENOSPC);
	ck_assert_uint_gt(stacks.frames_count, 100000);
	ck_assert_uint_le(stacks.frames_count, 256 << 10);
	sample.user_frames[0] = 5;
	ck_assert_uint_eq(intern(&stacks, 1, &sample), 5);
	stacks_free(&stacks);
}
END_TEST

/* About 7 pairs of them have equal hashes; a look-up that compares hashes only would mix them up. */
START_TEST(stacks_with_equal_hashes_are_kept_apart)
{
	struct sample sample = sample_make(1, 1, 0, 1, 0);
	struct stacks stacks;

	stacks_init(&stacks, UINT32_MAX);
	for (uint32_t process = 0; process < 250000; process++)
		HOLDS(intern(&stacks, process, &sample) == process);
	stacks_free(&stacks);
}
END_TEST

/* ---- random stacks ---- */

#define KEPT_MAX 6000U

struct kept {
	uint32_t process;
	struct sample sample;
};

static bool is_same(const struct kept *kept, uint32_t process, const struct sample *sample)
{
	size_t kernel = sample->kernel_depth > 0 ? (size_t)sample->kernel_depth : 0;
	size_t user = sample->user_depth > 0 ? (size_t)sample->user_depth : 0;

	return (!user || kept->process == process) &&
	       (kept->sample.kernel_depth > 0 ? kept->sample.kernel_depth : 0) == (int)kernel &&
	       (kept->sample.user_depth > 0 ? kept->sample.user_depth : 0) == (int)user &&
	       (!user || kept->sample.unwinder == sample->unwinder) &&
	       !memcmp(kept->sample.kernel_frames, sample->kernel_frames, kernel * sizeof(__s32)) &&
	       !memcmp(kept->sample.user_frames, sample->user_frames, user * sizeof(__u64));
}

/* Few frames and small depths make equal stacks likely; some stacks are deep. */
static struct sample random_sample(struct dice *dice)
{
	bool deep = !dice_below(dice, 8);
	struct sample sample = sample_make(1, 1, (int)dice_below(dice, deep ? 65 : 4),
					   (int)dice_below(dice, deep ? 128 : 6), 0);

	for (int i = 0; i < sample.kernel_depth; i++)
		sample.kernel_frames[i] = -(int32_t)dice_below(dice, deep ? 1000 : 3);
	for (int i = 0; i < sample.user_depth; i++)
		sample.user_frames[i] = dice_below(dice, deep ? 1000 : 3);
	sample.unwinder = (uint8_t)(1 + dice_below(dice, 2));
	if (!dice_below(dice, 20))
		sample.user_depth = -EFAULT;
	return sample;
}

START_TEST(random_stacks_against_a_list)
{
	struct kept *kept = calloc(KEPT_MAX, sizeof(*kept));
	struct dice dice = dice_new(3);
	struct stacks stacks;
	uint32_t count = 0;

	ck_assert_ptr_nonnull(kept);
	stacks_init(&stacks, KEPT_MAX);
	for (int i = 0; i < 20000 && count < KEPT_MAX; i++) {
		struct sample sample = random_sample(&dice);
		uint32_t process = dice_below(&dice, 3), expected = 0,
			 found = intern(&stacks, process, &sample);

		while (expected < count && !is_same(&kept[expected], process, &sample))
			expected++;
		HOLDS(found == expected);
		if (expected == count)
			kept[count++] = (struct kept){ process, sample };
		HOLDS(stacks.count == count);
	}
	ck_assert_uint_gt(count, 1000);
	for (uint32_t i = 0; i < count; i++) {
		const struct stack *stack = &stacks.stacks[i];
		const uint64_t *frames = stacks.frames + stack->first;

		for (uint32_t j = 0; j < stack->kernel_depth; j++)
			HOLDS((int64_t)frames[j] == kept[i].sample.kernel_frames[j]);
		HOLDS(!memcmp(frames + stack->kernel_depth, kept[i].sample.user_frames,
			      stack->user_depth * sizeof(*frames)));
	}
	stacks_free(&stacks);
	free(kept);
}
END_TEST

SUITE(stacks)
{
	Suite *suite = suite_create("stacks");
	TCase *stacks = tcase_create("stacks");

	tcase_add_test(stacks, the_same_stack_is_kept_once);
	tcase_add_test(stacks, frames_come_back_as_they_were);
	tcase_add_loop_test(stacks, differences_that_make_two_stacks, 0, ARRAY_SIZE(pair_cases));
	tcase_add_test(stacks, kernel_and_user_frames_are_not_mixed_up);
	tcase_add_test(stacks, a_missing_stack_has_no_frames);
	tcase_add_test(stacks, a_stack_is_whole_if_it_ends_at_the_root);
	tcase_add_test(stacks, a_full_slot_is_truncated);
	tcase_add_test(stacks, there_is_a_limit);
	tcase_add_test(stacks, there_is_a_limit_of_frames);
	tcase_add_test(stacks, stacks_with_equal_hashes_are_kept_apart);
	tcase_add_test(stacks, random_stacks_against_a_list);
	suite_add_tcase(suite, stacks);
	return suite;
}
