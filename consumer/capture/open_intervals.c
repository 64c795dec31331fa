/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/capture/open_intervals.h"

#include "consumer/capture/capture_samples.h"
#include "consumer/process/map_elements.h"

struct reading {
	struct capture *capture;
	struct capture_scope *scope;
	uint64_t now_ns;
};

static bool is_whole(const struct open_interval *open)
{
	return open->sample.seq && open->sample.seq == open->seq_again;
}

static int add_interval(void *user, const void *tid, const void *value)
{
	const struct reading *reading = user;
	const struct open_interval *open = value;

	(void)tid;
	/* the threads of a process that is no target any more come back unseen */
	if (is_whole(open) && capture_scope_is_live(reading->scope, &open->sample))
		capture_add_open(reading->capture, &open->sample, reading->now_ns, capture_scope_describe,
				 reading->scope);
	return 0;
}

void open_intervals_add(const struct kernel_objects *kernel, struct capture *capture,
			struct capture_scope *scope, uint64_t now_ns)
{
	struct reading reading = { capture, scope, now_ns };

	map_elements_read(kernel->map_fds[PIN_OFFCPU_OPEN], sizeof(__u32), sizeof(struct open_interval),
			  add_interval, &reading);
}
