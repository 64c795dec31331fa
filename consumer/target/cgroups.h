/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cgroups.h owns the mapping from cgroup ids, which the kernel programs report, to paths.
 */
#ifndef BOURDON_CONSUMER_TARGET_CGROUPS_H
#define BOURDON_CONSUMER_TARGET_CGROUPS_H

#include <stdbool.h>
#include <stdint.h>

struct cgroups;

/* Finds the cgroup2 mount. The caller frees the result. Logs a failure. Returns 0 or -errno. */
int cgroups_open(struct cgroups **ret_cgroups);
void cgroups_free(struct cgroups *cgroups);

/* The mount point of cgroup2. */
const char *cgroups_mount(const struct cgroups *cgroups);

/*
 * The path of a cgroup below the mount ("/" is the root), or NULL. A removed cgroup keeps the path under
 * which it was seen. An unknown id causes a reading of the whole hierarchy, at most once a second. Valid
 * until the next call.
 */
const char *cgroups_path(struct cgroups *cgroups, uint64_t id);

/* Whether `path` is `above` or lies below it. */
bool cgroup_is_within(const char *path, const char *above);

#endif
