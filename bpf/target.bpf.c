/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * target.bpf.c handles process events: at exec, fork, rename and exit the kernel decides at once whether the
 * process is a target.
 */
#include "bpf/target.h"
#include "bpf/histogram.h"

static __always_inline bool is_process(struct task_struct *task)
{
	return BPF_CORE_READ(task, pid) == BPF_CORE_READ(task, tgid) &&
	       !(BPF_CORE_READ(task, flags) & PF_KTHREAD);
}

/* For account_end() (bpf/ended.bpf.c). At exec the memory is new, and so is whether the kernel protects it. */
static __always_inline void note_undumpable(struct task_struct *leader)
{
	__u32 tgid = BPF_CORE_READ(leader, tgid);
	__u64 started_ns = BPF_CORE_READ(leader, start_boottime);

	if (!policy.deny_undumpable)
		return;
	if (policy_denies_process_memory(leader, false))
		bpf_map_update_elem(&undumpable, &tgid, &started_ns, BPF_ANY);
	else
		bpf_map_delete_elem(&undumpable, &tgid);
}

static __always_inline void decide(struct task_struct *task, const char *comm_of_kernel, int report)
{
	struct control *shared = control_get();
	char comm[ABI_COMM_BYTES] = {};

	if (is_retired() || !shared || is_quiet(shared, bpf_ktime_get_ns()) || !is_process(task))
		return;
	bpf_probe_read_kernel_str(comm, sizeof(comm), comm_of_kernel);
	target_forget_victim(BPF_CORE_READ(task, tgid));
	target_decide(shared, task, comm, report);
}

/* The first program of a process: its parent has made it, and gave it its own number of programs (kernel/fork.c). */
static __always_inline void measure_first_exec(struct task_struct *task)
{
	if (task->self_exec_id == task->parent_exec_id + 1 && latency_group_wanted(LATENCY_EXEC))
		histogram_put(METRIC_EXEC, 0, 0, latency_owner(task), bpf_ktime_get_ns() - task->start_time);
}

/* Unwind tables and code spans of the previous program are wrong for the new one. */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(target_exec, struct task_struct *task)
{
	if (is_retired())
		return 0;
	target_forget_program(task->tgid);
	note_undumpable(task);
	/* report even an unchanged match: the mappings are new */
	decide(task, task->comm, REPORT_MATCHES);
	measure_first_exec(task);
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(target_fork, struct task_struct *parent, struct task_struct *child)
{
	if (is_retired())
		return 0;
	if (is_process(child))
		note_undumpable(child);
	decide(child, child->comm, REPORT_CHANGES);
	return 0;
}

/*
 * The tracepoint fires before the kernel stores the new name in the task. execve(2) renames the task while its number
 * (self_exec_id) is still that of the program before: target_exec() decides about the new one.
 */
SEC("tp_btf/task_rename")
int BPF_PROG(target_rename, struct task_struct *task, const char *comm)
{
	if (bpf_core_field_exists(task->in_execve) && BPF_CORE_READ_BITFIELD(task, in_execve))
		return 0;
	decide(task, comm, REPORT_CHANGES);
	return 0;
}

/*
 * A sample has the cgroup of its moment, so a target's new cgroup is told at once. Fires for moves within
 * cgroups of version 1, too: then the cgroup is one that was told already.
 */
SEC("tp_btf/cgroup_attach_task")
int BPF_PROG(target_moved, struct cgroup *to, const char *path, struct task_struct *task)
{
	struct control *shared = control_get();
	__u32 tgid = BPF_CORE_READ(task, tgid);
	struct target *known = bpf_map_lookup_elem(&targets, &tgid);

	if (is_retired() || !known || !shared || is_quiet(shared, bpf_ktime_get_ns()) ||
	    target_is_denied(task))
		return 0;
	target_forget_victim(tgid);
	cgroup_path_tell(task);
	return 0;
}

/*
 * Runs while quiet, too: an entry that outlived its process would make a target of the next process with that
 * id. do_exit() decrements signal->live before it fires the tracepoint, so the last thread sees zero.
 */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(target_exit, struct task_struct *task)
{
	__u32 tgid = BPF_CORE_READ(task, tgid);
	struct target *known;
	struct target gone;

	if (is_retired() || BPF_CORE_READ(task, signal, live.counter) != 0)
		return 0;
	/* also for a process that is no longer a target */
	target_forget_program(tgid);
	known = bpf_map_lookup_elem(&targets, &tgid);
	if (!known)
		return 0;
	gone = *known;
	if (targets_remove(tgid))
		return 0; /* another last thread deleted it first */
	count(COUNTER_EXITS);
	report_process(PROCESS_EXITED, task, NULL, &gone);
	return 0;
}
