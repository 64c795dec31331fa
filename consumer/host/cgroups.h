/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cgroups.h owns the paths of cgroups, by their ids. The kernel programs tell a path when they report a process
 * in that cgroup; nothing here reads the hierarchy. The kernel's map cgroups_known has the id of each path that
 * is here, so a path that was forgotten is told again when a process there is reported.
 *
 * A user may make any number of cgroups with long paths. So memory is limited, and where it is short, accounts
 * (struct cgroup_record) with many paths lose those that were not looked up for longest; an account with few
 * keeps them. A path that nobody looks up is forgotten after some time, and its memory goes back to the kernel.
 */
#ifndef BOURDON_CONSUMER_HOST_CGROUPS_H
#define BOURDON_CONSUMER_HOST_CGROUPS_H

#include "common/abi/abi.h"

#include <stdint.h>

/* What is here costs its path and this much; all together CGROUPS_BYTES_MAX. */
#define CGROUPS_ENTRY_BYTES 128U
#define CGROUPS_BYTES_MAX (2U << 20)
_Static_assert(CGROUPS_BYTES_MAX / CGROUPS_ENTRY_BYTES <= CGROUPS_KNOWN, "the kernel's map has room for all");

struct cgroups;

/*
 * `mount` is where cgroup2 is mounted; the string outlives the result. Empties the map `known_fd`, which the caller keeps; -1:
 * there is none. The caller frees the result. Logs a failure. Returns 0 or -errno.
 */
int cgroups_open(struct cgroups **ret_cgroups, const char *mount, int known_fd, uint64_t now_ns);
void cgroups_free(struct cgroups *cgroups);

/* The mount point of cgroup2. */
const char *cgroups_mount(const struct cgroups *cgroups);

/* Notes what the kernel told. `path` has record->path_bytes bytes. */
void cgroups_learn(struct cgroups *cgroups, const struct cgroup_record *record, const char *path);

enum cgroup_state {
	CGROUP_UNKNOWN,  /* the kernel has not told it, or it was forgotten: it may be told later */
	CGROUP_UNUSABLE, /* its path is too long: it will never be known */
	CGROUP_KNOWN,
};

/*
 * Looks up the path of a cgroup below the mount ("/" is the root). Stores NULL unless it is known. A removed
 * cgroup keeps its path until it is forgotten. The path is valid until the next call that learns or forgets.
 */
enum cgroup_state cgroups_find(struct cgroups *cgroups, uint64_t id, const char **ret_path);

/* As cgroups_find(): the path or NULL. */
const char *cgroups_path(struct cgroups *cgroups, uint64_t id);

/*
 * Call it once a second: forgets what nobody looked up for `keep_ns`, nothing for UINT64_MAX. Look-ups take the
 * time of the last call as theirs.
 */
void cgroups_tick(struct cgroups *cgroups, uint64_t now_ns, uint64_t keep_ns);

struct cgroups_gauges {
	uint32_t count, too_long; /* cgroups, and those among them with a path that is too long */
	uint64_t bytes;           /* what they cost */
	uint64_t learned;         /* grows with each path that was not known */
	uint64_t forgotten;       /* for lack of room */
};
struct cgroups_gauges cgroups_gauges(const struct cgroups *cgroups);

#endif
