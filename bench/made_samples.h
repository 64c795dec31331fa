/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * made_samples.h generates samples for benchmarks, where real ones would differ with each run: stacks of an
 * imaginary program with a call tree, so that they share outer frames as real stacks do. Some stacks are in
 * the kernel. They belong to several processes and threads and are spread over the seconds of one capture.
 */
#ifndef BOURDON_BENCH_MADE_SAMPLES_H
#define BOURDON_BENCH_MADE_SAMPLES_H

#include "common/abi.h"
#include "consumer/capture/capture.h"

#define MADE_USER_FRAMES 1500U /* largest number of distinct frames */
#define MADE_KERNEL_FRAMES 300U
#define MADE_FRAME_BYTES 64U /* distance between frames; the first is at 0 */

struct made_shape {
	uint32_t stacks;
	uint32_t depth; /* user and kernel frames together */
};

/*
 * Fills a ring with samples, the oldest first, spread evenly over the seconds of a capture. Their stacks are
 * `first`, `first` + 1 and so on, cyclically.
 */
void made_ring(const struct made_shape *shape, uint32_t first, struct sample *slots, uint32_t slots_count);

/*
 * Returns the trigger of a capture that covers all made samples. The caller frees trigger.cgroup or passes it
 * on.
 */
struct capture_trigger made_trigger(void);

/* A capture_describe(): every process is included. */
bool made_describe(void *user, const struct sample *sample, struct capture_process *process);

#endif
