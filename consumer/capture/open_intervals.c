/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/capture/open_intervals.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>

#define READ_AT_ONCE 64U
#define READS_MAX (2 * OFFCPU_OPEN_DEFAULT / READ_AT_ONCE)

int open_intervals_init(struct open_intervals *intervals, const struct kernel_objects *kernel)
{
	*intervals = (struct open_intervals){ kernel->map_fds[PIN_OFFCPU_OPEN],
					      calloc(READ_AT_ONCE, sizeof(*intervals->room)) };
	return intervals->room ? 0 : -ENOMEM;
}

void open_intervals_free(struct open_intervals *intervals)
{
	free(intervals->room);
}

static bool is_whole(const struct open_interval *open)
{
	return open->sample.seq && open->sample.seq == open->seq_again;
}

void open_intervals_add(const struct open_intervals *intervals, struct capture *capture,
			struct capture_scope *scope, uint64_t now_ns)
{
	const struct open_interval *room = intervals->room;
	__u32 tids[READ_AT_ONCE], batch;
	void *from = NULL;

	for (unsigned int i = 0; i < READS_MAX; i++) {
		__u32 count = READ_AT_ONCE;
		int result = bpf_map_lookup_batch(intervals->map_fd, from, &batch, tids, intervals->room,
						  &count, NULL);

		if (result < 0 && result != -ENOENT)
			return; /* -ENOSPC: a bucket has more than there is room for */
		for (__u32 j = 0; j < count; j++)
			/* the threads of a process that is no target any more come back unseen */
			if (is_whole(&room[j]) && capture_scope_is_live(scope, &room[j].sample))
				capture_add_open(capture, &room[j].sample, now_ns, capture_scope_describe,
						 scope);
		if (result == -ENOENT)
			return;
		from = &batch;
	}
}
