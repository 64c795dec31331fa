/* SPDX-License-Identifier: GPL-2.0-only */
/* cgroup.h finds the mount point of the cgroup2 hierarchy, and compares paths in it. */
#ifndef BOURDON_CGROUP_H
#define BOURDON_CGROUP_H

#include <stdbool.h>

/*
 * Finds the mount point of cgroup2, on unified and hybrid hosts alike. The caller frees *ret_path. Returns 0,
 * -ENOENT if cgroup2 is not mounted, or -errno.
 */
int cgroup_mount(char **ret_path);

/* As cgroup_mount(), from the text of a mountinfo file (proc(5)), for tests. */
int cgroup_mount_parse(const char *mountinfo, char **ret_path);

/* Whether `path` is `above` or lies below it. */
bool cgroup_is_within(const char *path, const char *above);

#endif
