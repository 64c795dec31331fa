/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * heap.h owns what malloc asks of the kernel. Before Linux 6.4 a page fault holds mmap_lock for as long as
 * ->page_mkwrite waits for a file system that is frozen or whose disk hangs, which the store thread's write
 * to SQLite's shared memory does; brk(), mmap() and munmap() of any other thread wait with it (seen
 * on 6.1.192, not on 6.12). So the draining thread takes its memory from what the heap already has. Once
 * somebody waits for the lock to write, page faults wait, too: khugepaged may (mm/khugepaged.c, seen on
 * 6.1.192), and is kept away from this process.
 */
#ifndef BOURDON_CONSUMER_PROCESS_HEAP_H
#define BOURDON_CONSUMER_PROCESS_HEAP_H

/* One heap for all threads: a reserve, no huge pages. Before any thread starts, after memory is locked. */
void heap_start(void);

/* Gives back what a capture has left, and makes the reserve whole. For a thread that may wait. */
void heap_settle(void);

#endif
