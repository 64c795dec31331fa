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

#define INDEX_BYTES 12U /* of an element in a hash_index */

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
	[LOSS_GROWTH] = { "growth-lost", "event" },
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
	stacks_init(&capture->stacks, CAPTURE_STACKS_MAX);
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
	growths_free(&capture->growths);
	thread_states_free(&capture->thread_states);
	free(capture->readers);
	pressure_free(&capture->pressure);
	capture_usage_free(&capture->usage);
	kernel_stats_free(&capture->kernel_stats);
	cgroup_memory_free(&capture->cgroup_memory);
	accounts_free(&capture->accounts);
	latency_free(&capture->latency);
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
	       capture->growths.count * (sizeof(*capture->growths.rows) + INDEX_BYTES) +
	       capture->thread_states.count * sizeof(*capture->thread_states.rows) +
	       capture->accounts.victims_count * sizeof(*capture->accounts.victims) +
	       capture->accounts.parties_count * sizeof(*capture->accounts.parties) +
	       capture->latency.values_count * sizeof(*capture->latency.values);
}

bool capture_is_full(const struct capture *capture, bool of_other)
{
	return capture_bytes(capture) >= (of_other ? capture->bytes_most / 2 : capture->bytes_most);
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
	growths_settle(&capture->growths);
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
		capture->losses[LOSS_WAKERS] +=
			wakes_add_pending(&capture->wakes, i, capture_is_full(capture, false)) < 0;
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
