/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * usage.h owns the resource usage of every process of the host, as of the last walk over all of them, and how
 * much of it falls into a capture.
 */
#ifndef BOURDON_CONSUMER_TARGET_USAGE_H
#define BOURDON_CONSUMER_TARGET_USAGE_H

#include "common/abi.h"
#include "common/process_index.h"

#include <stdbool.h>
#include <stdint.h>

/* Running sums, except rss_bytes, which is the current value. */
struct usage_sums {
	struct task_usage task;
	uint64_t rss_bytes;
	uint64_t stalled_cpu_ns, stalled_memory_ns, stalled_io_ns;
	uint64_t unstacked_ns, unstacked; /* intervals off CPU beyond the budget of stacks */
};

struct usage_process {
	uint32_t tgid;
	uint32_t uid;
	uint64_t started_ns; /* since boot */
	uint64_t cgroup_id;
	char comm[ABI_COMM_BYTES]; /* of the group leader */
	struct usage_sums sums;
	uint32_t walk;
	bool counts_io_delay;
	bool goes; /* usage_choose() */
};

struct usage {
	struct usage_process *processes;
	uint32_t count, room;
	uint32_t ended; /* of `count`: the last walk did not meet them */
	struct process_index index;
	uint32_t walk;
	uint64_t walked_ns; /* end of the last walk, CLOCK_MONOTONIC */
};

void usage_init(struct usage *usage);
void usage_free(struct usage *usage);

/*
 * One walk: begin, each record, end. Processes that the walk did not meet keep their sums, if a walk after the one
 * with the number `since` met them; UINT32_MAX: none does. Without memory a process is left out.
 */
void usage_walk_begin(struct usage *usage);
void usage_walk_process(struct usage *usage, const struct task_record *record);
void usage_walk_thread(struct usage *usage, const struct thread_record *record);
void usage_walk_end(struct usage *usage, uint64_t now_ns, uint32_t since);

/*
 * Where more than `most` processes have ended, sets `goes` of those with the least CPU time, so that half of `most`
 * stay; usage_sweep() removes them. Returns whether any goes. Without memory all of them go.
 */
bool usage_choose(struct usage *usage, uint32_t most);
void usage_sweep(struct usage *usage);

/*
 * Copies the state, to be compared with a later one, without processes that ended before the last two walks.
 * Returns 0 or -ENOMEM; call usage_free() in either case.
 */
int usage_copy(const struct usage *usage, struct usage *ret_copy);

/*
 * The usage of `process` since the state `before`: all of its usage, if `before` does not contain it.
 * rss_bytes is the current value.
 */
struct usage_sums usage_since(const struct usage *before, const struct usage_process *process);

#endif
