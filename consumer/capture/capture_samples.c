/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/capture/capture_samples.h"

#include "consumer/capture/capture_rows.h"
#include "consumer/capture/wakers.h"

#include <errno.h>
#include <string.h>

/*
 * Adds one part of an interval (blocked, or queued for a CPU) to the seconds that it covers. `weight_ns` may
 * exceed the part's length: the excess is that of shorter intervals before it, and counts at its end.
 */
static int add_part(const struct capture_adding *adding, struct capture_row *row, uint64_t from_ns,
		    uint64_t to_ns, uint64_t weight_ns)
{
	struct capture *capture = adding->capture;
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
		row->second = capture_second(capture, from_ns);
		next_ns = (uint64_t)((int64_t)capture->trigger.triggered_ns +
				     (row->second + 1LL) * 1000000000LL);
		if (next_ns >= to_ns) {
			row->weight_ns = to_ns - from_ns + carried_ns;
			row->samples = 1;
			result = capture_add_row(capture, row, &position);
			return result < 0 ? result : capture_add_event(adding, position, began_ns, to_ns);
		}
		row->weight_ns = next_ns - from_ns;
		row->samples = 0;
		result = capture_add_row(capture, row, &position);
	}
	return result;
}

static int add_interval(const struct capture_adding *adding, struct capture_row *row)
{
	const struct sample *sample = adding->sample;
	int result;

	row->stall = sample->stall & (STALL_MEMORY | STALL_IO);
	result = add_part(adding, row, sample->left_ns, sample->woken_ns, sample->weight_ns);
	row->stall = (uint8_t)(STALL_CPU | (sample->stall & STALL_MEMORY));
	if (!result)
		result = add_part(adding, row, sample->woken_ns, sample->time_ns, sample->queued_ns);
	return result;
}

/* As add_sample(), within the limits of others than targets: what they have already may grow. */
static int add_sample_of_other(const struct capture_adding *adding, struct capture_row *row)
{
	struct capture *capture = adding->capture;
	uint32_t stacks = capture->stacks.count, frames = capture->stacks.frames_count, position = 0;
	int result;

	if (capture_has_stacks_of_others(capture))
		capture->stacks.most = stacks;
	result = stacks_intern(&capture->stacks, row->process, adding->sample, &row->stack);
	capture->of_others.stacks += capture->stacks.count - stacks;
	capture->of_others.frames += capture->stacks.frames_count - frames;
	if (!result)
		result = capture_add_row(capture, row, &position);
	return result < 0 ? result
			  : capture_add_event(adding, position, adding->sample->time_ns,
					      adding->sample->time_ns);
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

static int add_sample(const struct capture_adding *adding, uint32_t process)
{
	struct capture *capture = adding->capture;
	const struct sample *sample = adding->sample;
	struct capture_row row = { .process = process,
				   .tid = sample->tid,
				   .kind = sample->kind,
				   .stall = sample->stall,
				   .second = capture_second(capture, sample->time_ns),
				   .samples = 1,
				   .epoch = epoch_of_row(capture, process, sample->epoch),
				   .weight_ns = sample->weight_ns };
	uint32_t position;
	int result;

	memcpy(row.thread, sample->comm, sizeof(row.thread));
	if (capture->processes[process].role != USAGE_TARGET)
		return add_sample_of_other(adding, &row);
	result = stacks_intern(&capture->stacks, process, sample, &row.stack);
	if (result < 0)
		return result;
	if (sample->kind == SAMPLE_OFF_CPU) {
		result = add_interval(adding, &row);
		if (!result)
			wakers_add(adding, &row);
		return result;
	}
	result = capture_add_row(capture, &row, &position);
	return result < 0 ? result : capture_add_event(adding, position, sample->time_ns, sample->time_ns);
}

/* An interval off CPU is recorded when it ends: it counts if it overlaps the capture and ended after its begin. */
static bool is_within(const struct capture *capture, const struct sample *sample)
{
	uint64_t from_ns = sample->kind == SAMPLE_OFF_CPU || sample->kind == SAMPLE_GROWTH
				   ? capture->offcpu_from_ns
				   : capture->covered_from_ns;
	uint64_t begin_ns = sample->kind == SAMPLE_OFF_CPU ? sample->left_ns : sample->time_ns;

	return sample->time_ns >= from_ns && begin_ns < capture->planned_end_ns;
}

/* Counts what finds no room in the capture, and what is of a process that is not known. */
static void add_growth(struct capture_adding *adding)
{
	struct capture *capture = adding->capture;
	struct growth_row row = { .samples = 1, .bytes = adding->sample->weight_ns };
	int result = capture_find_process(adding, &row.process);

	if (result == -ENOENT)
		return;
	if (!result)
		result = stacks_intern(&capture->stacks, row.process, adding->sample, &row.stack);
	if (!result)
		result = growths_add(&capture->growths, &row, capture_is_full(capture, false));
	capture->losses[LOSS_GROWTH] += result < 0;
}

static bool is_expected(const struct expectation *expected, const struct sample *sample)
{
	return sample->kind == SAMPLE_ON_CPU && expected->from_ns && sample->time_ns >= expected->from_ns &&
	       (!expected->to_ns || sample->time_ns < expected->to_ns);
}

static void on_sample(void *user, const struct sample *sample)
{
	struct capture_adding *adding = user;
	struct capture *capture = adding->capture;
	uint32_t process;
	int result;

	adding->sample = sample;
	capture->stacks.most = capture_is_full(capture, false) ? capture->stacks.count : CAPTURE_STACKS_MAX;
	if (sample->kind == SAMPLE_WAKER) {
		if (adding->cpu != CAPTURE_NO_CPU)
			wakers_add_stack(adding);
		return;
	}
	if (sample->kind == SAMPLE_OFF_CPU && adding->cpu != CAPTURE_NO_CPU)
		wakers_keep_pending(capture, adding->cpu);
	if (!capture_takes(capture, sample->kind) || !is_within(capture, sample))
		return;
	if (sample->kind == SAMPLE_GROWTH) {
		add_growth(adding);
		return;
	}
	result = capture_find_process(adding, &process);
	if (result == -ESRCH) {
		capture->losses[LOSS_UNKNOWN_PROCESS]++;
		return;
	}
	if (result == -ENOENT)
		return;
	if (!result)
		result = add_sample(adding, process);
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
	struct capture_adding adding = {
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
	on_sample(&adding, &ended);
}

void capture_add_kept(struct capture *capture, const struct sample *sample, uint32_t cpu,
		      capture_describe describe, void *user)
{
	struct capture_adding adding = {
		.capture = capture, .describe = describe, .user = user, .cpu = (uint16_t)cpu
	};

	on_sample(&adding, sample);
}

void capture_drain(struct capture *capture, capture_describe describe, void *user)
{
	struct capture_adding adding = { .capture = capture, .describe = describe, .user = user };

	memset(capture->unread, 0, sizeof(capture->unread));
	for (uint32_t i = 0; i < capture->readers_count; i++) {
		struct ring_reader *reader = &capture->readers[i];
		uint64_t from = reader->next_seq, *unread = &capture->unread[i / capture->cpus];

		adding.cpu = (uint16_t)(i % capture->cpus);
		ring_read(reader, on_sample, &adding);
		if (reader->next_seq - from > *unread)
			*unread = reader->next_seq - from;
	}
}
