/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows how looks at threads add up: equal ones of a second to a row, and whole seconds to one row; that each look is in
 * exactly one row; and that others than targets have a limit of their own.
 */
#include "common/base/cleanup.h"
#include "consumer/capture/thread_states.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <errno.h>

static const struct thread_state sleeping = {
	.tid = 1, .call = 7, .fd = -1, .thread = "a", .state = THREAD_SLEEPING, .of_target = true
};

static void look(struct thread_states *states, int32_t second)
{
	ck_assert_int_eq(thread_states_begin_look(states, second), 0);
}

static void add(struct thread_states *states, struct thread_state state, uint8_t in_state)
{
	state.state = in_state;
	HOLDS(!thread_states_add(states, &state));
}

static void expect_row(const struct thread_states *states, uint32_t row, int32_t second, uint32_t seconds,
		       uint32_t samples, uint8_t in_state)
{
	const struct thread_state *there = &states->rows[row];

	ck_assert_uint_lt(row, states->count);
	ck_assert_int_eq(there->second, second);
	ck_assert_uint_eq(there->seconds, seconds);
	ck_assert_uint_eq(there->samples, samples);
	ck_assert_uint_eq(there->state, in_state);
}

START_TEST(whole_seconds_are_one_row)
{
	struct thread_states states = { 0 };

	/* of different numbers of looks, and second 3 has none */
	for (int32_t second = 0; second < 6; second++)
		for (int32_t i = 0; i <= second && second != 3; i++) {
			look(&states, second);
			add(&states, sleeping, THREAD_SLEEPING);
		}
	thread_states_settle(&states);
	ck_assert_uint_eq(states.count, 1);
	expect_row(&states, 0, 0, 6, 1 + 2 + 3 + 5 + 6, THREAD_SLEEPING);
	ck_assert_uint_eq(states.seconds_count, 5);
	ck_assert_int_eq(states.seconds[3].second, 4);
	ck_assert_uint_eq(states.seconds[3].looks, 5);
	thread_states_free(&states);
}
END_TEST

START_TEST(a_second_that_is_not_whole_has_a_row)
{
	struct thread_states states = { 0 };

	for (int32_t second = 0; second < 4; second++)
		for (int i = 0; i < 10; i++) {
			look(&states, second);
			add(&states, sleeping, second == 1 && i >= 4 ? THREAD_DISK : THREAD_SLEEPING);
		}
	thread_states_settle(&states);
	ck_assert_uint_eq(states.count, 4);
	expect_row(&states, 0, 0, 1, 10, THREAD_SLEEPING);
	expect_row(&states, 1, 1, 1, 4, THREAD_SLEEPING);
	expect_row(&states, 2, 1, 1, 6, THREAD_DISK);
	expect_row(&states, 3, 2, 2, 20, THREAD_SLEEPING);
	thread_states_free(&states);
}
END_TEST

START_TEST(a_thread_that_begins_within_a_second_has_a_row)
{
	struct thread_states states = { 0 };

	for (int i = 0; i < 20; i++) {
		look(&states, i / 10);
		if (i >= 5)
			add(&states, sleeping, THREAD_SLEEPING);
	}
	thread_states_settle(&states);
	ck_assert_uint_eq(states.count, 2);
	expect_row(&states, 0, 0, 1, 5, THREAD_SLEEPING);
	expect_row(&states, 1, 1, 1, 10, THREAD_SLEEPING);
	thread_states_free(&states);
}
END_TEST

static void other_process(struct thread_state *state)
{
	state->process++;
}

static void other_stack(struct thread_state *state)
{
	state->stack = THREAD_STATE_NO_STACK;
}

static void other_thread(struct thread_state *state)
{
	state->tid++;
}

static void other_name(struct thread_state *state)
{
	state->thread[0] = 'b';
}

static void other_call(struct thread_state *state)
{
	state->call = -1;
}

static void other_fd(struct thread_state *state)
{
	state->fd = 0;
}

static void other_lock(struct thread_state *state)
{
	state->lock = 1ULL << 63;
}

static void other_state(struct thread_state *state)
{
	state->state = THREAD_QUEUED;
}

static void (*const differences[])(struct thread_state *state) = { other_process, other_stack, other_thread,
								   other_name,    other_call,  other_fd,
								   other_lock,    other_state };

START_TEST(different_looks_stay_apart)
{
	struct thread_states states = { 0 };
	struct thread_state other = sleeping;

	differences[_i](&other);
	for (int32_t second = 0; second < 2; second++) {
		look(&states, second);
		HOLDS(!thread_states_add(&states, &sleeping) && !thread_states_add(&states, &other));
	}
	thread_states_settle(&states);
	ck_assert_uint_eq(states.count, 2);
	expect_row(&states, 0, 0, 2, 2, sleeping.state);
	expect_row(&states, 1, 0, 2, 2, other.state);
	thread_states_free(&states);
}
END_TEST

#define THREADS 30
#define SECONDS 40

/* Against the looks themselves: each row says for each of its seconds how many of the looks saw its thread so. */
START_TEST(random_looks_are_each_in_one_row)
{
	static uint8_t seen[THREADS][SECONDS][THREAD_STATES];
	struct dice dice = dice_new(0x100c5);
	struct thread_states states = { 0 };
	uint8_t now[THREADS] = { 0 };

	for (int32_t second = 0; second < SECONDS; second++)
		for (uint32_t i = dice_below(&dice, 8); i > 0; i--) {
			look(&states, second);
			for (uint32_t thread = 0; thread < THREADS; thread++) {
				struct thread_state state = sleeping;

				state.tid = thread;
				state.of_target = thread % 2;
				if (!dice_below(&dice, 30))
					now[thread] = (uint8_t)dice_below(&dice, THREAD_STATES);
				if (!dice_below(&dice, 50))
					continue;
				add(&states, state, now[thread]);
				seen[thread][second][now[thread]]++;
			}
		}
	thread_states_settle(&states);
	ck_assert_uint_lt(states.count, THREADS * SECONDS);
	for (uint32_t i = 0; i < states.count; i++) {
		const struct thread_state *row = &states.rows[i];
		uint32_t samples = 0;

		for (uint32_t j = 0; j < states.seconds_count; j++) {
			const struct look_second *second = &states.seconds[j];
			uint8_t *there = &seen[row->tid][second->second][row->state];

			if (second->second < row->second ||
			    second->second >= row->second + (int32_t)row->seconds)
				continue;
			HOLDS(row->seconds == 1 || *there == second->looks);
			samples += *there;
			*there = 0;
		}
		HOLDS(samples == row->samples);
	}
	for (uint32_t i = 0; i < sizeof(seen); i++)
		HOLDS(!((uint8_t *)seen)[i]);
	thread_states_free(&states);
}
END_TEST

START_TEST(rows_are_limited)
{
	struct thread_states states = { 0 };
	struct thread_state state = sleeping;
	uint32_t others = 0, all = 0;

	look(&states, 0);
	state.of_target = false;
	for (state.tid = 0; thread_states_add(&states, &state) == 0; state.tid++)
		others++;
	state.of_target = true;
	for (; thread_states_add(&states, &state) == 0; state.tid++)
		all++;
	all += others;
	ck_assert_uint_eq(others, 2048);
	ck_assert_uint_eq(all, 8192);
	ck_assert_int_eq(thread_states_add(&states, &state), -ENOSPC);
	/* those that are there go on; what changes finds no room */
	for (int32_t second = 1; second < 3; second++) {
		look(&states, second);
		for (state.tid = 0; state.tid < all; state.tid++) {
			state.of_target = state.tid >= others;
			HOLDS(!thread_states_add(&states, &state));
		}
		state.call = 8;
		ck_assert_int_eq(thread_states_add(&states, &state), -ENOSPC);
		state.call = sleeping.call;
	}
	look(&states, 2);
	ck_assert_uint_eq(states.lost, 0);
	thread_states_settle(&states);
	ck_assert_uint_eq(states.count, 8192);
	ck_assert_uint_eq(states.of_others, 2048);
	expect_row(&states, 8191, 0, 2, 2, sleeping.state);
	ck_assert_uint_eq(states.lost, 8192);
	thread_states_free(&states);
}
END_TEST

START_TEST(without_looks_there_is_nothing)
{
	struct thread_states states = { 0 };

	thread_states_settle(&states);
	ck_assert_uint_eq(states.count, 0);
	thread_states_free(&states);
}
END_TEST

SUITE(thread_states)
{
	Suite *suite = suite_create("thread_states");
	TCase *tests = tcase_create("thread_states");

	tcase_add_test(tests, whole_seconds_are_one_row);
	tcase_add_test(tests, a_second_that_is_not_whole_has_a_row);
	tcase_add_test(tests, a_thread_that_begins_within_a_second_has_a_row);
	tcase_add_loop_test(tests, different_looks_stay_apart, 0, ARRAY_SIZE(differences));
	tcase_add_test(tests, random_looks_are_each_in_one_row);
	tcase_add_test(tests, rows_are_limited);
	tcase_add_test(tests, without_looks_there_is_nothing);
	suite_add_tcase(suite, tests);
	return suite;
}
