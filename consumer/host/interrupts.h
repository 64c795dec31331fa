/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * interrupts.h reads how long the machine's CPUs were in interrupts: sums over all CPUs since the load, by soft-interrupt
 * vector and by number of a hard interrupt (bpf/interrupts.bpf.c).
 */
#ifndef BOURDON_CONSUMER_HOST_INTERRUPTS_H
#define BOURDON_CONSUMER_HOST_INTERRUPTS_H

#include "common/abi/abi.h"

#include <stdbool.h>
#include <stdint.h>

struct interrupt {
	struct interrupt_key key;
	struct interrupt_sums sums;
	char name[IRQ_NAME_BYTES]; /* of a hard interrupt's handler; "": not known, or another kind */
};

/* Begins as zeros. */
struct interrupts {
	struct interrupt *each;
	uint32_t count, room;
	bool are_known; /* they were read, though there may be none yet */
};

void interrupts_free(struct interrupts *interrupts);

/* Adds sums of one interrupt, of all CPUs. 0 or -ENOMEM. */
int interrupts_add(struct interrupts *interrupts, const struct interrupt_key *key,
		   const struct interrupt_sums *of_cpus, unsigned int cpus);

/* NULL: none has this key. */
struct interrupt *interrupts_find(const struct interrupts *interrupts, const struct interrupt_key *key);

/* Reads the maps `interrupts` and `irq_names`, instead of what was read before. 0 or -errno; then there are none. */
int interrupts_read(struct interrupts *interrupts, int sums_fd, int names_fd);

/* 0 or -ENOMEM; then the copy is empty. */
int interrupts_copy(const struct interrupts *interrupts, struct interrupts *ret_copy);

#endif
