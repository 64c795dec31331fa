/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * reclaim.bpf.c sums how long each process was in direct reclaim: it found no free memory, on the host or below its
 * limit, and looked for some itself. Of targets, bpf/memstall.bpf.c measures all memory stall; this is of everybody, to
 * tell who pays. What kswapd does in the background is its CPU time.
 */
#include "bpf/histogram.h"
#include "bpf/target.h"

/* A thread in reclaim. LRU: the maps are allocated beforehand, because memory is short when they are wanted. */
struct reclaiming {
	__u64 thread_began_ns; /* start of the thread: with the tid, its identity */
	__u64 since_ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, struct reclaiming);
} reclaiming SEC(".maps");

static __always_inline void begin_reclaim(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct control *shared = control_get();
	struct reclaiming begin = { .since_ns = bpf_ktime_get_ns() };
	__u32 tid = task->pid;

	if (is_retired() || !shared || is_quiet(shared, begin.since_ns) ||
	    (!(task->flags & PF_KTHREAD) && policy_denies_now(task->group_leader)))
		return;
	begin.thread_began_ns = task->start_boottime;
	bpf_map_update_elem(&reclaiming, &tid, &begin, BPF_ANY);
}

static __always_inline void end_reclaim(__u32 kind)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 tid = task->pid, tgid = task->tgid;
	struct reclaiming *began = bpf_map_lookup_elem(&reclaiming, &tid);
	struct reclaims fresh = { .times = 1 }, *known;

	if (!began)
		return;
	fresh.ns = bpf_ktime_get_ns() - began->since_ns;
	if (began->thread_began_ns == task->start_boottime) {
		if (latency_group_wanted(LATENCY_MEMORY))
			histogram_put(METRIC_MEMORY, kind, 0, latency_owner(task), fresh.ns);
		fresh.started_ns = BPF_CORE_READ(task, group_leader, start_boottime);
		known = bpf_map_lookup_elem(&reclaims, &tgid);
		if (known && known->started_ns == fresh.started_ns) {
			__sync_fetch_and_add(&known->ns, fresh.ns);
			__sync_fetch_and_add(&known->times, 1);
		} else {
			bpf_map_update_elem(&reclaims, &tgid, &fresh, BPF_ANY);
		}
	}
	bpf_map_delete_elem(&reclaiming, &tid);
}

#define RECLAIM_PROGRAM(name, tracepoint, does)                                                              \
	SEC("tp_btf/" #tracepoint) int BPF_PROG(name)                                                        \
	{                                                                                                    \
		does;                                                                                        \
		return 0;                                                                                    \
	}

RECLAIM_PROGRAM(direct_reclaim_begin, mm_vmscan_direct_reclaim_begin, begin_reclaim())
RECLAIM_PROGRAM(direct_reclaim_end, mm_vmscan_direct_reclaim_end, end_reclaim(MEMORY_DIRECT))
RECLAIM_PROGRAM(memcg_reclaim_begin, mm_vmscan_memcg_reclaim_begin, begin_reclaim())
RECLAIM_PROGRAM(memcg_reclaim_end, mm_vmscan_memcg_reclaim_end, end_reclaim(MEMORY_LIMIT))
