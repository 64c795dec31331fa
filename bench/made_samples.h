/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * made_samples.h owns samples for measurements where real ones would be another load each time: stacks of a
 * made-up program with a call tree, so that they share outer frames as real stacks do, some with kernel
 * frames, of several processes and threads, spread over the seconds of a capture.
 */
#ifndef BOURDON_BENCH_MADE_SAMPLES_H
#define BOURDON_BENCH_MADE_SAMPLES_H

#include "common/abi/abi.h"
#include "consumer/capture/capture.h"

#define MADE_USER_FRAMES 1500U /* distinct stacks at most, */
#define MADE_KERNEL_FRAMES 300U
#define MADE_FRAME_BYTES 64U /* the distance of their addresses, which begin at 0 */

struct made_shape {
	uint32_t stacks;
	uint32_t depth; /* user and kernel frames of a stack together */
};

/*
 * Fills a ring with samples, the oldest first, evenly over the seconds of a capture. They have the stacks
 * `first`, `first` + 1 and so on, in a cycle.
 */
void made_ring(const struct made_shape *shape, uint32_t first, struct sample *slots, uint32_t slots_count);

/* The trigger of the capture that covers all made samples. The caller frees trigger.cgroup or hands it on. */
struct capture_trigger made_trigger(void);

/* A capture_describe() that includes every process. */
bool made_describe(void *user, const struct sample *sample, struct capture_process *process);

#endif
