/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows what a capture reads from the rings: which history is available, in which second a sample is, how
 * samples add up to rows, which processes count, and that every loss reaches the ledger.
 */
#include "common/base/cleanup.h"
#include "consumer/capture/capture.h"
#include "consumer/capture/capture_looks.h"
#include "consumer/capture/capture_samples.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define SECOND 1000000000UL
#define ARMED (100 * SECOND)
#define TRIGGERED (200 * SECOND)
#define HISTORY (10 * SECOND)
#define DURATION (5 * SECOND)
#define CPUS 2U

/* The rings of two CPUs lie in one array, as they do in the map. */
struct recorder {
	struct fake_ring rings[CPUS];
	struct rings view;
	struct capture *capture;
	unsigned int described; /* calls of describe() */
};

static void recorder_make(struct recorder *recorder, uint32_t slots_per_cpu)
{
	struct sample *slots = calloc(CPUS * slots_per_cpu, sizeof(*slots));

	ck_assert_ptr_nonnull(slots);
	*recorder = (struct recorder){ .view = { slots, slots_per_cpu, CPUS, ARMED, NULL } };
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		recorder->rings[cpu] = (struct fake_ring){ slots + cpu * slots_per_cpu, slots_per_cpu, 0 };
}

static void recorder_free(struct recorder *recorder)
{
	capture_free(recorder->capture);
	free(recorder->rings[0].slots);
}

static struct capture_trigger trigger_make(uint64_t history_ns)
{
	return (struct capture_trigger){
		.rule_id = 3,
		.rule = "web",
		.psi = { PSI_MEMORY, PSI_SOME, 50000, 1000000 },
		.mode = TRIGGER_KERNEL,
		.cgroup = strdup("/system.slice"),
		.triggered_ns = TRIGGERED,
		.triggered_at = 1700000000000000000,
		.wanted_history_ns = history_ns,
		.capture_ns = DURATION,
		.hz = 47,
	};
}

static void begin(struct recorder *recorder, uint64_t history_ns)
{
	struct capture_trigger trigger = trigger_make(history_ns);

	recorder->capture = capture_begin(&trigger, &recorder->view);
	ck_assert_ptr_nonnull(recorder->capture);
}

#define OTHER_CGROUP 8U

/* The rule includes processes 1 and 2; 3 is known and not included; 4 is unknown. */
static bool describe(void *user, const struct sample *sample, struct capture_process *process)
{
	struct recorder *recorder = user;

	recorder->described++;
	if (process->tgid != sample->tgid || process->started_ns != sample->started_ns ||
	    process->cgroup_id != sample->cgroup_id || sample->tgid == 4)
		return false;
	process->uid = 1000 + sample->tgid;
	strcpy(process->comm, "leader");
	process->cgroup = sample->cgroup_id == OTHER_CGROUP ? "/system.slice/other" : "/system.slice/web";
	process->role = sample->tgid != 3 ? USAGE_TARGET : USAGE_OTHER;
	return true;
}

static void put(struct recorder *recorder, uint32_t cpu, uint32_t tgid, uint64_t time_ns)
{
	struct sample sample = sample_make(tgid, time_ns, 1, 2, 0x1000);

	fake_ring_write(&recorder->rings[cpu], &sample);
}

static void drain(struct recorder *recorder)
{
	capture_drain(recorder->capture, describe, recorder);
}

static void begin_and_drain(struct recorder *recorder)
{
	begin(recorder, HISTORY);
	drain(recorder);
}

static uint64_t samples_of(const struct capture *capture)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < capture->rows_count; i++)
		sum += capture->rows[i].samples;
	return sum;
}

static uint64_t all_losses(const struct capture *capture)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < LOSS_REASONS; i++)
		sum += capture->losses[i];
	return sum;
}

/* ---- history ---- */

START_TEST(empty_rings_have_all_wanted_history)
{
	struct recorder recorder;

	recorder_make(&recorder, 8);
	begin(&recorder, HISTORY);
	ck_assert_uint_eq(recorder.capture->covered_from_ns, TRIGGERED - HISTORY);
	ck_assert_uint_eq(capture_available_history_ns(recorder.capture), HISTORY);
	drain(&recorder);
	ck_assert_uint_eq(recorder.capture->rows_count, 0);
	capture_end(recorder.capture, TRIGGERED + DURATION, false);
	ck_assert_uint_eq(all_losses(recorder.capture), 0);
	recorder_free(&recorder);
}
END_TEST

struct armed_case {
	uint64_t armed_ns, history_ns, covered_from_ns;
};

static const struct armed_case armed_cases[] = {
	{ 0, HISTORY, TRIGGERED - HISTORY },
	{ TRIGGERED - HISTORY, HISTORY, TRIGGERED - HISTORY },
	{ TRIGGERED - HISTORY + 1, HISTORY, TRIGGERED - HISTORY + 1 },
	{ TRIGGERED - 3, HISTORY, TRIGGERED - 3 },
	{ TRIGGERED, HISTORY, TRIGGERED },
	{ ARMED, 0, TRIGGERED },
	{ ARMED, TRIGGERED, ARMED },
	{ ARMED, TRIGGERED + 1, ARMED }, /* longer than the time since boot */
	{ ARMED, UINT64_MAX, ARMED },
};

START_TEST(history_begins_when_armed)
{
	const struct armed_case *one = &armed_cases[_i];
	struct recorder recorder;

	recorder_make(&recorder, 8);
	recorder.view.armed_ns = one->armed_ns;
	begin(&recorder, one->history_ns);
	ck_assert_uint_eq(recorder.capture->covered_from_ns, one->covered_from_ns);
	ck_assert_uint_eq(capture_available_history_ns(recorder.capture), TRIGGERED - one->covered_from_ns);
	recorder_free(&recorder);
}
END_TEST

/* The ring with the shortest history decides: before it, the samples of its CPU are missing. */
START_TEST(a_wrapped_ring_shortens_history)
{
	struct recorder recorder;

	recorder_make(&recorder, 8);
	for (uint64_t i = 0; i < 20; i++)
		put(&recorder, 1, 1, TRIGGERED - (20 - i) * (SECOND / 10));
	put(&recorder, 0, 1, TRIGGERED - 5 * SECOND);
	put(&recorder, 0, 2, TRIGGERED - SECOND / 4);
	begin(&recorder, HISTORY);
	/* the last 7 of CPU 1 are safe to read */
	ck_assert_uint_eq(recorder.capture->covered_from_ns, TRIGGERED - 7 * (SECOND / 10));
	ck_assert_uint_eq(capture_available_history_ns(recorder.capture), 7 * (SECOND / 10));
	drain(&recorder);
	ck_assert_uint_eq(samples_of(recorder.capture), 8);
	capture_end(recorder.capture, TRIGGERED + DURATION, false);
	ck_assert_uint_eq(all_losses(recorder.capture), 0);
	recorder_free(&recorder);
}
END_TEST

START_TEST(a_wrapped_ring_with_enough_history_shortens_nothing)
{
	struct recorder recorder;

	recorder_make(&recorder, 8);
	for (uint64_t i = 0; i < 20; i++)
		put(&recorder, 0, 1, TRIGGERED - (20 - i) * 5 * SECOND);
	begin(&recorder, HISTORY);
	ck_assert_uint_eq(recorder.capture->covered_from_ns, TRIGGERED - HISTORY);
	drain(&recorder);
	ck_assert_uint_eq(samples_of(recorder.capture), 2); /* -10 s and -5 s */
	recorder_free(&recorder);
}
END_TEST

/* ---- seconds, and the ends of a capture ---- */

struct second_case {
	int64_t relative_ns;
	bool taken;
	int32_t second;
};

static const struct second_case second_cases[] = {
	{ -(int64_t)HISTORY - 1, false, 0 },
	{ -(int64_t)HISTORY, true, -10 },
	{ -(int64_t)HISTORY + 1, true, -10 },
	{ -1000000001, true, -2 },
	{ -1000000000, true, -1 },
	{ -999999999, true, -1 },
	{ -1, true, -1 },
	{ 0, true, 0 },
	{ 1, true, 0 },
	{ 999999999, true, 0 },
	{ 1000000000, true, 1 },
	{ (int64_t)DURATION - 1, true, 4 },
	{ (int64_t)DURATION, false, 0 },
	{ (int64_t)DURATION + 1, false, 0 },
	{ 3600 * (int64_t)SECOND, false, 0 },
};

START_TEST(a_sample_lies_in_its_second)
{
	const struct second_case *one = &second_cases[_i];
	struct recorder recorder;

	recorder_make(&recorder, 8);
	put(&recorder, 0, 1, TRIGGERED + (uint64_t)one->relative_ns);
	begin_and_drain(&recorder);
	ck_assert_uint_eq(recorder.capture->rows_count, one->taken);
	if (one->taken)
		ck_assert_int_eq(recorder.capture->rows[0].second, one->second);
	capture_end(recorder.capture, TRIGGERED + DURATION, false);
	ck_assert_uint_eq(all_losses(recorder.capture), 0);
	recorder_free(&recorder);
}
END_TEST

START_TEST(a_sample_has_its_ms_within_its_second)
{
	static const struct {
		int64_t relative_ns;
		int32_t second;
		int16_t ms;
	} cases[] = {
		{ 0, 0, 0 },
		{ 999999, 0, 0 },
		{ 20000000, 0, 20 },
		{ 999999999, 0, 999 },
		{ 1000000000, 1, 0 },
		{ -1, -1, 999 },
		{ -1000000, -1, 999 },
		{ -1000001, -1, 998 },
		{ -1000000000, -1, 0 },
		{ -1000000001, -2, 999 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct recorder recorder;
		const struct capture_event *event;

		recorder_make(&recorder, 8);
		put(&recorder, 0, 1, TRIGGERED + (uint64_t)cases[i].relative_ns);
		begin_and_drain(&recorder);
		event = recorder.capture->events;
		ck_assert_uint_eq(recorder.capture->events_count, 1);
		ck_assert_int_eq(recorder.capture->rows[event->row].second, cases[i].second);
		ck_assert_int_eq(event->at_ms, cases[i].ms);
		ck_assert_uint_eq(event->cpu, 0);
		recorder_free(&recorder);
	}
}
END_TEST

START_TEST(a_capture_ends_when_its_time_is_over)
{
	struct recorder recorder;

	recorder_make(&recorder, 8);
	begin(&recorder, HISTORY);
	ck_assert(!capture_is_over(recorder.capture, TRIGGERED));
	ck_assert(!capture_is_over(recorder.capture, TRIGGERED + DURATION - 1));
	ck_assert(capture_is_over(recorder.capture, TRIGGERED + DURATION));
	capture_end(recorder.capture, TRIGGERED + DURATION + 77, false);
	ck_assert_uint_eq(recorder.capture->ended_ns, TRIGGERED + DURATION);
	ck_assert(!recorder.capture->interrupted);
	capture_free(recorder.capture);
	begin(&recorder, HISTORY);
	capture_end(recorder.capture, TRIGGERED + 1, true);
	ck_assert_uint_eq(recorder.capture->ended_ns, TRIGGERED + 1);
	ck_assert(recorder.capture->interrupted);
	recorder_free(&recorder);
}
END_TEST

/* ---- processes ---- */

/* The rule applies to processes 1 and 2; 3 is another one, and 4 is not known. */
START_TEST(others_are_kept_apart_from_the_rules_processes)
{
	struct recorder recorder;
	const struct capture *capture;

	recorder_make(&recorder, 32);
	for (uint32_t i = 0; i < 12; i++)
		put(&recorder, i % CPUS, i % 4 + 1, TRIGGERED - SECOND + i);
	begin_and_drain(&recorder);
	capture = recorder.capture;
	ck_assert_uint_eq(capture->processes_count, 3);
	ck_assert_uint_eq(samples_of(capture), 9);
	ck_assert_uint_eq(capture->losses[LOSS_UNKNOWN_PROCESS], 3);
	ck_assert_uint_eq(all_losses(capture), 3);
	ck_assert_uint_eq(recorder.described, 3 + 3); /* describe() is called once for each known process */
	for (uint32_t i = 0; i < capture->processes_count; i++) {
		const struct capture_process *process = &capture->processes[i];

		ck_assert_uint_eq(process->uid, 1000 + process->tgid);
		ck_assert_uint_eq(process->started_ns, 1000 + process->tgid);
		ck_assert_str_eq(process->comm, "leader");
		ck_assert_str_eq(process->cgroup, "/system.slice/web");
		/* it is in memory once */
		ck_assert_ptr_eq(process->cgroup, capture->processes[0].cgroup);
		ck_assert_int_eq(process->role, process->tgid == 3 ? USAGE_OTHER : USAGE_TARGET);
	}
	ck_assert_uint_eq(capture->of_others.processes, 1);
	recorder_free(&recorder);
}
END_TEST

/* Whoever is not the rule's may have many processes: they use up room of their own alone. */
START_TEST(others_have_limits_of_their_own)
{
	struct recorder recorder;

	recorder_make(&recorder, 40000);
	for (uint32_t i = 0; i < 70000; i++) {
		struct sample sample = sample_make(3, TRIGGERED - SECOND + i, 1, 1, 0x1000);

		sample.cgroup_id = 100 + i / 4;
		fake_ring_write(&recorder.rings[i % CPUS], &sample);
	}
	put(&recorder, 0, 1, TRIGGERED);
	begin_and_drain(&recorder);
	ck_assert_uint_eq(recorder.capture->processes_count, 512 + 1);
	ck_assert_uint_eq(recorder.capture->of_others.processes, 512);
	ck_assert_uint_eq(samples_of(recorder.capture), 512 * 4 + 1);
	ck_assert_uint_eq(recorder.capture->losses[LOSS_OTHERS_FULL], 70000 - 512 * 4);
	ck_assert_uint_eq(all_losses(recorder.capture), 70000 - 512 * 4);
	recorder_free(&recorder);
}
END_TEST

/* A pid that is used again is another process. */
START_TEST(a_process_is_its_pid_and_its_start)
{
	struct sample sample = sample_make(1, TRIGGERED, 1, 1, 0x1000);
	struct recorder recorder;

	recorder_make(&recorder, 8);
	fake_ring_write(&recorder.rings[0], &sample);
	sample.started_ns++;
	fake_ring_write(&recorder.rings[0], &sample);
	begin_and_drain(&recorder);
	ck_assert_uint_eq(recorder.capture->processes_count, 2);
	ck_assert_uint_eq(recorder.capture->rows_count, 2);
	ck_assert_uint_eq(recorder.capture->stacks.count, 2);
	recorder_free(&recorder);
}
END_TEST

/* The rule may include the process in one cgroup and not in the other. */
START_TEST(a_process_that_changes_its_cgroup_is_another)
{
	struct sample sample = sample_make(1, TRIGGERED, 1, 1, 0x1000);
	struct recorder recorder;

	recorder_make(&recorder, 8);
	for (int i = 0; i < 4; i++) {
		sample.cgroup_id = 7 + (uint64_t)i % 2;
		fake_ring_write(&recorder.rings[0], &sample);
	}
	begin_and_drain(&recorder);
	ck_assert_uint_eq(recorder.capture->processes_count, 2);
	ck_assert_uint_eq(recorder.capture->processes[0].cgroup_id, 7);
	ck_assert_uint_eq(recorder.capture->processes[1].cgroup_id, OTHER_CGROUP);
	ck_assert_str_eq(recorder.capture->processes[0].cgroup, "/system.slice/web");
	ck_assert_str_eq(recorder.capture->processes[1].cgroup, "/system.slice/other");
	ck_assert_uint_eq(recorder.capture->rows_count, 2);
	ck_assert_uint_eq(recorder.described, 2);
	recorder_free(&recorder);
}
END_TEST

/* ---- rows ---- */

START_TEST(a_process_that_executes_another_program_is_another)
{
	struct sample sample = sample_make(1, TRIGGERED, 1, 1, 0x1000);
	struct recorder recorder;

	recorder_make(&recorder, 8);
	for (uint32_t i = 0; i < 4; i++) {
		sample.program = 3 + i / 2;
		fake_ring_write(&recorder.rings[0], &sample);
	}
	begin_and_drain(&recorder);
	ck_assert_uint_eq(recorder.capture->processes_count, 2);
	ck_assert_uint_eq(recorder.capture->processes[0].program, 3);
	ck_assert_uint_eq(recorder.capture->processes[1].program, 4);
	ck_assert_uint_eq(recorder.capture->rows_count, 2);
	ck_assert_uint_eq(recorder.described, 2);
	recorder_free(&recorder);
}
END_TEST

START_TEST(equal_samples_add_up)
{
	struct sample sample = sample_make(1, TRIGGERED, 3, 4, 0x1000);
	struct recorder recorder;

	recorder_make(&recorder, 32);
	for (uint32_t i = 0; i < 10; i++) {
		sample.time_ns = TRIGGERED + i * (SECOND / 10);
		sample.weight_ns = 1000000000000UL + i;
		fake_ring_write(&recorder.rings[i % CPUS], &sample);
	}
	begin_and_drain(&recorder);
	ck_assert_uint_eq(recorder.capture->rows_count, 1);
	ck_assert_uint_eq(recorder.capture->rows[0].samples, 10);
	ck_assert_uint_eq(recorder.capture->rows[0].weight_ns, 10000000000045UL);
	ck_assert_str_eq(recorder.capture->rows[0].thread, "thread");
	ck_assert_uint_eq(recorder.capture->stacks.count, 1);
	recorder_free(&recorder);
}
END_TEST

static void other_process(struct sample *sample)
{
	sample->tgid = 2;
}

static void other_thread(struct sample *sample)
{
	sample->tid++;
}

static void other_second(struct sample *sample)
{
	sample->time_ns += SECOND;
}

static void other_side_of_trigger(struct sample *sample)
{
	sample->time_ns -= SECOND / 2 + 1;
}

static void other_kind(struct sample *sample)
{
	sample->kind = SAMPLE_OFF_CPU;
	sample->left_ns = sample->time_ns - sample->weight_ns;
	sample->woken_ns = sample->time_ns;
}

static void other_stall(struct sample *sample)
{
	sample->stall = STALL_MEMORY | STALL_IO;
}

static void other_frame(struct sample *sample)
{
	sample->user_frames[3]++;
}

static void other_kernel_frame(struct sample *sample)
{
	sample->kernel_frames[0]--;
}

static void (*const differences[])(struct sample *) = { other_process, other_thread,
							other_second,  other_side_of_trigger,
							other_kind,    other_stall,
							other_frame,   other_kernel_frame };

START_TEST(different_samples_stay_apart)
{
	struct sample sample = sample_make(1, TRIGGERED + SECOND / 2, 3, 4, 0x1000);
	struct recorder recorder;

	recorder_make(&recorder, 8);
	fake_ring_write(&recorder.rings[0], &sample);
	differences[_i](&sample);
	fake_ring_write(&recorder.rings[1], &sample);
	begin_and_drain(&recorder);
	ck_assert_uint_eq(recorder.capture->rows_count, 2);
	ck_assert_uint_eq(samples_of(recorder.capture), 2);
	recorder_free(&recorder);
}
END_TEST

/* Random weights and samples, drained in several reads, are compared with plain sums. */
START_TEST(random_samples_add_up)
{
	struct dice dice = dice_new(2);
	uint64_t weight_ns = 0, kept_ns = 0, written = 0;
	struct recorder recorder;

	recorder_make(&recorder, 64);
	begin(&recorder, HISTORY);
	for (int round = 0; round < 300; round++) {
		uint32_t count = dice_below(&dice, 60);

		for (uint32_t i = 0; i < count; i++, written++) {
			struct sample sample = sample_make(
				1 + dice_below(&dice, 2),
				TRIGGERED - HISTORY + dice_below(&dice, 15000) * 1000000UL,
				(int)dice_below(&dice, 3), (int)dice_below(&dice, 3), dice_below(&dice, 5));

			sample.tid = dice_below(&dice, 4);
			sample.weight_ns = dice_below(&dice, 100000);
			weight_ns += sample.weight_ns;
			fake_ring_write(&recorder.rings[dice_below(&dice, CPUS)], &sample);
		}
		drain(&recorder);
	}
	for (uint32_t i = 0; i < recorder.capture->rows_count; i++)
		kept_ns += recorder.capture->rows[i].weight_ns;
	ck_assert_uint_eq(samples_of(recorder.capture), written);
	ck_assert_uint_eq(kept_ns, weight_ns);
	capture_end(recorder.capture, TRIGGERED + DURATION, false);
	ck_assert_uint_eq(all_losses(recorder.capture), 0);
	recorder_free(&recorder);
}
END_TEST

/* ---- the ledger ---- */

struct loss_case {
	int kernel_depth, user_depth;
	enum loss loss;
};

static const struct loss_case loss_cases[] = {
	{ -EFAULT, 3, LOSS_KERNEL_STACK },
	{ 3, -EFAULT, LOSS_USER_STACK },
	{ SAMPLE_KERNEL_FRAMES, 3, LOSS_TRUNCATED },
	{ 3, SAMPLE_USER_FRAMES, LOSS_TRUNCATED },
	{ SAMPLE_KERNEL_FRAMES, SAMPLE_USER_FRAMES, LOSS_TRUNCATED }, /* a sample is one loss */
	{ SAMPLE_KERNEL_FRAMES - 1, SAMPLE_USER_FRAMES - 1, LOSS_REASONS },
	{ 0, 0, LOSS_REASONS }, /* a stack of no frames is no error */
};

START_TEST(an_incomplete_stack_is_counted)
{
	const struct loss_case *one = &loss_cases[_i];
	struct sample sample = sample_make(1, TRIGGERED, one->kernel_depth, one->user_depth, 0x1000);
	struct recorder recorder;

	recorder_make(&recorder, 8);
	fake_ring_write(&recorder.rings[0], &sample);
	begin_and_drain(&recorder);
	ck_assert_uint_eq(samples_of(recorder.capture), 1);
	ck_assert_uint_eq(all_losses(recorder.capture), one->loss != LOSS_REASONS);
	if (one->loss != LOSS_REASONS)
		ck_assert_uint_eq(recorder.capture->losses[one->loss], 1);
	recorder_free(&recorder);
}
END_TEST

/* Samples of other processes, and outside the time of the capture, are no loss of the capture. */
START_TEST(stacks_of_others_are_not_counted)
{
	struct sample other = sample_make(3, TRIGGERED, -EFAULT, -EFAULT, 0);
	struct sample late = sample_make(1, TRIGGERED + DURATION, -EFAULT, -EFAULT, 0);
	struct recorder recorder;

	recorder_make(&recorder, 8);
	fake_ring_write(&recorder.rings[0], &other);
	fake_ring_write(&recorder.rings[0], &late);
	begin_and_drain(&recorder);
	ck_assert_uint_eq(all_losses(recorder.capture), 0);
	recorder_free(&recorder);
}
END_TEST

START_TEST(lost_slots_reach_the_ledger)
{
	struct recorder recorder;
	struct sample *slot;

	recorder_make(&recorder, 8);
	begin(&recorder, HISTORY);
	for (uint64_t i = 0; i < 11; i++)
		put(&recorder, 0, 1, TRIGGERED + i);
	for (uint64_t i = 0; i < 9; i++)
		put(&recorder, 1, 1, TRIGGERED + i);
	slot = fake_ring_begin(&recorder.rings[1]);
	slot->kernel_depth = 65;
	fake_ring_publish(&recorder.rings[1]);
	drain(&recorder);
	capture_end(recorder.capture, TRIGGERED + DURATION, false);
	ck_assert_uint_eq(samples_of(recorder.capture), 8 + 7);
	ck_assert_uint_eq(recorder.capture->losses[LOSS_TORN], 1);
	ck_assert_uint_eq(recorder.capture->losses[LOSS_OVERWRITTEN], 3 + 2); /* a sample is one loss */
	/* it keeps no room for more */
	ck_assert_uint_eq(recorder.capture->rows_room, recorder.capture->rows_count);
	ck_assert_uint_eq(recorder.capture->stacks.frames_room, recorder.capture->stacks.frames_count);
	ck_assert_ptr_null(recorder.capture->rows_index.slots);
	recorder_free(&recorder);
}
END_TEST

/* A full capture counts samples and does not grow. Limits: 131,072 rows, 16,384 stacks. */
START_TEST(a_full_capture_counts_samples_as_lost)
{
	struct sample sample = sample_make(1, TRIGGERED, 1, 1, 0x1000);
	uint64_t written = 0;
	struct recorder recorder;

	recorder_make(&recorder, 64);
	begin(&recorder, HISTORY);
	for (; written < 140000; written++) {
		if (_i)
			sample.user_frames[0] = written; /* a stack for each */
		else
			sample.tid = (uint32_t)written;
		fake_ring_write(&recorder.rings[0], &sample);
		if (written % 32 == 31)
			drain(&recorder);
	}
	drain(&recorder);
	ck_assert_uint_eq(recorder.capture->rows_count, _i ? 16384 : 131072);
	ck_assert_uint_eq(recorder.capture->stacks.count, _i ? 16384 : 1);
	ck_assert_uint_eq(samples_of(recorder.capture), recorder.capture->rows_count);
	ck_assert_uint_eq(recorder.capture->losses[LOSS_CAPTURE_FULL],
			  written - recorder.capture->rows_count);
	/* samples of a stack that is there still add up */
	sample.tid = 1;
	sample.user_frames[0] = _i ? 1 : 0x1000;
	fake_ring_write(&recorder.rings[0], &sample);
	drain(&recorder);
	ck_assert_uint_eq(recorder.capture->rows_count, _i ? 16384 : 131072);
	capture_end(recorder.capture, TRIGGERED + DURATION, false);
	ck_assert_uint_eq(samples_of(recorder.capture) + all_losses(recorder.capture), written + 1);
	recorder_free(&recorder);
}
END_TEST

/* Beyond the memory that it may have, what is there counts, and nothing is added. Of that, others may have half. */
START_TEST(a_capture_without_memory_keeps_what_it_has)
{
	struct recorder recorder;
	size_t bytes;

	recorder_make(&recorder, 64);
	begin(&recorder, HISTORY);
	put(&recorder, 0, 1, TRIGGERED);
	drain(&recorder);
	bytes = capture_bytes(recorder.capture);
	ck_assert_uint_gt(bytes, 3 * sizeof(uint64_t) + sizeof(struct capture_row) + sizeof(struct stack));
	recorder.capture->bytes_most = 2 * bytes;
	put(&recorder, 0, 3, TRIGGERED);
	drain(&recorder);
	ck_assert_uint_eq(recorder.capture->losses[LOSS_OTHERS_FULL], 1);
	put(&recorder, 0, 2, TRIGGERED);
	drain(&recorder);
	ck_assert_uint_eq(recorder.capture->taken, 2);
	recorder.capture->bytes_most = bytes = capture_bytes(recorder.capture);
	put(&recorder, 0, 1, TRIGGERED);
	put(&recorder, 0, 1, TRIGGERED + SECOND);
	drain(&recorder);
	ck_assert_uint_eq(recorder.capture->losses[LOSS_CAPTURE_FULL], 1);
	ck_assert_uint_eq(recorder.capture->taken, 3);
	ck_assert_uint_eq(capture_bytes(recorder.capture), bytes);
	recorder_free(&recorder);
}
END_TEST

START_TEST(every_loss_has_a_name)
{
	for (size_t i = 0; i < LOSS_REASONS; i++) {
		ck_assert_ptr_nonnull(loss_reasons[i].name);
		ck_assert_ptr_nonnull(loss_reasons[i].unit);
		for (size_t j = 0; j < i; j++)
			ck_assert_str_ne(loss_reasons[i].name, loss_reasons[j].name);
	}
}
END_TEST

START_TEST(free_takes_null)
{
	capture_free(NULL);
}
END_TEST

/* ---- intervals off CPU ---- */

#define MS 1000000UL

/* One thread of process 1; its off-CPU interval is in a ring of its own. */
static struct capture *capture_interval_at(uint64_t triggered_ns, const struct sample *interval)
{
	struct fake_ring ring;
	struct rings view;
	struct recorder recorder = { .described = 0 };
	struct capture_trigger trigger = trigger_make(HISTORY);
	struct sample *oncpu = calloc(4, sizeof(*oncpu));

	trigger.triggered_ns = triggered_ns;
	fake_ring_make(&ring, 4);
	fake_ring_write(&ring, interval);
	view = (struct rings){ oncpu, 4, 1, ARMED, ring.slots };
	recorder.capture = capture_begin(&trigger, &view);
	ck_assert_ptr_nonnull(recorder.capture);
	drain(&recorder);
	fake_ring_free(&ring);
	free(oncpu);
	return recorder.capture;
}

static struct capture *capture_interval(const struct sample *interval)
{
	return capture_interval_at(TRIGGERED, interval);
}

static struct sample interval_make(uint64_t left_ns, uint64_t woken_ns, uint64_t time_ns, uint8_t stall)
{
	struct sample sample = sample_make(1, time_ns, 1, 2, 0x1000);

	sample.kind = SAMPLE_OFF_CPU;
	sample.stall = stall;
	sample.left_ns = left_ns;
	sample.woken_ns = woken_ns;
	sample.weight_ns = woken_ns - left_ns;
	sample.queued_ns = time_ns - woken_ns;
	return sample;
}

static const struct capture_row *find_row(const struct capture *capture, uint8_t stall, int32_t second)
{
	for (uint32_t i = 0; i < capture->rows_count; i++)
		if (capture->rows[i].stall == stall && capture->rows[i].second == second)
			return &capture->rows[i];
	ck_abort_msg("no row of stall %u in second %d", stall, second);
	return NULL;
}

START_TEST(an_interval_is_blocked_and_queued)
{
	struct sample interval =
		interval_make(TRIGGERED + 100 * MS, TRIGGERED + 300 * MS, TRIGGERED + 350 * MS, STALL_IO);
	struct capture *capture = capture_interval(&interval);

	ck_assert_uint_eq(capture->rows_count, 2);
	ck_assert_uint_eq(find_row(capture, STALL_IO, 0)->weight_ns, 200 * MS);
	ck_assert_uint_eq(find_row(capture, STALL_CPU, 0)->weight_ns, 50 * MS);
	ck_assert_uint_eq(find_row(capture, STALL_IO, 0)->samples, 1);
	ck_assert_uint_eq(find_row(capture, STALL_IO, 0)->kind, SAMPLE_OFF_CPU);
	capture_free(capture);
}
END_TEST

START_TEST(a_wait_during_reclaim_stalls_on_memory_too)
{
	struct sample interval =
		interval_make(TRIGGERED + MS, TRIGGERED + MS, TRIGGERED + 3 * MS, STALL_MEMORY);
	struct capture *capture = capture_interval(&interval);

	ck_assert_uint_eq(capture->rows_count, 1);
	ck_assert_uint_eq(find_row(capture, STALL_MEMORY | STALL_CPU, 0)->weight_ns, 2 * MS);
	capture_free(capture);
}
END_TEST

START_TEST(each_second_has_its_part_of_an_interval)
{
	struct sample interval =
		interval_make(TRIGGERED - 1500 * MS, TRIGGERED + 700 * MS, TRIGGERED + 700 * MS, 0);
	struct capture *capture = capture_interval(&interval);

	ck_assert_uint_eq(capture->rows_count, 3);
	ck_assert_uint_eq(find_row(capture, 0, -2)->weight_ns, 500 * MS);
	ck_assert_uint_eq(find_row(capture, 0, -1)->weight_ns, SECOND);
	ck_assert_uint_eq(find_row(capture, 0, 0)->weight_ns, 700 * MS);
	/* one interval, in the second in which it ended */
	ck_assert_uint_eq(samples_of(capture), 1);
	ck_assert_uint_eq(find_row(capture, 0, 0)->samples, 1);
	capture_free(capture);
}
END_TEST

START_TEST(an_interval_has_its_begin_and_its_end)
{
	struct sample interval =
		interval_make(TRIGGERED - 1500 * MS, TRIGGERED + 700 * MS, TRIGGERED + 740 * MS, STALL_IO);
	struct capture *capture = capture_interval(&interval);
	const struct capture_event *events = capture->events;

	/* of its row alone, in which it ended: waiting, then queued */
	ck_assert_uint_eq(capture->events_count, 2);
	ck_assert_ptr_eq(&capture->rows[events[0].row], find_row(capture, STALL_IO, 0));
	ck_assert_int_eq(events[0].begin_ms, -1500);
	ck_assert_int_eq(events[0].at_ms, 700);
	ck_assert_ptr_eq(&capture->rows[events[1].row], find_row(capture, STALL_CPU, 0));
	ck_assert_int_eq(events[1].begin_ms, 700);
	ck_assert_int_eq(events[1].at_ms, 740);
	capture_free(capture);
}
END_TEST

START_TEST(an_interval_of_months_begins_before_it_ends)
{
	const uint64_t day = 86400 * SECOND, now = 100 * day;
	struct sample interval = interval_make(now - 60 * day, now + SECOND, now + SECOND, 0);
	struct capture *capture = capture_interval_at(now, &interval);

	ck_assert_uint_eq(capture->events_count, 1);
	ck_assert_int_eq(capture->events[0].begin_ms, INT32_MIN);
	ck_assert_int_eq(capture->events[0].at_ms, 1000);
	capture_free(capture);
}
END_TEST

START_TEST(an_interval_is_cut_at_both_ends_of_the_capture)
{
	struct sample interval = interval_make(ARMED - 50 * SECOND, TRIGGERED + 60 * SECOND,
					       TRIGGERED + 60 * SECOND, STALL_IO);
	struct capture *capture = capture_interval(&interval);
	uint64_t sum_ns = 0;

	for (uint32_t i = 0; i < capture->rows_count; i++)
		sum_ns += capture->rows[i].weight_ns;
	ck_assert_uint_eq(sum_ns, HISTORY + DURATION);
	capture_free(capture);
}
END_TEST

START_TEST(carried_time_counts_where_its_interval_ended)
{
	struct sample interval =
		interval_make(TRIGGERED + 900 * MS, TRIGGERED + 1100 * MS, TRIGGERED + 1100 * MS, STALL_IO);
	struct capture *capture;

	interval.weight_ns += 7 * MS;
	capture = capture_interval(&interval);
	ck_assert_uint_eq(find_row(capture, STALL_IO, 0)->weight_ns, 100 * MS);
	ck_assert_uint_eq(find_row(capture, STALL_IO, 1)->weight_ns, 107 * MS);
	capture_free(capture);
}
END_TEST

START_TEST(an_open_interval_counts_until_now)
{
	struct sample other = interval_make(TRIGGERED + MS, TRIGGERED + 2 * MS, TRIGGERED + 2 * MS, 0);
	struct capture *capture = capture_interval(&other);
	struct recorder recorder = { .capture = capture };
	struct sample open = interval_make(TRIGGERED + SECOND, 0, 0, STALL_IO);

	open.weight_ns = open.queued_ns = 0;
	capture_add_open(capture, &open, TRIGGERED + SECOND + 400 * MS, describe, &recorder);
	ck_assert_uint_eq(find_row(capture, STALL_IO, 1)->weight_ns, 400 * MS);
	/* in the future, or no sample: refused */
	open.left_ns = TRIGGERED + 3 * SECOND;
	capture_add_open(capture, &open, TRIGGERED + 2 * SECOND, describe, &recorder);
	open.left_ns = TRIGGERED + SECOND;
	open.header.bytes = 12;
	capture_add_open(capture, &open, TRIGGERED + 2 * SECOND, describe, &recorder);
	ck_assert_uint_eq(capture->rows_count, 2);
	capture_free(capture);
}
END_TEST

/* When the worker thread frees a capture that has ended, the draining thread may have opened other files. */
/* Of a capture on demand: its kind of samples alone. */
START_TEST(samples_of_one_kind_are_taken)
{
	struct sample interval =
		interval_make(TRIGGERED + 100 * MS, TRIGGERED + 300 * MS, TRIGGERED + 350 * MS, STALL_IO);
	const struct {
		uint32_t kinds, on_cpu, off_cpu; /* rows */
	} cases[] = { { CAPTURE_ON_CPU, 1, 0 },
		      { CAPTURE_OFF_CPU, 0, 2 },
		      { CAPTURE_ON_CPU | CAPTURE_OFF_CPU, 1, 2 } };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct capture_trigger trigger = trigger_make(HISTORY);
		struct recorder recorder = { .described = 0 };
		struct fake_ring oncpu, offcpu;
		struct sample sample = sample_make(1, TRIGGERED, 1, 2, 0x1000);
		struct rings view;
		uint32_t found[2] = { 0 };

		trigger.asking = calloc(1, sizeof(*trigger.asking));
		trigger.asking->kinds = cases[i].kinds;
		fake_ring_make(&oncpu, 4);
		fake_ring_make(&offcpu, 4);
		fake_ring_write(&oncpu, &sample);
		fake_ring_write(&offcpu, &interval);
		view = (struct rings){ oncpu.slots, 4, 1, ARMED, offcpu.slots };
		recorder.capture = capture_begin(&trigger, &view);
		drain(&recorder);
		for (uint32_t row = 0; row < recorder.capture->rows_count; row++)
			found[recorder.capture->rows[row].kind == SAMPLE_OFF_CPU]++;
		ck_assert_uint_eq(found[0], cases[i].on_cpu);
		ck_assert_uint_eq(found[1], cases[i].off_cpu);
		ck_assert_uint_eq(recorder.capture->taken, found[0] + (found[1] > 0));
		/* without samples on CPU, none is missing */
		capture_expect_from(recorder.capture, TRIGGERED, 0);
		capture_expect_until(recorder.capture, TRIGGERED + 4 * SECOND, 4 * SECOND);
		capture_end(recorder.capture, TRIGGERED + DURATION, false);
		ck_assert((recorder.capture->losses[LOSS_MISSING] > 0) == (cases[i].on_cpu > 0));
		capture_free(recorder.capture);
		fake_ring_free(&oncpu);
		fake_ring_free(&offcpu);
	}
}
END_TEST

/* Whoever asked for it has had enough. */
/* ---- looks ---- */

static void keep_look(struct looks *looks, uint32_t tgid, uint8_t state)
{
	const struct {
		struct look_record record;
		int32_t frames[2];
	} look = { { .header = { RECORD_LOOK, sizeof(look.record) },
		     .tid = tgid * 10,
		     .tgid = tgid,
		     .started_ns = 1000 + tgid,
		     .cgroup_id = 1,
		     .call = 0,
		     .fd = 4,
		     .comm = "thread",
		     .state = state,
		     .depth = 2 },
		   { tgid < 3 ? 5 : 6, KERNEL_FRAME_UNKNOWN } };

	ck_assert_int_eq(looks_add(looks, (const char *)&look, sizeof(look)), sizeof(look));
}

START_TEST(a_look_has_all_threads_of_targets_and_those_of_others_that_wait)
{
	struct recorder recorder;
	struct capture *capture;
	struct looks looks = { .lost = 0 };

	recorder_make(&recorder, 32);
	begin(&recorder, HISTORY);
	capture = recorder.capture;
	keep_look(&looks, 1, THREAD_SLEEPING);
	keep_look(&looks, 2, THREAD_DISK);
	keep_look(&looks, 3, THREAD_SLEEPING); /* of another */
	keep_look(&looks, 3, THREAD_DISK);
	keep_look(&looks, 4, THREAD_SLEEPING); /* not known */
	looks.lost = 2;
	capture_add_looks(capture, &looks, TRIGGERED - 1, describe, &recorder);
	capture_add_looks(capture, &looks, TRIGGERED + DURATION, describe, &recorder);
	ck_assert_uint_eq(capture->thread_states.seconds_count, 0);
	capture_add_looks(capture, &looks, TRIGGERED, describe, &recorder);
	capture_add_looks(capture, &looks, TRIGGERED + SECOND, describe, &recorder);
	capture_end(capture, TRIGGERED + DURATION, false);
	ck_assert_uint_eq(capture->losses[LOSS_LOOKS], 2 * (2 + 1));
	ck_assert_uint_eq(all_losses(capture), 2 * (2 + 1));
	ck_assert_uint_eq(capture->thread_states.count, 3);
	for (uint32_t i = 0; i < 3; i++) {
		const struct thread_state *row = &capture->thread_states.rows[i];
		const struct stack *stack = &capture->stacks.stacks[row->stack];

		ck_assert_uint_eq(row->tid, 10 * (i + 1));
		ck_assert_uint_eq(row->samples, 2);
		ck_assert_uint_eq(row->seconds, 2);
		ck_assert_int_eq(row->of_target, i < 2);
		ck_assert_uint_eq(stack->kernel_depth, 2);
		ck_assert_uint_eq(row->stack, i == 2); /* the frames of two processes are the same */
		ck_assert(!stack->truncated);
		ck_assert_int_eq((int64_t)capture->stacks.frames[stack->first + 1], KERNEL_FRAME_UNKNOWN);
	}
	ck_assert_uint_eq(capture->thread_states.seconds_count, 2);
	ck_assert_uint_eq(capture->thread_states.seconds[1].threads, 2);
	/* the processes are those that samples have */
	ck_assert_uint_eq(capture->processes_count, 3);
	ck_assert_uint_eq(capture->of_others.processes, 1);
	ck_assert_uint_eq(capture->of_others.stacks, 1);
	looks_free(&looks);
	recorder_free(&recorder);
}
END_TEST

START_TEST(looks_leave_stacks_for_samples)
{
	struct recorder recorder;
	struct capture *capture;

	recorder_make(&recorder, 32);
	begin(&recorder, HISTORY);
	capture = recorder.capture;
	for (int32_t i = 0; i < 4096 + 10; i++) {
		struct looks looks = { .lost = 0 };

		keep_look(&looks, 1, THREAD_DISK);
		looks.last.frames.all[0] = i;
		capture_add_looks(capture, &looks, TRIGGERED, describe, &recorder);
		looks_free(&looks);
	}
	ck_assert_uint_eq(capture->stacks.count, 4096);
	ck_assert_uint_eq(capture->losses[LOSS_LOOKS], 10);
	put(&recorder, 0, 1, TRIGGERED + 1);
	drain(&recorder);
	ck_assert_uint_eq(capture->stacks.count, 4097);
	ck_assert_uint_eq(capture->losses[LOSS_CAPTURE_FULL], 0);
	recorder_free(&recorder);
}
END_TEST

START_TEST(a_capture_is_shortened)
{
	struct recorder recorder;

	recorder_make(&recorder, 8);
	begin(&recorder, HISTORY);
	put(&recorder, 0, 1, TRIGGERED + SECOND);
	put(&recorder, 0, 1, TRIGGERED + 2 * SECOND);
	ck_assert(!capture_is_over(recorder.capture, TRIGGERED + DURATION - 1));
	capture_shorten(recorder.capture, TRIGGERED + 2 * SECOND);
	capture_shorten(recorder.capture, TRIGGERED + 3 * SECOND); /* not longer again */
	ck_assert(!capture_is_over(recorder.capture, TRIGGERED + 2 * SECOND - 1));
	ck_assert(capture_is_over(recorder.capture, TRIGGERED + 2 * SECOND));
	drain(&recorder);
	capture_end(recorder.capture, TRIGGERED + 2 * SECOND + 250 * MS, false);
	ck_assert_uint_eq(samples_of(recorder.capture), 1);
	ck_assert_uint_eq(recorder.capture->ended_ns, TRIGGERED + 2 * SECOND);
	recorder_free(&recorder);
}
END_TEST

START_TEST(a_capture_closes_its_pressure_files_once)
{
	SKIP_IF(no_pressure());
	struct pressure pressure;
	int fds[PRESSURE_RESOURCES];

	pressure_open(&pressure, "/", NULL);
	ck_assert_int_ge(pressure.fds[PRESSURE_SYSTEM][PSI_CPU], 0);
	pressure_close(&pressure);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		fds[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
		ck_assert_int_ge(fds[i], 0);
	}
	pressure_free(&pressure);
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		ck_assert_int_ge(fcntl(fds[i], F_GETFD), 0);
		close(fds[i]);
	}
}
END_TEST

SUITE(capture)
{
	Suite *suite = suite_create("capture");
	TCase *taking = tcase_create("taking"), *large = tcase_create("large");
	TCase *intervals = tcase_create("intervals");

	tcase_add_test(taking, empty_rings_have_all_wanted_history);
	tcase_add_loop_test(taking, history_begins_when_armed, 0, ARRAY_SIZE(armed_cases));
	tcase_add_test(taking, a_wrapped_ring_shortens_history);
	tcase_add_test(taking, a_wrapped_ring_with_enough_history_shortens_nothing);
	tcase_add_loop_test(taking, a_sample_lies_in_its_second, 0, ARRAY_SIZE(second_cases));
	tcase_add_test(taking, a_sample_has_its_ms_within_its_second);
	tcase_add_test(taking, a_capture_ends_when_its_time_is_over);
	tcase_add_test(taking, others_are_kept_apart_from_the_rules_processes);
	tcase_add_test(taking, others_have_limits_of_their_own);
	tcase_add_test(taking, a_process_is_its_pid_and_its_start);
	tcase_add_test(taking, a_process_that_changes_its_cgroup_is_another);
	tcase_add_test(taking, a_process_that_executes_another_program_is_another);
	tcase_add_test(taking, equal_samples_add_up);
	tcase_add_loop_test(taking, different_samples_stay_apart, 0, ARRAY_SIZE(differences));
	tcase_add_loop_test(taking, an_incomplete_stack_is_counted, 0, ARRAY_SIZE(loss_cases));
	tcase_add_test(taking, stacks_of_others_are_not_counted);
	tcase_add_test(taking, lost_slots_reach_the_ledger);
	tcase_add_test(taking, every_loss_has_a_name);
	tcase_add_test(taking, free_takes_null);
	tcase_add_test(taking, a_capture_closes_its_pressure_files_once);
	tcase_add_test(taking, samples_of_one_kind_are_taken);
	tcase_add_test(taking, a_look_has_all_threads_of_targets_and_those_of_others_that_wait);
	tcase_add_test(taking, looks_leave_stacks_for_samples);
	tcase_add_test(taking, a_capture_is_shortened);
	tcase_add_test(large, random_samples_add_up);
	tcase_add_loop_test(large, a_full_capture_counts_samples_as_lost, 0, 2);
	tcase_add_test(large, a_capture_without_memory_keeps_what_it_has);
	suite_add_tcase(suite, taking);
	suite_add_tcase(suite, large);
	tcase_add_test(intervals, an_interval_is_blocked_and_queued);
	tcase_add_test(intervals, a_wait_during_reclaim_stalls_on_memory_too);
	tcase_add_test(intervals, each_second_has_its_part_of_an_interval);
	tcase_add_test(intervals, an_interval_has_its_begin_and_its_end);
	tcase_add_test(intervals, an_interval_of_months_begins_before_it_ends);
	tcase_add_test(intervals, an_interval_is_cut_at_both_ends_of_the_capture);
	tcase_add_test(intervals, carried_time_counts_where_its_interval_ended);
	tcase_add_test(intervals, an_open_interval_counts_until_now);
	suite_add_tcase(suite, intervals);
	return suite;
}
