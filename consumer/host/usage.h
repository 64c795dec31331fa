/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * usage.h owns the resource usage of every process of the host, as of the last walk over all of them, and how
 * much of it falls into a capture.
 */
#ifndef BOURDON_CONSUMER_HOST_USAGE_H
#define BOURDON_CONSUMER_HOST_USAGE_H

#include "common/abi/abi.h"
#include "common/base/process_key.h"
#include "common/kernel/cpu_times.h"
#include "common/kernel/disk_bytes.h"
#include "consumer/host/ended.h"
#include "consumer/host/interrupts.h"
#include "consumer/host/kills.h"

#include <stdbool.h>
#include <stdint.h>

/* Running sums, except rss_bytes, which is the current value. */
struct usage_sums {
	struct task_usage task;
	uint64_t rss_bytes;
	/* of usage_since(): rss_bytes at its begin, and by how much it grew; otherwise 0 */
	uint64_t rss_before_bytes, grown_bytes;
	uint64_t stalled_cpu_ns, stalled_memory_ns, stalled_io_ns;
	uint64_t unstacked_ns, unstacked; /* intervals off CPU beyond the budget of stacks */
};

struct usage_process {
	uint64_t started_ns; /* since boot */
	uint32_t tgid;       /* up to here the key */
	uint32_t uid;
	uint32_t program; /* sample.program */
	uint64_t cgroup_id;
	char comm[ABI_COMM_BYTES]; /* of the group leader */
	struct usage_sums sums;
	uint64_t killed_bytes; /* rss_bytes when it was killed; 0: it was not */
	uint32_t walk;
	bool counts_io_delay;
	bool is_kernel; /* a kernel thread */
	bool is_final;  /* it has ended, and the sums are its last */
	bool goes;      /* usage_choose() */
};

struct usage {
	struct usage_process *processes;
	uint32_t count, room;
	uint32_t ended; /* of `count`: the last walk did not meet them */
	struct hash_index index;
	uint32_t walk;
	uint64_t began_ns;  /* begin of the last walk, CLOCK_BOOTTIME */
	uint64_t walked_ns; /* end of the last walk, CLOCK_MONOTONIC */
	/* CPU time of processes that root's policy denies: of those that the last walk met, and of those that ended */
	uint64_t denied_ns, denied_ended_ns;
	uint32_t flags;               /* TASK_IRQ_APART, TASK_STEAL_APART */
	struct cpu_times times;       /* at the end of the last walk */
	struct disk_bytes disks;      /* the same */
	struct interrupts interrupts; /* the same */
	/* the following are not in copies */
	struct ended short_lived;
	struct kills kills;
	struct ended_record *last_sums; /* of processes that ended since the last walk */
	uint32_t last_sums_count, last_sums_room;
};

void usage_init(struct usage *usage);
void usage_free(struct usage *usage);

/*
 * One walk: begin, each record, end. It leaves out processes that started after its begin: those that have ended by
 * the next walk are in `ended`, and must not count twice. Processes that the walk did not meet keep their sums, if a walk after the one
 * with the number `since` met them; UINT32_MAX: none does. Without memory a process is left out.
 */
void usage_walk_begin(struct usage *usage, uint64_t began_ns);
void usage_walk_process(struct usage *usage, const struct task_record *record);
void usage_walk_thread(struct usage *usage, const struct thread_record *record);
void usage_walk_end(struct usage *usage, uint64_t now_ns, uint32_t since);

/* A process that a walk had met has ended, with these sums: they count in the walk that ends next. */
void usage_end(struct usage *usage, const struct ended_record *record);

/* A process is killed: the last of its sums has the memory that it held then. Nobody else knows it after that. */
void usage_kill(struct usage *usage, const struct kill_record *record);

/* CPU time of processes that root's policy denies, since the first walk; ns. */
uint64_t usage_denied_ns(const struct usage *usage);

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

/* A process that the last walk met, or that ended since the one before; NULL: none. Valid until the next walk. */
const struct usage_process *usage_find(const struct usage *usage, uint32_t tgid, uint64_t started_ns);

#endif
