/* SPDX-License-Identifier: GPL-2.0-only */
/* cgroup.h finds the mount point of the cgroup2 hierarchy. */
#ifndef BOURDON_COMMON_KERNEL_CGROUP_H
#define BOURDON_COMMON_KERNEL_CGROUP_H

/*
 * Finds the mount point of cgroup2, on unified and hybrid hosts alike. The caller frees *ret_path. Returns 0,
 * -ENOENT if cgroup2 is not mounted, or -errno.
 */
int cgroup_mount(char **ret_path);

/* As cgroup_mount(), from the text of a mountinfo file (proc(5)), for tests. */
int cgroup_mount_parse(const char *mountinfo, char **ret_path);

#endif
