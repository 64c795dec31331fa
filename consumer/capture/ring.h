/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ring.h owns reading the sample rings, which the kernel overwrites without asking: a slot counts only if
 * its sequence number is the same before and after the copy, and a gap in the numbers is a counted loss.
 */
#ifndef BOURDON_CONSUMER_CAPTURE_RING_H
#define BOURDON_CONSUMER_CAPTURE_RING_H

#include "common/abi.h"

#include <stdbool.h>
#include <stdint.h>

/* One CPU's ring and how far one reader has come in it. Readers do not disturb each other. */
struct ring_reader {
	const struct sample *slots;
	uint32_t slots_count;
	uint64_t next_seq;
	uint64_t lost; /* samples that were overwritten before they were read */
	uint64_t torn; /* of these, while they were being copied */
};

/*
 * Begins at the oldest sample that is safe to read. *ret_oldest_ns is its time if older ones were
 * overwritten, or 0 if the ring still has everything that was ever written to it.
 */
void ring_begin(struct ring_reader *reader, const struct sample *slots, uint32_t slots_count,
		uint64_t *ret_oldest_ns);

/*
 * Calls `visit` with a copy of each sample from where the reader is up to the newest. What a slot says is
 * checked: depths within bounds, type and size as they must be, a number that this slot can have; one that is
 * not counts as torn.
 */
void ring_read(struct ring_reader *reader, void (*visit)(void *user, const struct sample *sample),
	       void *user);

/* Whether a sample is what it says, so that its frames can be read. */
bool ring_sample_is_sane(const struct sample *sample);

#endif
