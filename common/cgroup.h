/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cgroup.h finds the mount point of cgroup2 and maps its directories to cgroup ids.
 */
#ifndef BOURDON_CGROUP_H
#define BOURDON_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Finds the mount point of cgroup2, on unified and hybrid hosts alike. The caller frees *ret_path. Returns 0,
 * -ENOENT if cgroup2 is not mounted, or -errno.
 */
int cgroup_mount(char **ret_path);

/* As cgroup_mount(), from the text of a mountinfo file (proc(5)), for tests. */
int cgroup_mount_parse(const char *mountinfo, char **ret_path);

/*
 * Calls `visit` for each cgroup below the mount with its id and its path ("/" is the root). The id is the
 * inode number of the directory (kernfs, 64-bit since Linux 5.5). Skips cgroups that vanish meanwhile. Stops
 * when `visit` returns false. Returns 0 or -errno.
 */
int cgroup_walk(const char *mount, bool (*visit)(void *user, uint64_t id, const char *path), void *user);

#endif
