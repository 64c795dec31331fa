/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * walker.h owns reading the mapping iterator, on a thread of its own. The kernel takes the lock of each
 * process's memory map for that (task_vma_seq_get_next() in kernel/bpf/task_iter.c), target or not, and
 * somebody may hold it without end: for mischief, or because a disk does not answer. Who reads then waits,
 * and nothing but the end of the whole process interrupts it.
 */
#ifndef BOURDON_CONSUMER_SYMBOLS_MAPPING_READER_H
#define BOURDON_CONSUMER_SYMBOLS_MAPPING_READER_H

#include "consumer/process/kernel_objects.h"

#include <stdint.h>

struct walker;

/* `pinned` stays the caller's. 0 or -errno. */
int walker_open(struct walker **ret_walker, const struct pinned *pinned);

/* Starts its thread, before confinement. 0 or -errno. */
int walker_start(struct walker *walker);

/*
 * Gives `take` all records, as records_read() does, on the calling thread, of which there may be one.
 * -ETIMEDOUT where they have not come until `deadline_ns` (CLOCK_MONOTONIC), and -EBUSY, at once, while an
 * earlier walk that nobody waits for any more still goes on. Else as records_read(), or -errno of opening the
 * iterator.
 */
int walker_read(struct walker *walker, uint64_t deadline_ns,
		long (*take)(void *user, const char *records, size_t bytes), void *user);

/* Leaves the thread behind, with what it uses, if it waits for a process: it ends with ours. Accepts NULL. */
void walker_free(struct walker *walker);

#endif
