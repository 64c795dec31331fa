/* SPDX-License-Identifier: GPL-2.0-only */
/* memory_limit.h finds the cgroup whose memory limit a thread meets. */
#ifndef BOURDON_BPF_MEMORY_LIMIT_H
#define BOURDON_BPF_MEMORY_LIMIT_H

#include "bpf/kernel.h"

/* A limit is met if a charge of this size would exceed it: MEMCG_CHARGE_BATCH in the kernel's mm/memcontrol.c. */
#define CHARGE_PAGES 64UL
#define LIMIT_LEVELS 32
#define NO_LIMIT_PAGES (1UL << 50) /* PAGE_COUNTER_MAX is more */

/* Argument of the bpf_loop() callback. */
struct limit_search {
	struct cgroup_subsys_state *state; /* of the cgroup that is looked at */
	struct mem_cgroup *full;
	__u64 is_met;
};

static long limit_above(__u32 index, void *user)
{
	struct limit_search *search = user;
	struct cgroup_subsys_state *state = search->state;
	struct mem_cgroup *group = (void *)state - bpf_core_field_offset(struct mem_cgroup, css);
	unsigned long most, high;

	if (!state)
		return 1;
	most = BPF_CORE_READ(group, memory.max);
	high = search->is_met ? BPF_CORE_READ(group, memory.high) : most;
	if (high < most)
		most = high;
	if (most < NO_LIMIT_PAGES) {
		bool is_full = (unsigned long)BPF_CORE_READ(group, memory.usage.counter) + CHARGE_PAGES >
			       most;

		if (is_full || (search->is_met && !search->full))
			search->full = group;
		if (is_full)
			return 1;
	}
	search->state = BPF_CORE_READ(state, parent);
	return 0;
}

/*
 * The nearest cgroup around the task that has as much memory as memory.max allows. NULL: none, so that it is the whole host's memory
 * that is used up. `is_met`: the task reclaims because a memory.max or a memory.high is met. Then memory.high counts, too, and where
 * no cgroup is full any more, since others gave memory back meanwhile, it is the nearest that has a limit.
 */
static __noinline struct mem_cgroup *full_cgroup(struct task_struct *task, bool is_met)
{
	struct limit_search search = { .is_met = is_met };
	struct css_set *set = BPF_CORE_READ(task, cgroups);
	void *states = (void *)set + bpf_core_field_offset(struct css_set, subsys);

	if (!bpf_core_enum_value_exists(enum cgroup_subsys_id, memory_cgrp_id))
		return NULL;
	bpf_probe_read_kernel(&search.state, sizeof(search.state),
			      states + sizeof(search.state) *
					       bpf_core_enum_value(enum cgroup_subsys_id, memory_cgrp_id));
	bpf_loop(LIMIT_LEVELS, limit_above, &search, 0);
	return search.full;
}

#endif
