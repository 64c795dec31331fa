/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * states.bpf.c owns the looks of captures: the iterator `states` has a record for each thread of a target, and for any
 * other thread that is in D or waits for a CPU, if root's policy shows it.
 *
 * Ten looks a second at thousands of threads that sleep must not cost a stack each. A thread that has not been on a CPU
 * since the last look is where it was: its record says so, and has neither frames nor a call.
 */
#include "bpf/thread_look.h"

/* Of a thread that was off CPU: how often it had left a CPU at the look at which its stack was last told. */
struct looked {
	__u64 switches;
	__u32 series; /* control.looks_series then */
	__u32 reserved;
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct looked);
} looked SEC(".maps");

static __always_inline __u64 switches_of(struct task_struct *task)
{
	return (__u64)task->nvcsw + task->nivcsw;
}

static __noinline bool is_where_it_was(struct task_struct *task)
{
	const struct control *shared = control_get();
	const struct looked *before = bpf_task_storage_get(&looked, task, NULL, 0);

	return shared && before && before->series == shared->looks_series &&
	       before->switches == switches_of(task);
}

/* `switches`: as they were before its stack was read. Without memory, its stack is told again at the next look. */
static __noinline int note_looked(struct task_struct *task, __u64 switches)
{
	const struct control *shared = control_get();
	struct looked *now = bpf_task_storage_get(&looked, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);

	if (shared && now) {
		now->switches = switches;
		now->series = shared->looks_series;
	}
	return 0;
}

static __noinline int read_call(struct task_struct *task, struct look_record *record)
{
	struct system_call call = system_call_read(task);

	if (call.number < 0)
		return 0;
	record->call = (__s32)call.number;
	if ((__u64)call.number < sizeof(takes_fd) && takes_fd[call.number])
		record->fd = (__s32)call.first;
	record->lock = lock_awaited(task, record->started_ns);
	return 0;
}

/* Returns the number of frames, innermost first, that are as those of samples. */
static __noinline __u32 read_frames(struct task_struct *task, struct look_frames *frames)
{
	long bytes = 0;
	__u32 depth;

	if (kernel_text && policy.kernel_stacks)
		bytes = bpf_get_task_stack(task, frames->words, sizeof(frames->words), 0);
	depth = bytes > 0 ? (__u32)bytes / sizeof(frames->words[0]) : 0;
	rebase_look(frames, depth);
	return depth;
}

static __noinline int write_look(struct seq_file *seq, struct task_struct *task, __u8 state,
				 bool is_of_target)
{
	struct look_record record = { .header = { RECORD_LOOK, sizeof(record) },
				      .tid = (__u32)task->pid,
				      .tgid = (__u32)task->tgid,
				      .program = (__u32)task->self_exec_id,
				      .call = -1,
				      .fd = -1,
				      .state = state };
	bool is_kernel = task->flags & PF_KTHREAD;
	struct look_frames frames = {};
	__u64 switches = switches_of(task);
	__u32 depth;
	long failed;

	record.of = is_kernel ? SAMPLE_OF_KERNEL : is_of_target ? SAMPLE_OF_TARGET : SAMPLE_OF_BYSTANDER;
	record.started_ns = task->group_leader->start_boottime;
	record.cgroup_id = task->cgroups->dfl_cgrp->kn->id;
	read_comm(task, record.comm);
	if (!is_off_cpu(state))
		return (int)bpf_seq_write(seq, &record, sizeof(record));
	if (is_where_it_was(task)) {
		record.flags = LOOK_SAME;
		return (int)bpf_seq_write(seq, &record, sizeof(record));
	}
	if (!is_kernel)
		read_call(task, &record);
	depth = read_frames(task, &frames);
	record.depth = (__u16)depth;
	failed = bpf_seq_write(seq, &record, sizeof(record));
	if (depth) /* the mask is for the verifier */
		failed |= bpf_seq_write(seq, &frames, (depth & (2 * LOOK_FRAMES - 1)) * sizeof(__s32));
	/* without room, the next read runs the program again for this thread, and must have its stack */
	if (!failed)
		note_looked(task, switches);
	return 0;
}

SEC("iter/task")
int walk_states(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	bool is_of_target;
	__u32 state;

	if (is_retired() || !task)
		return 0;
	state = state_of(task);
	is_of_target = !(task->flags & PF_KTHREAD) && is_target(task);
	if (!is_of_target && state != THREAD_DISK && state != THREAD_QUEUED)
		return 0;
	if (!is_hidden(task))
		write_look(ctx->meta->seq, task, (__u8)state, is_of_target);
	return 0;
}
