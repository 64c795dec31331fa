/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * accounts.bpf.c follows the threads of targets (accounts.h): what each does, since when, and who ended what it waited for. What is
 * over goes into the sums.
 */
#include "bpf/account_parts.h"
#include "bpf/interrupts.h"
#include "bpf/memory_limit.h"
#include "bpf/sample.h"
#include "bpf/system_call.h"

static __always_inline void charge(struct accounted *thread, __u32 account, __u64 ns, __u64 ends_ns)
{
	account_add_interval(thread, account, ns, ends_ns);
	thread->lately[account] += ns;
}

/* No wait is left out, seen or not. now_ns is of the run queue, monotonic_ns the same moment. */
static __always_inline void settle(struct accounted *thread, __u64 now_ns, __u64 delay_ns, __u64 monotonic_ns)
{
	if (thread->place) {
		account_leave_place(thread, now_ns, delay_ns);
	} else if ((__s64)(delay_ns - thread->seen_ns) > 0) {
		account_add_unseen(thread->victim, delay_ns - thread->seen_ns, monotonic_ns);
		thread->seen_ns = delay_ns;
	}
}

/* It has run from at_ns to now_ns. */
static __always_inline void charge_run(struct accounted *thread, __u64 now_ns, __u64 monotonic_ns)
{
	__u64 ns = now_ns - thread->at_ns, memory_ns;

	if ((__s64)ns <= 0)
		return;
	if (thread->reclaim_since) {
		thread->reclaimed_ns += monotonic_ns - thread->reclaim_since;
		thread->reclaim_since = monotonic_ns;
	}
	memory_ns = thread->reclaimed_ns < ns ? thread->reclaimed_ns : ns;
	thread->reclaimed_ns = 0;
	if (memory_ns)
		charge(thread, ACCOUNT_MEMORY, memory_ns, monotonic_ns);
	charge(thread, ACCOUNT_RAN, ns - memory_ns, monotonic_ns);
}

/*
 * Of a span in which the thread was not seen to run, what it did not wait for a CPU. It is counted by the run queue's clock, as the
 * time on CPU and the waits for one are, so that the three add up: CLOCK_MONOTONIC is read some 8 us after the queue's clock where
 * the CPU was idle. A thread that the iterator met first has no time of that clock, only CLOCK_MONOTONIC.
 */
static __always_inline __u64 blocked_ns(const struct accounted *thread, __u64 clock_ns, __u64 now_ns,
					__u64 delay_ns)
{
	__u64 span_ns = thread->at_ns ? clock_ns - thread->at_ns : now_ns - thread->at_monotonic;
	__s64 ns = (__s64)(span_ns - (delay_ns - thread->left_delay_ns));

	return ns > 0 ? (__u64)ns : 0;
}

__noinline int account_run(struct accounted *thread, __u64 now_ns)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 clock_ns = account_clock();

	if (!thread)
		return 0;
	if (thread->does == ACCOUNTED_RUNS) {
		charge_run(thread, clock_ns, now_ns);
	} else if (thread->does == ACCOUNTED_NOT) {
		thread->seen_ns = task->sched_info.run_delay;
		thread->does = ACCOUNTED_RUNS;
	} else {
		/* its return was not seen: it waits for no CPU, and its next leaving tells the rest */
		account_leave_place(thread, clock_ns, task->sched_info.run_delay);
		return 0;
	}
	thread->at_ns = clock_ns;
	thread->at_monotonic = now_ns;
	return 0;
}

__noinline int account_leave(struct accounted *thread, __u64 now_ns, __u32 is_queued, __u32 account,
			     __u64 lock)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 clock_ns = account_clock(), delay_ns = task->sched_info.run_delay;

	if (!thread)
		return 0;
	if (thread->does == ACCOUNTED_NOT)
		thread->seen_ns = delay_ns;
	settle(thread, clock_ns, delay_ns, now_ns);
	if (thread->does == ACCOUNTED_RUNS)
		charge_run(thread, clock_ns, now_ns);
	else if (thread->does != ACCOUNTED_NOT)
		charge(thread, ACCOUNT_REST, blocked_ns(thread, clock_ns, now_ns, delay_ns), now_ns);
	thread->reclaim_since = 0;
	thread->at_ns = clock_ns;
	thread->at_monotonic = now_ns;
	thread->left_delay_ns = delay_ns;
	thread->lock = lock;
	thread->account = (__u8)account;
	thread->does = is_queued ? ACCOUNTED_QUEUED : ACCOUNTED_BLOCKED;
	if (is_queued)
		account_join(thread, bpf_get_smp_processor_id(), clock_ns,
			     (__u64)BPF_CORE_READ(task, se.cfs_rq));
	return 0;
}

__noinline int account_return(struct accounted *thread, __u64 now_ns, __u64 run_delay, __u64 last_queued)
{
	__u64 clock_ns = account_clock(), delay_ns = run_delay, ns, queued_ns;
	__u32 account;

	if (!thread)
		return 0;
	if (last_queued)
		delay_ns += clock_ns - last_queued;
	/* the wait that ends now is of a target */
	if (thread->does == ACCOUNTED_NOT)
		thread->seen_ns = run_delay;
	settle(thread, clock_ns, delay_ns, now_ns);
	if (thread->does != ACCOUNTED_NOT) {
		ns = blocked_ns(thread, clock_ns, now_ns, delay_ns);
		queued_ns = delay_ns - thread->left_delay_ns;
		account = thread->does == ACCOUNTED_BLOCKED ? thread->account : ACCOUNT_REST;
		if (account < ACCOUNTS)
			charge(thread, account, ns, now_ns - queued_ns);
		if (account == ACCOUNT_LOCK)
			__builtin_memset(thread->lately, 0, sizeof(thread->lately));
		thread->lately[ACCOUNT_QUEUED] += queued_ns;
	}
	thread->does = ACCOUNTED_RUNS;
	thread->at_ns = clock_ns;
	thread->at_monotonic = now_ns;
	thread->left_delay_ns = delay_ns;
	return 0;
}

__noinline int account_queue(struct accounted *thread, __u32 cpu, __u64 run_delay, __u64 last_queued,
			     __u64 queue)
{
	if (!thread || !last_queued || thread->place ||
	    (thread->does != ACCOUNTED_BLOCKED && thread->does != ACCOUNTED_QUEUED))
		return 0;
	settle(thread, last_queued, run_delay, bpf_ktime_get_ns());
	account_join(thread, cpu, last_queued, queue);
	return 0;
}

__noinline int account_migrate(struct accounted *thread, __u32 cpu, __u64 run_delay, __u64 now_ns,
			       __u64 queue)
{
	if (!thread || !thread->place)
		return 0;
	account_leave_place(thread, now_ns, run_delay);
	account_join(thread, cpu, now_ns, queue);
	return 0;
}

/* Of a thread that an interrupt wakes. */
static __always_inline __u8 account_of_interrupt(__u32 interrupt, struct task_struct *task)
{
	if (interrupt != IN_NET_RX)
		return ACCOUNT_SLEEP;
	/* who sends to its own host runs the receiver's side itself, in a soft interrupt, before it goes on */
	return task->pid && !(task->flags & PF_KTHREAD) && may_send(task) ? ACCOUNT_PEER : ACCOUNT_NETWORK;
}

__noinline int account_waking(struct accounted *thread, __u32 then)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 interrupt = interrupts_now();

	if (!thread || thread->does != ACCOUNTED_BLOCKED || thread->account != ACCOUNT_SLEEP)
		return 0;
	thread->by = (struct blame_key){ .by = BLAME_UNSEEN, .then = ACCOUNTS };
	if (interrupt != IN_NO_INTERRUPT)
		thread->account = account_of_interrupt(interrupt, task);
	else if (!task->pid)
		return 0;
	else if (thread->lock && !(task->flags & PF_KTHREAD) &&
		 lock_is_released(task, task->group_leader->start_boottime, thread->lock, thread->expects))
		thread->account = ACCOUNT_LOCK;
	else
		thread->account = ACCOUNT_PEER;
	if (thread->account == ACCOUNT_PEER || thread->account == ACCOUNT_LOCK)
		account_name(&thread->by);
	if (thread->account == ACCOUNT_LOCK)
		thread->by.then = then < ACCOUNTS ? (__u8)then : ACCOUNTS;
	return 0;
}

__noinline int account_meets_limit(struct accounted *thread)
{
	struct mem_cgroup *group = full_cgroup(bpf_get_current_task_btf(), true);
	struct cgroup *cgroup;

	if (!thread)
		return 0;
	thread->at_limit = 1;
	thread->limit_cgroup = 0;
	__builtin_memset(thread->limit_name, 0, sizeof(thread->limit_name));
	if (!group)
		return 0;
	cgroup = BPF_CORE_READ(group, css.cgroup);
	thread->limit_cgroup = id_of_cgroup(cgroup);
	bpf_probe_read_kernel_str(thread->limit_name, sizeof(thread->limit_name),
				  BPF_CORE_READ(cgroup, kn, name));
	return 0;
}

__noinline __u32 account_longest(struct accounted *thread)
{
	__u64 clock_ns = account_clock(), ran_ns = 0, most_ns = 0;
	__u32 longest = ACCOUNTS;

	if (!thread)
		return ACCOUNTS;
	if (thread->does == ACCOUNTED_RUNS && clock_ns > thread->at_ns)
		ran_ns = clock_ns - thread->at_ns;
	thread->lately[ACCOUNT_RAN] += ran_ns;
	for (__u32 i = 0; i < ACCOUNTS; i++) {
		if (thread->lately[i] > most_ns) {
			most_ns = thread->lately[i];
			longest = i;
		}
		thread->lately[i] = 0;
	}
	thread->lately[ACCOUNT_RAN] = -ran_ns; /* which is yet to be charged */
	return longest;
}

__noinline int account_stop(struct accounted *thread)
{
	__u64 now_ns = account_clock();

	if (!thread)
		return 0;
	/* what was charged until now stays */
	if (thread->place)
		account_leave_place(thread, now_ns, thread->seen_ns + now_ns - thread->joined_ns);
	thread->does = ACCOUNTED_NOT;
	return 0;
}
