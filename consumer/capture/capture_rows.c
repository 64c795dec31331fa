/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/capture/capture_rows.h"

#include "common/base/array.h"
#include "common/base/shared_text.h"

#include <string.h>

/* Limits on one capture: with CAPTURE_STACKS_MAX and those of wakes.c about 20 MiB. */
#define PROCESSES_MAX 16384U
#define ROWS_MAX 131072U
/* Of these, what others than targets may have: about 0.8 MiB. */
#define OTHERS_PROCESSES_MAX 512U
#define OTHERS_STACKS_MAX 2048U
#define OTHERS_FRAMES_MAX 32768U
#define OTHERS_ROWS_MAX 8192U
#define EVENTS_MAX 262144U /* beyond, samples count without their time */

bool capture_has_stacks_of_others(const struct capture *capture)
{
	return capture->of_others.stacks >= OTHERS_STACKS_MAX ||
	       capture->of_others.frames >= OTHERS_FRAMES_MAX || capture_is_full(capture, true);
}

static bool is_process(const void *user, uint32_t position)
{
	const struct capture_adding *adding = user;
	const struct capture_process *process = &adding->capture->processes[position];

	return process->tgid == adding->sample->tgid && process->started_ns == adding->sample->started_ns &&
	       process->cgroup_id == adding->sample->cgroup_id && process->program == adding->sample->program;
}

static int add_process(struct capture_adding *adding, uint32_t hash, struct capture_process process)
{
	struct capture *capture = adding->capture;
	int result = capture->processes_count == PROCESSES_MAX || capture_is_full(capture, false) ? -ENOSPC
												  : 0;

	if (!result)
		result = array_make_room(capture->processes, capture->processes_count,
					 capture->processes_room, 1U);
	if (!result)
		result = hash_index_add(&capture->processes_index, hash, capture->processes_count);
	if (result < 0)
		return result;
	process.cgroup = shared_text_new(process.cgroup);
	capture->processes[capture->processes_count++] = process;
	return 0;
}

/* The capture's row for a process to which the rule does not apply, if there is room for such ones. */
static int add_other(struct capture_adding *adding, uint32_t hash, struct capture_process process)
{
	struct capture *capture = adding->capture;
	int result = capture->of_others.processes == OTHERS_PROCESSES_MAX || capture_is_full(capture, true)
			     ? -ENOSPC
			     : 0;

	if (result < 0)
		return result;
	result = add_process(adding, hash, process);
	capture->of_others.processes += !result;
	return result;
}

int capture_find_process(struct capture_adding *adding, uint32_t *ret_process)
{
	struct capture *capture = adding->capture;
	const struct sample *sample = adding->sample;
	struct capture_process process = { .tgid = sample->tgid,
					   .started_ns = sample->started_ns,
					   .cgroup_id = sample->cgroup_id,
					   .program = sample->program };
	uint64_t key[3] = { (uint64_t)sample->program << 32 | sample->tgid, sample->started_ns,
			    sample->cgroup_id };
	uint32_t hash = hash_bytes(key, sizeof(key));
	uint32_t found = hash_index_find(&capture->processes_index, hash, is_process, adding);
	const struct capture_other looked_up = { sample->started_ns, sample->cgroup_id, sample->tgid,
						 sample->program };
	struct capture_other *other = &capture->others[hash % CAPTURE_OTHERS];
	int result;

	if (found != HASH_INDEX_NONE) {
		*ret_process = found;
		return sample->kind == SAMPLE_ON_CPU || capture->processes[found].role == USAGE_TARGET
			       ? 0
			       : -ENOENT;
	}
	if (sample->kind != SAMPLE_ON_CPU && !memcmp(other, &looked_up, sizeof(looked_up)))
		return -ENOENT;
	if (!adding->describe(adding->user, sample, &process))
		return -ESRCH;
	*ret_process = capture->processes_count;
	if (process.role != USAGE_TARGET && sample->kind == SAMPLE_ON_CPU) {
		result = add_other(adding, hash, process);
		capture->losses[LOSS_OTHERS_FULL] += result < 0;
		return result < 0 ? -ENOENT : 0;
	}
	if (process.role != USAGE_TARGET) {
		*other = looked_up;
		return -ENOENT;
	}
	return add_process(adding, hash, process);
}

/* Whether there is room for another row of a target, or of another process. */
static bool may_add_row(const struct capture *capture, bool of_other)
{
	if (of_other && (capture->of_others.rows >= OTHERS_ROWS_MAX || capture_is_full(capture, true)))
		return false;
	return capture->rows_count < ROWS_MAX && !capture_is_full(capture, false);
}

int capture_add_row(struct capture *capture, const struct capture_row *row, uint32_t *ret_row)
{
	bool of_other = capture->processes[row->process].role != USAGE_TARGET;
	const struct hash_keys keys = HASH_KEYS_BEFORE(capture->rows, thread);
	uint32_t found = hash_index_find_key(&capture->rows_index, keys, row);
	int result;

	if (found != HASH_INDEX_NONE) {
		capture->rows[found].samples += row->samples;
		capture->rows[found].weight_ns += row->weight_ns;
		*ret_row = found;
		return 0;
	}
	if (!may_add_row(capture, of_other))
		return -ENOSPC;
	result = hash_index_intern(&capture->rows_index, keys, capture->rows, capture->rows_count,
				   capture->rows_room, row, ret_row);
	if (result < 0)
		return result;
	capture->rows[*ret_row] = *row;
	capture->of_others.rows += of_other;
	return 0;
}

int32_t capture_second(const struct capture *capture, uint64_t time_ns)
{
	int64_t relative_ns = (int64_t)(time_ns - capture->trigger.triggered_ns), second_ns = 1000000000;

	return (int32_t)((relative_ns >= 0 ? relative_ns : relative_ns - second_ns + 1) / second_ns);
}

/* Floors, also before the trigger. */
static int64_t milliseconds_of(const struct capture *capture, uint64_t time_ns)
{
	int64_t relative_ns = (int64_t)(time_ns - capture->trigger.triggered_ns);

	return (relative_ns - (relative_ns < 0 ? 999999 : 0)) / 1000000;
}

int capture_add_event(const struct capture_adding *adding, uint32_t row, uint64_t begin_ns, uint64_t at_ns)
{
	struct capture *capture = adding->capture;
	int64_t second_ms = capture->rows[row].second * 1000LL;
	int64_t begin_ms = milliseconds_of(capture, begin_ns) - second_ms;

	if (capture->events_count == EVENTS_MAX || capture_is_full(capture, false))
		return 0;
	if (array_make_room(capture->events, capture->events_count, capture->events_room, 1U))
		return -ENOMEM;
	capture->events[capture->events_count++] =
		(struct capture_event){ .row = row,
					/* 24 days at most */
					.begin_ms = (int32_t)(begin_ms < INT32_MIN ? INT32_MIN : begin_ms),
					.at_ms = (int16_t)(milliseconds_of(capture, at_ns) - second_ms),
					.cpu = adding->cpu };
	return 0;
}
