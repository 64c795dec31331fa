/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * usage.h owns what every process of the host has had of the machine, as the last walk over all of them saw
 * it, and how much of that fell into a capture.
 */
#ifndef BOURDON_CONSUMER_TARGET_USAGE_H
#define BOURDON_CONSUMER_TARGET_USAGE_H

#include "common/abi.h"
#include "common/process_index.h"

#include <stdbool.h>
#include <stdint.h>

/* Running sums, but rss_bytes, which is what it is now. */
struct usage_sums {
	struct task_usage task;
	uint64_t rss_bytes;
	uint64_t stalled_cpu_ns, stalled_memory_ns, stalled_io_ns;
	uint64_t unstacked_ns, unstacked; /* intervals off CPU over the budget */
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
};

struct usage {
	struct usage_process *processes;
	uint32_t count, room;
	struct process_index index;
	uint32_t walk;
	uint64_t walked_ns; /* CLOCK_MONOTONIC: the last walk that ended */
};

/* `seed` is a random number (common/process_index.h). */
void usage_init(struct usage *usage, uint64_t seed);
void usage_free(struct usage *usage);

/*
 * A walk: begins, adds each record, ends. Processes that it did not meet stay as they were seen last; with
 * `forget`, they go. Out of memory, a process is left out.
 */
void usage_walk_begin(struct usage *usage);
void usage_walk_process(struct usage *usage, const struct task_record *record);
void usage_walk_thread(struct usage *usage, const struct thread_record *record);
void usage_walk_end(struct usage *usage, uint64_t now_ns, bool forget);

/* The state of all, to be held against a later one. 0 or -ENOMEM; usage_free() in either case. */
int usage_copy(const struct usage *usage, struct usage *ret_copy);

/*
 * What the process has had since `before`, of which it is no part: all it ever had, where `before` does not
 * know it. rss_bytes is what it has now.
 */
struct usage_sums usage_since(const struct usage *before, const struct usage_process *process);

#endif
