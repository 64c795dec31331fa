/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * growth.bpf.c records where targets grow their memory: when a process has more pages of its own than it ever had, the stack that
 * took the last of them becomes a slot of this CPU's off-CPU ring, weighted with the growth since the slot before. So the ring has
 * the last growers before a kill.
 *
 * It follows the kernel's own counts and no page faults: a read() into new memory faults in the kernel, and most faults of a
 * process only fill again what it had. So it names who touched new pages first, not who holds them.
 */
#include "bpf/histogram.h"
#include "bpf/offcpu_ring.h"
#include "bpf/usage.h"

#define GROWN_MAX 4096U /* processes; the one that grew longest ago makes room */
#define GROWTH_HZ 100U  /* stacks of one CPU, a second */
/* The innermost frames of a stack: this program, and the function that calls it. A stack that fills its slot keeps them. */
#define OWN_FRAMES 2U

/* Set by the loader: a process that grew by so many pages gets a stack. */
const volatile __u64 growth_step_pages = 256;

/* The kinds of pages that are followed. */
#define OF_ANONYMOUS 0U
#define OF_SHARED 1U /* tmpfs, shared anonymous memory, System V's */
#define KINDS 2U

/* What a process has had. */
struct grown {
	__u64 mm; /* never shared with user space. A program that is executed begins with another one */
	__u64 started_ns;  /* of the process */
	__u64 since_ns;    /* CLOCK_MONOTONIC: what it had when it was first seen is no growth */
	__u64 most[KINDS]; /* pages */
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, GROWN_MAX);
	__type(key, __u32);
	__type(value, struct grown);
} grown SEC(".maps");

/* Nearly all events are of the address space that this CPU has seen last, which has not grown enough since. */
struct seen {
	__u64 mm;
	__s64 until; /* pages below which there is nothing to do */
	__u32 tgid;
	__u32 reserved;
};

struct growth_state {
	struct seen seen[KINDS];
	struct bucket stacks;
	struct stack_scratch scratch; /* not that of offcpu_cpus, which an interrupt may use meanwhile */
	struct sample sample;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct growth_state);
} growth_cpus SEC(".maps");

/* Since Linux 6.2 the counts lack what each CPU has yet to add to them, and may be negative. */
static __always_inline __s64 pages_of(struct mm_struct *mm, __u32 kind)
{
	struct mm_struct___before_6_2 *before = (void *)mm;

	/* by a helper: the verifier of Linux 6.1 does not see into an array of a type that has only a name */
	if (bpf_core_field_exists(before->rss_stat.count))
		return kind == OF_SHARED ? BPF_CORE_READ(before, rss_stat.count[MM_SHMEMPAGES].counter)
					 : BPF_CORE_READ(before, rss_stat.count[MM_ANONPAGES].counter);
	return kind == OF_SHARED ? mm->rss_stat[MM_SHMEMPAGES].count : mm->rss_stat[MM_ANONPAGES].count;
}

/* What was noted before the group went on does not count: the process may have grown unseen. */
static __always_inline struct grown *grown_of(struct mm_struct *mm, const struct target *target, __u32 tgid,
					      const struct control *shared)
{
	struct grown *known = bpf_map_lookup_elem(&grown, &tgid);

	return known && known->mm == (__u64)mm && known->started_ns == target->started_ns &&
			       known->since_ns >= *(volatile const __u64 *)&shared->growth_since_ns
		       ? known
		       : NULL;
}

static __always_inline void begin_growth(struct mm_struct *mm, const struct target *target, __u32 tgid,
					 __u64 now_ns)
{
	struct grown fresh = { .mm = (__u64)mm,
			       .started_ns = target->started_ns,
			       .since_ns = now_ns,
			       .most = { (__u64)pages_of(mm, OF_ANONYMOUS),
					 (__u64)pages_of(mm, OF_SHARED) } };

	bpf_map_update_elem(&grown, &tgid, &fresh, BPF_ANY);
}

/*
 * Whether the budgets have a stack and a slot left for so many steps of growth. Without one, the growth counts with a later stack
 * of the process. The more there is, the sooner it gets one.
 */
static __always_inline bool may_write(struct growth_state *state, struct cpu_state *ring,
				      const struct control *shared, __u64 steps, __u64 now_ns)
{
	__u64 least_ns = SECOND_NS / (steps >= 16 ? 8 : steps >= 4 ? 4 : 2);

	return bucket_level(&state->stacks, now_ns) >= least_ns &&
	       bucket_spend(&ring->slots, now_ns, *(volatile const __u32 *)&shared->offcpu_slots_hz,
			    least_ns) &&
	       bucket_spend(&state->stacks, now_ns, GROWTH_HZ, 0);
}

/* The kernel calls this in the process's own context and not in interrupts, so nothing else writes to the ring meanwhile. */
static __always_inline void write_growth(void *ctx, struct growth_state *state, struct cpu_state *ring,
					 struct sample *slot, const struct target *target,
					 struct task_struct *task, __u64 bytes, __u64 now_ns)
{
	struct sample *sample = &state->sample;
	long kernel_bytes;

	fill_identity(sample, task, target->started_ns, target->pattern_id, SAMPLE_OF_TARGET);
	sample->cpu = bpf_get_smp_processor_id();
	sample->kind = SAMPLE_GROWTH;
	kernel_bytes = get_kernel_stack(ctx, sample, &state->scratch, now_ns);
	if (kernel_bytes > 0)
		put_kernel_stack(sample, &state->scratch, (__u32)kernel_bytes,
				 kernel_bytes == sizeof(state->scratch.frames) ? 0 : OWN_FRAMES);
	record_user_stack(ctx, sample, &state->scratch, target->started_ns, now_ns);
	publish(&slot->seq, 0);
	slot->time_ns = now_ns;
	slot->weight_ns = bytes;
	slot->queued_ns = slot->left_ns = slot->woken_ns = 0;
	copy_to_slot(slot, sample);
	publish(&slot->seq, ++ring->written);
	count(COUNTER_SAMPLES_GROWTH);
}

/* `seen` is of this process, and says that it may have grown enough. */
static __always_inline void look(void *ctx, struct growth_state *state, struct seen *seen,
				 struct task_struct *task, struct mm_struct *mm, __u32 kind, __s64 pages)
{
	struct control *shared = control_get();
	__u64 now_ns = bpf_ktime_get_ns(), most, began_ns;
	__u32 tgid = task->tgid, zero = 0;
	struct cpu_state *ring = bpf_map_lookup_elem(&offcpu_cpus, &zero);
	struct target *target = may_be_target(task) ? bpf_map_lookup_elem(&targets, &tgid) : NULL;
	struct grown *known;
	struct sample *slot;

	if (!target || !shared || !ring || is_retired() || is_quiet(shared, now_ns))
		return;
	known = grown_of(mm, target, tgid, shared);
	if (!known) {
		begin_growth(mm, target, tgid, now_ns);
		return;
	}
	most = known->most[kind];
	if (pages - (__s64)most < (__s64)growth_step_pages) {
		seen->until = (__s64)(most + growth_step_pages);
		return;
	}
	slot = next_slot(ring, shared);
	if (!slot || target_is_denied(task) ||
	    !may_write(state, ring, shared, ((__u64)pages - most) / growth_step_pages, now_ns))
		return;
	/* another thread of the process may have been faster */
	if (__sync_val_compare_and_swap(&known->most[kind], most, (__u64)pages) != most)
		return;
	began_ns = bpf_ktime_get_ns();
	write_growth(ctx, state, ring, slot, target, task, ((__u64)pages - most) * PAGE_BYTES, now_ns);
	bucket_charge(&state->stacks, GROWTH_HZ, bpf_ktime_get_ns() - began_ns);
}

/* On Linux 6.1 there is a third argument, which the counts say as well. */
SEC("tp_btf/rss_stat")
int BPF_PROG(memory_grown, struct mm_struct *mm, int member)
{
	__u32 zero = 0, kind = member == MM_SHMEMPAGES ? OF_SHARED : OF_ANONYMOUS;
	struct growth_state *state;
	struct task_struct *task;
	struct seen *seen;
	__s64 pages;

	if ((member != MM_ANONPAGES && member != MM_SHMEMPAGES) || !latency_group_wanted(LATENCY_MEMORY))
		return 0;
	task = bpf_get_current_task_btf();
	state = bpf_map_lookup_elem(&growth_cpus, &zero);
	/* of another process: fork(2) copies, reclaim takes, exec(2) makes */
	if (task->mm != mm || !state)
		return 0;
	pages = pages_of(mm, kind);
	seen = &state->seen[kind];
	if (seen->mm == (__u64)mm && seen->tgid == (__u32)task->tgid && pages < seen->until)
		return 0;
	seen->mm = (__u64)mm;
	seen->tgid = task->tgid;
	/* what is no target yet is looked at again then, too */
	seen->until = pages + (__s64)growth_step_pages;
	look(ctx, state, seen, task, mm, kind, pages);
	return 0;
}
