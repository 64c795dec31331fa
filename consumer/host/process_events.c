/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/host/process_events.h"

#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "consumer/host/iterator_stream.h"

#include <bpf/libbpf.h>
#include <string.h>

/*
 * A process that renames itself in a loop makes events as fast as they are consumed. So each call is bounded
 * and the heartbeat runs in between. Records left in the ring make its descriptor readable again at once.
 */
#define RECORDS_A_CALL 1024
/* Paths are told before the events that need them, so a flood of paths must not hold up the events for long. */
#define PATHS_A_CALL 1024

struct process_events {
	const struct kernel_objects *kernel;
	int dispatched, paths; /* records consumed in this call */
	struct process_events_handlers handlers;
	struct ring_buffer *rings, *path_ring;
	uint64_t unknown;
};

/* Returns the length of the record with its path, of which `bytes` bytes are there. */
static size_t cgroup_record_bytes(const char *at, size_t bytes)
{
	struct cgroup_record record;

	if (bytes < sizeof(record))
		return sizeof(record);
	memcpy(&record, at, sizeof(record));
	return sizeof(record) + (record.path_bytes <= CGROUP_PATH_BYTES ? record.path_bytes : 0);
}

/* Checks a record that lies whole in `bytes` bytes. Returns its length with its path, or 0. */
static size_t dispatch_cgroup(const struct process_events_handlers *handlers, const char *at, size_t bytes)
{
	const char *path = at + sizeof(struct cgroup_record);
	struct cgroup_record record;

	if (bytes < sizeof(record))
		return 0;
	memcpy(&record, at, sizeof(record));
	if (record.header.bytes != sizeof(record) || record.path_bytes > CGROUP_PATH_BYTES ||
	    record.path_bytes > bytes - sizeof(record) ||
	    !record.path_bytes != !!(record.flags & CGROUP_TOO_LONG) ||
	    (record.path_bytes && (path[0] != '/' || memchr(path, '\0', record.path_bytes))))
		return 0;
	handlers->cgroup(handlers->user, &record, path);
	return sizeof(record) + record.path_bytes;
}

bool process_events_dispatch(const struct process_events_handlers *handlers, const void *record, size_t bytes)
{
	struct record_header header;

	if (bytes < sizeof(header))
		return false;
	memcpy(&header, record, sizeof(header));
	if (header.type == RECORD_PROCESS && header.bytes == sizeof(struct process_event) &&
	    bytes >= sizeof(struct process_event)) {
		struct process_event event;

		memcpy(&event, record, sizeof(event));
		event.comm[ABI_COMM_BYTES - 1] = '\0';
		handlers->process(handlers->user, &event);
		return true;
	}
	if (header.type == RECORD_ERROR && header.bytes == sizeof(struct error_event) &&
	    bytes >= sizeof(struct error_event)) {
		struct error_event event;

		memcpy(&event, record, sizeof(event));
		event.comm[ABI_COMM_BYTES - 1] = '\0';
		handlers->error(handlers->user, &event);
		return true;
	}
	if (header.type == RECORD_ENDED && header.bytes == sizeof(struct ended_record) &&
	    bytes >= sizeof(struct ended_record)) {
		struct ended_record ended;

		memcpy(&ended, record, sizeof(ended));
		handlers->ended(handlers->user, &ended);
		return true;
	}
	if (header.type == RECORD_KILL && header.bytes == sizeof(struct kill_record) &&
	    bytes >= sizeof(struct kill_record)) {
		struct kill_record killed;

		memcpy(&killed, record, sizeof(killed));
		killed.comm[ABI_COMM_BYTES - 1] = '\0';
		killed.by_comm[ABI_COMM_BYTES - 1] = '\0';
		killed.limit_name[KILL_LIMIT_NAME_BYTES - 1] = '\0';
		handlers->killed(handlers->user, &killed);
		return true;
	}
	return header.type == RECORD_CGROUP && dispatch_cgroup(handlers, record, bytes);
}

static int on_path(void *user, void *record, size_t bytes)
{
	struct process_events *events = user;

	if (!process_events_dispatch(&events->handlers, record, bytes))
		events->unknown++;
	return ++events->paths < PATHS_A_CALL ? 0 : -ENOBUFS;
}

/*
 * The kernel program sends the path before the event, but this may have consumed the path's ring before. So
 * it looks there again, which costs two loads where there is nothing new.
 */
static void consume_paths(struct process_events *events)
{
	if (events->paths < PATHS_A_CALL)
		ring_buffer__consume(events->path_ring);
}

static int on_record(void *user, void *record, size_t bytes)
{
	struct process_events *events = user;

	consume_paths(events);
	if (!process_events_dispatch(&events->handlers, record, bytes))
		events->unknown++;
	return ++events->dispatched < RECORDS_A_CALL ? 0 : -ENOBUFS;
}

int process_events_open(struct process_events **ret_events, const struct kernel_objects *kernel,
			const struct process_events_handlers *handlers)
{
	struct process_events *events = calloc(1, sizeof(*events));
	int result;

	if (!events)
		return -ENOMEM;
	events->kernel = kernel;
	events->handlers = *handlers;
	events->path_ring = ring_buffer__new(kernel->map_fds[PIN_CGROUP_PATHS], on_path, events, NULL);
	events->rings = events->path_ring
				? ring_buffer__new(kernel->map_fds[PIN_EVENTS], on_record, events, NULL)
				: NULL;
	result = events->rings
			 ? ring_buffer__add(events->rings, kernel->map_fds[PIN_ERRORS], on_record, events)
			 : -errno;
	if (result < 0) {
		log_error("cannot map the ring buffers: %s", strerror(-result));
		process_events_free(events);
		return result;
	}
	*ret_events = events;
	return 0;
}

void process_events_free(struct process_events *events)
{
	if (!events)
		return;
	ring_buffer__free(events->rings);
	ring_buffer__free(events->path_ring);
	free(events);
}

int process_events_fd(const struct process_events *events)
{
	return ring_buffer__epoll_fd(events->rings);
}

uint32_t process_events_consume(struct process_events *events)
{
	events->dispatched = events->paths = 0;
	consume_paths(events);
	ring_buffer__consume(events->rings);
	return (uint32_t)(events->dispatched + events->paths);
}

uint64_t process_events_unknown(const struct process_events *events)
{
	return events->unknown;
}

long process_events_dispatch_cgroup(const struct process_events_handlers *handlers, const char *records,
				    size_t bytes)
{
	size_t whole = cgroup_record_bytes(records, bytes);

	if (whole > bytes)
		return 0;
	return dispatch_cgroup(handlers, records, bytes) ? (long)whole : -EBADMSG;
}

long process_events_dispatch_tasks(const struct process_events_handlers *handlers, const char *records,
				   size_t bytes)
{
	size_t consumed = 0;

	while (bytes - consumed >= sizeof(struct record_header)) {
		struct record_header header;
		struct task_record task;
		struct thread_record thread;

		memcpy(&header, records + consumed, sizeof(header));
		if (header.type == RECORD_CGROUP) {
			long whole = process_events_dispatch_cgroup(handlers, records + consumed,
								    bytes - consumed);

			if (whole < 0)
				return whole;
			if (!whole)
				break;
			consumed += (size_t)whole;
			continue;
		}
		if (!(header.type == RECORD_TASK && header.bytes == sizeof(task)) &&
		    !(header.type == RECORD_THREAD && header.bytes == sizeof(thread)))
			return -EBADMSG;
		if (bytes - consumed < header.bytes)
			break;
		if (header.type == RECORD_TASK) {
			memcpy(&task, records + consumed, sizeof(task));
			task.comm[ABI_COMM_BYTES - 1] = '\0';
			handlers->task(handlers->user, &task);
		} else {
			memcpy(&thread, records + consumed, sizeof(thread));
			handlers->thread(handlers->user, &thread);
		}
		consumed += header.bytes;
	}
	return (long)consumed;
}

static long dispatch_tasks(void *user, const char *records, size_t bytes)
{
	const struct process_events *events = user;

	return process_events_dispatch_tasks(&events->handlers, records, bytes);
}

int process_events_walk(struct process_events *events)
{
	_cleanup_close_ int fd = kernel_objects_open_iterator(events->kernel, PIN_TASKS);

	return fd < 0 ? fd : iterator_stream_read(fd, dispatch_tasks, events);
}
