/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads any bytes as two looks at the threads, each as a stream of the iterator `states` that is cut somewhere, and adds
 * them to what a capture has seen. Each record is kept, counted as lost, or ends the look.
 */
#include "consumer/capture/thread_states.h"
#include "consumer/host/looks.h"
#include "tests/fuzz/fuzz.h"

#include <errno.h>

/* Returns false for a damaged stream. Its last byte says where it is cut. */
static bool take(struct looks *looks, const uint8_t *data, size_t bytes)
{
	size_t cut = bytes ? data[bytes - 1] % bytes : 0;
	char *records = malloc(bytes + 1);
	long first, rest;

	HOLDS(records);
	memcpy(records, data, bytes);
	looks_begin(looks);
	first = looks_add(looks, records, cut);
	HOLDS(first == -EBADMSG || (first >= 0 && (size_t)first <= cut));
	rest = first < 0 ? first : looks_add(looks, records + first, bytes - (size_t)first);
	HOLDS(rest == -EBADMSG || (rest >= 0 && (size_t)rest <= bytes - (size_t)first));
	free(records);
	return rest >= 0;
}

/* Returns the number of looks at threads. */
static uint64_t add(struct thread_states *states, const struct looks *looks, int32_t second)
{
	uint64_t added = 0;

	HOLDS(!thread_states_begin_look(states, second));
	for (uint32_t i = 0; i < looks->last.count; i++) {
		const struct look_record *record = &looks->last.looks[i].record;
		struct thread_state state = { .tid = record->tid,
					      .call = record->call,
					      .fd = record->fd,
					      .lock = record->lock,
					      .state = record->state,
					      .of_target = record->of == SAMPLE_OF_TARGET };

		HOLDS(memchr(record->comm, '\0', sizeof(record->comm)));
		HOLDS(record->state < THREAD_STATES && record->depth <= LOOK_FRAMES);
		HOLDS(looks->last.looks[i].first + record->depth <= looks->last.frames.count);
		snprintf(state.thread, sizeof(state.thread), "%s", record->comm);
		added += !thread_states_add(states, &state);
	}
	return added;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct looks looks = { .lost = 0 };
	struct thread_states states = { .count = 0 };
	size_t half = bytes / 2;
	uint64_t added = 0, rows = 0;

	for (int32_t look = 0; look < 4; look++) {
		bool is_second = look & 1;

		if (!take(&looks, is_second ? data + half : data, is_second ? bytes - half : half))
			looks_free(&looks);
		added += add(&states, &looks, look / 2);
	}
	thread_states_settle(&states);
	for (uint32_t i = 0; i < states.count; i++)
		rows += states.rows[i].samples;
	HOLDS(rows + states.lost == added);
	thread_states_free(&states);
	looks_free(&looks);
	return 0;
}
