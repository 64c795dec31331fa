/* SPDX-License-Identifier: GPL-2.0-only */
/* cgroup_path.h compares paths of cgroups below the mount point of cgroup2. */
#ifndef BOURDON_COMMON_KERNEL_CGROUP_PATH_H
#define BOURDON_COMMON_KERNEL_CGROUP_PATH_H

#include <stdbool.h>

/* Whether `path` is `above` or lies below it. */
bool cgroup_is_within(const char *path, const char *above);

#endif
