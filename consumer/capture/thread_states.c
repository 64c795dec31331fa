/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/capture/thread_states.h"

#include "common/base/array.h"

#define ROWS_MAX 8192U /* 600 KiB */
#define OTHERS_ROWS_MAX 2048U

void thread_states_free(struct thread_states *states)
{
	free(states->rows);
	free(states->seconds);
	hash_index_free(&states->index);
	hash_index_free(&states->whole);
	*states = (struct thread_states){ 0 };
}

#define ROW_KEYS(states) HASH_KEYS_BEFORE((states)->rows, of_target)

/*
 * Joins a row that was so in all looks of the second to the row of the seconds before, if that was, too; else keeps it.
 * Returns the place of the row, or HASH_INDEX_NONE if there is no room for it.
 */
static uint32_t settle_row(struct thread_states *states, const struct thread_state *row, bool is_whole,
			   int32_t second)
{
	uint32_t at = is_whole ? hash_index_find_key(&states->whole, ROW_KEYS(states), row) : HASH_INDEX_NONE;

	if (at != HASH_INDEX_NONE) {
		/* seconds without a look do not tell otherwise */
		states->rows[at].seconds = (uint32_t)(second - states->rows[at].second) + 1;
		states->rows[at].samples += row->samples;
	} else if (states->count < ROWS_MAX) {
		at = states->count++;
		states->rows[at] = *row;
		return at;
	} else {
		states->lost += row->samples;
	}
	states->of_others -= !row->of_target;
	return at;
}

/* Without memory for the index, equal seconds stay rows of their own. */
static void end_second(struct thread_states *states)
{
	const struct look_second *second = &states->seconds[states->seconds_count - 1];
	uint32_t count = states->count;
	struct hash_index whole = { 0 };

	states->count = states->settled;
	for (uint32_t i = states->settled; i < count; i++) {
		const struct thread_state row = states->rows[i];
		bool is_whole = row.samples == second->looks;
		uint32_t at = settle_row(states, &row, is_whole, second->second);

		if (is_whole && at != HASH_INDEX_NONE)
			hash_index_add_key(&whole, ROW_KEYS(states), at);
	}
	states->settled = states->count;
	states->continuing = 0;
	hash_index_free(&states->index);
	hash_index_free(&states->whole);
	states->whole = whole;
}

int thread_states_begin_look(struct thread_states *states, int32_t second)
{
	struct look_second *last = states->seconds_count ? &states->seconds[states->seconds_count - 1] : NULL;

	if (last && second <= last->second) {
		last->looks++;
		return 0;
	}
	if (array_make_room(states->seconds, states->seconds_count, states->seconds_room, 1U))
		return -ENOMEM;
	if (last)
		end_second(states);
	states->seconds[states->seconds_count++] = (struct look_second){ .second = second, .looks = 1 };
	return 0;
}

void thread_states_count(struct thread_states *states)
{
	states->seconds[states->seconds_count - 1].threads++;
}

int thread_states_add(struct thread_states *states, const struct thread_state *state)
{
	uint32_t found = hash_index_find_key(&states->index, ROW_KEYS(states), state);
	bool continues;
	int result;

	if (found != HASH_INDEX_NONE) {
		states->rows[found].samples++;
		return 0;
	}
	continues = hash_index_find_key(&states->whole, ROW_KEYS(states), state) != HASH_INDEX_NONE;
	if (!continues && (states->count - states->continuing >= ROWS_MAX ||
			   (!state->of_target && states->of_others >= OTHERS_ROWS_MAX)))
		return -ENOSPC;
	result = hash_index_intern(&states->index, ROW_KEYS(states), states->rows, states->count,
				   states->room, state, &found);
	if (result < 0)
		return result;
	states->rows[found] = *state;
	states->rows[found].second = states->seconds[states->seconds_count - 1].second;
	states->rows[found].seconds = states->rows[found].samples = 1;
	states->continuing += continues;
	states->of_others += !state->of_target;
	return 0;
}

void thread_states_settle(struct thread_states *states)
{
	if (states->seconds_count)
		end_second(states);
	hash_index_free(&states->index);
	hash_index_free(&states->whole);
	array_fit(states->rows, states->count, states->room);
	array_fit(states->seconds, states->seconds_count, states->seconds_room);
}
