/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tasks.bpf.c owns the walk over all processes and kernel threads. Each read of its iterator decides again
 * whether each process is a target, so it finds processes that started before the patterns did and repairs missed
 * events. It yields one record a process and one a thread, with their resource usage, and before it the path of a
 * cgroup that user space does not know. It sends no events: ten thousand new targets at once would overflow that
 * ring.
 */
#include "bpf/accounts.h"
#include "bpf/target.h"
#include "bpf/usage.h"

static __always_inline void read_stalls(struct task_record *record)
{
	struct totals *sums = bpf_map_lookup_elem(&totals, &record->tgid);

	if (!sums || sums->started_ns != record->started_ns)
		return;
	record->stalled_memory_ns = sums->reclaim_ns - sums->reclaim_off_ns;
	for (__u32 class = 1; class < STALL_CLASSES; class ++) {
		if (class & STALL_CPU)
			record->stalled_cpu_ns += sums->off_cpu_ns[class];
		if (class & STALL_MEMORY)
			record->stalled_memory_ns += sums->off_cpu_ns[class];
		if (class & STALL_IO)
			record->stalled_io_ns += sums->off_cpu_ns[class];
		record->unstacked_ns += sums->unstacked_ns[class];
	}
	record->unstacked_ns += sums->unstacked_ns[0];
	record->unstacked = sums->unstacked;
}

/*
 * Writes the record, and before it the path of the task's cgroup if `in_cgroup` and it is to be told. If the
 * kernel's buffer has no room for both, the next read runs the program again for this task.
 */
static __always_inline void write_task(struct seq_file *seq, struct task_struct *task, bool in_cgroup,
				       void *record, __u32 bytes)
{
	struct cgroup_scratch *path = in_cgroup ? cgroup_path_begin(task, CGROUP_OF_WALK) : NULL;
	long failed = 0;

	if (path)
		failed = bpf_seq_write(seq, &path->record, cgroup_record_bytes(path));
	failed |= bpf_seq_write(seq, record, bytes);
	if (path)
		cgroup_path_end(path, !failed);
}

/* What the kernel's own options leave out of a task's CPU time. */
static __always_inline __u32 apart_flags(void)
{
	__u32 flags = 0;

	if (bpf_core_field_exists(struct rq, prev_irq_time))
		flags |= TASK_IRQ_APART;
	if (bpf_core_field_exists(struct rq, prev_steal_time_rq))
		flags |= TASK_STEAL_APART;
	return flags;
}

/*
 * The functions that have a record are not inlined, and none calls another one: the stack holds one record at a time.
 * show_thread() and show_process() return whether policy denies the task, and then have written nothing.
 */

/* A process that policy denies is part of the machine's CPU time, without saying whose time it is. */
static __noinline int show_denied(struct bpf_iter__task *ctx, struct task_struct *task, bool is_leader)
{
	struct task_record record = { .header = { RECORD_TASK, sizeof(record) }, .flags = TASK_DENIED };

	record.usage.cpu_ns = BPF_CORE_READ(task, se.sum_exec_runtime);
	if (is_leader)
		record.usage.cpu_ns += BPF_CORE_READ(task, signal, sum_sched_runtime);
	write_task(ctx->meta->seq, task, false, &record, sizeof(record));
	return 0;
}

static __noinline int show_thread(struct bpf_iter__task *ctx, struct task_struct *task)
{
	struct thread_record record = { .header = { RECORD_THREAD, sizeof(record) } };

	if (target_is_denied(task) || policy_denies_undumpable(task->group_leader))
		return 1;
	record.tgid = task->tgid;
	record.started_ns = BPF_CORE_READ(task, group_leader, start_boottime);
	read_usage(task, &record.usage);
	read_io_delay(task, &record.usage);
	/* a thread may have a cgroup of its own (cgroup.type = threaded) */
	write_task(ctx->meta->seq, task,
		   BPF_CORE_READ(task, cgroups) != BPF_CORE_READ(task, group_leader, cgroups), &record,
		   sizeof(record));
	return 0;
}

static __noinline int show_kernel_thread(struct bpf_iter__task *ctx, struct task_struct *task)
{
	struct task_record record = { .header = { RECORD_TASK, sizeof(record) },
				      .flags = TASK_KERNEL | apart_flags() };

	record.tgid = task->tgid;
	record.started_ns = task->start_boottime;
	bpf_probe_read_kernel_str(record.comm, sizeof(record.comm), task->comm);
	read_usage(task, &record.usage);
	if (read_io_delay(task, &record.usage))
		record.flags |= TASK_IO_DELAY;
	add_reclaims(task, &record.usage);
	write_task(ctx->meta->seq, task, false, &record, sizeof(record));
	return 0;
}

static __noinline int show_process(struct bpf_iter__task *ctx, struct task_struct *task)
{
	struct control *shared = control_get();
	struct task_record record = { .header = { RECORD_TASK, sizeof(record) } };
	bool lives;

	if (!shared)
		return 0;
	record.tgid = task->tgid;
	record.uid = BPF_CORE_READ(task, real_cred, uid.val);
	record.started_ns = task->start_boottime;
	record.cgroup_id = cgroup_id_of(task);
	record.program = (__u32)task->self_exec_id;
	bpf_probe_read_kernel_str(record.comm, sizeof(record.comm), task->comm);
	lives = BPF_CORE_READ(task, signal, live.counter) > 0;
	if (policy_denies(task, record.comm)) {
		if (lives) /* otherwise target_exit() deletes it */
			target_forget_denied(record.tgid);
		return 1;
	}
	if (lives)
		record.pattern_id = target_decide(shared, task, record.comm, REPORT_NOTHING);
	/*
	 * The process may have exited after target_decide() began, when target_exit() found nothing to
	 * delete: it decrements signal->live first.
	 */
	if (record.pattern_id && BPF_CORE_READ(task, signal, live.counter) == 0) {
		targets_remove(record.tgid);
		record.pattern_id = 0;
	}
	read_usage(task, &record.usage);
	record.flags |= apart_flags();
	if (read_io_delay(task, &record.usage))
		record.flags |= TASK_IO_DELAY;
	add_ended_threads(task, &record.usage);
	add_reclaims(task, &record.usage);
	record.rss_bytes = rss_bytes(mm_of_process(task));
	if (record.pattern_id)
		read_stalls(&record);
	write_task(ctx->meta->seq, task, true, &record, sizeof(record));
	return 0;
}

/* A thread that has become a target's while it was blocked is blocked still: its accounts begin here. */
static __always_inline void account(struct task_struct *task, bool is_leader)
{
	__u64 comm[2];

	if (is_leader) {
		read_comm(task, (char *)comm);
		account_target(task->tgid, comm[0], comm[1], cgroup_id_of(task),
			       BPF_CORE_READ(task, real_cred, uid.val));
	}
	if (task->__state && !(task->flags & PF_EXITING))
		offcpu_meet(task->pid, task->start_boottime, task->tgid, account_of_blocked(task),
			    task->sched_info.run_delay);
	/* its exit may have found nothing to forget */
	if (task->flags & PF_EXITING)
		offcpu_forget(task->pid);
}

SEC("iter/task")
int walk_tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	bool is_leader;

	if (is_retired() || !task)
		return 0;
	if (task->flags & PF_KTHREAD)
		return show_kernel_thread(ctx, task);
	is_leader = task->pid == task->tgid;
	if (is_leader ? show_process(ctx, task) : show_thread(ctx, task))
		show_denied(ctx, task, is_leader);
	else if (may_be_target(task))
		account(task, is_leader);
	return 0;
}
