/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/host/looks.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "consumer/host/iterator_stream.h"

#include <string.h>

#define THREADS_MAX 8192U /* with short stacks 2 MiB, of two looks */
#define CALM_MAX 6144U    /* of those that neither run nor wait: the rest is for the others */

struct look_place {
	uint32_t tid, tgid;
	uint64_t started_ns; /* up to here the key */
	uint64_t lock;
	int32_t call, fd;
	uint32_t first; /* as in struct look */
	uint16_t depth;
};

void looks_free(struct looks *looks)
{
	free(looks->last.looks);
	free(looks->last.frames.all);
	hash_index_free(&looks->last.index);
	free(looks->before.places);
	free(looks->before.frames.all);
	hash_index_free(&looks->before.index);
	*looks = (struct looks){ 0 };
}

void looks_forget(struct looks *looks, struct control *control)
{
	looks_free(looks);
	__atomic_add_fetch(&control->looks_series, 1, __ATOMIC_RELAXED);
}

static struct look_place place_of(const struct look_record *record)
{
	return (struct look_place){ .tid = record->tid,
				    .tgid = record->tgid,
				    .started_ns = record->started_ns,
				    .lock = record->lock,
				    .call = record->call,
				    .fd = record->fd,
				    .depth = record->depth };
}

/* Completes the record of a thread that is where it was. Returns false if it is not among those before. */
static bool complete(const struct look_places *before, struct look_record *record, const int32_t **ret_frames)
{
	const struct look_place wanted = place_of(record), *place;
	uint32_t found = hash_index_find_key(&before->index, HASH_KEYS_BEFORE(before->places, lock), &wanted);

	if (found == HASH_INDEX_NONE)
		return false;
	place = &before->places[found];
	record->call = place->call;
	record->fd = place->fd;
	record->lock = place->lock;
	record->depth = place->depth;
	*ret_frames = before->frames.all + place->first;
	return true;
}

static bool is_calm(const struct look_record *record)
{
	return record->state != THREAD_RUNNING && record->state != THREAD_QUEUED &&
	       record->state != THREAD_DISK;
}

/* Finds the frames at the end of those that are there, or adds them. */
static int find_frames(struct look_frames *kept, const int32_t *frames, uint32_t depth, uint32_t *ret_first)
{
	size_t bytes = depth * sizeof(*frames);
	int result;

	*ret_first = kept->count - depth;
	if (depth && depth <= kept->count && !memcmp(kept->all + *ret_first, frames, bytes))
		return 0;
	result = array_make_room(kept->all, kept->count, kept->room, depth);
	if (result < 0)
		return result;
	*ret_first = kept->count;
	memcpy(kept->all + kept->count, frames, bytes);
	kept->count += depth;
	return 0;
}

static int keep(struct look_set *set, const struct look_record *record, const int32_t *frames)
{
	int result = set->count >= (is_calm(record) ? CALM_MAX : THREADS_MAX) ? -ENOSPC : 0;
	const struct look_place place = place_of(record);
	struct look look = { .record = *record };

	if (!result)
		result = array_make_room(set->looks, set->count, set->room, 1U);
	if (!result)
		result = find_frames(&set->frames, frames, record->depth, &look.first);
	if (!result)
		/* the index becomes that of the places */
		result = hash_index_add(&set->index, hash_bytes(&place, offsetof(struct look_place, lock)),
					set->count);
	if (!result)
		set->looks[set->count++] = look;
	return result;
}

static void add(struct looks *looks, struct look_record *record, const int32_t *frames)
{
	bool is_whole;

	record->comm[ABI_COMM_BYTES - 1] = '\0';
	is_whole = !(record->flags & LOOK_SAME) || complete(&looks->before, record, &frames);
	looks->has_missing |= !is_whole && !looks->before.was_full;
	if (!is_whole || keep(&looks->last, record, frames) < 0) {
		looks->last.is_full |= is_whole || looks->before.was_full;
		looks->lost++;
	}
}

static bool is_sane(const struct look_record *record)
{
	return record->header.type == RECORD_LOOK && record->header.bytes == sizeof(*record) &&
	       record->depth <= LOOK_FRAMES && record->state < THREAD_STATES &&
	       record->of <= SAMPLE_OF_KERNEL && !(record->flags & LOOK_SAME && record->depth);
}

long looks_add(void *user, const char *records, size_t bytes)
{
	struct looks *looks = user;
	size_t consumed = 0;

	while (bytes - consumed >= sizeof(struct look_record)) {
		struct look_record record;
		int32_t frames[LOOK_FRAMES];
		size_t frames_bytes;

		memcpy(&record, records + consumed, sizeof(record));
		if (!is_sane(&record))
			return -EBADMSG;
		frames_bytes = record.depth * sizeof(frames[0]);
		if (bytes - consumed < sizeof(record) + frames_bytes)
			break;
		memcpy(frames, records + consumed + sizeof(record), frames_bytes);
		add(looks, &record, frames);
		consumed += sizeof(record) + frames_bytes;
	}
	return (long)consumed;
}

/* Makes the last look the one before. */
static int remember(struct look_places *before, struct look_set *last)
{
	struct look_frames spare = before->frames; /* its memory is used again */
	int result = array_make_room(before->places, 0, before->room, last->count);

	if (result < 0)
		return result;
	for (uint32_t i = 0; i < last->count; i++) {
		before->places[i] = place_of(&last->looks[i].record);
		before->places[i].first = last->looks[i].first;
	}
	hash_index_free(&before->index);
	before->index = last->index;
	before->frames = last->frames;
	before->was_full = last->is_full;
	last->frames = spare;
	last->index = (struct hash_index){ 0 };
	return 0;
}

void looks_begin(struct looks *looks)
{
	struct look_set *last = &looks->last;

	if (remember(&looks->before, last) < 0) {
		hash_index_free(&last->index);
		hash_index_free(&looks->before.index);
		looks->has_missing = true;
	}
	last->count = last->frames.count = 0;
	last->is_full = false;
	looks->lost = 0;
}

int looks_take(struct looks *looks, const struct kernel_objects *kernel)
{
	_cleanup_close_ int fd = kernel_objects_open_iterator(kernel, PIN_STATES);
	int result;

	if (looks->has_missing)
		looks_forget(looks, kernel->control);
	looks_begin(looks);
	result = fd < 0 ? fd : iterator_stream_read(fd, looks_add, looks);
	if (result < 0)
		looks_forget(looks, kernel->control);
	return result;
}
