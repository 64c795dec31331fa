/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * offcpu.bpf.c measures the time that threads of targets spend off CPU: when a thread leaves the CPU, when it
 * becomes runnable, when it runs again, and what it waited for, by the same flags that PSI uses. `totals`
 * sums all of it. Within a budget, an interval is also written with its stacks to a slot of this CPU's ring.
 *
 * A stack can only be recorded when the thread leaves, but only its return shows whether the interval
 * deserves a slot. Until then the stack is kept in `offcpu_open`, where the consumer also finds the threads
 * that are still away. So is the stack of the target that woke it, in `offcpu_wakers`.
 */
#include "bpf/ended.h"
#include "bpf/histogram.h"
#include "bpf/slots.h"

#define TASK_DEAD 0x80U

/* What may be in the weight of a later interval: the capture counts it where that one ends. */
#define JOINED_NS_MAX SECOND_NS

/*
 * By the lower bits of its tid, how many threads offcpu_threads has: nearly all threads that are woken are no
 * targets, and this tells so in a tenth of the time of a look-up.
 */
#define TRACKED_SLOTS 16384U
static __u32 tracked[TRACKED_SLOTS];

static __always_inline bool is_tracked(__u32 tid)
{
	return *(volatile __u32 *)&tracked[tid % TRACKED_SLOTS];
}

/* Set by the loader: drawn by chance, and never told. */
const volatile __u64 lock_secret[2] = { 0 };

/* Always zero: a program's stack, of 512 bytes, has no room for it. */
static struct thread thread_empty;

static __noinline struct thread *thread_make(__u32 tid, __u64 began_ns)
{
	struct thread *thread = bpf_map_lookup_elem(&offcpu_threads, &tid);

	/* another one had this tid, and its end was not seen */
	if (thread)
		account_stop(&thread->accounted);
	if (put_counted(&offcpu_threads, &tid, &thread_empty, &tracked[tid % TRACKED_SLOTS])) {
		count(COUNTER_OFFCPU_UNTRACKED);
		return NULL;
	}
	thread = bpf_map_lookup_elem(&offcpu_threads, &tid);
	if (thread)
		thread->began_ns = began_ns;
	return thread;
}

__noinline int offcpu_make_thread(__u32 tid, __u64 began_ns)
{
	return thread_make(tid, began_ns) ? 0 : -ENOMEM;
}

static __noinline struct totals *totals_make(__u32 tgid, __u64 started_ns)
{
	struct totals fresh = { .started_ns = started_ns };

	bpf_map_update_elem(&totals, &tgid, &fresh, BPF_ANY);
	return bpf_map_lookup_elem(&totals, &tgid);
}

static __always_inline __u64 clock_counts_off(const struct thread *thread)
{
	__u64 counts = thread->stall & STALL_MEMORY || thread->reclaim_depth ? CLOCK_IN_MEMSTALL : 0;

	if (!thread->state)
		return counts | CLOCK_RUNNABLE;
	return thread->stall & STALL_IO ? counts | CLOCK_IN_IOWAIT : counts;
}

/* Stops counting a thread whose process is no longer a target. */
static __always_inline void stop_counting(struct thread *thread, const struct control *shared, __u64 now_ns)
{
	if (thread)
		account_stop(&thread->accounted);
	if (thread && clocks_run(&thread->counted, shared))
		clocks_count(&thread->counted, thread->counted.epoch, thread->counted.cpu, 0, now_ns);
}

/* Counts a woken thread as runnable, in the queue of the CPU that was chosen for it. */
static __always_inline void clocks_queue(struct thread *thread, struct task_struct *task, __u64 now_ns)
{
	struct control *shared = control_get();
	__u32 tgid = task->tgid;

	if (!shared || !clocks_run(&thread->counted, shared))
		return;
	if (!bpf_map_lookup_elem(&targets, &tgid))
		stop_counting(thread, shared, now_ns);
	else
		clocks_count(&thread->counted, thread->counted.epoch, BPF_CORE_READ(task, thread_info.cpu),
			     CLOCK_RUNNABLE | (thread->counted.counts & CLOCK_IN_MEMSTALL), now_ns);
}

/* The account of a thread that leaves the CPU, if it is blocked: its end may tell more than ACCOUNT_SLEEP. */
static __always_inline __u32 account_of(const struct thread *thread)
{
	if (thread->stall & STALL_MEMORY || thread->reclaim_depth)
		return ACCOUNT_MEMORY;
	return thread->stall & STALL_IO ? ACCOUNT_IO : ACCOUNT_SLEEP;
}

/* The current thread is of the target, or its parent, which has its name and its cgroup. */
static __always_inline __u32 victim_of(struct target *target)
{
	__u32 victim = account_victim(target->victim);

	if (victim != target->victim)
		target->victim = victim;
	return victim;
}

static __always_inline void account_leaving(struct thread *thread, struct target *target,
					    struct task_struct *task, __u64 now_ns)
{
	__u32 account = account_of(thread);
	__u64 lock = thread->state && account == ACCOUNT_SLEEP
			     ? lock_contended(task, target->started_ns, &thread->accounted.expects)
			     : 0;

	thread->accounted.victim = victim_of(target);
	account_leave(&thread->accounted, now_ns, !thread->state, account, lock);
}

static __always_inline void leave_cpu(void *ctx, struct cpu_state *state, const struct control *shared,
				      struct task_struct *task, bool preempted, __u64 now_ns)
{
	__u32 tgid = task->tgid;
	struct target *target = bpf_map_lookup_elem(&targets, &tgid);
	struct thread *thread;
	struct totals *sums;
	__u64 began_ns;
	__u32 hz;

	if (task->flags & PF_EXITING)
		return;
	thread = thread_find(task->pid, start_of(task));
	if (!target || target_is_denied(task)) {
		stop_counting(thread, shared, now_ns);
		return;
	}
	if (!thread)
		thread = thread_make(task->pid, start_of(task));
	sums = totals_find(tgid, target->started_ns);
	if (!sums)
		sums = totals_make(tgid, target->started_ns);
	if (!thread)
		return;
	if (sums && state->tid == (__u32)task->pid)
		sum_add(&sums->on_cpu_ns,
			now_ns - (state->since_ns > target->since_ns ? state->since_ns : target->since_ns));
	thread->state = preempted ? 0 : task->__state;
	thread->stall = BPF_CORE_READ_BITFIELD(task, in_memstall) ? STALL_MEMORY : 0;
	if (thread->state && BPF_CORE_READ_BITFIELD(task, in_iowait))
		thread->stall |= STALL_IO;
	thread->woken_ns = thread->state ? 0 : now_ns;
	thread->left_ns = now_ns;
	thread->has_stack = thread->has_waker_stack = thread->is_new = 0;
	thread->waker.kind = WAKER_UNKNOWN;
	account_leaving(thread, target, task, now_ns);
	if (clocks_join(&thread->counted, shared))
		clocks_count(&thread->counted, thread->counted.epoch, bpf_get_smp_processor_id(),
			     clock_counts_off(thread), now_ns);
	hz = *(volatile const __u32 *)&shared->offcpu_stacks_hz;
	if (!bucket_spend(&state->stacks, now_ns, hz, stack_level_wanted(thread, shared)))
		return;
	began_ns = bpf_ktime_get_ns();
	thread->has_stack = open_write(ctx, state, target, task, thread);
	bucket_charge(&state->stacks, hz, bpf_ktime_get_ns() - began_ns);
}

/*
 * All that wait for their first CPU do so in the same place. So where a process makes more than get a slot, one stands for those
 * before it.
 */
static __always_inline struct totals *first_waits_of(__u32 maker)
{
	return bpf_map_lookup_elem(&totals, &maker);
}

/* A wait that is over, as the latencies have it. */
struct measured_wait {
	__u64 blocked_ns, queued_ns;
	__u64 owner;
	__u64 lock;
	__u32 account; /* of the blocked part */
	__u8 is_new;   /* the thread has not run before */
	__u8 is_fault; /* it was blocked outside of a system call */
	__u16 reserved;
};

/* The verifier follows its branches once, and not again with each way through offcpu_switch. */
__noinline int offcpu_put_wait(const struct measured_wait *wait, __u32 wanted)
{
	if (!wait)
		return 0;
	if (wait->queued_ns && wanted & BIT_OF(LATENCY_RUNQUEUE))
		histogram_put(METRIC_RUNQUEUE, 0, 0, wait->owner, wait->queued_ns);
	if (wait->is_new && wanted & BIT_OF(LATENCY_FORK))
		histogram_put(METRIC_FORK, 0, 0, wait->owner, wait->queued_ns);
	if (!wait->blocked_ns)
		return 0;
	if (wanted & BIT_OF(LATENCY_OFFCPU))
		histogram_put(METRIC_OFFCPU, wait->account, 0, wait->owner, wait->blocked_ns);
	if (wait->account == ACCOUNT_LOCK && wanted & BIT_OF(LATENCY_LOCK))
		histogram_put(METRIC_LOCK, LOCK_FUTEX, wait->lock, wait->owner, wait->blocked_ns);
	if (wait->is_fault && wanted & BIT_OF(LATENCY_MEMORY))
		histogram_put(METRIC_MEMORY, MEMORY_FAULT, 0, wait->owner, wait->blocked_ns);
	return 0;
}

/*
 * Threads of victims that found no room count with those of no cgroup, so that nobody fills the table with names.
 */
static __always_inline void measure_wait(const struct control *shared, const struct thread *thread,
					 struct task_struct *task, __u32 account, __u64 blocked_ns,
					 __u64 queued_ns)
{
	struct measured_wait wait = { .blocked_ns = blocked_ns, .queued_ns = queued_ns, .account = account };
	__u32 wanted = latency_wanted(shared);

	if (!(wanted & (BIT_OF(LATENCY_RUNQUEUE) | BIT_OF(LATENCY_OFFCPU) | BIT_OF(LATENCY_LOCK) |
			BIT_OF(LATENCY_MEMORY) | BIT_OF(LATENCY_FORK))))
		return;
	if (thread->accounted.victim)
		wait.owner = task->cgroups->dfl_cgrp->kn->id;
	wait.lock = thread->accounted.lock;
	wait.is_new = thread->is_new;
	if (wanted & BIT_OF(LATENCY_MEMORY) && (account == ACCOUNT_IO || account == ACCOUNT_MEMORY))
		wait.is_fault = is_in_exception(task);
	offcpu_put_wait(&wait, wanted);
}

static __always_inline void return_to_cpu(struct cpu_state *state, const struct control *shared,
					  const struct target *target, struct task_struct *task, __u64 now_ns)
{
	struct thread *thread = thread_find(task->pid, start_of(task));
	struct totals *sums = totals_find(task->tgid, target->started_ns);
	__u32 tid = task->pid, class, queued_class, account;
	__u64 blocked_ns, queued_ns, away_ns, carried_blocked_ns, carried_queued_ns;
	struct open_interval *open;
	struct totals *first;

	if (!thread && !(task->flags & PF_EXITING))
		thread = thread_make(tid, start_of(task));
	if (!thread)
		return;
	account = thread->accounted.does == ACCOUNTED_BLOCKED ? thread->accounted.account : ACCOUNT_REST;
	account_return(&thread->accounted, now_ns, task->sched_info.run_delay, task->sched_info.last_queued);
	if (thread->reclaim_depth)
		account_reclaim_begins(&thread->accounted, now_ns);
	if (clocks_run(&thread->counted, shared))
		clocks_count(&thread->counted, thread->counted.epoch, bpf_get_smp_processor_id(),
			     clock_counts_on(thread), now_ns);
	if (!thread->left_ns)
		return;
	if (thread->left_ns < target->since_ns) {
		thread->left_ns = 0; /* the interval began before the process (again) became a target */
		return;
	}
	/* no wakeup was seen: count the whole interval as blocked */
	if (!thread->woken_ns || thread->woken_ns > now_ns)
		thread->woken_ns = now_ns;
	away_ns = now_ns - thread->left_ns;
	queued_ns = now_ns - thread->woken_ns;
	blocked_ns = away_ns - queued_ns;
	measure_wait(shared, thread, task, account, blocked_ns, queued_ns);
	class = thread->stall & (STALL_CLASSES - 1);
	queued_class = STALL_CPU | (class & STALL_MEMORY);
	if (sums && blocked_ns) {
		sum_add(&sums->off_cpu_ns[class], blocked_ns);
		sum_add(&sums->intervals[class], 1);
	}
	if (sums && queued_ns) {
		sum_add(&sums->off_cpu_ns[queued_class], queued_ns);
		sum_add(&sums->intervals[queued_class], 1);
	}
	if (thread->reclaim_depth)
		thread->reclaim_off_ns += away_ns;
	thread->usual_ns = thread->usual_ns / 8 * 7 + away_ns / 8;
	carried_blocked_ns = thread->carried_ns[class] + blocked_ns;
	carried_queued_ns = thread->carried_ns[queued_class] + queued_ns;
	first = thread->is_new ? first_waits_of(thread->maker) : NULL;
	if (first)
		carried_queued_ns += __sync_lock_test_and_set(&first->first_ns, 0);
	if (carried_blocked_ns + carried_queued_ns >= shared->offcpu_min_ns) {
		if (write_slot(state, shared, target, task, thread, now_ns, carried_blocked_ns,
			       carried_queued_ns)) {
			carried_blocked_ns = carried_queued_ns = thread->joined = 0;
		} else if (first || carried_blocked_ns + carried_queued_ns < JOINED_NS_MAX) {
			if (away_ns >= shared->offcpu_min_ns) {
				count(COUNTER_OFFCPU_JOINED);
				thread->joined += !first;
			}
		} else if (away_ns >= shared->offcpu_min_ns) {
			/* no later stack may stand for so long a time */
			count(COUNTER_OFFCPU_UNSTACKED);
			carried_blocked_ns -= blocked_ns;
			carried_queued_ns -= queued_ns;
			if (sums) {
				sum_add(&sums->unstacked_ns[class], blocked_ns);
				sum_add(&sums->unstacked_ns[queued_class], queued_ns);
				sum_add(&sums->unstacked, 1);
			}
		}
	}
	if (first) {
		sum_add(&first->first_ns, carried_queued_ns);
		carried_queued_ns = 0;
	}
	thread->carried_ns[class] = carried_blocked_ns;
	thread->carried_ns[queued_class] = carried_queued_ns;
	if (thread->has_stack) {
		open = bpf_map_lookup_elem(&offcpu_open, &tid);
		if (open)
			open_close(open);
	}
	thread->left_ns = thread->is_new = 0;
}

/* Nothing is counted, so what threads do is not known any more. */
static __always_inline void account_quiet(struct task_struct *from, struct task_struct *to)
{
	struct thread *thread = thread_find(from->pid, start_of(from));

	if (thread)
		account_stop(&thread->accounted);
	thread = thread_find(to->pid, start_of(to));
	if (thread)
		account_stop(&thread->accounted);
}

SEC("tp_btf/sched_switch")
int BPF_PROG(offcpu_switch, bool preempted, struct task_struct *from, struct task_struct *to)
{
	bool is_dead = from->__state & TASK_DEAD, leaves;
	struct control *shared;
	struct cpu_state *state;
	struct target *target;
	__u32 zero = 0, tgid;
	__u64 now_ns;

	if (is_retired())
		return 0;
	account_switch(bpf_get_smp_processor_id());
	if (is_dead)
		ended_leave_cpu(from);
	/* a process may have been a target while the thread ran */
	leaves = !is_dead && (may_be_target(from) || is_tracked(from->pid));
	if (!leaves && !may_be_target(to))
		return 0;
	now_ns = bpf_ktime_get_ns();
	shared = control_get();
	state = bpf_map_lookup_elem(&offcpu_cpus, &zero);
	if (!state || !shared)
		return 0;
	if (is_quiet(shared, now_ns)) {
		state->tid = 0;
		account_quiet(from, to);
		return 0;
	}
	if (leaves && !(from->flags & PF_KTHREAD))
		leave_cpu(ctx, state, shared, from, preempted, now_ns);
	state->tid = 0;
	if (to->flags & PF_KTHREAD || !may_be_target(to))
		return 0;
	tgid = to->tgid;
	target = bpf_map_lookup_elem(&targets, &tgid);
	if (!target)
		return 0;
	state->tid = to->pid;
	state->since_ns = now_ns;
	return_to_cpu(state, shared, target, to, now_ns);
	return 0;
}

/* Who gives a lock tells what it did while it had it. */
static __always_inline void account_waker(struct thread *thread)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid(), then = ACCOUNTS;
	struct thread *waker;

	if (thread->accounted.does != ACCOUNTED_BLOCKED || thread->accounted.account != ACCOUNT_SLEEP)
		return;
	waker = thread->accounted.lock ? bpf_map_lookup_elem(&offcpu_threads, &tid) : NULL;
	if (waker)
		then = account_longest(&waker->accounted);
	account_waking(&thread->accounted, then);
}

/*
 * Of a thread that was blocked for WAKER_MIN_NS or longer and may get a slot. This fires before the woken thread gets a
 * run queue, while the current thread is the one that wakes it.
 */
SEC("tp_btf/sched_waking")
int BPF_PROG(offcpu_waking, struct task_struct *task)
{
	__u32 tid = task->pid, zero = 0;
	struct cpu_state *state;
	struct control *shared;
	struct thread *thread;
	__u64 now_ns;

	if (!is_tracked(tid) || is_retired())
		return 0;
	thread = bpf_map_lookup_elem(&offcpu_threads, &tid);
	if (!thread)
		return 0;
	account_waker(thread);
	if (!thread->left_ns || thread->woken_ns || !thread->has_stack)
		return 0;
	now_ns = bpf_ktime_get_ns();
	shared = control_get();
	state = bpf_map_lookup_elem(&offcpu_cpus, &zero);
	if (now_ns - thread->left_ns >= WAKER_MIN_NS && shared && state && !is_quiet(shared, now_ns))
		note_waker(ctx, state, shared, thread, tid, now_ns);
	return 0;
}

/* last_queued is 0 while it runs. */
static __always_inline void account_queued(struct thread *thread, struct task_struct *task)
{
	account_queue(&thread->accounted, task->thread_info.cpu, task->sched_info.run_delay,
		      task->sched_info.last_queued, (__u64)BPF_CORE_READ(task, se.cfs_rq));
}

/* A thread woken before it left the CPU has left_ns 0 and is skipped. */
SEC("tp_btf/sched_wakeup")
int BPF_PROG(offcpu_wakeup, struct task_struct *task)
{
	__u32 tid = task->pid;
	struct open_interval *open;
	struct thread *thread;

	if (!is_tracked(tid) || is_retired())
		return 0;
	thread = bpf_map_lookup_elem(&offcpu_threads, &tid);
	if (!thread)
		return 0;
	account_queued(thread, task);
	if (!thread->left_ns || thread->woken_ns)
		return 0;
	thread->woken_ns = bpf_ktime_get_ns();
	clocks_queue(thread, task, thread->woken_ns);
	open = thread->has_stack ? bpf_map_lookup_elem(&offcpu_open, &tid) : NULL;
	if (open)
		open->sample.woken_ns = thread->woken_ns;
	return 0;
}

/* Its time begins when it is queued. */
static __always_inline void account_born(struct thread *thread, struct task_struct *task, __u64 now_ns)
{
	struct target *target;
	__u32 tgid = task->tgid;

	target = bpf_map_lookup_elem(&targets, &tgid);
	thread->accounted.at_ns = task->sched_info.last_queued;
	thread->accounted.at_monotonic = now_ns;
	thread->accounted.victim = target ? victim_of(target) : 0;
	thread->accounted.does = ACCOUNTED_QUEUED;
	account_queued(thread, task);
}

/* A new thread begins in the run queue. */
SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(offcpu_wakeup_new, struct task_struct *task)
{
	struct control *shared = control_get();
	__u64 now_ns = bpf_ktime_get_ns();
	struct thread *thread;
	__u32 tgid = task->tgid;

	if (is_retired() || !shared || is_quiet(shared, now_ns) || task->flags & PF_KTHREAD ||
	    !bpf_map_lookup_elem(&targets, &tgid))
		return 0;
	thread = thread_make(task->pid, start_of(task));
	if (!thread)
		return 0;
	thread->left_ns = thread->woken_ns = now_ns;
	thread->is_new = 1;
	thread->maker = bpf_get_current_pid_tgid() >> 32;
	account_born(thread, task, now_ns);
	/* the current thread is its parent, in the cgroup that the child begins in */
	if (clocks_join(&thread->counted, shared))
		clocks_queue(thread, task, now_ns);
	return 0;
}

/* Forgets a thread that exits or changes its tid. */
static __always_inline void forget(__u32 tid)
{
	struct control *shared = control_get();
	struct thread *thread;

	if (!is_tracked(tid))
		return;
	thread = bpf_map_lookup_elem(&offcpu_threads, &tid);
	if (shared)
		stop_counting(thread, shared, bpf_ktime_get_ns());
	if (!bpf_map_delete_elem(&offcpu_threads, &tid))
		__sync_fetch_and_sub(&tracked[tid % TRACKED_SLOTS], 1);
	bpf_map_delete_elem(&offcpu_open, &tid);
	bpf_map_delete_elem(&offcpu_wakers, &tid);
}

__noinline int offcpu_forget(__u32 tid)
{
	forget(tid);
	return 0;
}

/* Of the current thread. */
static __always_inline void forget_running(__u32 tid)
{
	struct thread *thread = is_tracked(tid) ? bpf_map_lookup_elem(&offcpu_threads, &tid) : NULL;

	if (thread)
		account_run(&thread->accounted, bpf_ktime_get_ns());
	forget(tid);
}

/* What was to count with a later interval of a thread that ends. */
static __always_inline void note_unwritten(struct task_struct *task)
{
	struct thread *thread = is_tracked(task->pid) ? thread_find(task->pid, start_of(task)) : NULL;
	__u32 counter = COUNTER_OFFCPU_UNSTACKED;
	struct totals *sums;
	__u64 *value;

	if (!thread || !thread->joined)
		return;
	value = bpf_map_lookup_elem(&counters, &counter);
	if (value)
		__sync_fetch_and_add(value, thread->joined);
	sums = totals_find(task->tgid, BPF_CORE_READ(task, group_leader, start_boottime));
	if (sums)
		sum_add(&sums->unstacked, thread->joined);
}

/* Runs while quiet, too, and for threads that are no longer targets: nothing else deletes their entries. */
SEC("tp_btf/sched_process_exit")
int BPF_PROG(offcpu_exit, struct task_struct *task)
{
	__u32 tgid = task->tgid;

	if (is_retired() || task->flags & PF_KTHREAD)
		return 0;
	note_unwritten(task);
	forget_running(task->pid);
	if (BPF_CORE_READ(task, signal, live.counter) == 0)
		bpf_map_delete_elem(&totals, &tgid);
	return 0;
}

/* When a thread other than the leader calls exec, it takes the leader's tid (fs/exec.c, de_thread()). */
SEC("tp_btf/sched_process_exec")
int BPF_PROG(offcpu_exec, struct task_struct *task, int pid_before)
{
	if (!is_retired() && pid_before != task->pid)
		forget_running(pid_before);
	return 0;
}

/* The queue that the task's cgroup has on that CPU; 0: not known. */
static __always_inline __u64 queue_on(struct task_struct *task, int cpu)
{
	struct cfs_rq **queues = BPF_CORE_READ(task, se.cfs_rq, tg, cfs_rq);
	__u64 queue = 0;

	bpf_probe_read_kernel(&queue, sizeof(queue), &queues[cpu]);
	return queue;
}

/* Fires under the lock of the queue that it leaves, when the kernel has taken it out of there; or while it is blocked. */
SEC("tp_btf/sched_migrate_task")
int BPF_PROG(offcpu_migrate, struct task_struct *task, int cpu)
{
	__u32 tid = task->pid;
	struct thread *thread;

	if (!is_tracked(tid) || is_retired())
		return 0;
	thread = bpf_map_lookup_elem(&offcpu_threads, &tid);
	if (thread && thread->accounted.place)
		account_migrate(&thread->accounted, (__u32)cpu, task->sched_info.run_delay,
				run_queue_of(task)->clock, queue_on(task, cpu));
	return 0;
}

static __always_inline void account_tick(struct task_struct *task, __u64 now_ns)
{
	__u32 tgid = task->tgid, tid = task->pid;
	struct target *target = may_be_target(task) ? bpf_map_lookup_elem(&targets, &tgid) : NULL;
	struct thread *thread;

	if (!target || task->flags & PF_EXITING)
		return;
	thread = thread_find(tid, start_of(task));
	if (!thread)
		thread = thread_make(tid, start_of(task));
	if (thread) {
		thread->accounted.victim = victim_of(target);
		account_run(&thread->accounted, now_ns);
	}
}

__noinline int offcpu_tick(__u64 now_ns)
{
	/* first: the slice is not charged to the thread for a wait of its own that is over */
	account_tick(bpf_get_current_task_btf(), now_ns);
	account_switch(bpf_get_smp_processor_id());
	return 0;
}

__noinline int offcpu_meet(__u32 tid, __u64 began_ns, __u32 tgid, __u32 account, __u64 run_delay)
{
	const struct target *target = bpf_map_lookup_elem(&targets, &tgid);
	struct thread *thread;

	if (!target || account >= ACCOUNTS || (is_tracked(tid) && thread_find(tid, began_ns)))
		return 0;
	thread = thread_make(tid, began_ns);
	if (!thread)
		return 0;
	thread->accounted.at_monotonic = bpf_ktime_get_ns();
	thread->accounted.seen_ns = thread->accounted.left_delay_ns = run_delay;
	thread->accounted.victim = target->victim;
	thread->accounted.account = (__u8)account;
	thread->accounted.does = ACCOUNTED_BLOCKED;
	return 0;
}
