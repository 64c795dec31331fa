/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cgroup.h owns where the cgroup2 hierarchy is mounted and which of its directories has which id.
 */
#ifndef BOURDON_CGROUP_H
#define BOURDON_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Finds the mount point of cgroup2, on unified and hybrid hosts alike. The caller frees *ret_path. 0,
 * -ENOENT where it is not mounted, or -errno.
 */
int cgroup_mount(char **ret_path);

/* The same from the text of a mountinfo file (proc(5)), for tests. */
int cgroup_mount_parse(const char *mountinfo, char **ret_path);

/*
 * Calls `visit` for each cgroup below the mount with its id and its path ("/" is the root). The id is the
 * inode number of the directory (kernfs, 64-bit since Linux 5.5). A cgroup that vanishes meanwhile is
 * passed over. Stops when `visit` returns false. 0 or -errno.
 */
int cgroup_walk(const char *mount, bool (*visit)(void *user, uint64_t id, const char *path), void *user);

#endif
