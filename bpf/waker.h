/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * waker.h tells who wakes a thread. The waker is the current thread at sched_waking; sched_wakeup may run later, on
 * the woken thread's CPU, in an interrupt that has nothing to do with it.
 */
#ifndef BOURDON_BPF_WAKER_H
#define BOURDON_BPF_WAKER_H

#include "bpf/sample.h"
#include "bpf/system_call.h"

/*
 * Returns 1 if the CPU serves an interrupt: then the current thread is only the one that it interrupted. preempt_count
 * has the answer, too, but on x86 it is a variable of each CPU, whose address a kernel may not tell
 * (CONFIG_KALLSYMS_ALL). So it comes from the kernel stack, as the kernel's own filter_irq_stacks() has it.
 *
 * A thread that sends to its own host runs the receiver's side itself, in a soft interrupt, before it goes on: that is
 * no interrupt of it. `may_send` is 0 for kernel threads: ksoftirqd does so for others.
 *
 * A global function, which the verifier looks at once: what it learns of `bytes` here would multiply its work.
 */
__noinline int is_in_interrupt(const struct stack_scratch *scratch, __u32 bytes, __u32 may_send)
{
	__u64 in_softirq = 0, sends = 0;

	if (!scratch)
		return 0;
	for (__u32 i = 0; i < SAMPLE_KERNEL_FRAMES; i++) {
		if (i * sizeof(__u64) >= bytes)
			break;
		if (is_in_part(kernel_interrupts, scratch->frames[i]))
			return 1;
		in_softirq |= part_mask(kernel_softirqs, scratch->frames[i]);
		sends |= part_mask(kernel_backlog, scratch->frames[i]);
	}
	return in_softirq && !(sends && may_send);
}

/* Notes who the current thread is, in the act of waking another one. */
static __always_inline void waker_identify(struct task_struct *task, __u8 of, struct waker *waker)
{
	waker->kind = WAKER_THREAD;
	waker->of = of;
	waker->releases = of != SAMPLE_OF_KERNEL && releases_lock(task);
	waker->started_ns = BPF_CORE_READ(task, group_leader, start_boottime);
	waker->cgroup_id = bpf_get_current_cgroup_id();
	waker->tgid = task->tgid;
	waker->tid = task->pid;
	waker->program = (__u32)task->self_exec_id;
	bpf_get_current_comm(waker->comm, sizeof(waker->comm));
}

#endif
