/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * oncpu.bpf.c owns the on-CPU samples: each tick of the perf clock writes the stacks of the running target to
 * this CPU's ring. The oldest slot is overwritten; no process is woken.
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

/* Set by the loader. */
const volatile __u64 oncpu_period_ns = 1;

SEC("perf_event")
int oncpu_tick(struct bpf_perf_event_data *ctx)
{
	__u64 id = bpf_get_current_pid_tgid(), now_ns;
	__u32 tgid = id >> 32, zero = 0, cpu, index;
	struct target *target;
	struct task_struct *task;
	struct control *shared;
	struct scratch *scratch;
	struct sample *slot;
	long bytes;

	if (is_retired())
		return 0;
	target = bpf_map_lookup_elem(&targets, &tgid);
	if (!target)
		return 0;
	shared = control_get();
	scratch = bpf_map_lookup_elem(&oncpu_scratch, &zero);
	if (!shared || !scratch)
		return 0;
	now_ns = bpf_ktime_get_ns();
	if (is_quiet(shared, now_ns)) {
		count(COUNTER_SAMPLES_QUIET);
		return 0;
	}
	task = bpf_get_current_task_btf();
	if (target_is_denied(task))
		return 0;
	cpu = bpf_get_smp_processor_id();
	if (cpu >= ring_cpus)
		return 0;
	index = cpu * slots_per_cpu + (__u32)(scratch->written % slots_per_cpu);
	slot = bpf_map_lookup_elem(&oncpu, &index);
	if (!slot)
		return 0;

	publish(&slot->seq, 0);
	fill_identity(slot, target, task);
	slot->cpu = cpu;
	slot->time_ns = now_ns;
	slot->weight_ns = oncpu_period_ns;
	slot->queued_ns = slot->left_ns = slot->woken_ns = 0;
	slot->thread_state = 0;
	slot->kind = SAMPLE_ON_CPU;
	slot->stall = BPF_CORE_READ_BITFIELD(task, in_memstall) ? STALL_MEMORY : 0;
	slot->kernel_depth = 0;
	if ((__s64)PT_REGS_IP(&ctx->regs) < 0) {
		bytes = get_kernel_stack(ctx, slot, &scratch->stack, now_ns);
		if (bytes > 0)
			put_kernel_stack(slot, &scratch->stack, bytes, 0);
	}
	record_user_stack(ctx, slot, &scratch->stack, target, now_ns);
	publish(&slot->seq, ++scratch->written);
	count(COUNTER_SAMPLES_ONCPU);
	return 0;
}
