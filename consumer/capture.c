/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/capture.h"

#include "common/array.h"

#include <string.h>

/* Bounds on what one capture may keep: some 16 MiB at the most. */
#define PROCESSES_MAX 16384U
#define STACKS_MAX 16384U
#define ROWS_MAX 131072U

const struct loss_reason loss_reasons[LOSS_REASONS] = {
	[LOSS_OVERWRITTEN] = { "overwritten-slots", "sample" },
	[LOSS_TORN] = { "torn-slots", "sample" },
	[LOSS_KERNEL_STACK] = { "kernel-stack-missing", "stack" },
	[LOSS_USER_STACK] = { "user-stack-missing", "stack" },
	[LOSS_NOT_TAKEN] = { "samples-not-taken", "sample" },
	[LOSS_TRUNCATED] = { "stack-truncated", "stack" },
	[LOSS_CAPTURE_FULL] = { "capture-full", "sample" },
	[LOSS_TARGETS_FULL] = { "targets-full", "process" },
	[LOSS_EVENTS] = { "events-lost", "event" },
	[LOSS_STALE_EVENTS] = { "stale-events", "event" },
	[LOSS_UNKNOWN_PROCESS] = { "unknown-process", "sample" },
	[LOSS_WATCH_SUPPRESSED] = { "watch-suppressed", "trigger" },
	[LOSS_CPUS_UNSAMPLED] = { "cpus-unsampled", "cpu" },
	[LOSS_UNRESOLVED_FRAMES] = { "frames-unresolved", "frame" },
};

const char *const trigger_mode_names[TRIGGER_MODES] = { "kernel", "sampled" };

struct capture *capture_begin(const struct capture_cause *cause, const struct rings *rings, uint64_t seed)
{
	struct capture *capture = calloc(1, sizeof(*capture));
	uint64_t wanted_ns = cause->triggered_ns - cause->history_ns;

	if (!capture)
		return NULL;
	capture->readers = calloc(rings->cpus, sizeof(*capture->readers));
	if (!capture->readers) {
		free(capture);
		return NULL;
	}
	capture->cause = *cause;
	capture->seed = seed;
	capture->readers_count = rings->cpus;
	stacks_init(&capture->stacks, seed, STACKS_MAX);
	capture->covered_from_ns = cause->history_ns > cause->triggered_ns || wanted_ns < rings->armed_ns
					   ? rings->armed_ns
					   : wanted_ns;
	for (uint32_t cpu = 0; cpu < rings->cpus; cpu++) {
		uint64_t oldest_ns;

		ring_begin(&capture->readers[cpu], rings->slots + (size_t)cpu * rings->slots_per_cpu,
			   rings->slots_per_cpu, &oldest_ns);
		if (oldest_ns > capture->covered_from_ns)
			capture->covered_from_ns = oldest_ns;
	}
	return capture;
}

void capture_free(struct capture *capture)
{
	if (!capture)
		return;
	for (uint32_t i = 0; i < capture->processes_count; i++)
		free(capture->processes[i].cgroup);
	free(capture->processes);
	hash_index_free(&capture->processes_index);
	stacks_free(&capture->stacks);
	free(capture->rows);
	hash_index_free(&capture->rows_index);
	free(capture->readers);
	free(capture->cause.cgroup);
	free(capture);
}

struct draining {
	struct capture *capture;
	capture_describe describe;
	void *user;
	const struct sample *sample;
};

static bool is_process(const void *user, uint32_t position)
{
	const struct draining *draining = user;
	const struct capture_process *process = &draining->capture->processes[position];

	return process->tgid == draining->sample->tgid &&
	       process->started_ns == draining->sample->started_ns &&
	       process->cgroup_id == draining->sample->cgroup_id;
}

static int find_process(struct draining *draining, uint32_t *ret_process)
{
	struct capture *capture = draining->capture;
	const struct sample *sample = draining->sample;
	struct capture_process process = { .tgid = sample->tgid,
					   .started_ns = sample->started_ns,
					   .cgroup_id = sample->cgroup_id };
	uint64_t key[3] = { sample->tgid, sample->started_ns, sample->cgroup_id };
	uint32_t hash = hash_bytes(capture->seed, key, sizeof(key));
	uint32_t found = hash_index_find(&capture->processes_index, hash, is_process, draining);
	int result;

	if (found != HASH_INDEX_NONE) {
		*ret_process = found;
		return 0;
	}
	if (capture->processes_count == PROCESSES_MAX)
		return -ENOSPC;
	if (array_make_room(capture->processes, capture->processes_count, capture->processes_room, 1U))
		return -ENOMEM;
	if (!draining->describe(draining->user, sample, &process))
		return -ESRCH;
	result = hash_index_add(&capture->processes_index, hash, capture->processes_count);
	if (result < 0) {
		free(process.cgroup);
		return result;
	}
	capture->processes[capture->processes_count] = process;
	*ret_process = capture->processes_count++;
	return 0;
}

struct wanted_row {
	const struct capture *capture;
	const struct capture_row *row;
};

static bool is_row(const void *user, uint32_t position)
{
	const struct wanted_row *wanted = user;
	const struct capture_row *there = &wanted->capture->rows[position], *row = wanted->row;

	return there->process == row->process && there->stack == row->stack && there->tid == row->tid &&
	       there->second == row->second && there->kind == row->kind && there->stall == row->stall;
}

static int add_sample(const struct draining *draining, uint32_t process)
{
	struct capture *capture = draining->capture;
	const struct sample *sample = draining->sample;
	int64_t relative_ns = (int64_t)(sample->time_ns - capture->cause.triggered_ns);
	struct capture_row row = {
		.process = process,
		.tid = sample->tid,
		.kind = sample->kind,
		.stall = sample->stall,
		.second = (int32_t)(relative_ns >= 0 ? relative_ns / 1000000000
						     : -((-relative_ns + 999999999) / 1000000000)),
	};
	struct wanted_row wanted = { capture, &row };
	uint32_t found, hash;
	int result = stacks_intern(&capture->stacks, process, sample, &row.stack);

	if (result < 0)
		return result;
	hash = hash_bytes(capture->seed,
			  (uint32_t[]){ row.process, row.stack, row.tid, (uint32_t)row.second,
					(uint32_t)row.kind << 8 | row.stall },
			  5 * sizeof(uint32_t));
	found = hash_index_find(&capture->rows_index, hash, is_row, &wanted);
	if (found == HASH_INDEX_NONE) {
		if (capture->rows_count == ROWS_MAX)
			return -ENOSPC;
		result = array_make_room(capture->rows, capture->rows_count, capture->rows_room, 1U);
		if (!result)
			result = hash_index_add(&capture->rows_index, hash, capture->rows_count);
		if (result < 0)
			return result;
		memcpy(row.thread, sample->comm, sizeof(row.thread));
		found = capture->rows_count++;
		capture->rows[found] = row;
	}
	capture->rows[found].samples++;
	capture->rows[found].weight_ns += sample->weight_ns;
	return 0;
}

static void take_sample(void *user, const struct sample *sample)
{
	struct draining *draining = user;
	struct capture *capture = draining->capture;
	uint32_t process;
	int result;

	if (sample->time_ns < capture->covered_from_ns ||
	    sample->time_ns >= capture->cause.triggered_ns + capture->cause.capture_ns)
		return;
	draining->sample = sample;
	result = find_process(draining, &process);
	if (result == -ESRCH) {
		capture->losses[LOSS_UNKNOWN_PROCESS]++;
		return;
	}
	if (!result && !capture->processes[process].included)
		return;
	if (!result)
		result = add_sample(draining, process);
	if (result < 0) {
		capture->losses[LOSS_CAPTURE_FULL]++;
		return;
	}
	capture->losses[LOSS_KERNEL_STACK] += sample->kernel_depth < 0;
	capture->losses[LOSS_USER_STACK] += sample->user_depth < 0;
	capture->losses[LOSS_TRUNCATED] += sample->kernel_depth == (int)SAMPLE_KERNEL_FRAMES ||
					   sample->user_depth == (int)SAMPLE_USER_FRAMES;
}

void capture_drain(struct capture *capture, capture_describe describe, void *user)
{
	struct draining draining = { .capture = capture, .describe = describe, .user = user };

	for (uint32_t i = 0; i < capture->readers_count; i++)
		ring_read(&capture->readers[i], take_sample, &draining);
}

bool capture_is_over(const struct capture *capture, uint64_t now_ns)
{
	return now_ns >= capture->cause.triggered_ns + capture->cause.capture_ns;
}

void capture_end(struct capture *capture, uint64_t now_ns, bool interrupted)
{
	uint64_t planned_ns = capture->cause.triggered_ns + capture->cause.capture_ns;

	for (uint32_t i = 0; i < capture->readers_count; i++) {
		capture->losses[LOSS_OVERWRITTEN] += capture->readers[i].lost - capture->readers[i].torn;
		capture->losses[LOSS_TORN] += capture->readers[i].torn;
	}
	capture->ended_ns = now_ns < planned_ns ? now_ns : planned_ns;
	capture->interrupted = interrupted;
}

uint64_t capture_history_ns(const struct capture *capture)
{
	return capture->cause.triggered_ns > capture->covered_from_ns
		       ? capture->cause.triggered_ns - capture->covered_from_ns
		       : 0;
}
