/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * process_events.h owns reading the records of the kernel programs: paths of cgroups, last sums of processes and
 * kills, events of processes, and errors from three ring buffers, and the walk of the task iterator. It checks each record before it calls
 * back.
 */
#ifndef BOURDON_CONSUMER_HOST_PROCESS_EVENTS_H
#define BOURDON_CONSUMER_HOST_PROCESS_EVENTS_H

#include "common/abi/abi.h"
#include "consumer/process/kernel_objects.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct process_events_handlers {
	void (*process)(void *user, const struct process_event *event);
	void (*error)(void *user, const struct error_event *event);
	void (*ended)(void *user, const struct ended_record *record);
	void (*task)(void *user, const struct task_record *record);
	void (*thread)(void *user, const struct thread_record *record);
	/* `path` has record->path_bytes bytes, none of them a NUL */
	void (*cgroup)(void *user, const struct cgroup_record *record, const char *path);
	void (*killed)(void *user, const struct kill_record *record);
	void *user;
};

struct process_events;

/* The caller frees the result. Logs a failure. Returns 0 or -errno. */
int process_events_open(struct process_events **ret_events, const struct kernel_objects *kernel,
			const struct process_events_handlers *handlers);
void process_events_free(struct process_events *events);

/*
 * Readable when process_events_consume() has events or errors to read; paths of cgroups alone do not make it
 * readable. One call consumes a bounded number of records, and returns it. The path of a process's cgroup comes before the
 * event of the process.
 */
int process_events_fd(const struct process_events *events);
uint32_t process_events_consume(struct process_events *events);

/*
 * Runs the task iterator: one callback for each process and each thread, and for each cgroup whose path is not
 * known. Returns 0, -EBADMSG or -errno.
 */
int process_events_walk(struct process_events *events);

/* The number of records of an unknown type or a wrong size since the start. */
uint64_t process_events_unknown(const struct process_events *events);

/*
 * Consume one record of a ring buffer; the record of a cgroup at the begin of a buffer (returns its bytes, 0 if it is not
 * whole yet, or -EBADMSG); or whole task and thread records (returns their bytes, or -EBADMSG). For the functions above, other
 * iterators, and tests.
 */
bool process_events_dispatch(const struct process_events_handlers *handlers, const void *record,
			     size_t bytes);
long process_events_dispatch_cgroup(const struct process_events_handlers *handlers, const char *records,
				    size_t bytes);
long process_events_dispatch_tasks(const struct process_events_handlers *handlers, const char *records,
				   size_t bytes);

#endif
