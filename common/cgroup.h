/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cgroup.h owns where the cgroup2 hierarchy is mounted.
 */
#ifndef BOURDON_CGROUP_H
#define BOURDON_CGROUP_H

/*
 * Finds the mount point of cgroup2, on unified and hybrid hosts alike. The caller frees *ret_path. 0,
 * -ENOENT where it is not mounted, or -errno.
 */
int cgroup_mount(char **ret_path);

/* The same from the text of a mountinfo file (proc(5)), for tests. */
int cgroup_mount_parse(const char *mountinfo, char **ret_path);

#endif
