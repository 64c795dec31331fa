/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel_stats.h owns the kernel's own counts about a shortage during a capture: throttling, limits, reclaim
 * and disks, of the system (/proc/vmstat, /proc/diskstats, cpu.stat of the root cgroup), of the cgroup that
 * fired and of its ancestors (Documentation/admin-guide/cgroup-v2.rst). A missing file adds no statistics. Beside them is what the
 * recorder counts of itself.
 */
#ifndef BOURDON_CONSUMER_CAPTURE_KERNEL_STATS_H
#define BOURDON_CONSUMER_CAPTURE_KERNEL_STATS_H

#include <stdbool.h>
#include <stdint.h>

#define KERNEL_STAT_SYSTEM (-1)
#define KERNEL_STAT_RECORDER (-2)
#define KERNEL_STAT_LEVELS 17 /* the cgroup that fired and its ancestors, with the root */

struct kernel_stat {
	const char *source; /* the file's name */
	int scope; /* KERNEL_STAT_SYSTEM, KERNEL_STAT_RECORDER, or the number of levels above the cgroup that fired */
	char device[32]; /* "" where the statistic has no device */
	char name[32];
	int64_t before, after; /* -1: missing at that time; after: or in every reading since the begin */
};

/* Empty when all bytes are 0. */
struct kernel_stats {
	struct kernel_stat *stats;
	uint32_t count, room;
	uint64_t from_ns, to_ns;                 /* CLOCK_MONOTONIC */
	uint64_t cgroup_ids[KERNEL_STAT_LEVELS]; /* at the begin; 0: it was not there */
};

/*
 * Reads the statistics at the begin. `cgroup` is relative to the mount point of cgroup2; NULL: the system
 * only.
 */
void kernel_stats_begin(struct kernel_stats *stats, const char *mount, const char *cgroup, uint64_t now_ns);

/*
 * Reads the statistics of cgroups again, because these may be removed before the end. One that was made anew in the place of a
 * removed one is not read.
 */
void kernel_stats_look(struct kernel_stats *stats, const char *mount, const char *cgroup);

/* Reads all statistics again, and removes those that did not change and are not limits. */
void kernel_stats_end(struct kernel_stats *stats, const char *mount, const char *cgroup, uint64_t now_ns);

/* Of the recorder. */
enum recorder_stat {
	RECORDER_PROGRAMS, /* in-kernel programs; what did not change is removed */
	RECORDER_QUEUES,
	RECORDER_OWN,
};

/* Sets a number of the recorder: at the begin, or again at the end. -1: not known. */
void kernel_stats_set(struct kernel_stats *stats, bool again, enum recorder_stat source, const char *device,
		      const char *name, int64_t value);

void kernel_stats_free(struct kernel_stats *stats);

/* The length of the part of `cgroup` that names the cgroup of this statistic. */
int kernel_stat_scope_length(const struct kernel_stat *stat, const char *cgroup);

#endif
