/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mapping_reader.h owns reading the mapping iterator, on a thread of its own. The kernel takes the lock of each
 * process's memory map for that (task_vma_seq_get_next() in kernel/bpf/task_iter.c), target or not, and
 * somebody may hold it without end: for mischief, or because a disk does not answer. Who reads then waits,
 * and nothing but the end of the whole process interrupts it.
 */
#ifndef BOURDON_CONSUMER_SYMBOLS_MAPPING_READER_H
#define BOURDON_CONSUMER_SYMBOLS_MAPPING_READER_H

#include "consumer/process/kernel_objects.h"

#include <stdint.h>

struct mapping_reader;

/* `kernel` stays the caller's. 0 or -errno. */
int mapping_reader_open(struct mapping_reader **ret_reader, const struct kernel_objects *kernel);

/* Starts its thread, before confinement. 0 or -errno. */
int mapping_reader_start(struct mapping_reader *reader);

/*
 * Gives `consume` all records, as iterator_stream_read() does, on the calling thread, of which there may be one.
 * -ETIMEDOUT where they have not come until `deadline_ns` (CLOCK_MONOTONIC), and -EBUSY, at once, while an
 * earlier walk that nobody waits for any more still goes on. Else as iterator_stream_read(), or -errno of opening the
 * iterator.
 */
int mapping_reader_read(struct mapping_reader *reader, uint64_t deadline_ns,
			long (*consume)(void *user, const char *records, size_t bytes), void *user);

/* Leaves the thread behind, with what it uses, if it waits for a process: it ends with ours. Accepts NULL. */
void mapping_reader_free(struct mapping_reader *reader);

#endif
