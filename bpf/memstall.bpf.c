/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * memstall.bpf.c brackets the memory stall of targets' threads: most of it is time on CPU in reclaim and compaction, which no context
 * switch shows.
 */
#include "bpf/histogram.h"
#include "bpf/target.h"
#include "bpf/thread.h"

static __always_inline void clocks_stall(struct thread *thread, __u64 now_ns)
{
	struct control *shared = control_get();

	if (shared && clocks_join(&thread->counted, shared))
		clocks_count(&thread->counted, thread->counted.epoch, bpf_get_smp_processor_id(),
			     clock_counts_on(thread), now_ns);
}

/*
 * Most memory stall is on-CPU time in reclaim and compaction. PSI brackets it where these tracepoints are
 * (mm/page_alloc.c, mm/memcontrol.c: psi_memstall_enter()). The sections may nest.
 */
static __always_inline void enter_reclaim(bool at_limit)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 tgid = task->tgid;
	struct thread *thread;

	if (task->flags & (PF_KTHREAD | PF_EXITING) || !bpf_map_lookup_elem(&targets, &tgid))
		return;
	thread = thread_find(task->pid, start_of(task));
	if (!thread && !offcpu_make_thread(task->pid, start_of(task)))
		thread = thread_find(task->pid, start_of(task));
	if (thread && !thread->reclaim_depth++) {
		thread->reclaim_ns = bpf_ktime_get_ns();
		thread->reclaim_off_ns = 0;
		thread->accounted.at_limit = 0;
		if (at_limit)
			account_meets_limit(&thread->accounted);
		account_reclaim_begins(&thread->accounted, thread->reclaim_ns);
		clocks_stall(thread, thread->reclaim_ns);
	}
}

/* Also runs for threads that are no longer targets: each enter_reclaim() needs its leave_reclaim(). */
static __always_inline void leave_reclaim(bool from_compaction)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *thread = thread_find(task->pid, start_of(task));
	struct totals *sums;

	if (!thread || !thread->reclaim_depth || --thread->reclaim_depth)
		return;
	account_reclaim_ends(&thread->accounted, bpf_ktime_get_ns());
	clocks_stall(thread, bpf_ktime_get_ns());
	if (from_compaction && latency_group_wanted(LATENCY_MEMORY))
		histogram_put(METRIC_MEMORY, MEMORY_COMPACTION, 0, latency_owner(task),
			      bpf_ktime_get_ns() - thread->reclaim_ns);
	sums = totals_find(task->tgid, BPF_CORE_READ(task, group_leader, start_boottime));
	if (!sums)
		return;
	sum_add(&sums->reclaim_ns, bpf_ktime_get_ns() - thread->reclaim_ns);
	sum_add(&sums->reclaim_off_ns, thread->reclaim_off_ns);
}

#define RECLAIM_TRACEPOINT(tracepoint, does)                                                                 \
	SEC("tp_btf/" #tracepoint) int BPF_PROG(tracepoint)                                                  \
	{                                                                                                    \
		if (!is_retired())                                                                           \
			does;                                                                                \
		return 0;                                                                                    \
	}

RECLAIM_TRACEPOINT(mm_vmscan_direct_reclaim_begin, enter_reclaim(false))
RECLAIM_TRACEPOINT(mm_vmscan_direct_reclaim_end, leave_reclaim(false))
RECLAIM_TRACEPOINT(mm_vmscan_memcg_reclaim_begin, enter_reclaim(true))
RECLAIM_TRACEPOINT(mm_vmscan_memcg_reclaim_end, leave_reclaim(false))
RECLAIM_TRACEPOINT(mm_compaction_begin, enter_reclaim(false))
RECLAIM_TRACEPOINT(mm_compaction_end, leave_reclaim(true))
