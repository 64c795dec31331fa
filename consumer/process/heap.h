/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * heap.h owns the settings of malloc. They keep the draining thread from waiting for a disk. Before Linux 6.4
 * a page fault holds mmap_lock while ->page_mkwrite waits for a frozen file system or a hanging disk, as the
 * worker thread's write to SQLite's shared memory does; brk(), mmap() and munmap() of all other threads then
 * wait too (seen on 6.1.192, not on 6.12). So the draining thread allocates only from memory that the heap
 * already has. Page faults wait as well once a writer waits for the lock, and khugepaged may be that writer
 * (mm/khugepaged.c, seen on 6.1.192): huge pages are disabled for this process.
 */
#ifndef BOURDON_CONSUMER_PROCESS_HEAP_H
#define BOURDON_CONSUMER_PROCESS_HEAP_H

#include <stddef.h>

/*
 * Sets up one heap for all threads, with a reserve and without huge pages. Call it after memory is locked and
 * before any thread starts.
 */
void heap_start(void);

/*
 * Returns the pages that are wholly within these bytes to the kernel, also locked ones (MADV_DONTNEED_LOCKED, Linux 5.18);
 * they read as zeros then. Returns 0 or -errno. May block.
 */
int heap_drop(void *from, size_t bytes);

/*
 * Returns to the kernel what captures have freed, locked or not, and restores the reserve. May block: not for the draining
 * thread.
 */
void heap_settle(void);

#endif
