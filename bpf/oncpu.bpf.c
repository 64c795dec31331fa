/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * oncpu.bpf.c owns the on-CPU samples: at each tick of the perf clock, the stacks of the target that runs,
 * into this CPU's ring. The oldest slot is overwritten; nobody is woken.
 */
#include "bpf/rebase.h"
#include "bpf/target.h"
#include "bpf/user_stack.h"

/* Mapped by the consumer: written here, never read. */
struct samples_map oncpu SEC(".maps");

/*
 * Kept from the consumer, unlike the slot: what lies here is not rebased or checked yet, and a reader that
 * spins on a slot would see it there.
 */
struct scratch {
	__u64 written;  /* samples of this CPU so far */
	__u64 erred_ns; /* when this CPU reported an error last */
	__u64 frames[SAMPLE_KERNEL_FRAMES];
	struct user_block user_block;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} oncpu_scratch SEC(".maps");

/* The loader sets these before it loads. */
const volatile __u32 oncpu_slots_per_cpu = 1;
const volatile __u32 oncpu_cpus = 1;
const volatile __u64 oncpu_period_ns = 1;

/* Stores that user space must see in this order; an exchange is a full barrier (kernel 5.12). */
static __always_inline void publish(__u64 *seq, __u64 value)
{
	__sync_lock_test_and_set(seq, value);
}

#define ERROR_INTERVAL_NS 1000000000ULL

/* All are counted; one a second and CPU says who, and why. */
static __always_inline void note_stack_error(struct scratch *scratch, const struct sample *slot, __u32 code,
					     long error)
{
	count(code == ERROR_KERNEL_STACK ? COUNTER_KERNEL_STACK_ERRORS : COUNTER_USER_STACK_ERRORS);
	if (slot->time_ns - scratch->erred_ns < ERROR_INTERVAL_NS)
		return;
	scratch->erred_ns = slot->time_ns;
	report_error(code, (__s32)error, slot->tgid);
}

static __always_inline void take_kernel_stack(struct bpf_perf_event_data *ctx, struct sample *slot,
					      struct scratch *scratch)
{
	long bytes;

	slot->kernel_depth = 0;
	if (!kernel_text || (__s64)PT_REGS_IP(&ctx->regs) >= 0)
		return;
	bytes = bpf_get_stack(ctx, scratch->frames, sizeof(scratch->frames), 0);
	if (bytes < 0) {
		slot->kernel_depth = (__s16)bytes;
		note_stack_error(scratch, slot, ERROR_KERNEL_STACK, bytes);
		return;
	}
	for (__u32 i = 0; i < SAMPLE_KERNEL_FRAMES; i++) {
		if (i * sizeof(__u64) >= (__u64)bytes)
			break;
		slot->kernel_frames[i] = rebase(scratch->frames[i]);
	}
	slot->kernel_depth = (__s16)((__u64)bytes / sizeof(__u64));
}

static __always_inline void take_user_stack(struct bpf_perf_event_data *ctx, struct sample *slot,
					    struct scratch *scratch)
{
	long depth = user_stack_take(ctx, &scratch->user_block, slot->user_frames);

	slot->unwinder = UNWINDER_FRAME_POINTER;
	slot->user_depth = (__s16)depth;
	if (depth < 0)
		note_stack_error(scratch, slot, ERROR_USER_STACK, depth);
}

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
	cpu = bpf_get_smp_processor_id();
	if (cpu >= oncpu_cpus)
		return 0;
	index = cpu * oncpu_slots_per_cpu + (__u32)(scratch->written % oncpu_slots_per_cpu);
	slot = bpf_map_lookup_elem(&oncpu, &index);
	if (!slot)
		return 0;

	publish(&slot->seq, 0);
	task = bpf_get_current_task_btf();
	slot->header.type = RECORD_SAMPLE;
	slot->header.bytes = sizeof(*slot);
	slot->cpu = cpu;
	slot->time_ns = now_ns;
	slot->weight_ns = oncpu_period_ns;
	slot->started_ns = target->started_ns;
	slot->pattern_id = target->pattern_id;
	slot->cgroup_id = bpf_get_current_cgroup_id();
	slot->tgid = tgid;
	slot->tid = (__u32)id;
	slot->thread_state = 0;
	slot->kind = SAMPLE_ON_CPU;
	slot->stall = BPF_CORE_READ_BITFIELD(task, in_memstall) ? STALL_MEMORY : 0;
	bpf_get_current_comm(slot->comm, sizeof(slot->comm));
	take_kernel_stack(ctx, slot, scratch);
	take_user_stack(ctx, slot, scratch);
	if (slot->kernel_depth == SAMPLE_KERNEL_FRAMES || slot->user_depth == SAMPLE_USER_FRAMES)
		count(COUNTER_STACKS_TRUNCATED);
	publish(&slot->seq, ++scratch->written);
	count(COUNTER_SAMPLES_ONCPU);
	return 0;
}
