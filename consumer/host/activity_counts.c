/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/host/activity_counts.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "consumer/host/iterator_stream.h"
#include "consumer/host/process_events.h"

#include <string.h>

void activity_counts_free(struct activity_counts *counts)
{
	free(counts->rows);
	*counts = (struct activity_counts){ 0 };
}

/* ---- the iterator ---- */

static void on_cgroup(void *user, const struct cgroup_record *record, const char *path)
{
	cgroups_learn(user, record, path);
}

/* Returns the bytes of the record at the begin, 0 if it is not whole yet, or -EBADMSG. */
static long read_record(struct activity_stream *stream, const char *record, size_t bytes)
{
	const struct process_events_handlers handlers = { .cgroup = on_cgroup, .user = stream->cgroups };
	struct record_header header;

	memcpy(&header, record, sizeof(header));
	if (stream->is_whole)
		return -EBADMSG;
	if (header.type == RECORD_CGROUP)
		return process_events_dispatch_cgroup(&handlers, record, bytes);
	if (header.type != RECORD_ACTIVITY || header.bytes != sizeof(stream->look))
		return -EBADMSG;
	if (bytes < sizeof(stream->look))
		return 0;
	memcpy(&stream->look, record, sizeof(stream->look));
	stream->is_whole = true;
	return sizeof(stream->look);
}

long activity_counts_read(void *user, const char *records, size_t bytes)
{
	size_t consumed = 0;

	while (bytes - consumed >= sizeof(struct record_header)) {
		long read = read_record(user, records + consumed, bytes - consumed);

		if (read < 0)
			return read;
		if (!read)
			break;
		consumed += (size_t)read;
	}
	return (long)consumed;
}

/* ---- the slots ---- */

/* Once here, no other process can change it. */
static struct activity_slot copy_slot(const struct activity_slot *shared)
{
	struct activity_slot slot;

	memcpy(&slot, shared, sizeof(slot));
	slot.look = __atomic_load_n(&shared->look, __ATOMIC_RELAXED);
	slot.key.comm[ABI_COMM_BYTES - 1] = '\0';
	return slot;
}

static int add(struct activity_counts *counts, const struct activity_slot *slot)
{
	int result = slot->key.state < THREAD_STATES && slot->threads ? 0 : -EBADMSG;

	if (!result)
		result = array_make_room(counts->rows, counts->count, counts->room, 1U);
	if (!result)
		counts->rows[counts->count++] = (struct activity_count){ slot->key, slot->threads };
	return result;
}

int activity_counts_copy(struct activity_counts *counts, const struct activity_look *look,
			 const struct activity_slot *slots)
{
	uint64_t threads = 0;

	counts->look = *look;
	counts->count = 0;
	for (uint32_t i = 0; i < THREAD_STATES; i++)
		threads += look->others[i];
	for (uint32_t i = 0; i < ACTIVITY_SLOTS; i++) {
		const struct activity_slot slot = copy_slot(&slots[i]);
		int result = slot.look == look->number ? add(counts, &slot) : 0;

		if (result < 0)
			return result;
		threads += slot.look == look->number ? slot.threads : 0;
	}
	/* another reader at the same time, or one that wrote to the map */
	return threads == look->threads ? 0 : -EBADMSG;
}

int activity_counts_take(struct activity_counts *counts, const struct kernel_objects *kernel,
			 struct cgroups *cgroups)
{
	_cleanup_close_ int fd = kernel_objects_open_iterator(kernel, PIN_LOOKS);
	struct activity_stream stream = { .cgroups = cgroups };
	int result = fd < 0 ? fd : iterator_stream_read(fd, activity_counts_read, &stream);

	if (result < 0)
		return result;
	return stream.is_whole ? activity_counts_copy(counts, &stream.look, kernel->activity) : -ENODATA;
}
