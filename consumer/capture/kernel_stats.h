/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kernel_stats.h owns what the kernel itself counts about a shortage while a capture is taken: throttling,
 * limits, reclaim and disks, of the system (/proc/vmstat, /proc/diskstats), of the cgroup that fired and of
 * those above it (Documentation/admin-guide/cgroup-v2.rst). Where a file is not there, nothing is said of it.
 */
#ifndef BOURDON_CONSUMER_CAPTURE_KERNEL_STATS_H
#define BOURDON_CONSUMER_CAPTURE_KERNEL_STATS_H

#include <stdint.h>

#define KERNEL_STAT_SYSTEM (-1)

struct kernel_stat {
	const char *source; /* the file's name */
	int scope;          /* KERNEL_STAT_SYSTEM, or so many levels above the cgroup */
	char device[32];    /* "" where it is of none */
	char name[32];
	int64_t before, after; /* -1: not there then */
};

/* None at first: all zeroes. */
struct kernel_stats {
	struct kernel_stat *stats;
	uint32_t count, room;
	uint64_t from_ns, to_ns; /* CLOCK_MONOTONIC */
};

/* `cgroup` is below the mount point of cgroup2; NULL: the system only. */
void kernel_stats_begin(struct kernel_stats *stats, const char *mount, const char *cgroup, uint64_t now_ns);

/* Reads all of them again; those that did not change, and are no limits, go. */
void kernel_stats_end(struct kernel_stats *stats, const char *mount, const char *cgroup, uint64_t now_ns);

void kernel_stats_free(struct kernel_stats *stats);

/* How long that beginning of `cgroup` is which the statistic is of, where it is of a cgroup. */
int kernel_stat_scope_length(const struct kernel_stat *stat, const char *cgroup);

#endif
