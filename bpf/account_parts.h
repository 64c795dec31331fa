/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * account_parts.h has what bpf/accounts.bpf.c, which follows threads, wants of bpf/waits.bpf.c, which charges waits for a CPU, and both
 * of bpf/sums.bpf.c, which has the sums.
 */
#ifndef BOURDON_BPF_ACCOUNT_PARTS_H
#define BOURDON_BPF_ACCOUNT_PARTS_H

#include "bpf/accounts.h"
#include "bpf/kernel.h"

/* The consumer can write `control`. */
static __always_inline __u32 slot_bits(void)
{
	const struct control *shared = control_get();
	__u32 more = shared ? *(volatile const __u32 *)&shared->account_slot_more : 0;

	return ACCOUNT_SLOT_BITS + (more > ACCOUNT_SLOT_MORE_MAX ? 0 : more);
}

/* Adds what the victim has spent on this account to one slot. */
int account_add(__u32 victim, __u32 account, __u64 number, __u64 ns);

/* Adds what the victim has waited for this party to one slot; to all of them if it is of one slot. */
int account_add_blame(const struct blame_key *key, __u64 number, __u64 ns);

/* Adds an interval of the thread, which ends at ends_ns, to the slots that it covers, and who ended it. */
int account_add_interval(const struct accounted *thread, __u32 account, __u64 ns, __u64 ends_ns);

/* Names the current thread. The members that are not about the party stay. */
int account_name(struct blame_key *key);

/* The clock of the current thread's queue, whose lock the caller holds. */
__u64 account_clock(void);

/* The thread waits for that CPU since since_ns. `queue` 0: not known. */
int account_join(struct accounted *thread, __u32 cpu, __u64 since_ns, __u64 queue);

/* `delay_ns`: how long the thread has waited in all, as the kernel counts it. The difference is of a migration. */
int account_leave_place(struct accounted *thread, __u64 now_ns, __u64 delay_ns);

/* Of a wait that no place has counted. */
int account_add_unseen(__u32 victim, __u64 ns, __u64 now_ns);

/* A cgroup of version 1 has an id of its own hierarchy, which may be that of another cgroup. 0: it has no id. */
static __always_inline __u64 id_of_cgroup(struct cgroup *cgroup)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return BPF_CORE_READ(cgroup, root) == BPF_CORE_READ(task, cgroups, dfl_cgrp, root)
		       ? BPF_CORE_READ(cgroup, kn, id)
		       : 0;
}

#endif
