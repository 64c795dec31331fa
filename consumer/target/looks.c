/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/target/looks.h"

#include "common/array.h"
#include "common/cleanup.h"
#include "consumer/target/iterator_stream.h"

#include <string.h>

#define THREADS_MAX 8192U /* with short stacks 2 MiB, of two looks */
#define CALM_MAX 6144U    /* of those that neither run nor wait: the rest is for the others */

static void free_set(struct look_set *set)
{
	free(set->looks);
	free(set->frames);
	hash_index_free(&set->index);
	*set = (struct look_set){ 0 };
}

void looks_free(struct looks *looks)
{
	free_set(&looks->last);
	free_set(&looks->before);
	*looks = (struct looks){ 0 };
}

void looks_forget(struct looks *looks, struct control *control)
{
	looks_free(looks);
	__atomic_add_fetch(&control->looks_series, 1, __ATOMIC_RELAXED);
}

struct wanted {
	const struct look_set *set;
	const struct look_record *record;
};

static bool is_wanted(const void *user, uint32_t position)
{
	const struct wanted *wanted = user;
	const struct look_record *there = &wanted->set->looks[position].record, *record = wanted->record;

	return there->tid == record->tid && there->tgid == record->tgid &&
	       there->started_ns == record->started_ns;
}

static uint32_t hash_of(const struct look_record *record)
{
	return hash_bytes(&record->tid, sizeof(record->tid));
}

/* Completes the record of a thread that is where it was. Returns its frames, or NULL if it is not among those before. */
static const int32_t *complete(const struct look_set *before, struct look_record *record)
{
	const struct wanted wanted = { before, record };
	uint32_t found = hash_index_find(&before->index, hash_of(record), is_wanted, &wanted);
	const struct look *look;

	if (found == HASH_INDEX_NONE)
		return NULL;
	look = &before->looks[found];
	record->call = look->record.call;
	record->fd = look->record.fd;
	record->lock = look->record.lock;
	record->depth = look->record.depth;
	return before->frames + look->first;
}

static bool is_calm(const struct look_record *record)
{
	return record->state != THREAD_RUNNING && record->state != THREAD_QUEUED &&
	       record->state != THREAD_DISK;
}

static int keep(struct look_set *set, const struct look_record *record, const int32_t *frames)
{
	int result = set->count >= (is_calm(record) ? CALM_MAX : THREADS_MAX) ? -ENOSPC : 0;

	if (!result)
		result = array_make_room(set->looks, set->count, set->room, 1U);
	if (!result)
		result = array_make_room(set->frames, set->frames_count, set->frames_room, record->depth);
	if (!result)
		result = hash_index_add(&set->index, hash_of(record), set->count);
	if (result < 0)
		return result;
	set->looks[set->count++] = (struct look){ *record, set->frames_count };
	if (record->depth)
		memcpy(set->frames + set->frames_count, frames, record->depth * sizeof(*frames));
	set->frames_count += record->depth;
	return 0;
}

static void add(struct looks *looks, struct look_record *record, const int32_t *frames)
{
	record->comm[ABI_COMM_BYTES - 1] = '\0';
	if (record->flags & LOOK_SAME) {
		frames = complete(&looks->before, record);
		looks->has_missing |= !frames && !looks->before.is_full;
	}
	if (!frames || keep(&looks->last, record, frames) < 0) {
		looks->last.is_full |= frames != NULL || looks->before.is_full;
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

void looks_begin(struct looks *looks)
{
	struct look_set spare = looks->before; /* its memory is used again */

	hash_index_free(&spare.index);
	spare.count = spare.frames_count = 0;
	spare.is_full = false;
	looks->before = looks->last;
	looks->last = spare;
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
