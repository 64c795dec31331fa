/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/capture/capture.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/base/numbers.h"
#include "common/base/shared_text.h"
#include "consumer/process/user_names.h"

#include <stdio.h>
#include <string.h>

/* Limits on one capture: with those of wakes.c about 20 MiB. */
#define PROCESSES_MAX 16384U
#define STACKS_MAX 16384U
#define ROWS_MAX 131072U
/* Of these, what others than targets may have: about 0.8 MiB. */
#define OTHERS_PROCESSES_MAX 512U
#define OTHERS_STACKS_MAX 2048U
#define OTHERS_FRAMES_MAX 32768U
#define OTHERS_ROWS_MAX 8192U
#define LOOK_STACKS_MAX 4096U /* of all, what looks may add: samples need the others */
#define EVENTS_MAX 262144U    /* beyond, samples count without their time */
#define INDEX_BYTES 12U       /* of an element in a hash_index */

const struct loss_reason loss_reasons[LOSS_REASONS] = {
	[LOSS_OVERWRITTEN] = { "overwritten-slots", "sample" },
	[LOSS_TORN] = { "torn-slots", "sample" },
	[LOSS_KERNEL_STACK] = { "kernel-stack-missing", "stack" },
	[LOSS_USER_STACK] = { "user-stack-missing", "stack" },
	[LOSS_NOT_TAKEN] = { "samples-not-taken", "sample" },
	[LOSS_TRUNCATED] = { "stack-truncated", "stack" },
	[LOSS_NOT_WHOLE] = { "stack-not-whole", "stack" },
	[LOSS_CAPTURE_FULL] = { "capture-full", "sample" },
	[LOSS_OTHERS_FULL] = { "others-full", "event" },
	[LOSS_WAKERS] = { "wakers-lost", "interval" },
	[LOSS_LOOKS] = { "looks-lost", "thread" },
	[LOSS_TARGETS_FULL] = { "targets-full", "process" },
	[LOSS_EVENTS] = { "events-lost", "event" },
	[LOSS_STALE_EVENTS] = { "stale-events", "event" },
	[LOSS_OFFCPU_UNSTACKED] = { "offcpu-over-budget", "interval" },
	[LOSS_OFFCPU_UNTRACKED] = { "offcpu-untracked", "thread" },
	[LOSS_UNKNOWN_PROCESS] = { "unknown-process", "sample" },
	[LOSS_MISSING] = { "samples-missing", "sample" },
	[LOSS_WATCH_SUPPRESSED] = { "watch-suppressed", "trigger" },
	[LOSS_CGROUPS_UNWATCHED] = { "cgroups-unwatched", "event" },
	[LOSS_CPUS_UNSAMPLED] = { "cpus-unsampled", "cpu" },
	[LOSS_UNRESOLVED_FRAMES] = { "frames-unresolved", "frame" },
	[LOSS_SYMBOLIZER] = { "symbolizer-failed", "event" },
	[LOSS_MAPPINGS_CUT] = { "mappings-cut", "process" },
	[LOSS_PROGRAM_RUNS] = { "program-runs-missed", "event" },
	[LOSS_OFFCPU_JOINED] = { "offcpu-joined", "event" },
};

const char *capture_stall_name(uint8_t stall)
{
	static const char *const names[] = { "none", "memory",     "io",     "memory+io",
					     "cpu",  "memory+cpu", "io+cpu", "memory+io+cpu" };

	return names[stall & (STALL_MEMORY | STALL_IO | STALL_CPU)];
}

uint64_t rings_begin(struct ring_reader *readers, const struct rings *rings, const struct sample *slots,
		     uint64_t wanted_ns)
{
	uint64_t from_ns = wanted_ns, oldest_ns;

	for (uint32_t cpu = 0; cpu < rings->cpus; cpu++) {
		ring_begin(&readers[cpu], slots + (size_t)cpu * rings->slots_per_cpu, rings->slots_per_cpu,
			   &oldest_ns);
		if (oldest_ns > from_ns)
			from_ns = oldest_ns;
	}
	return from_ns;
}

/* A capture whose readers are yet to be opened. */
static struct capture *make_capture(const struct capture_trigger *trigger, uint32_t cpus, uint32_t readers)
{
	struct capture *capture = calloc(1, sizeof(*capture));

	if (!capture)
		return NULL;
	capture->cpus = cpus;
	capture->readers_count = readers;
	capture->readers = calloc(readers, sizeof(*capture->readers));
	if (!capture->readers) {
		free(capture);
		return NULL;
	}
	capture->trigger = *trigger;
	capture->planned_end_ns = trigger->triggered_ns + trigger->capture_ns;
	capture->pressure = PRESSURE_EMPTY;
	capture->bytes_most = SIZE_MAX;
	stacks_init(&capture->stacks, STACKS_MAX);
	return capture;
}

struct capture *capture_begin(const struct capture_trigger *trigger, const struct rings *rings)
{
	struct capture *capture =
		make_capture(trigger, rings->cpus, rings->offcpu_slots ? 2 * rings->cpus : rings->cpus);
	uint64_t wanted_ns = clock_before(trigger->triggered_ns, trigger->wanted_history_ns);

	if (!capture)
		return NULL;
	if (wanted_ns < rings->armed_ns)
		wanted_ns = rings->armed_ns;
	capture->covered_from_ns = rings_begin(capture->readers, rings, rings->slots, wanted_ns);
	capture->offcpu_from_ns = wanted_ns;
	if (rings->offcpu_slots)
		capture->offcpu_from_ns =
			rings_begin(capture->readers + rings->cpus, rings, rings->offcpu_slots, wanted_ns);
	return capture;
}

struct capture *capture_follow(const struct capture_trigger *trigger, const struct capture *before)
{
	struct capture *capture = make_capture(trigger, before->cpus, before->readers_count);

	if (!capture)
		return NULL;
	capture->covered_from_ns = before->covered_from_ns;
	capture->offcpu_from_ns = before->offcpu_from_ns;
	for (uint32_t i = 0; i < before->readers_count; i++) {
		capture->readers[i] = before->readers[i];
		capture->readers[i].lost = capture->readers[i].torn = 0;
	}
	return capture;
}

void capture_free(struct capture *capture)
{
	if (!capture)
		return;
	for (uint32_t i = 0; i < capture->processes_count; i++)
		shared_text_free(capture->processes[i].cgroup);
	free(capture->processes);
	hash_index_free(&capture->processes_index);
	stacks_free(&capture->stacks);
	free(capture->rows);
	free(capture->events);
	hash_index_free(&capture->rows_index);
	wakes_free(&capture->wakes);
	thread_states_free(&capture->thread_states);
	free(capture->readers);
	pressure_free(&capture->pressure);
	capture_usage_free(&capture->usage);
	kernel_stats_free(&capture->kernel_stats);
	cgroup_memory_free(&capture->cgroup_memory);
	accounts_free(&capture->accounts);
	free(capture->trigger.cgroup);
	asking_free(capture->trigger.asking);
	free(capture);
}

size_t capture_bytes(const struct capture *capture)
{
	return capture->processes_count * (sizeof(*capture->processes) + INDEX_BYTES) +
	       capture->stacks.count * (sizeof(*capture->stacks.stacks) + INDEX_BYTES) +
	       capture->stacks.frames_count * sizeof(*capture->stacks.frames) +
	       capture->rows_count * (sizeof(*capture->rows) + INDEX_BYTES) +
	       capture->events_count * sizeof(*capture->events) +
	       capture->wakes.count * (sizeof(*capture->wakes.rows) + INDEX_BYTES) +
	       capture->thread_states.count * sizeof(*capture->thread_states.rows) +
	       capture->accounts.victims_count * sizeof(*capture->accounts.victims) +
	       capture->accounts.parties_count * sizeof(*capture->accounts.parties);
}

/* Others than targets leave half of the memory to targets. */
static bool is_full(const struct capture *capture, bool of_other)
{
	return capture_bytes(capture) >= (of_other ? capture->bytes_most / 2 : capture->bytes_most);
}

static bool has_stacks_of_others(const struct capture *capture)
{
	return capture->of_others.stacks >= OTHERS_STACKS_MAX ||
	       capture->of_others.frames >= OTHERS_FRAMES_MAX || is_full(capture, true);
}

struct draining {
	struct capture *capture;
	capture_describe describe;
	void *user;
	const struct sample *sample;
	uint16_t cpu; /* of the ring that is read, or CAPTURE_NO_CPU */
};

static bool is_process(const void *user, uint32_t position)
{
	const struct draining *draining = user;
	const struct capture_process *process = &draining->capture->processes[position];

	return process->tgid == draining->sample->tgid &&
	       process->started_ns == draining->sample->started_ns &&
	       process->cgroup_id == draining->sample->cgroup_id &&
	       process->program == draining->sample->program;
}

static bool is_other(const struct capture_other *other, const struct sample *sample)
{
	return other->tgid == sample->tgid && other->started_ns == sample->started_ns &&
	       other->cgroup_id == sample->cgroup_id && other->program == sample->program;
}

static int add_process(struct draining *draining, uint32_t hash, struct capture_process process)
{
	struct capture *capture = draining->capture;
	int result = capture->processes_count == PROCESSES_MAX || is_full(capture, false) ? -ENOSPC : 0;

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
static int add_other(struct draining *draining, uint32_t hash, struct capture_process process)
{
	struct capture *capture = draining->capture;
	int result = capture->of_others.processes == OTHERS_PROCESSES_MAX || is_full(capture, true) ? -ENOSPC
												    : 0;

	if (result < 0)
		return result;
	result = add_process(draining, hash, process);
	capture->of_others.processes += !result;
	return result;
}

/*
 * Returns -ESRCH for an unknown process, and -ENOENT for an interval off CPU of a process to which the rule does
 * not apply. Such a process has limits of its own: a user who has many must not use up what a capture of others
 * may hold.
 */
static int find_process(struct draining *draining, uint32_t *ret_process)
{
	struct capture *capture = draining->capture;
	const struct sample *sample = draining->sample;
	struct capture_process process = { .tgid = sample->tgid,
					   .started_ns = sample->started_ns,
					   .cgroup_id = sample->cgroup_id,
					   .program = sample->program };
	uint64_t key[3] = { (uint64_t)sample->program << 32 | sample->tgid, sample->started_ns,
			    sample->cgroup_id };
	uint32_t hash = hash_bytes(key, sizeof(key));
	uint32_t found = hash_index_find(&capture->processes_index, hash, is_process, draining);
	struct capture_other *other = &capture->others[hash % CAPTURE_OTHERS];
	int result;

	if (found != HASH_INDEX_NONE) {
		*ret_process = found;
		return sample->kind == SAMPLE_ON_CPU || capture->processes[found].role == USAGE_TARGET
			       ? 0
			       : -ENOENT;
	}
	if (sample->kind != SAMPLE_ON_CPU && is_other(other, sample))
		return -ENOENT;
	if (!draining->describe(draining->user, sample, &process))
		return -ESRCH;
	*ret_process = capture->processes_count;
	if (process.role != USAGE_TARGET && sample->kind == SAMPLE_ON_CPU) {
		result = add_other(draining, hash, process);
		capture->losses[LOSS_OTHERS_FULL] += result < 0;
		return result < 0 ? -ENOENT : 0;
	}
	if (process.role != USAGE_TARGET) {
		*other = (struct capture_other){ sample->started_ns, sample->cgroup_id, sample->tgid,
						 sample->program };
		return -ENOENT;
	}
	return add_process(draining, hash, process);
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
	       there->second == row->second && there->kind == row->kind && there->stall == row->stall &&
	       there->epoch == row->epoch;
}

/* A new row is added only if there are fewer than `most`. */
static int add_row(struct capture *capture, const struct capture_row *row, uint32_t most, uint32_t *ret_row)
{
	struct wanted_row wanted = { capture, row };
	uint32_t hash = hash_bytes((uint32_t[]){ row->process, row->stack, row->tid, (uint32_t)row->second,
						 (uint32_t)row->kind << 8 | row->stall, row->epoch },
				   6 * sizeof(uint32_t));
	uint32_t found = hash_index_find(&capture->rows_index, hash, is_row, &wanted);
	int result;

	if (found != HASH_INDEX_NONE) {
		capture->rows[found].samples += row->samples;
		capture->rows[found].weight_ns += row->weight_ns;
		*ret_row = found;
		return 0;
	}
	if (capture->rows_count >= most || is_full(capture, false))
		return -ENOSPC;
	result = array_make_room(capture->rows, capture->rows_count, capture->rows_room, 1U);
	if (!result)
		result = hash_index_add(&capture->rows_index, hash, capture->rows_count);
	if (result < 0)
		return result;
	*ret_row = capture->rows_count;
	capture->rows[capture->rows_count++] = *row;
	return 0;
}

static int32_t second_of(const struct capture *capture, uint64_t time_ns)
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

static int add_event(const struct draining *draining, uint32_t row, uint64_t begin_ns, uint64_t at_ns)
{
	struct capture *capture = draining->capture;
	int64_t second_ms = capture->rows[row].second * 1000LL;
	int64_t begin_ms = milliseconds_of(capture, begin_ns) - second_ms;

	if (capture->events_count == EVENTS_MAX || is_full(capture, false))
		return 0;
	if (array_make_room(capture->events, capture->events_count, capture->events_room, 1U))
		return -ENOMEM;
	capture->events[capture->events_count++] =
		(struct capture_event){ .row = row,
					/* 24 days at most */
					.begin_ms = (int32_t)(begin_ms < INT32_MIN ? INT32_MIN : begin_ms),
					.at_ms = (int16_t)(milliseconds_of(capture, at_ns) - second_ms),
					.cpu = draining->cpu };
	return 0;
}

/*
 * Adds one part of an interval (blocked, or queued for a CPU) to the seconds that it covers. `weight_ns` may
 * exceed the part's length: the excess is that of shorter intervals before it, and counts at its end.
 */
static int add_part(const struct draining *draining, struct capture_row *row, uint64_t from_ns,
		    uint64_t to_ns, uint64_t weight_ns)
{
	struct capture *capture = draining->capture;
	uint64_t end_ns = capture->planned_end_ns, began_ns = from_ns, carried_ns;
	uint32_t position;
	int result = 0;

	if (!weight_ns || to_ns < from_ns)
		return 0;
	carried_ns = weight_ns > to_ns - from_ns ? weight_ns - (to_ns - from_ns) : 0;
	if (from_ns < capture->offcpu_from_ns)
		from_ns = capture->offcpu_from_ns;
	if (to_ns > end_ns)
		to_ns = end_ns;
	if (to_ns < from_ns || from_ns >= end_ns)
		return 0;
	for (uint64_t next_ns; !result; from_ns = next_ns) {
		row->second = second_of(capture, from_ns);
		next_ns = (uint64_t)((int64_t)capture->trigger.triggered_ns +
				     (row->second + 1LL) * 1000000000LL);
		if (next_ns >= to_ns) {
			row->weight_ns = to_ns - from_ns + carried_ns;
			row->samples = 1;
			result = add_row(capture, row, ROWS_MAX, &position);
			return result < 0 ? result : add_event(draining, position, began_ns, to_ns);
		}
		row->weight_ns = next_ns - from_ns;
		row->samples = 0;
		result = add_row(capture, row, ROWS_MAX, &position);
	}
	return result;
}

static int add_interval(const struct draining *draining, struct capture_row *row)
{
	const struct sample *sample = draining->sample;
	int result;

	row->stall = sample->stall & (STALL_MEMORY | STALL_IO);
	result = add_part(draining, row, sample->left_ns, sample->woken_ns, sample->weight_ns);
	row->stall = (uint8_t)(STALL_CPU | (sample->stall & STALL_MEMORY));
	if (!result)
		result = add_part(draining, row, sample->woken_ns, sample->time_ns, sample->queued_ns);
	return result;
}

/* ---- who ended an interval ---- */

/* Stores the position of the waker's process, which need not have samples, and the waker's role. */
static int find_waker(const struct draining *draining, struct wake *wake)
{
	static const uint8_t roles[] = { [USAGE_TARGET] = WAKE_BY_TARGET,
					 [USAGE_OTHER] = WAKE_BY_OTHER,
					 [USAGE_KERNEL] = WAKE_BY_KERNEL };
	const struct waker *waker = &draining->sample->waker;
	struct sample sample = { .header = draining->sample->header,
				 .seq = draining->sample->seq,
				 .kind = SAMPLE_ON_CPU,
				 .started_ns = waker->started_ns,
				 .cgroup_id = waker->cgroup_id,
				 .tgid = waker->tgid,
				 .tid = waker->tid,
				 .program = waker->program,
				 .of = waker->of };
	struct draining of_waker = *draining;
	int result;

	memcpy(sample.comm, waker->comm, sizeof(sample.comm));
	of_waker.sample = &sample;
	result = find_process(&of_waker, &wake->waker_process);
	if (result < 0) {
		wake->waker_process = WAKE_UNKNOWN;
		wake->role = waker->of == SAMPLE_OF_TARGET   ? WAKE_BY_TARGET
			     : waker->of == SAMPLE_OF_KERNEL ? WAKE_BY_KERNEL
							     : WAKE_BY_OTHER;
		return result;
	}
	wake->role = roles[draining->capture->processes[wake->waker_process].role];
	wake->waker_tid = waker->tid;
	wake->releases = waker->releases;
	/* a part of the key: without what is behind the NUL */
	snprintf(wake->waker, sizeof(wake->waker), "%s", waker->comm);
	return 0;
}

static void keep_wake(struct capture *capture, const struct wake *wake)
{
	if (wakes_add(&capture->wakes, wake, is_full(capture, false)) < 0)
		capture->losses[LOSS_WAKERS]++;
}

/* What waits for a stack that has not come. */
static void keep_pending(struct capture *capture, uint32_t ring)
{
	struct wake_pending *pending = capture->wakes.pending ? &capture->wakes.pending[ring] : NULL;

	if (!pending || !pending->is_pending)
		return;
	pending->is_pending = false;
	keep_wake(capture, &pending->wake);
}

/* Returns false if the stack of the waker cannot be waited for. */
static bool await_waker_stack(const struct draining *draining, const struct wake *wake)
{
	struct capture *capture = draining->capture;
	const struct sample *sample = draining->sample;

	if (!sample->has_waker_stack || draining->cpu == CAPTURE_NO_CPU || wake->role != WAKE_BY_TARGET ||
	    wake->waker_process == WAKE_UNKNOWN)
		return false;
	if (!capture->wakes.pending)
		capture->wakes.pending = calloc(capture->cpus, sizeof(*capture->wakes.pending));
	if (!capture->wakes.pending)
		return false;
	capture->wakes.pending[draining->cpu] =
		(struct wake_pending){ *wake, sample->left_ns, sample->woken_ns, true };
	return true;
}

/* Adds the blocked part of the interval that lies within the capture to the row of its waker. */
static void add_wake(const struct draining *draining, const struct capture_row *row)
{
	struct capture *capture = draining->capture;
	const struct sample *sample = draining->sample;
	uint64_t end_ns = capture->planned_end_ns, from_ns = sample->left_ns, to_ns = sample->woken_ns;
	struct wake wake = { .process = row->process,
			     .stack = row->stack,
			     .tid = row->tid,
			     .lock = sample->lock,
			     .stall = sample->stall & (STALL_MEMORY | STALL_IO),
			     .role = WAKE_BY_NONE,
			     .waker_process = WAKE_UNKNOWN,
			     .waker_stack = WAKE_UNKNOWN,
			     .intervals = 1 };

	if (to_ns < from_ns || to_ns - from_ns < WAKER_MIN_NS)
		return;
	if (from_ns < capture->offcpu_from_ns)
		from_ns = capture->offcpu_from_ns;
	if (to_ns > end_ns)
		to_ns = end_ns;
	if (to_ns <= from_ns)
		return;
	wake.waited_ns = to_ns - from_ns;
	snprintf(wake.thread, sizeof(wake.thread), "%s", row->thread);
	if (sample->waker.kind == WAKER_INTERRUPT)
		wake.role = WAKE_BY_INTERRUPT;
	else if (sample->waker.kind == WAKER_DENIED)
		wake.role = WAKE_BY_DENIED;
	else if (sample->waker.kind == WAKER_THREAD && find_waker(draining, &wake) < 0)
		capture->losses[LOSS_WAKERS]++;
	if (!await_waker_stack(draining, &wake))
		keep_wake(capture, &wake);
}

/* The slot behind an interval: the stack of its waker, if the capture took that interval. */
static void add_waker_stack(const struct draining *draining)
{
	struct capture *capture = draining->capture;
	const struct sample *sample = draining->sample;
	struct wake_pending *pending = capture->wakes.pending ? &capture->wakes.pending[draining->cpu] : NULL;
	struct wake *wake = pending ? &pending->wake : NULL;

	if (!pending || !pending->is_pending || pending->left_ns != sample->left_ns ||
	    pending->woken_ns != sample->woken_ns || wake->waker_tid != sample->tid ||
	    capture->processes[wake->waker_process].tgid != sample->tgid)
		return;
	if (stacks_intern(&capture->stacks, wake->waker_process, sample, &wake->waker_stack) < 0) {
		wake->waker_stack = WAKE_UNKNOWN;
		capture->losses[LOSS_WAKERS]++;
	}
	keep_pending(capture, draining->cpu);
}

/* As add_sample(), within the limits of others than targets: what they have already may grow. */
static int add_sample_of_other(const struct draining *draining, struct capture_row *row)
{
	struct capture *capture = draining->capture;
	uint32_t stacks = capture->stacks.count, frames = capture->stacks.frames_count,
		 rows = capture->rows_count, position = 0;
	int result;

	if (has_stacks_of_others(capture))
		capture->stacks.most = stacks;
	result = stacks_intern(&capture->stacks, row->process, draining->sample, &row->stack);
	capture->of_others.stacks += capture->stacks.count - stacks;
	capture->of_others.frames += capture->stacks.frames_count - frames;
	if (!result)
		result = add_row(capture, row,
				 capture->of_others.rows < OTHERS_ROWS_MAX && !is_full(capture, true)
					 ? ROWS_MAX
					 : rows,
				 &position);
	capture->of_others.rows += capture->rows_count - rows;
	return result < 0
		       ? result
		       : add_event(draining, position, draining->sample->time_ns, draining->sample->time_ns);
}

/* The epoch that the sample's row has; 0 where the process has changed its mappings too often (CAPTURE_EPOCHS). */
static uint32_t epoch_of_row(struct capture *capture, uint32_t position, uint32_t epoch)
{
	struct capture_process *process = &capture->processes[position];

	if (epoch == process->epoch)
		return epoch;
	if (process->epochs == CAPTURE_EPOCHS)
		return 0;
	capture->has_moved |= process->epochs && process->role == USAGE_TARGET;
	process->epochs++;
	process->epoch = epoch;
	return epoch;
}

static int add_sample(const struct draining *draining, uint32_t process)
{
	struct capture *capture = draining->capture;
	const struct sample *sample = draining->sample;
	struct capture_row row = { .process = process,
				   .tid = sample->tid,
				   .kind = sample->kind,
				   .stall = sample->stall,
				   .second = second_of(capture, sample->time_ns),
				   .samples = 1,
				   .epoch = epoch_of_row(capture, process, sample->epoch),
				   .weight_ns = sample->weight_ns };
	uint32_t position;
	int result;

	memcpy(row.thread, sample->comm, sizeof(row.thread));
	if (capture->processes[process].role != USAGE_TARGET)
		return add_sample_of_other(draining, &row);
	result = stacks_intern(&capture->stacks, process, sample, &row.stack);
	if (result < 0)
		return result;
	if (sample->kind == SAMPLE_OFF_CPU) {
		result = add_interval(draining, &row);
		if (!result)
			add_wake(draining, &row);
		return result;
	}
	result = add_row(capture, &row, ROWS_MAX, &position);
	return result < 0 ? result : add_event(draining, position, sample->time_ns, sample->time_ns);
}

/* ---- looks ---- */

/* Finds the stack of a look within the limits of looks, and within those of others if it is of one. */
static int find_look_stack(struct capture *capture, const struct thread_state *state, const int32_t *frames,
			   uint32_t depth, uint32_t *ret_stack)
{
	uint32_t stacks = capture->stacks.count, frames_before = capture->stacks.frames_count;
	bool closed = capture->look_stacks >= LOOK_STACKS_MAX || is_full(capture, false) ||
		      (!state->of_target && has_stacks_of_others(capture));
	int result;

	if (!depth) {
		*ret_stack = THREAD_STATE_NO_STACK;
		return 0;
	}
	capture->stacks.most = closed ? stacks : STACKS_MAX;
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
static int add_look(const struct draining *draining, const struct look_record *record, const int32_t *frames)
{
	struct capture *capture = draining->capture;
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
	struct draining of_look = *draining;
	int result;

	of_look.sample = &sample;
	memcpy(sample.comm, record->comm, sizeof(sample.comm));
	result = find_process(&of_look, &state.process);
	if (result < 0)
		return result == -ENOENT ? 0 : result;
	state.of_target = capture->processes[state.process].role == USAGE_TARGET;
	if (state.of_target)
		thread_states_count(&capture->thread_states);
	snprintf(state.thread, sizeof(state.thread), "%s", record->comm);
	result = find_look_stack(capture, &state, frames, record->depth, &state.stack);
	if (!result && is_full(capture, !state.of_target))
		result = -ENOSPC;
	return result < 0 ? result : thread_states_add(&capture->thread_states, &state);
}

void capture_add_looks(struct capture *capture, const struct looks *looks, uint64_t at_ns,
		       capture_describe describe, void *user)
{
	struct draining draining = {
		.capture = capture, .describe = describe, .user = user, .cpu = CAPTURE_NO_CPU
	};

	if (at_ns < capture->trigger.triggered_ns || at_ns >= capture->planned_end_ns)
		return;
	capture->losses[LOSS_LOOKS] += looks->lost;
	if (thread_states_begin_look(&capture->thread_states, second_of(capture, at_ns)) < 0) {
		capture->losses[LOSS_LOOKS] += looks->last.count;
		return;
	}
	for (uint32_t i = 0; i < looks->last.count; i++) {
		const struct look *look = &looks->last.looks[i];

		if (add_look(&draining, &look->record, looks->last.frames.all + look->first) < 0)
			capture->losses[LOSS_LOOKS]++;
	}
}

/* An interval off CPU is recorded when it ends: it counts if it overlaps the capture and ended after its begin. */
static bool is_within(const struct capture *capture, const struct sample *sample)
{
	return sample->kind == SAMPLE_OFF_CPU ? sample->time_ns >= capture->offcpu_from_ns &&
							sample->left_ns < capture->planned_end_ns
					      : sample->time_ns >= capture->covered_from_ns &&
							sample->time_ns < capture->planned_end_ns;
}

static bool is_expected(const struct expectation *expected, const struct sample *sample)
{
	return sample->kind == SAMPLE_ON_CPU && expected->from_ns && sample->time_ns >= expected->from_ns &&
	       (!expected->to_ns || sample->time_ns < expected->to_ns);
}

static void on_sample(void *user, const struct sample *sample)
{
	struct draining *draining = user;
	struct capture *capture = draining->capture;
	uint32_t process;
	int result;

	draining->sample = sample;
	capture->stacks.most = is_full(capture, false) ? capture->stacks.count : STACKS_MAX;
	if (sample->kind == SAMPLE_WAKER) {
		if (draining->cpu != CAPTURE_NO_CPU)
			add_waker_stack(draining);
		return;
	}
	if (sample->kind == SAMPLE_OFF_CPU && draining->cpu != CAPTURE_NO_CPU)
		keep_pending(capture, draining->cpu);
	if (!capture_takes(capture, sample->kind) || !is_within(capture, sample))
		return;
	result = find_process(draining, &process);
	if (result == -ESRCH) {
		capture->losses[LOSS_UNKNOWN_PROCESS]++;
		return;
	}
	if (result == -ENOENT)
		return;
	if (!result)
		result = add_sample(draining, process);
	if (!result && capture->processes[process].role != USAGE_TARGET)
		return;
	if (result < 0 && process < capture->processes_count &&
	    capture->processes[process].role != USAGE_TARGET) {
		capture->losses[LOSS_OTHERS_FULL]++;
		return;
	}
	if (result < 0) {
		capture->losses[LOSS_CAPTURE_FULL]++;
		return;
	}
	capture->taken++;
	capture->expected.received += is_expected(&capture->expected, sample);
	capture->losses[LOSS_KERNEL_STACK] += sample->kernel_depth < 0;
	capture->losses[LOSS_USER_STACK] += sample->user_depth < 0;
	capture->losses[LOSS_TRUNCATED] += sample->kernel_depth == (int)SAMPLE_KERNEL_FRAMES ||
					   sample->user_ended == UNWIND_ENDED_DEPTH;
	/* frames that root's policy withholds are not lost */
	capture->losses[LOSS_NOT_WHOLE] +=
		sample->user_depth > 0 && sample->user_ended != UNWIND_ENDED_ROOT &&
		sample->user_ended != UNWIND_ENDED_DEPTH && sample->user_ended != UNWIND_ENDED_POLICY;
}

void capture_add_open(struct capture *capture, const struct sample *sample, uint64_t now_ns,
		      capture_describe describe, void *user)
{
	struct draining draining = {
		.capture = capture, .describe = describe, .user = user, .cpu = CAPTURE_NO_CPU
	};
	struct sample ended = *sample;

	ended.time_ns = now_ns;
	if (!ended.woken_ns)
		ended.woken_ns = now_ns;
	if (!ring_sample_is_sane(&ended) || ended.left_ns > ended.woken_ns || ended.woken_ns > now_ns)
		return;
	ended.comm[ABI_COMM_BYTES - 1] = ended.waker.comm[ABI_COMM_BYTES - 1] = '\0';
	ended.weight_ns = ended.woken_ns - ended.left_ns;
	ended.queued_ns = now_ns - ended.woken_ns;
	on_sample(&draining, &ended);
}

void capture_add_kept(struct capture *capture, const struct sample *sample, uint32_t cpu,
		      capture_describe describe, void *user)
{
	struct draining draining = {
		.capture = capture, .describe = describe, .user = user, .cpu = (uint16_t)cpu
	};

	on_sample(&draining, sample);
}

void capture_drain(struct capture *capture, capture_describe describe, void *user)
{
	struct draining draining = { .capture = capture, .describe = describe, .user = user };

	memset(capture->unread, 0, sizeof(capture->unread));
	for (uint32_t i = 0; i < capture->readers_count; i++) {
		struct ring_reader *reader = &capture->readers[i];
		uint64_t from = reader->next_seq, *unread = &capture->unread[i / capture->cpus];

		draining.cpu = (uint16_t)(i % capture->cpus);
		ring_read(reader, on_sample, &draining);
		if (reader->next_seq - from > *unread)
			*unread = reader->next_seq - from;
	}
}

void capture_expect_from(struct capture *capture, uint64_t walked_ns, uint64_t cpu_ns)
{
	capture->expected.from_ns = walked_ns;
	capture->expected.cpu_ns_before = cpu_ns;
}

void capture_expect_until(struct capture *capture, uint64_t walked_ns, uint64_t cpu_ns)
{
	struct expectation *expected = &capture->expected;

	expected->to_ns = walked_ns;
	/* it is less where a process is none of the capture's any more */
	expected->cpu_ns = growth(cpu_ns, expected->cpu_ns_before);
}

void capture_note_loss(struct capture *capture, enum loss loss, uint64_t events)
{
	capture->losses[loss] = events;
}

void capture_note_worst(struct capture *capture, enum loss loss, uint64_t events)
{
	if (events > capture->losses[loss])
		capture->losses[loss] = events;
}

bool capture_takes(const struct capture *capture, uint32_t kind)
{
	const struct asking *asking = capture->trigger.asking;

	return !asking || asking->kinds & (kind == SAMPLE_ON_CPU ? CAPTURE_ON_CPU : CAPTURE_OFF_CPU);
}

void capture_shorten(struct capture *capture, uint64_t now_ns)
{
	if (now_ns < capture->planned_end_ns)
		capture->planned_end_ns = now_ns;
}

const char *capture_whose(const struct capture_trigger *trigger, char *into, size_t into_bytes)
{
	const struct asking *asking = trigger->asking;

	if (asking)
		return user_name_write(asking->user, asking->uid, into, into_bytes);
	snprintf(into, into_bytes, "rule %s", trigger->rule);
	return into;
}

bool capture_is_over(const struct capture *capture, uint64_t now_ns)
{
	return now_ns >= capture->planned_end_ns;
}

uint64_t capture_expected_samples(const struct capture *capture)
{
	return capture->expected.cpu_ns / 1000 * capture->trigger.hz / 1000000;
}

/*
 * A periodic clock samples by chance. Up to three standard deviations are not missing, nor are losses that
 * other counters report.
 */
static uint64_t missing_samples(const struct capture *capture)
{
	static const enum loss explained[] = { LOSS_OVERWRITTEN, LOSS_TORN, LOSS_NOT_TAKEN, LOSS_CAPTURE_FULL,
					       LOSS_UNKNOWN_PROCESS };
	uint64_t expected = capture_takes(capture, SAMPLE_ON_CPU) ? capture_expected_samples(capture) : 0,
		 seen = capture->expected.received, missing;

	for (size_t i = 0; i < ARRAY_SIZE(explained); i++)
		seen += capture->losses[explained[i]];
	missing = expected > seen ? expected - seen : 0;
	return missing * missing > 9 * expected ? missing : 0;
}

/* Captures may wait for the disk, or for the names of the one before: they keep only what will be written. */
static void settle(struct capture *capture)
{
	hash_index_free(&capture->processes_index);
	hash_index_free(&capture->rows_index);
	stacks_settle(&capture->stacks);
	wakes_settle(&capture->wakes);
	array_fit(capture->processes, capture->processes_count, capture->processes_room);
	array_fit(capture->rows, capture->rows_count, capture->rows_room);
	array_fit(capture->events, capture->events_count, capture->events_room);
}

void capture_end(struct capture *capture, uint64_t now_ns, bool interrupted)
{
	uint64_t planned_ns = capture->planned_end_ns;

	for (uint32_t i = 0; i < capture->readers_count; i++) {
		capture->losses[LOSS_OVERWRITTEN] += capture->readers[i].lost - capture->readers[i].torn;
		capture->losses[LOSS_TORN] += capture->readers[i].torn;
	}
	for (uint32_t i = 0; i < capture->cpus; i++)
		keep_pending(capture, i);
	thread_states_settle(&capture->thread_states);
	capture->losses[LOSS_LOOKS] += capture->thread_states.lost;
	capture->losses[LOSS_MISSING] = missing_samples(capture);
	capture->ended_ns = now_ns < planned_ns ? now_ns : planned_ns;
	capture->interrupted = interrupted;
	settle(capture);
}

static uint64_t history_since(const struct capture *capture, uint64_t from_ns)
{
	return capture->trigger.triggered_ns > from_ns ? capture->trigger.triggered_ns - from_ns : 0;
}

uint64_t capture_available_history_ns(const struct capture *capture)
{
	return history_since(capture, capture->covered_from_ns);
}

uint64_t capture_available_offcpu_history_ns(const struct capture *capture)
{
	return history_since(capture, capture->offcpu_from_ns);
}
