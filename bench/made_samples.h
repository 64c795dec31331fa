/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * made_samples.h owns the samples that are measured with where real ones would be another load each time:
 * stacks of a made-up program with a call tree, so that they share their outer frames as real stacks do, some
 * of them in the kernel, of several processes and threads, spread over the seconds of one capture.
 */
#ifndef BOURDON_BENCH_MADE_SAMPLES_H
#define BOURDON_BENCH_MADE_SAMPLES_H

#include "common/abi.h"
#include "consumer/capture/capture.h"

#define MADE_USER_FRAMES 1500U /* distinct, at most, */
#define MADE_KERNEL_FRAMES 300U
#define MADE_FRAME_BYTES 64U /* and so far apart, from 0 on */

struct made_shape {
	uint32_t stacks;
	uint32_t depth; /* of each, user and kernel frames together */
};

/*
 * Fills a ring with samples, the oldest first, evenly over the seconds of a capture. They have the stacks
 * `first`, `first` + 1 and so on, round and round.
 */
void made_ring(const struct made_shape *shape, uint32_t first, struct sample *slots, uint32_t slots_count);

/* What caused the capture that covers all made samples. The caller frees trigger.cgroup or hands it on. */
struct capture_trigger made_trigger(void);

/* A capture_describe(): every process is included. */
bool made_describe(void *user, const struct sample *sample, struct capture_process *process);

#endif
