/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * usage_groups.h sums what a capture's span used by program and by where it ran: four workers of a service are one
 * group, so is a storm of short-lived programs, and so are the kernel threads of one kind.
 */
#ifndef BOURDON_CONSUMER_CAPTURE_USAGE_GROUPS_H
#define BOURDON_CONSUMER_CAPTURE_USAGE_GROUPS_H

#include "consumer/capture/capture_usage.h"

#include <limits.h>

struct usage_group {
	enum usage_role role; /* not USAGE_REST */
	char program
		[ABI_COMM_BYTES]; /* of a kernel thread, its name without the number of a CPU or a worker */
	const char *cgroup;       /* of its first process; the capture's. NULL: unknown, or a kernel thread */
	char unit[NAME_MAX + 1];  /* "": none */
	uint64_t processes;       /* with those that ended */
	uint32_t tgid;            /* if there is one process, and it did not end; else 0 */
	struct usage_sums sums;   /* of those that ended: CPU time, run delay, major faults, bytes, reclaim */
};

struct usage_groups {
	struct usage_group *groups;
	uint32_t count, room;
};

/* 0 or -ENOMEM. Processes that have no row of their own are in no group. */
int usage_groups_make(const struct capture_usage *usage, struct usage_groups *ret_groups);
void usage_groups_free(struct usage_groups *groups);

/* Whether a process of that role, name and cgroup (NULL: unknown) belongs to the group. */
bool usage_group_has(const struct usage_group *group, enum usage_role role, const char *comm,
		     const char *cgroup);

#endif
