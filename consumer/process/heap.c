/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/process/heap.h"

#include "common/log.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

/*
 * Address space, no memory: a capture's most (consumer/capture/capture.c) while its arrays grow, for one that waits
 * for the disk and the next. Where many large ones wait, the kernel is asked after all.
 */
#define RESERVE_BYTES (24 << 20)
#define RESERVES 2
/* What is larger has a mapping of its own; glibc allows no more. */
#define MAPPED_BYTES (32 << 20)
/* No free() gives back less, only heap_settle(). */
#define TRIMMED_BYTES (128 << 20)

static void make_reserve(void)
{
	void *volatile reserve[RESERVES]; /* a compiler may leave out calls whose memory nobody uses */

	for (size_t i = 0; i < RESERVES; i++)
		reserve[i] = malloc(RESERVE_BYTES);
	for (size_t i = 0; i < RESERVES; i++)
		free(reserve[i]);
}

void heap_start(void)
{
	if (prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0))
		log_warning("cannot keep khugepaged away: %s", strerror(errno));
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
	mallopt(M_TRIM_THRESHOLD, TRIMMED_BYTES);
	make_reserve();
}

void heap_settle(void)
{
	malloc_trim(0);
	make_reserve();
}
