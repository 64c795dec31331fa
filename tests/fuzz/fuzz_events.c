/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads any bytes as process events, each record with its length in front, and as the stream of the task
 * iterator. Each record is handed on once or refused, wherever the stream is cut.
 */
#include "consumer/host/process_events.h"
#include "tests/fuzz/fuzz.h"

#include <errno.h>

struct heard {
	size_t events, tasks, threads, paths;
	size_t path_bytes; /* of the paths of cgroups */
	bool in_stream;    /* of the task iterator */
};

static void hear_process(void *user, const struct process_event *event)
{
	struct heard *heard = user;

	HOLDS(event->header.type == RECORD_PROCESS && event->header.bytes == sizeof(*event));
	HOLDS(memchr(event->comm, '\0', sizeof(event->comm)));
	heard->events++;
}

static void hear_error(void *user, const struct error_event *event)
{
	struct heard *heard = user;

	HOLDS(event->header.type == RECORD_ERROR && event->header.bytes == sizeof(*event));
	HOLDS(memchr(event->comm, '\0', sizeof(event->comm)));
	heard->events++;
}

static void hear_ended(void *user, const struct ended_record *record)
{
	struct heard *heard = user;

	HOLDS(record->header.type == RECORD_ENDED && record->header.bytes == sizeof(*record));
	heard->events++;
}

static void hear_killed(void *user, const struct kill_record *record)
{
	struct heard *heard = user;

	HOLDS(record->header.type == RECORD_KILL && record->header.bytes == sizeof(*record));
	HOLDS(memchr(record->comm, '\0', sizeof(record->comm)));
	HOLDS(memchr(record->by_comm, '\0', sizeof(record->by_comm)));
	HOLDS(memchr(record->limit_name, '\0', sizeof(record->limit_name)));
	heard->events++;
}

static void hear_task(void *user, const struct task_record *record)
{
	struct heard *heard = user;

	HOLDS(record->header.type == RECORD_TASK && record->header.bytes == sizeof(*record));
	HOLDS(memchr(record->comm, '\0', sizeof(record->comm)));
	heard->tasks++;
}

static void hear_thread(void *user, const struct thread_record *record)
{
	struct heard *heard = user;

	HOLDS(record->header.type == RECORD_THREAD && record->header.bytes == sizeof(*record));
	heard->threads++;
}

static void hear_cgroup(void *user, const struct cgroup_record *record, const char *path)
{
	struct heard *heard = user;

	HOLDS(record->header.type == RECORD_CGROUP && record->header.bytes == sizeof(*record));
	HOLDS(record->path_bytes <= CGROUP_PATH_BYTES);
	HOLDS(!record->path_bytes == !!(record->flags & CGROUP_TOO_LONG));
	HOLDS(!record->path_bytes || path[0] == '/');
	HOLDS(!memchr(path, '\0', record->path_bytes));
	heard->events += !heard->in_stream;
	heard->paths += heard->in_stream;
	heard->path_bytes += heard->in_stream ? record->path_bytes : 0;
}

static void feed_event(const struct process_events_handlers *handlers, struct input *input)
{
	struct heard *heard = handlers->user;
	size_t bytes = input_byte(input), before = heard->events;
	char *record;

	if (bytes > input->left)
		bytes = input->left;
	record = copy_bytes(input->next, bytes);
	input->next += bytes;
	input->left -= bytes;
	HOLDS(process_events_dispatch(handlers, record, bytes) == (heard->events == before + 1));
	free(record);
}

static long feed_tasks(const struct process_events_handlers *handlers, const uint8_t *data, size_t bytes)
{
	char *records = copy_bytes(data, bytes);
	long taken = process_events_dispatch_tasks(handlers, records, bytes);

	HOLDS(taken == -EBADMSG ||
	      (taken >= 0 && (size_t)taken <= bytes &&
	       bytes - (size_t)taken < sizeof(struct cgroup_record) + CGROUP_PATH_BYTES));
	free(records);
	return taken;
}

/* The length of all records of the task iterator that were handed on. */
static size_t stream_bytes(const struct heard *heard)
{
	return heard->tasks * sizeof(struct task_record) + heard->threads * sizeof(struct thread_record) +
	       heard->paths * sizeof(struct cgroup_record) + heard->path_bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct heard heard = { 0 };
	const struct process_events_handlers handlers = { hear_process, hear_error,  hear_ended,  hear_task,
							  hear_thread,  hear_cgroup, hear_killed, &heard };
	struct input input = { data, bytes };
	size_t cut = bytes ? data[bytes - 1] % bytes : 0, whole;
	long taken, first, rest;

	while (input.left)
		feed_event(&handlers, &input);
	heard.in_stream = true;
	taken = feed_tasks(&handlers, data, bytes);
	whole = stream_bytes(&heard);
	HOLDS(taken < 0 || (size_t)taken == whole);
	first = feed_tasks(&handlers, data, cut);
	if (first < 0) {
		HOLDS(taken < 0);
		return 0;
	}
	rest = feed_tasks(&handlers, data + first, bytes - (size_t)first);
	HOLDS(stream_bytes(&heard) == 2 * whole);
	HOLDS(rest < 0 ? taken < 0 : first + rest == taken);
	return 0;
}
