/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mapping_reader.h reads the mapping iterator on a thread of its own. Before Linux 6.7 the kernel takes the mmap
 * lock of every process for it (task_vma_seq_get_next() in kernel/bpf/task_iter.c), target or not. A process may
 * hold its lock forever, out of malice or because a disk does not answer. The reading thread then hangs; only the
 * end of its whole process interrupts it.
 */
#ifndef BOURDON_CONSUMER_SYMBOLS_MAPPING_READER_H
#define BOURDON_CONSUMER_SYMBOLS_MAPPING_READER_H

#include "consumer/process/kernel_objects.h"

#include <stdint.h>

struct mapping_reader;

/* Starts the thread; must be called before confinement. `kernel` stays the caller's. Logs a failure. Returns 0 or -errno. */
int mapping_reader_start(struct mapping_reader **ret_reader, const struct kernel_objects *kernel);

/* A scan of processes with few mappings, or of those with many. */
struct mapping_request {
	uint32_t of;   /* MAPPINGS_OF_*: each has an iterator of its own */
	uint32_t scan; /* its number */
};

/*
 * Passes the records of one pass to `consume` on the calling thread, as iterator_stream_read() does. Only one
 * thread may call it. Returns 0 at the end of the pass; -EINPROGRESS if it was not reached by `deadline_ns`
 * (CLOCK_MONOTONIC): the next call for the same processes goes on behind the records passed; -ETIMEDOUT if the
 * kernel delivered nothing until then; -EBUSY, at once, while such an earlier read still hangs; otherwise the
 * result of iterator_stream_read(), or -errno of opening the iterator, and the next call begins a new pass.
 */
int mapping_reader_read(struct mapping_reader *reader, const struct mapping_request *request,
			uint64_t deadline_ns, long (*consume)(void *user, const char *records, size_t bytes),
			void *user);

/* The CPU time of the thread, ns: what the kernel spent on the passes. */
uint64_t mapping_reader_cpu_ns(const struct mapping_reader *reader);

/* If the thread hangs, leaves it and its memory behind: it ends with the process. Accepts NULL. */
void mapping_reader_free(struct mapping_reader *reader);

#endif
