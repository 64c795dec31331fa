/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ended.h accounts for processes that end. One that no walk has met is added to the sum of those with the same
 * name, parent and cgroup, so that a storm of short-lived programs costs an element, not a record each. One that the
 * last walk met tells its final sums, because the time since that walk is in nobody's account otherwise.
 *
 * This happens when the last thread leaves its CPU for ever. When sched_process_exit fires, the kernel has not yet
 * added up the time since the thread came to the CPU, which may be all of its life; and what follows, giving back
 * the memory, may take as long again.
 */
#ifndef BOURDON_BPF_ENDED_H
#define BOURDON_BPF_ENDED_H

#include "bpf/maps.h"

static __noinline int add_short_lived(const struct ended_key *key, const struct task_usage *usage)
{
	const struct ended_key overflow = { .flags = ENDED_OVERFLOW };
	struct ended_sums *sums, first = { 0 };

	if (!key || !usage)
		return 0;
	sums = bpf_map_lookup_elem(&ended, key);
	if (!sums) {
		bpf_map_update_elem(&ended, key, &first, BPF_NOEXIST);
		sums = bpf_map_lookup_elem(&ended, key);
	}
	if (!sums) {
		bpf_map_update_elem(&ended, &overflow, &first, BPF_NOEXIST);
		sums = bpf_map_lookup_elem(&ended, &overflow);
	}
	if (!sums) {
		count(COUNTER_ENDED_LOST);
		return 0;
	}
	__sync_fetch_and_add(&sums->processes, 1);
	__sync_fetch_and_add(&sums->cpu_ns, usage->cpu_ns);
	__sync_fetch_and_add(&sums->run_delay_ns, usage->run_delay_ns);
	__sync_fetch_and_add(&sums->major_faults, usage->major_faults);
	__sync_fetch_and_add(&sums->read_bytes, usage->read_bytes);
	__sync_fetch_and_add(&sums->write_bytes, usage->write_bytes);
	__sync_fetch_and_add(&sums->reclaim_ns, usage->reclaim_ns);
	__sync_fetch_and_add(&sums->reclaims, usage->reclaims);
	return 0;
}

/* Without waking the consumer, who reads them before each walk. Half of the ring is left to paths of cgroups. */
static __always_inline void tell_final(const struct ending *ending)
{
	struct ended_record *record = NULL;

	if (bpf_ringbuf_query(&cgroup_paths, BPF_RB_AVAIL_DATA) <
	    bpf_ringbuf_query(&cgroup_paths, BPF_RB_RING_SIZE) / 2)
		record = bpf_ringbuf_reserve(&cgroup_paths, sizeof(*record), 0);
	if (!record) {
		count(COUNTER_ENDED_LOST);
		return;
	}
	__builtin_memset(record, 0, sizeof(*record));
	record->header.type = RECORD_ENDED;
	record->header.bytes = sizeof(*record);
	if (ending->key.flags & ENDED_DENIED) {
		record->flags = TASK_DENIED;
		record->usage.cpu_ns = ending->usage.cpu_ns;
	} else {
		record->tgid = ending->tgid;
		record->started_ns = ending->started_ns;
		record->usage = ending->usage;
	}
	bpf_ringbuf_submit(record, BPF_RB_NO_WAKEUP);
}

static __noinline int ended_account(const struct ending *ending)
{
	if (!ending)
		return 0;
	if (ending->was_met)
		tell_final(ending);
	else
		add_short_lived(&ending->key, &ending->usage);
	return 0;
}

/* `task` is dead and leaves its CPU. */
static __always_inline void ended_leave_cpu(struct task_struct *task)
{
	__u32 tid = task->pid;
	struct ending *ending = bpf_map_lookup_elem(&endings, &tid);

	if (!ending)
		return;
	ending->usage.cpu_ns += task->se.sum_exec_runtime - ending->self_ns;
	ended_account(ending);
	bpf_map_delete_elem(&endings, &tid);
}

#endif
