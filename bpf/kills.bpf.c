/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kills.bpf.c tells who is killed: by the kernel, because memory ran out, and at which limit; or by another process
 * with SIGKILL, as systemd-oomd does.
 *
 * The OOM killer sends SIGKILL and then marks its victim, in one go on one CPU (__oom_kill_process() in the kernel's
 * mm/oom_kill.c). The mark alone does not tell: a process that ends already gets it, too. The kernel sends SIGKILL for
 * other reasons as well, such as RLIMIT_CPU: without a mark, these are not told.
 */
#include "bpf/budget.h"
#include "bpf/memory_limit.h"
#include "bpf/target.h"
#include "bpf/usage.h"

#define SIGKILL 9
#define SENT_BY_KERNEL 1UL /* SEND_SIG_PRIV, in place of a pointer */
#define DELIVERED 0        /* TRACE_SIGNAL_DELIVERED */

/* Each uid may have so many kills of a kind told in a second. */
#define KILLS_A_SECOND 16U
#define KILL_NS (1000000000ULL / KILLS_A_SECOND)

/* By kind and uid: of the victim for the OOM killer, else of the killer. */
struct budgets_map kill_budgets SEC(".maps");

struct kill_scratch {
	struct kill_record record;
	__u32 tid; /* of the thread that SIGKILL was sent to; 0: none is waiting for its mark */
	__u32 reserved;
};

/* By KILL_*. Signals are sent with interrupts off, so one kind does not interrupt itself. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, KILL_KINDS);
	__type(key, __u32);
	__type(value, struct kill_scratch);
} kill_scratch SEC(".maps");

static __always_inline void put_limit(struct kill_record *record, struct task_struct *task)
{
	struct mem_cgroup *group = full_cgroup(task, false);
	struct cgroup *cgroup;

	if (!group)
		return;
	cgroup = BPF_CORE_READ(group, css.cgroup);
	record->limit_bytes = BPF_CORE_READ(group, memory.max) * PAGE_BYTES;
	record->limit_level = (__u32)BPF_CORE_READ(cgroup, level);
	if (BPF_CORE_READ(cgroup, root) != BPF_CORE_READ(task, cgroups, dfl_cgrp, root)) {
		record->flags |= KILL_LIMIT_V1;
		bpf_probe_read_kernel_str(record->limit_name, sizeof(record->limit_name),
					  BPF_CORE_READ(cgroup, kn, name));
	}
}

static __always_inline void put_victim(struct kill_record *record, struct task_struct *task)
{
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);

	bpf_probe_read_kernel_str(record->comm, sizeof(record->comm), leader->comm);
	if (policy_denies(leader, record->comm)) {
		__builtin_memset(record->comm, 0, sizeof(record->comm));
		record->flags |= KILL_DENIED;
		return;
	}
	record->tgid = BPF_CORE_READ(leader, tgid);
	record->cgroup_id = cgroup_id_of(leader);
	record->rss_bytes = rss_bytes(mm_of_process(leader));
	cgroup_path_tell(leader);
}

static __always_inline void put_killer(struct kill_record *record, struct task_struct *task)
{
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);

	bpf_probe_read_kernel_str(record->by_comm, sizeof(record->by_comm), leader->comm);
	if (!(BPF_CORE_READ(task, flags) & PF_KTHREAD) && policy_denies(leader, record->by_comm)) {
		__builtin_memset(record->by_comm, 0, sizeof(record->by_comm));
		record->flags |= KILL_BY_DENIED;
		return;
	}
	record->by_tgid = BPF_CORE_READ(leader, tgid);
	record->by_cgroup_id = cgroup_id_of(leader);
	cgroup_path_tell(leader);
}

/* Three quarters of the ring are left to its other records. */
static __always_inline void tell(void *ring, const struct kill_record *record, __u64 flags)
{
	if (bpf_ringbuf_query(ring, BPF_RB_AVAIL_DATA) >= bpf_ringbuf_query(ring, BPF_RB_RING_SIZE) / 4 ||
	    bpf_ringbuf_output(ring, (void *)record, sizeof(*record), flags))
		count(COUNTER_KILLS_LOST);
}

static __noinline int note_kill(struct task_struct *victim, __u32 how)
{
	struct task_struct *killer = bpf_get_current_task_btf();
	struct kill_scratch *scratch = bpf_map_lookup_elem(&kill_scratch, &how);
	struct task_struct *account = how == KILL_OOM ? victim : killer;
	struct kill_record *record;
	__u64 now_ns = bpf_ktime_get_ns();

	if (!scratch)
		return 0;
	record = &scratch->record;
	__builtin_memset(record, 0, sizeof(*record));
	record->header.type = RECORD_KILL;
	record->header.bytes = sizeof(*record);
	record->how = how;
	record->time_ns = now_ns;
	record->account = BPF_CORE_READ(account, real_cred, uid.val);
	if (!budget_spend(&kill_budgets, (__u64)how << 32 | record->account, now_ns, KILL_NS,
			  KILLS_A_SECOND)) {
		count(COUNTER_KILLS_LOST);
		return 0;
	}
	put_victim(record, victim);
	put_killer(record, killer);
	if (how == KILL_OOM) {
		put_limit(record, victim);
		scratch->tid = BPF_CORE_READ(victim, pid);
	} else {
		tell(&cgroup_paths, record, BPF_RB_NO_WAKEUP);
	}
	return 0;
}

SEC("tp_btf/signal_generate")
int BPF_PROG(kill_sent, int signal, struct kernel_siginfo *info, struct task_struct *task, int group,
	     int result)
{
	struct control *shared;
	bool by_kernel;

	if (signal != SIGKILL || result != DELIVERED || is_retired())
		return 0;
	shared = control_get();
	by_kernel = (unsigned long)info == SENT_BY_KERNEL;
	if (!shared || is_quiet(shared, bpf_ktime_get_ns()) ||
	    BPF_CORE_READ(task, signal, live.counter) == 0 ||
	    (!by_kernel && (__u32)BPF_CORE_READ(task, tgid) == (__u32)(bpf_get_current_pid_tgid() >> 32)))
		return 0;
	note_kill(task, by_kernel ? KILL_OOM : KILL_SIGNAL);
	return 0;
}

/* Before Linux 6.9 (72ba14deb40a) the argument was a process id, of the same thread. */
SEC("tp_btf/mark_victim")
int BPF_PROG(kill_marked, struct task_struct *victim)
{
	struct trace_event_raw_mark_victim *event = NULL;
	struct kill_scratch *scratch;
	__u32 how = KILL_OOM, tid;

	if (is_retired())
		return 0;
	if (bpf_core_field_exists(event->total_vm))
		tid = victim->pid;
	else
		tid = (__u32)ctx[0];
	scratch = bpf_map_lookup_elem(&kill_scratch, &how);
	if (!scratch || !scratch->tid || scratch->tid != tid)
		return 0;
	scratch->tid = 0;
	/* wakes the consumer: the victim's cgroup may be removed as soon as it is empty */
	tell(&events, &scratch->record, 0);
	return 0;
}
