/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * accounts.h keeps the accounts of targets' threads: which part of its time a thread ran, was queued for a CPU, or was
 * blocked, and whom it waited for. bpf/offcpu.bpf.c, which sees each switch of a target's thread, calls it with what it
 * knows of the thread.
 *
 * Times are those of the run queue's clock, of which the kernel makes sched_info.run_delay. Waits for a CPU are charged to
 * who ran there meanwhile. A CPU has a few places for victims; in each, `count` threads wait, and count * T + sum is how long
 * they all have waited up to T. So a switch charges what has grown since the last one, and nothing happens on a CPU where
 * no target waits. The kernel's own sum corrects each wait when it ends: that makes migrations exact, and heals what was
 * not seen.
 */
#ifndef BOURDON_BPF_ACCOUNTS_H
#define BOURDON_BPF_ACCOUNTS_H

#include "bpf/maps.h"

#define WAIT_PLACES 16U /* a power of two: victims of which threads wait for one CPU at a time */

struct wait_place {
	__u64 word; /* the victim in the upper half; in the lower, how many of its threads wait here; 0: free */
	__s64 sum_ns;
	__s64 charged_ns;
	__u64 queue; /* struct cfs_rq * of who came last */
	__u64 quota_cgroup;
	char quota_name[ABI_COMM_BYTES]; /* the cgroup whose quota is used up */
	__u32 throttled;                 /* throttle_count when the slice began */
	__u32 reserved;
};

struct wait_cpu {
	__u64 taken;    /* a bit for each place that is not free */
	__u64 began_ns; /* when the slice began that is yet to be charged */
	__u64 irq_ns, steal_ns;
	__u64 reserved[4];
	struct wait_place places[WAIT_PLACES];
};

struct wait_cpus_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* set by the loader: number of CPUs */
	__type(key, __u32);
	__type(value, struct wait_cpu);
};

extern struct wait_cpus_map wait_cpus SEC(".maps");

#define ACCOUNTED_NOT 0U /* what it does since `at_ns` is not known */
#define ACCOUNTED_RUNS 1U
#define ACCOUNTED_QUEUED 2U
#define ACCOUNTED_BLOCKED 3U

/* Of a thread. */
struct accounted {
	__u64 at_ns;            /* its time is in the sums up to here; 0: see at_monotonic */
	__u64 at_monotonic;     /* the same moment */
	__u64 seen_ns;          /* run_delay: waits up to here are in the sums, or counted by a place */
	__u64 left_delay_ns;    /* run_delay at at_ns */
	__u64 joined_ns;        /* since when its place counts it */
	__u64 lock;             /* ACCOUNTED_BLOCKED: the lock that it waits for; 0: none */
	__u64 reclaim_since;    /* CLOCK_MONOTONIC: it has run in reclaim since then; 0: it does not */
	__u64 reclaimed_ns;     /* of its time since at_ns, what it has run in reclaim before reclaim_since */
	__u64 lately[ACCOUNTS]; /* its time since it last got or gave a lock */
	struct blame_key by;    /* who ended the block */
	__u64 limit_cgroup;     /* at_limit: as blame_key.cgroup_id and comm of BLAME_LIMIT */
	char limit_name[ABI_COMM_BYTES];
	__u32 victim;
	__u32 place;   /* 1 + CPU * WAIT_PLACES + place, which counts it as waiting; 0: none does */
	__u8 does;     /* ACCOUNTED_* */
	__u8 account;  /* ACCOUNTED_BLOCKED: as far as is known */
	__u8 at_limit; /* 1: it is in reclaim because of a cgroup's limit */
	__u8 reserved;
	__u32 expects; /* `lock`: the value of its futex, by the thread */
};

/* Any thread leads to its CPU's run queue, whose lock the caller holds. `runqueues` itself has no address for programs. */
static __always_inline struct rq *run_queue_of(struct task_struct *task)
{
	return task->se.cfs_rq->rq;
}

/*
 * These are functions of their own to the verifier, which lets them have no task: "the current thread" is the one that
 * leaves the CPU at a switch, or wakes another one. now_ns is CLOCK_MONOTONIC.
 */

/* The victim of the current thread: `known`, if that is one still. 0: there is no room, or its user has too many. */
__u32 account_victim(__u32 known);

/* Gives the target a victim, if it has none. comm_first and comm_second are the name of its group leader, uid is its user. */
int account_target(__u32 tgid, __u64 comm_first, __u64 comm_second, __u64 cgroup_id, __u32 uid);

/* The current thread leaves the CPU; it is queued, or blocked for io, memory, `lock`, or what its end will tell. */
int account_leave(struct accounted *thread, __u64 now_ns, __u32 is_queued, __u32 account, __u64 lock);

/* The thread comes to this CPU. Its sched_info is as it was before. */
int account_return(struct accounted *thread, __u64 now_ns, __u64 run_delay, __u64 last_queued);

/* The thread has begun to wait for that CPU, in the queue `queue`, after a block. */
int account_queue(struct accounted *thread, __u32 cpu, __u64 run_delay, __u64 last_queued, __u64 queue);

/* The thread, which may be queued, leaves its CPU for the queue `queue` of that one. now_ns is of the queue that it leaves. */
int account_migrate(struct accounted *thread, __u32 cpu, __u64 run_delay, __u64 now_ns, __u64 queue);

/* The current thread, or an interrupt of it, wakes the thread. `then`: the account of the current thread lately. */
int account_waking(struct accounted *thread, __u32 then);

/* The account in which the thread, which runs, was for longest lately. It gives a lock now. */
__u32 account_longest(struct accounted *thread);

/* The current thread, which runs, meets its cgroup's memory limit, or one above it. */
int account_meets_limit(struct accounted *thread);

/* The current thread runs still: its time is put into the sums. */
int account_run(struct accounted *thread, __u64 now_ns);

/* The thread is followed no longer. */
int account_stop(struct accounted *thread);

/* Charges who has waited here since the last switch to the current thread, which has run since then. */
int account_slice(__u64 now_ns);

/* Of bpf/offcpu.bpf.c: an iterator meets a thread that is blocked, of which no switch has been seen. */
int offcpu_meet(__u32 tid, __u64 began_ns, __u32 tgid, __u32 account, __u64 run_delay);

/* The same for a thread that has begun to exit. */
int offcpu_forget(__u32 tid);

/* The account of a thread that is blocked, as far as it is known before the end. */
static __always_inline __u32 account_of_blocked(struct task_struct *task)
{
	if (BPF_CORE_READ_BITFIELD(task, in_memstall))
		return ACCOUNT_MEMORY;
	return BPF_CORE_READ_BITFIELD(task, in_iowait) ? ACCOUNT_IO : ACCOUNT_SLEEP;
}

/* Called at each switch of each CPU, before the thread that leaves is looked at. */
static __always_inline void account_switch(__u32 cpu)
{
	const struct wait_cpu *waits = bpf_map_lookup_elem(&wait_cpus, &cpu);

	if (waits && *(volatile const __u64 *)&waits->taken)
		account_slice(bpf_ktime_get_ns());
}

static __always_inline void account_reclaim_begins(struct accounted *thread, __u64 now_ns)
{
	thread->reclaim_since = now_ns;
}

static __always_inline void account_reclaim_ends(struct accounted *thread, __u64 now_ns)
{
	if (thread->reclaim_since)
		thread->reclaimed_ns += now_ns - thread->reclaim_since;
	thread->reclaim_since = 0;
}

#endif
