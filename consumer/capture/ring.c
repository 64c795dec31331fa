/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/capture/ring.h"

#include <stddef.h>
#include <string.h>

/* How often to read a slot again that is being written: ten times longer than a write takes. */
#define WRITING_SPINS 2000

/* The last sequence number counts as "being written": after it a reader's own number would wrap. */
static uint64_t slot_seq(const struct sample *slot)
{
	uint64_t seq = __atomic_load_n(&slot->seq, __ATOMIC_ACQUIRE);

	return seq == UINT64_MAX ? 0 : seq;
}

static const struct sample *slot_of(const struct ring_reader *reader, uint64_t seq)
{
	return &reader->slots[(seq - 1) % reader->slots_count];
}

void ring_begin(struct ring_reader *reader, const struct sample *slots, uint32_t slots_count,
		uint64_t *ret_oldest_ns)
{
	uint64_t newest = 0;

	*reader = (struct ring_reader){ .slots = slots, .slots_count = slots_count, .next_seq = 1 };
	*ret_oldest_ns = 0;
	for (uint32_t i = 0; i < slots_count; i++) {
		uint64_t seq = slot_seq(&slots[i]);

		if (seq > newest)
			newest = seq;
	}
	if (newest < slots_count)
		return;
	/* the oldest slot is the next to be overwritten: start one slot later */
	reader->next_seq = newest - slots_count + 2;
	*ret_oldest_ns = slot_of(reader, reader->next_seq)->time_ns;
}

static uint64_t wait_while_written(const struct sample *slot)
{
	uint64_t seq = slot_seq(slot);

	for (int spins = 0; !seq && spins < WRITING_SPINS; spins++)
		seq = slot_seq(slot);
	return seq;
}

bool ring_sample_is_sane(const struct sample *sample)
{
	return sample->header.type == RECORD_SAMPLE && sample->header.bytes == sizeof(*sample) &&
	       sample->kernel_depth <= (int)SAMPLE_KERNEL_FRAMES &&
	       sample->user_depth <= (int)SAMPLE_USER_FRAMES;
}

/* Copies only the frames in use: most stacks fill a tenth of their slot. */
static bool copy_slot(const struct sample *slot, uint64_t seq, struct sample *copy)
{
	bool sane;

	memcpy(copy, slot, offsetof(struct sample, kernel_frames));
	sane = ring_sample_is_sane(copy);
	if (sane && copy->kernel_depth > 0)
		memcpy(copy->kernel_frames, slot->kernel_frames,
		       (size_t)copy->kernel_depth * sizeof(copy->kernel_frames[0]));
	if (sane && copy->user_depth > 0)
		memcpy(copy->user_frames, slot->user_frames,
		       (size_t)copy->user_depth * sizeof(copy->user_frames[0]));
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return sane && slot_seq(slot) == seq;
}

void ring_read(struct ring_reader *reader, void (*visit)(void *user, const struct sample *sample), void *user)
{
	struct sample copy;

	/* a bound: forged sequence numbers must not make this loop endless */
	for (uint32_t i = 0; i < 2 * reader->slots_count; i++) {
		const struct sample *slot = slot_of(reader, reader->next_seq);
		uint64_t seq = wait_while_written(slot);
		bool possible = !((seq - reader->next_seq) % reader->slots_count);

		if (seq < reader->next_seq)
			return; /* no newer sample, or its writer was interrupted: read it next time */
		if (seq > reader->next_seq && possible) {
			uint64_t oldest = seq - reader->slots_count + 1;

			reader->lost += oldest - reader->next_seq;
			reader->next_seq = oldest;
			if (oldest != seq)
				continue;
		}
		if (possible && copy_slot(slot, seq, &copy)) {
			copy.comm[ABI_COMM_BYTES - 1] = copy.waker.comm[ABI_COMM_BYTES - 1] = '\0';
			visit(user, &copy);
		} else {
			reader->torn++;
			reader->lost++;
		}
		reader->next_seq++;
	}
}
