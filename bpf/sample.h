/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sample.h fills a sample: the identity of the thread and both stacks. The consumer maps the slots, so raw
 * kernel addresses and unchecked user words stay in a scratch map that it cannot see. The functions of
 * bpf/sample.bpf.c are checked by the verifier once a program.
 */
#ifndef BOURDON_BPF_SAMPLE_H
#define BOURDON_BPF_SAMPLE_H

#include "bpf/epoch.h"
#include "bpf/rebase.h"
#include "bpf/target.h"
#include "bpf/user_stack.h"

extern const volatile __u32 ring_cpus;
extern const volatile __u32 slots_per_cpu;

#define ERROR_INTERVAL_NS 1000000000ULL

struct stack_scratch {
	__u64 erred_ns; /* when this CPU last reported an error */
	__u64 frames[SAMPLE_KERNEL_FRAMES];
	struct unwind_state unwind_state;
};

/* Counts every error; reports one a second and CPU with its process and errno. `code` is an ERROR_*. */
int note_stack_error(struct stack_scratch *scratch, __u64 now_ns, __u32 tgid, __u32 code, __s64 error);

/*
 * Reads the kernel stack into the scratch, leaf first. Returns its size in bytes, or a negative errno that it
 * has reported. Returns 0 if _text is unknown or root's policy forbids kernel stacks.
 */
static __always_inline long get_kernel_stack(void *ctx, struct sample *slot, struct stack_scratch *scratch,
					     __u64 now_ns)
{
	long bytes = 0;

	slot->kernel_depth = 0;
	if (kernel_text && policy.kernel_stacks)
		bytes = bpf_get_stack(ctx, scratch->frames, sizeof(scratch->frames), 0);
	if (bytes < 0) {
		slot->kernel_depth = (__s16)bytes;
		note_stack_error(scratch, now_ns, slot->tgid, ERROR_KERNEL_STACK, bytes);
	}
	return bytes;
}

/* Copies the `bytes` of the stack rebased, without its first `skipped` frames. */
int put_kernel_stack(struct sample *slot, const struct stack_scratch *scratch, __u32 bytes, __u32 skipped);

/* Records the user stack of the current task. */
static __always_inline void record_user_stack(void *ctx, struct sample *slot, struct stack_scratch *scratch,
					      __u64 started_ns, __u64 now_ns)
{
	long depth = user_stack_record(ctx, &scratch->unwind_state, slot, started_ns);

	slot->user_depth = (__s16)depth;
	if (depth < 0)
		note_stack_error(scratch, now_ns, slot->tgid, ERROR_USER_STACK, depth);
	if (slot->kernel_depth == SAMPLE_KERNEL_FRAMES || depth == SAMPLE_USER_FRAMES)
		count(COUNTER_STACKS_TRUNCATED);
}

/*
 * Fills the fields that all kinds of samples share; `task` must be the current task. `started_ns` is the start of
 * its process, `of` one of SAMPLE_OF_*.
 */
static __always_inline void fill_identity(struct sample *slot, struct task_struct *task, __u64 started_ns,
					  __u32 pattern_id, __u8 of)
{
	slot->header.type = RECORD_SAMPLE;
	slot->header.bytes = sizeof(*slot);
	slot->started_ns = started_ns;
	slot->pattern_id = pattern_id;
	slot->of = of;
	slot->cgroup_id = bpf_get_current_cgroup_id();
	slot->tgid = task->tgid;
	slot->tid = task->pid;
	slot->program = (__u32)task->self_exec_id;
	slot->epoch = epoch_of(task->mm);
	bpf_get_current_comm(slot->comm, sizeof(slot->comm));
}

/* Returns SAMPLE_OF_*, or a negative number for a task that may not be sampled. */
static __always_inline int whose_sample(struct task_struct *task, const struct target *target)
{
	char comm[ABI_COMM_BYTES] = {};

	if (target)
		return target_is_denied(task) ? -1 : (int)SAMPLE_OF_TARGET;
	if (task->flags & PF_KTHREAD)
		return policy.kernel_threads && task->pid ? (int)SAMPLE_OF_KERNEL
							  : -1; /* 0: the CPU is idle */
	if (!policy.bystanders)
		return -1;
	bpf_probe_read_kernel_str(comm, sizeof(comm), task->group_leader->comm);
	return policy_denies(task->group_leader, comm) || policy_denies_thread(task)
		       ? -1
		       : (int)SAMPLE_OF_BYSTANDER;
}

#endif
