/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writes a sample ring as the kernel programs do, and overwrites parts of it between reads. A reader delivers
 * only valid samples, in order, and counts each number that it skips. Each row of a capture of the same ring
 * refers to an existing process and stack.
 */
#include "consumer/capture/capture.h"
#include "consumer/capture/capture_samples.h"
#include "tests/fuzz/fuzz.h"

#define SLOTS 8U
#define TRIGGERED_NS 5000000000U

struct ring {
	struct sample *slots;
	uint64_t written;
};

/* ---- writing a ring ---- */

static void write_sample(struct ring *ring, struct input *input)
{
	struct sample *slot = &ring->slots[ring->written % SLOTS];

	slot->header = (struct record_header){ RECORD_SAMPLE, sizeof(*slot) };
	slot->time_ns = TRIGGERED_NS + ring->written * 100000000U;
	slot->weight_ns = 1;
	slot->tgid = slot->tid = input_byte(input) % 4U;
	slot->kernel_depth = (int16_t)(input_byte(input) % (SAMPLE_KERNEL_FRAMES + 2) - 1);
	slot->user_depth = (int16_t)(input_byte(input) % (SAMPLE_USER_FRAMES + 2) - 1);
	slot->seq = ++ring->written;
}

/* Most of a sample is frames, which no check depends on: prefers the bytes before them. */
static void overwrite(struct ring *ring, struct input *input)
{
	uint8_t slot = input_byte(input) % SLOTS, at = input_byte(input);
	uint8_t bytes = input_byte(input) % 9;

	input_read(input, (char *)&ring->slots[slot] + at, bytes);
}

/* ---- a reader ---- */

struct seen {
	uint64_t count, last_seq;
};

static void check_sample(const struct sample *sample)
{
	HOLDS(sample->header.type == RECORD_SAMPLE && sample->header.bytes == sizeof(*sample));
	HOLDS(sample->seq);
	HOLDS(sample->kernel_depth <= (int)SAMPLE_KERNEL_FRAMES);
	HOLDS(sample->user_depth <= (int)SAMPLE_USER_FRAMES);
	HOLDS(memchr(sample->comm, '\0', sizeof(sample->comm)));
}

static void see(void *user, const struct sample *sample)
{
	struct seen *seen = user;

	check_sample(sample);
	HOLDS(sample->seq > seen->last_seq);
	seen->last_seq = sample->seq;
	seen->count++;
}

static uint64_t newest_of(const struct ring *ring)
{
	uint64_t newest = 0;

	for (uint32_t i = 0; i < SLOTS; i++)
		if (ring->slots[i].seq > newest)
			newest = ring->slots[i].seq;
	return newest;
}

static void read_ring(const struct ring *ring, struct ring_reader *reader)
{
	struct ring_reader before = *reader;
	struct seen seen = { 0 };

	ring_read(reader, see, &seen);
	HOLDS(seen.count <= 2 * SLOTS);
	HOLDS(reader->torn <= reader->lost && reader->torn >= before.torn && reader->lost >= before.lost);
	HOLDS(reader->next_seq - before.next_seq == seen.count + reader->lost - before.lost);
	/* it does not go back, nor beyond the newest sample */
	HOLDS(reader->next_seq >= before.next_seq);
	HOLDS(reader->next_seq == before.next_seq || reader->next_seq - 1 <= newest_of(ring));
}

/* ---- a capture ---- */

static bool describe(void *user, const struct sample *sample, struct capture_process *process)
{
	(void)user;
	check_sample(sample);
	process->role = sample->tgid != 1 ? USAGE_TARGET : USAGE_OTHER;
	return sample->tgid != 2;
}

static void check_capture(const struct capture *capture)
{
	const struct stacks *stacks = &capture->stacks;
	uint64_t samples = 0;

	for (uint32_t i = 0; i < capture->rows_count; i++) {
		const struct capture_row *row = &capture->rows[i];

		HOLDS(row->process < capture->processes_count && row->stack < stacks->count);
		HOLDS(row->kind == SAMPLE_ON_CPU || capture->processes[row->process].role == USAGE_TARGET);
		HOLDS(row->samples || row->kind == SAMPLE_OFF_CPU);
		HOLDS(row->second >= -(int32_t)(TRIGGERED_NS / 1000000000) && row->second < 10);
		samples += row->samples;
	}
	/* two rings, and an off-CPU interval may be both blocked and queued */
	HOLDS(samples + capture->losses[LOSS_UNKNOWN_PROCESS] <= 2UL * 2 * 2 * SLOTS);
	for (uint32_t i = 0; i < capture->wakes.count; i++) {
		const struct wake *wake = &capture->wakes.rows[i];

		HOLDS(wake->process < capture->processes_count && wake->stack < stacks->count);
		HOLDS(capture->processes[wake->process].role == USAGE_TARGET && wake->role < WAKE_ROLES);
		HOLDS(wake->waker_process < capture->processes_count ||
		      (wake->waker_process == WAKE_UNKNOWN && !wake->waker_tid));
		HOLDS(wake->waker_stack == WAKE_UNKNOWN ||
		      (wake->waker_stack < stacks->count &&
		       stacks->stacks[wake->waker_stack].process == wake->waker_process));
		HOLDS(wake->waited_ns > 0 && wake->waited_ns <= wake->intervals * 20000000000UL);
		HOLDS(memchr(wake->thread, 0, sizeof(wake->thread)) &&
		      memchr(wake->waker, 0, sizeof(wake->waker)));
	}
	for (uint32_t i = 0; i < capture->growths.count; i++) {
		const struct growth_row *row = &capture->growths.rows[i];

		HOLDS(row->process < capture->processes_count && row->stack < stacks->count && row->samples);
		HOLDS(capture->processes[row->process].role == USAGE_TARGET);
	}
	for (uint32_t i = 0; i < stacks->count; i++)
		HOLDS(stacks->stacks[i].first + stacks->stacks[i].kernel_depth +
			      stacks->stacks[i].user_depth <=
		      stacks->frames_count);
}

static void run_capture(const struct ring *ring, uint64_t armed_ns)
{
	struct capture_trigger trigger = { .triggered_ns = TRIGGERED_NS,
					   .wanted_history_ns = 10000000000,
					   .capture_ns = 10000000000 };
	struct rings rings = { ring->slots, SLOTS, 1, armed_ns, ring->slots };
	struct capture *capture = capture_begin(&trigger, &rings);

	HOLDS(capture);
	capture_drain(capture, describe, NULL);
	capture_end(capture, TRIGGERED_NS, false);
	check_capture(capture);
	capture_free(capture);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct input input = { data, bytes };
	struct ring ring = { calloc(SLOTS, sizeof(struct sample)), 0 };
	struct ring_reader reader;
	uint64_t oldest_ns;

	HOLDS(ring.slots);
	ring_begin(&reader, ring.slots, SLOTS, &oldest_ns);
	while (input.left) {
		switch (input_byte(&input) % 4) {
		case 0:
			write_sample(&ring, &input);
			break;
		case 1:
			overwrite(&ring, &input);
			break;
		case 2:
			read_ring(&ring, &reader);
			break;
		default:
			ring_begin(&reader, ring.slots, SLOTS, &oldest_ns);
		}
	}
	read_ring(&ring, &reader);
	run_capture(&ring, bytes);
	free(ring.slots);
	return 0;
}
