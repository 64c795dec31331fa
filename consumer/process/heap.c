/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/process/heap.h"

#include "common/base/cleanup.h"
#include "common/system/log.h"

#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24
#endif

/*
 * Address space, not memory: the most that the arrays of two captures take (consumer/capture/capture.c), one
 * that waits for the disk and the next one. When more large captures wait, malloc asks the kernel for more.
 */
#define RESERVE_BYTES (24 << 20)
#define RESERVES 2
/* malloc maps larger blocks separately; glibc allows no higher threshold. */
#define MAPPED_BYTES (32 << 20)
/* free() keeps this much; only heap_settle() returns memory to the kernel. */
#define TRIMMED_BYTES (128 << 20)
/* What is free between blocks in use goes back in pieces of these sizes; less is used again soon. */
static const size_t hole_bytes[] = { 1 << 20, 256 << 10, 64 << 10 };
#define HOLES_MAX 128U

static void make_reserve(void)
{
	/* volatile: otherwise the compiler may drop calls whose memory is not used */
	void *volatile reserve[RESERVES];

	for (size_t i = 0; i < RESERVES; i++)
		reserve[i] = malloc(RESERVE_BYTES);
	for (size_t i = 0; i < RESERVES; i++)
		free(reserve[i]);
}

void heap_start(void)
{
	if (prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0))
		log_warning("prctl(PR_SET_THP_DISABLE): %s; huge pages may enlarge bourdond's memory",
			    strerror(errno));
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
	mallopt(M_TRIM_THRESHOLD, TRIMMED_BYTES);
	make_reserve();
}

int heap_drop(void *from, size_t bytes)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = (uintptr_t)from;
	uintptr_t first = (begin + page - 1) / page * page, end = (begin + bytes) / page * page;

	if (first >= end)
		return 0;
	return madvise((char *)from + (first - begin), end - first, MADV_DONTNEED_LOCKED) ? -errno : 0;
}

/* malloc_trim() leaves locked memory as it is, except at the heap's end. */
static void drop_holes(void)
{
	void *holes[HOLES_MAX];
	/* larger than any hole: what malloc() takes from behind it is no hole. volatile: as above */
	char *volatile end = malloc(RESERVE_BYTES);
	size_t count = 0;

	for (size_t i = 0; end && i < ARRAY_SIZE(hole_bytes); i++) {
		char *hole = malloc(hole_bytes[i]);

		for (; hole && hole < end && count < HOLES_MAX; hole = malloc(hole_bytes[i])) {
			heap_drop(hole, hole_bytes[i]);
			holes[count++] = hole;
		}
		free(hole);
	}
	while (count)
		free(holes[--count]);
	free(end);
}

void heap_settle(void)
{
	malloc_trim(0);
	make_reserve();
	drop_holes();
}
