/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/target/process_events.h"

#include "common/cleanup.h"
#include "common/log.h"
#include "consumer/target/iterator_stream.h"

#include <bpf/libbpf.h>
#include <string.h>

/*
 * Whoever renames itself in a loop makes events as fast as they can be taken: so many a call, then the
 * heartbeat has its turn. What stays in the ring makes its descriptor readable again at once.
 */
#define RECORDS_A_CALL 1024

struct process_events {
	const struct pinned *pinned;
	int taken; /* in this call */
	struct process_events_handlers handlers;
	struct ring_buffer *rings;
	uint64_t unknown;
};

bool process_events_take(const struct process_events_handlers *handlers, const void *record, size_t bytes)
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
	return false;
}

static int take(void *user, void *record, size_t bytes)
{
	struct process_events *events = user;

	if (!process_events_take(&events->handlers, record, bytes))
		events->unknown++;
	return ++events->taken < RECORDS_A_CALL ? 0 : -ENOBUFS;
}

int process_events_open(struct process_events **ret_events, const struct pinned *pinned,
			const struct process_events_handlers *handlers)
{
	struct process_events *events = calloc(1, sizeof(*events));
	int result;

	if (!events)
		return -ENOMEM;
	events->pinned = pinned;
	events->handlers = *handlers;
	events->rings = ring_buffer__new(pinned->map_fds[PIN_EVENTS], take, events, NULL);
	result = events->rings ? ring_buffer__add(events->rings, pinned->map_fds[PIN_ERRORS], take, events)
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
	free(events);
}

int process_events_fd(const struct process_events *events)
{
	return ring_buffer__epoll_fd(events->rings);
}

void process_events_consume(struct process_events *events)
{
	events->taken = 0;
	ring_buffer__consume(events->rings);
}

uint64_t process_events_unknown(const struct process_events *events)
{
	return events->unknown;
}

long process_events_take_tasks(const struct process_events_handlers *handlers, const char *records,
			       size_t bytes)
{
	size_t taken = 0;

	while (bytes - taken >= sizeof(struct record_header)) {
		struct record_header header;
		struct task_record task;
		struct thread_record thread;

		memcpy(&header, records + taken, sizeof(header));
		if (!(header.type == RECORD_TASK && header.bytes == sizeof(task)) &&
		    !(header.type == RECORD_THREAD && header.bytes == sizeof(thread)))
			return -EBADMSG;
		if (bytes - taken < header.bytes)
			break;
		if (header.type == RECORD_TASK) {
			memcpy(&task, records + taken, sizeof(task));
			task.comm[ABI_COMM_BYTES - 1] = '\0';
			handlers->task(handlers->user, &task);
		} else {
			memcpy(&thread, records + taken, sizeof(thread));
			handlers->thread(handlers->user, &thread);
		}
		taken += header.bytes;
	}
	return (long)taken;
}

static long take_tasks(void *user, const char *records, size_t bytes)
{
	const struct process_events *events = user;

	return process_events_take_tasks(&events->handlers, records, bytes);
}

int process_events_walk(struct process_events *events)
{
	_cleanup_close_ int fd = pinned_open_iterator(events->pinned, PIN_TASKS);

	return fd < 0 ? fd : records_read(fd, take_tasks, events);
}
