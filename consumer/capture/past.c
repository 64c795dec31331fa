/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/capture/past.h"

#include "common/base/clock.h"
#include "consumer/capture/capture_samples.h"

#include <errno.h>
#include <lz4.h>
#include <stdlib.h>
#include <string.h>

/* Intervals are compressed when so many bytes have come: as far as LZ4 looks back. */
#define OPEN_BYTES (64U << 10)
/* 10 s of all intervals that two busy CPUs may write, by a mean of 350 bytes, compressed four to one; and room to move them in. */
#define PAST_BYTES_MAX (2U << 20)
#define PAST_ROOM_MAX (PAST_BYTES_MAX + PAST_BYTES_MAX / 4)
#define PAST_ROOM_STEP (512U << 10)

/* Of `bytes`: compressed entries follow. */
struct block {
	uint64_t newest_ns; /* when the last of them ended */
	uint32_t bytes;     /* the whole */
};

struct entry {
	uint32_t bytes; /* the whole, of which the sample is the rest */
	uint32_t cpu;
};

struct reading {
	struct past *past;
	const struct ring_reader *reader;
	uint64_t overwritten; /* by what the reader has noted so far */
	uint32_t cpu;
};

static uint32_t user_bytes(const struct sample *sample)
{
	return sample->user_depth > 0
		       ? (uint32_t)((size_t)sample->user_depth * sizeof(sample->user_frames[0]))
		       : 0;
}

static uint32_t kernel_bytes(const struct sample *sample)
{
	return sample->kernel_depth > 0
		       ? (uint32_t)((size_t)sample->kernel_depth * sizeof(sample->kernel_frames[0]))
		       : 0;
}

static void entry_read(const unsigned char *at, struct entry *ret_entry, struct sample *ret_sample)
{
	const unsigned char *frames = at + sizeof(*ret_entry) + offsetof(struct sample, kernel_frames);

	memcpy(ret_entry, at, sizeof(*ret_entry));
	memcpy(ret_sample, at + sizeof(*ret_entry), offsetof(struct sample, kernel_frames));
	memcpy(ret_sample->kernel_frames, frames, kernel_bytes(ret_sample));
	memcpy(ret_sample->user_frames, frames + kernel_bytes(ret_sample), user_bytes(ret_sample));
}

static void entry_write(unsigned char *at, const struct entry *entry, const struct sample *sample)
{
	unsigned char *frames = at + sizeof(*entry) + offsetof(struct sample, kernel_frames);

	memcpy(at, entry, sizeof(*entry));
	memcpy(at + sizeof(*entry), sample, offsetof(struct sample, kernel_frames));
	memcpy(frames, sample->kernel_frames, kernel_bytes(sample));
	memcpy(frames + kernel_bytes(sample), sample->user_frames, user_bytes(sample));
}

static struct block oldest_block(const struct past *past)
{
	struct block block;

	memcpy(&block, past->bytes + past->begin, sizeof(block));
	return block;
}

/* What is kept is whole from then on. */
static void begin_later(struct past *past, uint64_t from_ns)
{
	if (from_ns > past->from_ns)
		past->from_ns = from_ns;
}

static void forget_oldest(struct past *past)
{
	struct block block = oldest_block(past);

	begin_later(past, block.newest_ns + 1);
	past->begin += block.bytes;
}

/* Makes room for so many bytes behind the newest. */
static int make_room(struct past *past, size_t bytes)
{
	size_t room = past->room + PAST_ROOM_STEP;
	unsigned char *grown;

	while (past->end - past->begin + bytes > PAST_BYTES_MAX)
		forget_oldest(past);
	if (past->end + bytes > past->room && past->begin > past->room / 8) {
		memmove(past->bytes, past->bytes + past->begin, past->end - past->begin);
		past->end -= past->begin;
		past->begin = 0;
	}
	if (past->end + bytes <= past->room)
		return 0;
	if (room > PAST_ROOM_MAX)
		room = PAST_ROOM_MAX;
	grown = realloc(past->bytes, room);
	if (!grown)
		return -ENOMEM;
	past->bytes = grown;
	past->room = room;
	return 0;
}

/* Without memory, what it would hold is forgotten. */
static void close_block(struct past *past)
{
	const size_t room = sizeof(struct block) + LZ4_COMPRESSBOUND(OPEN_BYTES);
	struct block block = { .newest_ns = past->open_newest_ns };
	int compressed = 0;

	if (!make_room(past, room))
		compressed = LZ4_compress_default((const char *)past->open,
						  (char *)past->bytes + past->end + sizeof(block),
						  (int)past->open_bytes, (int)(room - sizeof(block)));
	past->open_bytes = 0;
	past->open_newest_ns = 0;
	if (compressed <= 0) {
		while (past->begin < past->end)
			forget_oldest(past);
		begin_later(past, block.newest_ns + 1);
		return;
	}
	block.bytes = (uint32_t)(sizeof(block) + (size_t)compressed);
	memcpy(past->bytes + past->end, &block, sizeof(block));
	past->end += block.bytes;
}

static void keep(void *user, const struct sample *sample)
{
	struct reading *reading = user;
	struct past *past = reading->past;
	uint64_t overwritten = reading->reader->lost - reading->reader->torn;
	struct entry entry = { .bytes = (uint32_t)(sizeof(entry) + offsetof(struct sample, kernel_frames)) +
					kernel_bytes(sample) + user_bytes(sample),
			       .cpu = reading->cpu };

	if (overwritten != reading->overwritten)
		begin_later(past, sample->time_ns);
	reading->overwritten = overwritten;
	if (past->open_bytes + entry.bytes > OPEN_BYTES)
		close_block(past);
	entry_write(past->open + past->open_bytes, &entry, sample);
	past->open_bytes += entry.bytes;
	if (sample->time_ns > past->open_newest_ns)
		past->open_newest_ns = sample->time_ns;
}

void past_free(struct past *past)
{
	free(past->readers);
	free(past->open);
	free(past->bytes);
	*past = (struct past){ 0 };
}

int past_begin(struct past *past, const struct rings *rings)
{
	*past = (struct past){ .cpus = rings->cpus };
	past->readers = calloc(rings->cpus, sizeof(*past->readers));
	past->open = malloc(2 * OPEN_BYTES);
	if (!past->readers || !past->open) {
		past_free(past);
		return -ENOMEM;
	}
	past->from_ns = rings_begin(past->readers, rings, rings->offcpu_slots, rings->armed_ns);
	return 0;
}

void past_read(struct past *past, uint64_t since_ns)
{
	for (uint32_t cpu = 0; cpu < past->cpus; cpu++) {
		struct ring_reader *reader = &past->readers[cpu];
		struct reading reading = { past, reader, reader->lost - reader->torn, cpu };

		ring_read(reader, keep, &reading);
	}
	while (past->begin < past->end && oldest_block(past).newest_ns < since_ns)
		forget_oldest(past);
}

void past_join(const struct past *past, struct capture *capture)
{
	const struct capture_trigger *trigger = &capture->trigger;
	uint64_t wanted_ns = clock_before(trigger->triggered_ns, trigger->wanted_history_ns);

	for (uint32_t i = 0; i < past->cpus; i++) {
		struct ring_reader *reader = &capture->readers[past->cpus + i];

		*reader = past->readers[i];
		reader->lost = reader->torn = 0;
	}
	if (past->from_ns > wanted_ns)
		wanted_ns = past->from_ns;
	capture->offcpu_from_ns = wanted_ns;
}

static void add_entries(const unsigned char *entries, size_t bytes, struct capture *capture,
			capture_describe describe, void *user)
{
	struct entry entry;
	struct sample sample = { .seq = 1 };

	for (size_t at = 0; at < bytes; at += entry.bytes) {
		entry_read(entries + at, &entry, &sample);
		capture_add_kept(capture, &sample, entry.cpu, describe, user);
	}
}

void past_add(const struct past *past, struct capture *capture, capture_describe describe, void *user)
{
	struct block block;

	for (size_t at = past->begin; at < past->end; at += block.bytes) {
		const char *compressed = (const char *)past->bytes + at + sizeof(block);
		unsigned char *entries = past->open + OPEN_BYTES;
		int bytes;

		memcpy(&block, past->bytes + at, sizeof(block));
		bytes = LZ4_decompress_safe(compressed, (char *)entries, (int)(block.bytes - sizeof(block)),
					    OPEN_BYTES);
		if (bytes > 0)
			add_entries(entries, (size_t)bytes, capture, describe, user);
	}
	add_entries(past->open, past->open_bytes, capture, describe, user);
}
