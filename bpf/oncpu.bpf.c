/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * oncpu.bpf.c owns the on-CPU samples: each tick of the perf clock writes the stacks of the thread that runs to
 * this CPU's ring, whoever it is, if root's policy allows. The oldest slot is overwritten; no process is woken.
 */
#include "bpf/sample.h"

/* The consumer can write this map: programs write it and never read it. */
struct samples_map oncpu SEC(".maps");

struct scratch {
	__u64 written; /* samples written on this CPU */
	struct stack_scratch stack;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} oncpu_scratch SEC(".maps");

/* Of bpf/offcpu.bpf.c: puts into the accounts what the current thread has run, and for how long others waited for it. */
int offcpu_tick(__u64 now_ns);

/* Set by the loader. */
const volatile __u64 oncpu_period_ns = 1;

/* Not inlined: the zeroed struct takes a third of a BPF program's 512-byte stack. */
static __noinline int make_bystander(__u32 tgid, __u64 started_ns)
{
	struct bystander fresh = { .started_ns = started_ns, .samples = 1 };

	return (int)bpf_map_update_elem(&bystanders, &tgid, &fresh, BPF_ANY);
}

/*
 * Counts a sample of a process that is no target. When there are enough, user space is told as if an address had
 * been in no known mapping: it lists the mappings again, at its own pace.
 */
static __always_inline void note_bystander(struct control *shared, __u32 tgid, __u64 started_ns)
{
	struct bystander *known = bpf_map_lookup_elem(&bystanders, &tgid);

	if (!known || known->started_ns != started_ns)
		make_bystander(tgid, started_ns);
	else if (known->samples < BYSTANDER_OFTEN &&
		 __sync_fetch_and_add(&known->samples, 1) + 1 == BYSTANDER_OFTEN)
		__sync_fetch_and_add(&shared->unmapped, 1);
}

SEC("perf_event")
int oncpu_tick(struct bpf_perf_event_data *ctx)
{
	__u64 id = bpf_get_current_pid_tgid(), now_ns, started_ns;
	__u32 tgid = id >> 32, zero = 0, cpu, index;
	struct target *target;
	struct task_struct *task;
	struct control *shared;
	struct scratch *scratch;
	struct sample *slot;
	long bytes;
	int of;

	if (is_retired())
		return 0;
	target = bpf_map_lookup_elem(&targets, &tgid);
	if (!target && !(policy.bystanders || policy.kernel_threads))
		return 0;
	shared = control_get();
	scratch = bpf_map_lookup_elem(&oncpu_scratch, &zero);
	if (!shared || !scratch)
		return 0;
	task = bpf_get_current_task_btf();
	now_ns = bpf_ktime_get_ns();
	if (is_quiet(shared, now_ns)) {
		if (target)
			count(COUNTER_SAMPLES_QUIET);
		return 0;
	}
	offcpu_tick(now_ns);
	of = whose_sample(task, target);
	if (of < 0)
		return 0;
	cpu = bpf_get_smp_processor_id();
	if (cpu >= ring_cpus)
		return 0;
	index = cpu * slots_per_cpu + (__u32)(scratch->written % slots_per_cpu);
	slot = bpf_map_lookup_elem(&oncpu, &index);
	if (!slot)
		return 0;

	/* read by a helper: the verifier allows no instruction that reads from two kinds of pointers */
	started_ns = target ? target->started_ns : BPF_CORE_READ(task, group_leader, start_boottime);
	if (of == SAMPLE_OF_BYSTANDER)
		note_bystander(shared, tgid, started_ns);
	publish(&slot->seq, 0);
	fill_identity(slot, task, started_ns, target ? target->pattern_id : 0, (__u8)of);
	slot->cpu = cpu;
	slot->time_ns = now_ns;
	slot->weight_ns = oncpu_period_ns;
	slot->queued_ns = slot->left_ns = slot->woken_ns = 0;
	slot->kind = SAMPLE_ON_CPU;
	slot->stall = BPF_CORE_READ_BITFIELD(task, in_memstall) ? STALL_MEMORY : 0;
	slot->kernel_depth = 0;
	if ((__s64)PT_REGS_IP(&ctx->regs) < 0) {
		bytes = get_kernel_stack(ctx, slot, &scratch->stack, now_ns);
		if (bytes > 0)
			put_kernel_stack(slot, &scratch->stack, (__u32)bytes, 0);
	}
	if (of == SAMPLE_OF_KERNEL)
		slot->user_depth = slot->user_ended = slot->unwinder = 0;
	else
		record_user_stack(ctx, slot, &scratch->stack, started_ns, now_ns);
	publish(&slot->seq, ++scratch->written);
	count(of == SAMPLE_OF_TARGET ? COUNTER_SAMPLES_ONCPU : COUNTER_SAMPLES_OTHERS);
	return 0;
}
