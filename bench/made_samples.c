/* SPDX-License-Identifier: GPL-2.0-only */
#include "bench/made_samples.h"

#include "common/base/clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TRIGGERED_NS (1000 * CLOCK_SECOND_NS)
#define TRIGGERED_AT 1700000000000000000L
#define HISTORY_SECONDS 10U
#define CAPTURE_SECONDS 5U
#define SECONDS (HISTORY_SECONDS + CAPTURE_SECONDS)
#define PROCESSES 20U
#define THREADS 4U      /* of a process */
#define KERNEL_EVERY 5U /* the share of stacks that have kernel frames, */
#define KERNEL_SHARE 3U /* and the share of kernel frames in such a stack */
#define HZ 47U

/* splitmix64's finalizer */
static uint32_t scatter(uint64_t value)
{
	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9U;
	value = (value ^ value >> 27) * 0x94d049bb133111ebU;
	return (uint32_t)(value ^ value >> 31);
}

/*
 * The frame of a stack that is `height` above its outermost one, of `frames` frames. The call tree has one
 * branch at the outermost frame, one for each stack at the leaf, and widens evenly in between.
 */
static uint32_t frame_at(const struct made_shape *shape, uint32_t stack, uint32_t height, uint32_t frames)
{
	double width = pow(shape->stacks, height / (double)(shape->depth - 1));
	uint32_t branch = (uint32_t)(stack * width / shape->stacks);

	return scatter((uint64_t)(height + 1) << 32 | branch) % frames;
}

static struct sample make_sample(const struct made_shape *shape, uint32_t number, uint64_t time_ns)
{
	uint32_t stack = number % shape->stacks, round = number / shape->stacks;
	uint32_t kernel = stack % KERNEL_EVERY ? 0 : shape->depth / KERNEL_SHARE;
	uint32_t tgid = 1000 + stack % PROCESSES;
	struct sample sample = {
		.header = { RECORD_SAMPLE, sizeof(sample) },
		.time_ns = time_ns,
		.weight_ns = CLOCK_SECOND_NS / HZ,
		.started_ns = tgid * CLOCK_SECOND_NS,
		.cgroup_id = 100 + tgid % 3,
		.tgid = tgid,
		.tid = tgid * 10 + round % THREADS,
		.pattern_id = 1,
		.kind = SAMPLE_ON_CPU,
		.unwinder = UNWINDER_FRAME_POINTER,
		.user_ended = UNWIND_ENDED_ROOT,
		.kernel_depth = (__s16)kernel,
		.user_depth = (__s16)(shape->depth - kernel),
		.comm = "worker",
	};

	for (uint32_t i = 0; i < shape->depth; i++) {
		uint32_t height = shape->depth - 1 - i;

		if (i < kernel)
			sample.kernel_frames[i] = (__s32)(frame_at(shape, stack, height, MADE_KERNEL_FRAMES) *
							  MADE_FRAME_BYTES);
		else
			sample.user_frames[i - kernel] =
				(__u64)frame_at(shape, stack, height, MADE_USER_FRAMES) * MADE_FRAME_BYTES;
	}
	return sample;
}

void made_ring(const struct made_shape *shape, uint32_t first, struct sample *slots, uint32_t slots_count)
{
	uint64_t began_ns = TRIGGERED_NS - HISTORY_SECONDS * CLOCK_SECOND_NS;

	for (uint32_t i = 0; i < slots_count; i++) {
		slots[i] = make_sample(shape, first + i,
				       began_ns + i * (SECONDS * CLOCK_SECOND_NS / slots_count));
		slots[i].seq = i + 1;
	}
}

struct capture_trigger made_trigger(void)
{
	return (struct capture_trigger){
		.rule_id = 1,
		.rule = "web",
		.psi = { PSI_CPU, PSI_SOME, 100000, 2000000 },
		.mode = TRIGGER_SAMPLED,
		.cgroup = strdup("/system.slice/web.service"),
		.observed_us = 150000,
		.triggered_ns = TRIGGERED_NS,
		.triggered_at = TRIGGERED_AT,
		.wanted_history_ns = HISTORY_SECONDS * CLOCK_SECOND_NS,
		.capture_ns = CAPTURE_SECONDS * CLOCK_SECOND_NS,
		.hz = HZ,
	};
}

bool made_describe(void *user, const struct sample *sample, struct capture_process *process)
{
	(void)user;
	(void)sample;
	process->uid = 33;
	snprintf(process->comm, sizeof(process->comm), "worker");
	process->cgroup = "/system.slice/web.service";
	process->role = USAGE_TARGET;
	return true;
}
