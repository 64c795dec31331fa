/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cgroup_walk.h maps the directories of the cgroup2 hierarchy to cgroup ids. Users may make any number of
 * cgroups, so it is for commands; bourdond never walks (consumer/target/cgroups.h).
 */
#ifndef BOURDON_CGROUP_WALK_H
#define BOURDON_CGROUP_WALK_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Calls `visit` for each cgroup below the mount with its id and its path ("/" is the root). The id is the
 * inode number of the directory (kernfs, 64-bit since Linux 5.5). Skips cgroups that vanish meanwhile. Stops
 * when `visit` returns false. Returns 0 or -errno.
 */
int cgroup_walk(const char *mount, bool (*visit)(void *user, uint64_t id, const char *path), void *user);

#endif
