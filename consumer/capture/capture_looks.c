/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/capture/capture_looks.h"

#include "consumer/capture/capture_rows.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LOOK_STACKS_MAX 4096U /* of all, what looks may add: samples need the others */

/* Finds the stack of a look within the limits of looks, and within those of others if it is of one. */
static int find_look_stack(struct capture *capture, const struct thread_state *state, const int32_t *frames,
			   uint32_t depth, uint32_t *ret_stack)
{
	uint32_t stacks = capture->stacks.count, frames_before = capture->stacks.frames_count;
	bool closed = capture->look_stacks >= LOOK_STACKS_MAX || capture_is_full(capture, false) ||
		      (!state->of_target && capture_has_stacks_of_others(capture));
	int result;

	if (!depth) {
		*ret_stack = THREAD_STATE_NO_STACK;
		return 0;
	}
	capture->stacks.most = closed ? stacks : CAPTURE_STACKS_MAX;
	result = stacks_intern_look(&capture->stacks, state->process, frames, depth, ret_stack);
	capture->look_stacks += capture->stacks.count - stacks;
	if (!state->of_target) {
		capture->of_others.stacks += capture->stacks.count - stacks;
		capture->of_others.frames += capture->stacks.frames_count - frames_before;
	}
	return result;
}

static bool is_waiting(const struct look_record *record)
{
	return record->state == THREAD_DISK || record->state == THREAD_QUEUED;
}

/* Returns 0, also for a thread that the capture is not about, or a negative errno if it finds no room. */
static int add_look(const struct capture_adding *adding, const struct look_record *record,
		    const int32_t *frames)
{
	struct capture *capture = adding->capture;
	struct thread_state state = { .tid = record->tid,
				      .call = record->call,
				      .fd = record->fd,
				      .lock = record->lock,
				      .state = record->state };
	/* of others, the threads that wait for a resource are added, as those are that were sampled on CPU */
	struct sample sample = { .kind = is_waiting(record) ? SAMPLE_ON_CPU : SAMPLE_OFF_CPU,
				 .started_ns = record->started_ns,
				 .cgroup_id = record->cgroup_id,
				 .tgid = record->tgid,
				 .tid = record->tid,
				 .program = record->program,
				 .of = record->of };
	struct capture_adding of_look = *adding;
	int result;

	of_look.sample = &sample;
	memcpy(sample.comm, record->comm, sizeof(sample.comm));
	result = capture_find_process(&of_look, &state.process);
	if (result < 0)
		return result == -ENOENT ? 0 : result;
	state.of_target = capture->processes[state.process].role == USAGE_TARGET;
	if (state.of_target)
		thread_states_count(&capture->thread_states);
	snprintf(state.thread, sizeof(state.thread), "%s", record->comm);
	result = find_look_stack(capture, &state, frames, record->depth, &state.stack);
	if (!result && capture_is_full(capture, !state.of_target))
		result = -ENOSPC;
	return result < 0 ? result : thread_states_add(&capture->thread_states, &state);
}

void capture_add_looks(struct capture *capture, const struct looks *looks, uint64_t at_ns,
		       capture_describe describe, void *user)
{
	struct capture_adding adding = {
		.capture = capture, .describe = describe, .user = user, .cpu = CAPTURE_NO_CPU
	};

	if (at_ns < capture->trigger.triggered_ns || at_ns >= capture->planned_end_ns)
		return;
	capture->losses[LOSS_LOOKS] += looks->lost;
	if (thread_states_begin_look(&capture->thread_states, capture_second(capture, at_ns)) < 0) {
		capture->losses[LOSS_LOOKS] += looks->last.count;
		return;
	}
	for (uint32_t i = 0; i < looks->last.count; i++) {
		const struct look *look = &looks->last.looks[i];

		if (add_look(&adding, &look->record, looks->last.frames.all + look->first) < 0)
			capture->losses[LOSS_LOOKS]++;
	}
}
