/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cgroup_walk.h visits the cgroups of the cgroup2 hierarchy. Users may make any number of cgroups, so a walk
 * has limits, and is for commands; bourdond never walks (consumer/host/cgroups.h).
 */
#ifndef BOURDON_COMMON_KERNEL_CGROUP_WALK_H
#define BOURDON_COMMON_KERNEL_CGROUP_WALK_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A host has some hundred cgroups, and one full of containers some thousand. Their paths have some 50 bytes;
 * a user can make paths of 3.8 KB.
 */
#define CGROUP_WALK_MOST 10000U
#define CGROUP_WALK_PATH_BYTES (4UL << 20) /* of all paths together */

/*
 * Calls `visit` for each cgroup below the mount with its id and its path ("/" is the root), level by level: the
 * cgroups that a user makes are below those that the system makes. The id is the inode number of the directory
 * (kernfs, 64-bit since Linux 5.5). Skips cgroups that vanish meanwhile. Stops when `visit` returns false.
 * Returns 0; 1 if there are more cgroups than it visited, for CGROUP_WALK_MOST, CGROUP_WALK_PATH_BYTES,
 * PATH_MAX or `until_ns` (CLOCK_MONOTONIC); or -errno.
 */
int cgroup_walk(const char *mount, uint64_t until_ns,
		bool (*visit)(void *user, uint64_t id, const char *path), void *user);

#endif
