/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * made_busy.h owns the captures of a made-up busy host, whose sizes are those of real captures: 9,000 rows, 6,000
 * stacks of 17 frames in 100 modules, several processes with several threads, some with code that a JIT compiler makes
 * anew all the time. Stacks share outer frames as real ones do, and 70 % of the stacks of a capture come again in the next.
 */
#ifndef BOURDON_BENCH_MADE_BUSY_H
#define BOURDON_BENCH_MADE_BUSY_H

#include "common/abi/abi.h"
#include "common/base/hash_index.h"
#include "consumer/capture/capture.h"
#include "consumer/symbols/resolved.h"

#include <stdint.h>

#define BUSY_ROWS 9000U
#define BUSY_SAMPLES (BUSY_ROWS + BUSY_ROWS / 3) /* on CPU and intervals off CPU; every third row has two */
#define BUSY_MODULES 100U

struct made_host {
	struct made_stack *stacks;
	uint32_t stacks_count, stacks_room;
	uint32_t *frames; /* numbers of frames, the outermost first */
	uint32_t frames_count, frames_room;
	struct hash_index index;
	uint64_t random;
};

/* A zeroed host is one that nothing was made for. */
void made_host_free(struct made_host *host);

/*
 * Fills two rings with what capture `number`, from 0, of the host finds: samples on CPU, and intervals off CPU, each in
 * the order of their times. Each has room for BUSY_SAMPLES. Returns 0 or -ENOMEM.
 */
int made_busy_rings(struct made_host *host, uint32_t number, struct sample *on_cpu, uint32_t *ret_on_cpu,
		    struct sample *off_cpu, uint32_t *ret_off_cpu);

/*
 * Adds what else bourdond records: pressure each second, the usage of the host's processes, statistics of the kernel.
 * Returns 0 or -ENOMEM.
 */
int made_busy_context(struct capture *capture);

/* The number of a frame, from its address in a sample; and a number that all of the first captures are below. */
uint32_t made_busy_frame(uint64_t address);
uint32_t made_busy_frames(uint32_t captures);

/* Names a frame, or a module, as the resolver does. Returns 0 or -ENOMEM. */
int made_busy_name(uint32_t frame, struct resolved_frame *ret_frame);
int made_busy_module(uint32_t module, struct resolved_module *ret_module);

#endif
