/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * wanted.h decides whether a capture on demand wants a process: by its id, by its name, or by its cgroup or one above
 * that. Ask only where root's policy allows the process. The consumer writes the map and control.wanted, and the
 * programs trust neither: each entry holds until its time, which lies an hour ahead at most, and a minute.
 */
#ifndef BOURDON_BPF_WANTED_H
#define BOURDON_BPF_WANTED_H

#include "bpf/maps.h"

#define CGROUP_ROOT_AND_LEVELS (CGROUP_LEVELS + 1)

/* Argument of the bpf_loop() callbacks. */
struct wanted_search {
	struct wanted_key key;
	__u64 now_ns;
	__u64 started_ns;
	__u64 comm[2];
	struct cgroup *cgroup;
	__u32 in; /* control.wanted */
	__u32 found;
};

static __always_inline bool wanted_has(struct wanted_search *search)
{
	struct wanted_until *found = bpf_map_lookup_elem(&wanted, &search->key);

	if (!found || (found->started_ns && found->started_ns != search->started_ns))
		return false;
	/* of a time that has passed the difference is larger than any time to come */
	return found->until_ns - search->now_ns <= WANTED_NS_MAX;
}

/* Looks for the comm, or for its first `index` bytes, which are the lowest of its words (little endian). */
static long wanted_comm(__u32 index, void *user)
{
	struct wanted_search *search = user;

	if (!(search->in & 1U << (index & 31)))
		return 0;
	search->key.bytes = index;
	search->key.what[0] = index >= 8 ? search->comm[0] : search->comm[0] & ((1ULL << index * 8) - 1);
	search->key.what[1] = index >= 16 ? search->comm[1]
			      : index > 8 ? search->comm[1] & ((1ULL << (index - 8) * 8) - 1)
					  : 0;
	search->found = wanted_has(search);
	return search->found;
}

static long wanted_above(__u32 index, void *user)
{
	struct wanted_search *search = user;
	struct cgroup *cgroup = search->cgroup, *ancestor;
	struct cgroup **ancestors = (void *)cgroup + bpf_core_field_offset(struct cgroup, ancestors);

	if ((int)index > BPF_CORE_READ(cgroup, level) ||
	    bpf_probe_read_kernel(&ancestor, sizeof(ancestor), ancestors + index))
		return 1;
	search->key.what[0] = BPF_CORE_READ(ancestor, kn, id);
	search->found = wanted_has(search);
	return search->found;
}

/* `comm` has 16 bytes, zeroed after its NUL. Not inlined: the search takes a fifth of a program's stack. */
static __noinline bool wanted_names(struct task_struct *leader, const char *comm, __u32 in)
{
	struct wanted_search search = { .now_ns = bpf_ktime_get_ns(), .in = in };

	search.started_ns = BPF_CORE_READ(leader, start_boottime);
	if (in & WANTED_IN_PROCESSES) {
		search.key.kind = WANTED_PROCESS;
		search.key.what[0] = (__u32)BPF_CORE_READ(leader, tgid);
		if (wanted_has(&search))
			return true;
	}
	if (in & WANTED_IN_COMMS) {
		search.key.kind = WANTED_COMM;
		__builtin_memcpy(search.comm, comm, sizeof(search.comm));
		bpf_loop(ABI_COMM_BYTES + 1, wanted_comm, &search, 0);
		if (search.found)
			return true;
	}
	if (in & WANTED_IN_CGROUPS) {
		search.key = (struct wanted_key){ .kind = WANTED_CGROUP };
		search.cgroup = BPF_CORE_READ(leader, cgroups, dfl_cgrp);
		bpf_loop(CGROUP_ROOT_AND_LEVELS, wanted_above, &search, 0);
	}
	return search.found;
}

static __always_inline bool is_wanted(const struct control *shared, struct task_struct *leader,
				      const char *comm)
{
	__u32 in = *(volatile const __u32 *)&shared->wanted;

	return in && wanted_names(leader, comm, in);
}

#endif
