/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/capture/usage_groups.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/kernel/cgroup_parts.h"

#include <string.h>

void usage_groups_free(struct usage_groups *groups)
{
	free(groups->groups);
	*groups = (struct usage_groups){ 0 };
}

/*
 * "kworker/1:2-events" and "ksoftirqd/0" without what comes from the slash on, "kswapd0" and "kdamond.0" without their
 * numbers.
 */
static void put_kind(const char *comm, char kind[ABI_COMM_BYTES])
{
	size_t bytes = strcspn(comm, "/");

	if (!comm[bytes])
		while (bytes > 1 && strchr("0123456789.", comm[bytes - 1]))
			bytes--;
	memset(kind, 0, ABI_COMM_BYTES);
	memcpy(kind, comm, bytes);
}

static bool is_same(const struct usage_group *one, const struct usage_group *other)
{
	if (one->role != other->role || strncmp(one->program, other->program, sizeof(one->program)) ||
	    strcmp(one->unit, other->unit))
		return false;
	return *one->unit || one->cgroup == other->cgroup ||
	       (one->cgroup && other->cgroup && !strcmp(one->cgroup, other->cgroup));
}

static int add(struct usage_groups *groups, const struct usage_group *more)
{
	struct usage_group *group = NULL;

	for (uint32_t i = 0; i < groups->count && !group; i++)
		if (is_same(&groups->groups[i], more))
			group = &groups->groups[i];
	if (!group) {
		if (array_make_room(groups->groups, groups->count, groups->room, 1U))
			return -ENOMEM;
		groups->groups[groups->count++] = *more;
		return 0;
	}
	group->processes += more->processes;
	group->tgid = 0;
	usage_sums_add(&group->sums, &more->sums);
	return 0;
}

static struct usage_group begin_group(enum usage_role role, const char *comm, const char *cgroup)
{
	struct usage_group group = { .role = role };

	if (role == USAGE_KERNEL) {
		put_kind(comm, group.program);
		return group;
	}
	memcpy(group.program, comm, sizeof(group.program));
	group.cgroup = cgroup;
	if (!cgroup || !cgroup_unit(cgroup, group.unit))
		*group.unit = '\0';
	return group;
}

bool usage_group_has(const struct usage_group *group, enum usage_role role, const char *comm,
		     const char *cgroup)
{
	struct usage_group of = begin_group(role, comm, cgroup);

	return is_same(group, &of);
}

int usage_groups_make(const struct capture_usage *usage, struct usage_groups *ret_groups)
{
	struct usage_groups groups = { 0 };
	int result = 0;

	for (uint32_t i = 0; i < usage->count && !result; i++) {
		const struct usage_row *row = &usage->rows[i];
		struct usage_group group;

		if (row->role == USAGE_REST)
			continue;
		group = begin_group(row->role, row->process.comm, row->cgroup);
		group.processes = 1;
		group.tgid = row->process.tgid;
		group.sums = row->process.sums;
		result = add(&groups, &group);
	}
	for (uint32_t i = 0; i < usage->ended_count && !result; i++) {
		const struct ended_row *row = &usage->ended[i];
		struct usage_group group;

		if (row->role == USAGE_REST || !*row->key.comm)
			continue;
		group = begin_group(row->role, row->key.comm, row->cgroup);
		group.processes = row->sums.processes;
		group.sums.task = (struct task_usage){ .cpu_ns = row->sums.cpu_ns,
						       .run_delay_ns = row->sums.run_delay_ns,
						       .major_faults = row->sums.major_faults,
						       .read_bytes = row->sums.read_bytes,
						       .write_bytes = row->sums.write_bytes,
						       .reclaim_ns = row->sums.reclaim_ns,
						       .reclaims = row->sums.reclaims };
		result = add(&groups, &group);
	}
	if (result < 0)
		usage_groups_free(&groups);
	*ret_groups = groups;
	return result;
}
