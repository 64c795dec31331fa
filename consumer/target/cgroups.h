/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cgroups.h owns the paths of cgroups by their ids, which is how the kernel programs name them.
 */
#ifndef BOURDON_CONSUMER_TARGET_CGROUPS_H
#define BOURDON_CONSUMER_TARGET_CGROUPS_H

#include <stdbool.h>
#include <stdint.h>

struct cgroups;

/* Finds the cgroup2 mount. The caller frees. Logs what failed; 0 or -errno. */
int cgroups_open(struct cgroups **ret_cgroups);
void cgroups_free(struct cgroups *cgroups);

/* Where cgroup2 is mounted. */
const char *cgroups_mount(const struct cgroups *cgroups);

/*
 * The path of a cgroup below the mount ("/" is the root), also of one that has been removed since it was
 * seen, or NULL. An unknown id makes it look at the whole hierarchy, at most once a second. Valid until the
 * next call.
 */
const char *cgroups_path(struct cgroups *cgroups, uint64_t id);

/* Whether `path` is `above` or lies below it. */
bool cgroup_is_within(const char *path, const char *above);

#endif
