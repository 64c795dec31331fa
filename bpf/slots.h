/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * slots.h owns intervals off CPU with their stacks: the open one of each thread that is away, who woke it, and writing both to slots
 * of this CPU's ring when the thread returns. Inlined into bpf/offcpu.bpf.c alone.
 */
#ifndef BOURDON_BPF_SLOTS_H
#define BOURDON_BPF_SLOTS_H

#include "bpf/offcpu_ring.h"
#include "bpf/thread.h"
#include "bpf/waker.h"

#define PROGRAM_FRAMES_MAX 6U

/*
 * offcpu_open and offcpu_threads are not preallocated, so a host with few targets uses little memory. Since
 * Linux 6.1 the kernel takes elements from its own cache (kernel/bpf/memalloc.c), which is safe under a run
 * queue's lock.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, OFFCPU_OPEN_DEFAULT);
	__type(key, __u32);
	__type(value, struct open_interval);
} offcpu_open SEC(".maps");

/* tid -> the thread that woke it last, with its stack: never shared with user space */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, OFFCPU_OPEN_DEFAULT);
	__type(key, __u32);
	__type(value, struct sample);
} offcpu_wakers SEC(".maps");

/*
 * Stores the stack in the scratch, without the frames below the function `last`: they belong to this program and its
 * callers. A stack that fills the scratch keeps them, so that it counts as truncated.
 */
static __always_inline void put_frames_above(struct sample *sample, const struct stack_scratch *scratch,
					     long bytes, const __u64 last[2])
{
	__u32 skipped = 0;

	for (__u32 i = 0; i < PROGRAM_FRAMES_MAX; i++)
		if (i * sizeof(__u64) < (__u64)bytes && is_in_part(last, scratch->frames[i]))
			skipped = i;
	if (bytes == sizeof(scratch->frames))
		skipped = 0;
	put_kernel_stack(sample, scratch, (__u32)bytes, skipped);
}

static __always_inline void record_kernel_stack(void *ctx, struct sample *sample,
						struct stack_scratch *scratch, __u64 now_ns)
{
	long bytes = get_kernel_stack(ctx, sample, scratch, now_ns);

	if (bytes > 0)
		put_frames_above(sample, scratch, bytes, kernel_schedule);
}

/*
 * Returns the budget that must be left for a stack. A thread whose intervals are usually short gets one only while the
 * budget is at least half full; sooner if its unwritten time nears the minimum for a slot; and before all others if it has
 * long got none.
 */
static __always_inline __u64 stack_level_wanted(const struct thread *thread, const struct control *shared)
{
	__u64 carried_ns = 0;

	for (__u32 i = 0; i < STALL_CLASSES; i++)
		carried_ns += thread->carried_ns[i];
	if (carried_ns >= SECOND_NS / 10)
		return 0;
	return SECOND_NS / (thread->usual_ns + carried_ns >= shared->offcpu_min_ns ? 8 : 2);
}

static __always_inline void open_close(struct open_interval *open)
{
	publish(&open->sample.seq, 0);
	publish(&open->seq_again, 0);
}

/*
 * Records the stacks of the thread that leaves the CPU. The length of the interval is known only at its
 * return.
 */
static __always_inline bool open_write(void *ctx, struct cpu_state *state, const struct target *target,
				       struct task_struct *task, const struct thread *thread)
{
	__u32 tid = task->pid;
	struct open_interval *open = bpf_map_lookup_elem(&offcpu_open, &tid);
	struct sample *sample;

	if (!open) {
		if (bpf_map_update_elem(&offcpu_open, &tid, &state->empty, BPF_NOEXIST))
			return false;
		open = bpf_map_lookup_elem(&offcpu_open, &tid);
		if (!open)
			return false;
	}
	open_close(open);
	sample = &open->sample;
	fill_identity(sample, task, target->started_ns, target->pattern_id, SAMPLE_OF_TARGET);
	sample->cpu = bpf_get_smp_processor_id();
	sample->left_ns = thread->left_ns;
	sample->woken_ns = thread->woken_ns;
	sample->kind = SAMPLE_OFF_CPU;
	sample->stall = thread->stall;
	sample->lock = thread->state ? lock_awaited(task, target->started_ns) : 0;
	record_kernel_stack(ctx, sample, &state->scratch, thread->left_ns);
	record_user_stack(ctx, sample, &state->scratch, target->started_ns, thread->left_ns);
	count(COUNTER_OFFCPU_STACKS);
	publish(&open->seq_again, thread->left_ns);
	publish(&open->sample.seq, thread->left_ns);
	return true;
}

/* Returns the budget that must be left: who has waited for longer may spend more of it. */
static __always_inline __u64 level_wanted(__u64 waited_ns)
{
	return waited_ns >= SECOND_NS / 10 ? 0 : waited_ns >= SECOND_NS / 100 ? SECOND_NS / 4 : SECOND_NS / 2;
}

/* Writes the stack of the thread that ended the interval behind the interval. The caller has paid for it. */
static __always_inline void write_waker_slot(struct cpu_state *state, const struct control *shared,
					     const struct thread *thread, const struct sample *waker,
					     __u64 now_ns)
{
	struct sample *slot = next_slot(state, shared);

	if (!slot)
		return;
	publish(&slot->seq, 0);
	slot->time_ns = now_ns;
	slot->weight_ns = slot->queued_ns = 0;
	slot->left_ns = thread->left_ns;
	slot->woken_ns = thread->woken_ns;
	copy_to_slot(slot, waker);
	publish(&slot->seq, ++state->written);
}

/* What a thread does that has not run yet is known without reading its stack: it is queued where all threads begin. */
static __always_inline const struct sample *first_wait(struct cpu_state *state, const struct target *target,
						       struct task_struct *task)
{
	struct sample *sample = &state->first;

	sample->header.type = RECORD_SAMPLE;
	sample->header.bytes = sizeof(*sample);
	sample->cpu = bpf_get_smp_processor_id();
	sample->started_ns = target->started_ns;
	sample->pattern_id = target->pattern_id;
	sample->cgroup_id = cgroup_id_of(task);
	sample->tgid = task->tgid;
	sample->tid = task->pid;
	sample->program = (__u32)task->self_exec_id;
	read_comm(task, sample->comm);
	sample->kind = SAMPLE_OFF_CPU;
	sample->kernel_depth = kernel_text && kernel_forked && policy.kernel_stacks;
	sample->kernel_frames[0] = rebase(kernel_forked);
	return sample;
}

/*
 * Writes the interval to this CPU's ring. Returns false if the budget is spent, the ring is full of what the consumer has
 * yet to read, there is no stack, or root's policy meanwhile denies the process.
 */
static __always_inline bool write_slot(struct cpu_state *state, const struct control *shared,
				       const struct target *target, struct task_struct *task,
				       const struct thread *thread, __u64 now_ns, __u64 weight_ns,
				       __u64 queued_ns)
{
	__u32 tid = task->pid;
	const struct sample *interval;
	struct sample *slot = next_slot(state, shared), *waker;

	if (!slot || target_is_denied(task))
		return false;
	interval = thread->is_new      ? first_wait(state, target, task)
		   : thread->has_stack ? bpf_map_lookup_elem(&offcpu_open, &tid)
				       : NULL;
	if (!interval || !bucket_spend(&state->slots, now_ns, shared->offcpu_slots_hz,
				       level_wanted(weight_ns + queued_ns)))
		return false;
	waker = thread->has_waker_stack ? bpf_map_lookup_elem(&offcpu_wakers, &tid) : NULL;
	/* what others wait for is worth more than a second stack of this interval */
	if (waker && !bucket_spend(&state->slots, now_ns, shared->offcpu_slots_hz, SECOND_NS / 2))
		waker = NULL;
	publish(&slot->seq, 0);
	slot->time_ns = now_ns;
	slot->weight_ns = weight_ns;
	slot->queued_ns = queued_ns;
	slot->left_ns = thread->left_ns;
	slot->woken_ns = thread->woken_ns;
	copy_to_slot(slot, interval);
	if (thread->waker.kind == WAKER_THREAD)
		slot->waker = thread->waker;
	else
		slot->waker.kind = thread->waker.kind;
	slot->has_waker_stack = waker != NULL;
	publish(&slot->seq, ++state->written);
	count(COUNTER_SAMPLES_OFFCPU);
	if (waker)
		write_waker_slot(state, shared, thread, waker, now_ns);
	return true;
}

/*
 * Records the stack of the current thread, which wakes the thread `tid`. The scratch has its kernel stack, of `bytes`
 * bytes.
 */
static __always_inline bool record_waker(void *ctx, struct cpu_state *state, const struct target *target,
					 struct task_struct *task, __u32 tid, long bytes, __u64 now_ns)
{
	struct sample *sample = bpf_map_lookup_elem(&offcpu_wakers, &tid);

	if (!sample) {
		if (bpf_map_update_elem(&offcpu_wakers, &tid, &state->empty.sample, BPF_NOEXIST))
			return false;
		sample = bpf_map_lookup_elem(&offcpu_wakers, &tid);
		if (!sample)
			return false;
	}
	fill_identity(sample, task, target->started_ns, target->pattern_id, SAMPLE_OF_TARGET);
	sample->cpu = bpf_get_smp_processor_id();
	sample->kind = SAMPLE_WAKER;
	sample->kernel_depth = 0;
	if (kernel_text && policy.kernel_stacks)
		put_frames_above(sample, &state->scratch, bytes, kernel_waking);
	record_user_stack(ctx, sample, &state->scratch, target->started_ns, now_ns);
	count(COUNTER_OFFCPU_STACKS);
	return true;
}

/* Notes who wakes the thread `tid`; and where, if it is a target and half of the budget of stacks is left. */
static __always_inline void note_waker(void *ctx, struct cpu_state *state, const struct control *shared,
				       struct thread *thread, __u32 tid, __u64 now_ns)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 tgid = task->tgid, hz = *(volatile const __u32 *)&shared->offcpu_stacks_hz;
	struct target *target;
	__u64 began_ns;
	long bytes;
	int of;

	bytes = bpf_get_stack(ctx, state->scratch.frames, sizeof(state->scratch.frames), 0);
	if (bytes <= 0 || !kernel_interrupts[1] || !kernel_softirqs[1])
		return;
	if (!task->pid || is_in_interrupt(&state->scratch, (__u32)bytes, !(task->flags & PF_KTHREAD))) {
		thread->waker.kind = WAKER_INTERRUPT;
		return;
	}
	target = bpf_map_lookup_elem(&targets, &tgid);
	of = whose_sample(task, target);
	if (of < 0) {
		thread->waker.kind = WAKER_DENIED;
		return;
	}
	waker_identify(task, (__u8)of, &thread->waker);
	if (!target || !bucket_spend(&state->stacks, now_ns, hz, SECOND_NS / 2))
		return;
	began_ns = bpf_ktime_get_ns();
	thread->has_waker_stack = record_waker(ctx, state, target, task, tid, bytes, now_ns);
	bucket_charge(&state->stacks, hz, bpf_ktime_get_ns() - began_ns);
}

#endif
