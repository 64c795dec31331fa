/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * thread.h has what is known of a thread of a target between two context switches. bpf/offcpu.bpf.c makes and forgets it;
 * bpf/memstall.bpf.c and bpf/away.bpf.c find it.
 */
#ifndef BOURDON_BPF_THREAD_H
#define BOURDON_BPF_THREAD_H

#include "bpf/accounts.h"
#include "bpf/clocks.h"

/* State of a thread between two context switches. */
struct thread {
	__u64 began_ns;                  /* start time of the thread: with the tid, its identity */
	__u64 left_ns;                   /* when it left the CPU, 0 while it runs */
	__u64 woken_ns;                  /* when it became runnable, 0 while it is blocked */
	__u64 usual_ns;                  /* moving average of its off-CPU intervals */
	__u64 reclaim_ns;                /* when it entered reclaim, 0 outside reclaim */
	__u64 reclaim_off_ns;            /* off-CPU time within that reclaim */
	__u64 carried_ns[STALL_CLASSES]; /* off-CPU time not yet written to a slot */
	__u32 reclaim_depth;
	__u32 state;
	__u8 stall;
	__u8 has_stack;       /* offcpu_open holds the stack of this interval */
	__u8 has_waker_stack; /* offcpu_wakers holds the stack of `waker` */
	__u8 is_new;          /* it waits for its first CPU */
	__u8 reserved[4];
	__u32 maker;  /* tgid of who made it */
	__u32 joined; /* intervals in carried_ns that were long enough for a slot */
	struct counted counted;
	struct waker waker; /* who ended this interval */
	struct accounted accounted;
};

/* tid -> thread. Not preallocated: see bpf/offcpu.bpf.c. */
struct offcpu_threads_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, TARGETS_DEFAULT);
	__type(key, __u32);
	__type(value, struct thread);
};

extern struct offcpu_threads_map offcpu_threads SEC(".maps");

static __always_inline __u64 start_of(struct task_struct *task)
{
	return BPF_CORE_READ(task, start_boottime);
}

static __always_inline struct thread *thread_find(__u32 tid, __u64 began_ns)
{
	struct thread *thread = bpf_map_lookup_elem(&offcpu_threads, &tid);

	return thread && thread->began_ns == began_ns ? thread : NULL;
}

/* Of bpf/offcpu.bpf.c: makes one that thread_find() then finds, unless there is no room. */
int offcpu_make_thread(__u32 tid, __u64 began_ns);

static __always_inline struct totals *totals_find(__u32 tgid, __u64 started_ns)
{
	struct totals *there = bpf_map_lookup_elem(&totals, &tgid);

	return there && there->started_ns == started_ns ? there : NULL;
}

static __always_inline void sum_add(__u64 *sum, __u64 ns)
{
	__sync_fetch_and_add(sum, ns);
}

/*
 * in_memstall alone does not count on CPU: after a refault the running thread clears it without any event, so
 * the program could not tell when the stall ended.
 */
static __always_inline __u64 clock_counts_on(const struct thread *thread)
{
	return CLOCK_RUNNABLE | CLOCK_ON_CPU | (thread->reclaim_depth ? CLOCK_IN_MEMSTALL : 0);
}

#endif
