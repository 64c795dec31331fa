/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/capture/past.h"

#include "common/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* 10 s of all intervals that two busy CPUs may write, by a mean of 350 bytes; and room to move them in. */
#define PAST_BYTES_MAX (8U << 20)
#define PAST_ROOM_MAX (PAST_BYTES_MAX + PAST_BYTES_MAX / 4)
#define PAST_ROOM_LEAST (256U << 10)

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

static uint64_t oldest_ended_ns(const struct past *past)
{
	uint64_t ended_ns;

	memcpy(&ended_ns, past->bytes + past->begin + sizeof(struct entry) + offsetof(struct sample, time_ns),
	       sizeof(ended_ns));
	return ended_ns;
}

/* What is kept is whole from then on. */
static void begin_later(struct past *past, uint64_t from_ns)
{
	if (from_ns > past->from_ns)
		past->from_ns = from_ns;
}

static void forget_oldest(struct past *past)
{
	struct entry entry;

	begin_later(past, oldest_ended_ns(past) + 1);
	memcpy(&entry, past->bytes + past->begin, sizeof(entry));
	past->begin += entry.bytes;
}

/* Makes room for so many bytes behind the newest. */
static int make_room(struct past *past, size_t bytes)
{
	size_t room = past->room ? 2 * past->room : PAST_ROOM_LEAST;
	unsigned char *grown;

	while (past->end - past->begin + bytes > PAST_BYTES_MAX)
		forget_oldest(past);
	if (past->end + bytes <= past->room)
		return 0;
	if (past->begin > past->room / 8) {
		memmove(past->bytes, past->bytes + past->begin, past->end - past->begin);
		past->end -= past->begin;
		past->begin = 0;
		return 0;
	}
	if (room > PAST_ROOM_MAX)
		room = PAST_ROOM_MAX;
	grown = realloc(past->bytes, room);
	if (!grown)
		return -ENOMEM;
	past->bytes = grown;
	past->room = room;
	return 0;
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
	if (make_room(past, entry.bytes) < 0) {
		begin_later(past, sample->time_ns + 1);
		return;
	}
	entry_write(past->bytes + past->end, &entry, sample);
	past->end += entry.bytes;
}

void past_free(struct past *past)
{
	free(past->readers);
	free(past->bytes);
	*past = (struct past){ 0 };
}

int past_begin(struct past *past, const struct rings *rings)
{
	*past = (struct past){ .cpus = rings->cpus };
	past->readers = calloc(rings->cpus, sizeof(*past->readers));
	if (!past->readers)
		return -ENOMEM;
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
	while (past->begin < past->end && oldest_ended_ns(past) < since_ns)
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

void past_add(const struct past *past, struct capture *capture, capture_describe describe, void *user)
{
	struct entry entry;
	struct sample sample = { .seq = 1 };

	for (size_t at = past->begin; at < past->end; at += entry.bytes) {
		entry_read(past->bytes + at, &entry, &sample);
		capture_add_kept(capture, &sample, entry.cpu, describe, user);
	}
}
