/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ring.h owns reading the sample rings, which the kernel overwrites without waiting for readers. A sample
 * counts only if its sequence number is the same before and after the copy. A gap in the numbers is a counted
 * loss.
 */
#ifndef BOURDON_CONSUMER_CAPTURE_RING_H
#define BOURDON_CONSUMER_CAPTURE_RING_H

#include "common/abi/abi.h"

#include <stdbool.h>
#include <stdint.h>

/* A reader's position in one CPU's ring. Readers are independent of each other. */
struct ring_reader {
	const struct sample *slots;
	uint32_t slots_count;
	uint64_t next_seq;
	uint64_t lost; /* samples overwritten before they were read */
	uint64_t torn; /* of these, samples overwritten while they were copied */
};

/*
 * Positions the reader at the oldest sample that is safe to read. *ret_oldest_ns is its time if older samples
 * were overwritten, or 0 if the ring still holds every sample ever written.
 */
void ring_begin(struct ring_reader *reader, const struct sample *slots, uint32_t slots_count,
		uint64_t *ret_oldest_ns);

/*
 * Calls `visit` with a copy of each sample from the reader's position to the newest. Checks each slot: depths
 * within bounds, the expected type and size, a sequence number that this slot can have. A slot that fails
 * counts as torn.
 */
void ring_read(struct ring_reader *reader, void (*visit)(void *user, const struct sample *sample),
	       void *user);

/* Whether a sample's type, size and depths are valid, so that its frames can be read. */
bool ring_sample_is_sane(const struct sample *sample);

#endif
