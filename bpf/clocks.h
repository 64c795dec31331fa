/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * clocks.h owns the stall clocks. On each CPU they count what kernel/sched/psi.c counts of a cgroup, but only
 * for the targets in it, so that PSI's own formula can be applied to the targets. A thread is counted on the
 * CPU where it runs, waits in the run queue, or went to sleep.
 *
 * Each thread remembers its state and CPU as last counted (struct counted). The next event subtracts that
 * before it adds the new state. Updates of one thread never run in parallel: they happen under its run
 * queue's lock, or in the thread itself.
 */
#ifndef BOURDON_BPF_CLOCKS_H
#define BOURDON_BPF_CLOCKS_H

#include "bpf/maps.h"

/* A thread's contribution to the stall clocks, as last counted. */
struct counted {
	__u64 counts; /* CLOCK_* */
	__u32 cpu;
	__u32 epoch;  /* epoch of the clocks that `counts` and `member` refer to */
	__u32 member; /* 1: the thread belongs to the cgroup that the clocks measure */
	__u32 reserved;
};

extern struct clocks_map clocks SEC(".maps");

static __always_inline void clock_grow(struct stall_clock *clock, __u64 counts, __u64 ns)
{
	if (!counts)
		return;
	__sync_fetch_and_add(&clock->nonidle_ns, ns);
	for (__u32 i = 0; i < CLOCK_RESOURCES; i++)
		if (clock_is_stalled(counts, i))
			__sync_fetch_and_add(&clock->some_ns[i], ns);
}

/*
 * Resets the clock if it is of an older epoch. Returns false, with nothing counted, while another CPU resets
 * it.
 */
static __always_inline bool clock_begin(struct stall_clock *clock, __u32 epoch, __u64 now_ns)
{
	__u64 before = *(volatile __u64 *)&clock->epoch;

	if (before == epoch)
		return true;
	/* a program delayed between reading `control` and this line may pass an old epoch */
	if (before == CLOCKS_BEGIN || (before && (__s32)(epoch - (__u32)before) < 0) ||
	    __sync_val_compare_and_swap(&clock->epoch, before, CLOCKS_BEGIN) != before)
		return false;
	clock->counts = clock->nonidle_ns = 0;
	clock->some_ns[CLOCK_CPU] = clock->some_ns[CLOCK_MEMORY] = clock->some_ns[CLOCK_IO] = 0;
	clock->since_ns = now_ns;
	publish(&clock->epoch, epoch);
	return true;
}

/* Adds the time since the last update to the states counted so far, then adds `change` to the counts. */
static __always_inline bool clock_add(__u32 cpu, __u32 epoch, __u64 change, __u64 now_ns)
{
	struct stall_clock *clock = bpf_map_lookup_elem(&clocks, &cpu);
	__u64 counts, since_ns;

	if (!clock || !clock_begin(clock, epoch, now_ns))
		return false;
	counts = __sync_fetch_and_add(&clock->counts, change);
	since_ns = __sync_lock_test_and_set(&clock->since_ns, now_ns);
	if ((__s64)(now_ns - since_ns) > 0)
		clock_grow(clock, counts, now_ns - since_ns);
	return true;
}

/* Counts the thread as `counts` on `cpu` from now on. */
static __noinline __attribute__((unused)) int clocks_count(struct counted *counted, __u32 epoch, __u32 cpu,
							   __u64 counts, __u64 now_ns)
{
	if (!counted)
		return 0;
	if (counted->counts && counted->cpu != cpu) {
		clock_add(counted->cpu, epoch, -counted->counts, now_ns);
		counted->counts = 0;
	}
	if (counts != counted->counts && clock_add(cpu, epoch, counts - counted->counts, now_ns)) {
		counted->counts = counts;
		counted->cpu = cpu;
	}
	return 0;
}

/* True if the clocks run and the thread is known to belong to their cgroup. */
static __always_inline bool clocks_run(const struct counted *counted, const struct control *shared)
{
	__u32 epoch = *(volatile const __u32 *)&shared->clocks_epoch;

	return epoch && counted->epoch == epoch && counted->member;
}

/* As clocks_run(), for the current thread: looks up once per epoch whether it belongs to the cgroup. */
static __always_inline bool clocks_join(struct counted *counted, const struct control *shared)
{
	__u32 epoch = *(volatile const __u32 *)&shared->clocks_epoch;
	__u64 cgroup = shared->clocks_cgroup;

	if (!epoch)
		return false;
	if (counted->epoch != epoch) {
		counted->counts = 0;
		counted->member = !cgroup ||
				  bpf_get_current_ancestor_cgroup_id((int)shared->clocks_level) == cgroup;
		counted->epoch = epoch;
	}
	return counted->member;
}

#endif
