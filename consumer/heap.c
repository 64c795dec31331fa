/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/heap.h"

#include <malloc.h>
#include <stdlib.h>

/* Address space, no memory: a capture's most (consumer/capture.c) while its arrays grow. */
#define RESERVE_BYTES (24 << 20)
/* What is larger has a mapping of its own; glibc allows no more. */
#define MAPPED_BYTES (32 << 20)
/* No free() gives back less, only heap_settle(). */
#define TRIMMED_BYTES (128 << 20)

static void make_reserve(void)
{
	/* volatile: a compiler may leave out a pair of calls whose memory nobody uses */
	void *volatile reserve = malloc(RESERVE_BYTES);

	free(reserve);
}

void heap_start(void)
{
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
