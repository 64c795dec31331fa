/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * user_stack.bpf.c unwinds the user stack of the current task: by the unwind tables of its process if it has any
 * (unwind.h), otherwise by frame pointers. The frame-pointer method does what bpf_get_stack() does
 * (arch/x86/events/core.c, perf_callchain_user), with fewer copies.
 */
#include "bpf/user_stack.h"

#include "bpf/policy.h"
#include "bpf/system_call.h"
#include "bpf/unwind.h"

#if defined(__TARGET_ARCH_x86)

/*
 * Moves one frame up: the saved frame pointer is at rbp, the return address above it. A return address with
 * the top bit set is no user address on any supported architecture and could pass for a kernel address, so
 * the stack ends there. It also ends at a value that is no frame pointer. A frame pointer of 0 ends the chain
 * (System V ABI, AMD64, 3.4.1); but without frame pointers a 0 may be anywhere, so the address beside it must be one of code.
 */
static long unwind_frame_pointer_up(__u32 index, struct unwind_context *context)
{
	struct unwind_state *state = context->state;
	__u64 word = (state->frame_pointer - state->block_begins) / sizeof(__u64), address, above;

	if (state->frame_pointer % sizeof(__u64))
		return 1;
	if (state->frame_pointer < state->block_begins || (word + 2) * sizeof(__u64) > state->block_bytes) {
		if (user_block_read(state, state->frame_pointer))
			return 1;
		word = 0;
	}
	/* always true; the verifier needs to see it */
	word &= USER_BLOCK_WORDS - 1;
	asm volatile("" : "+r"(word));
	above = state->words[word];
	address = state->words[word + 1];
	if ((__s64)address <= 0)
		return 1;
	if (address == state->trampoline) {
		address = unwind_return_probed(state->frame_pointer + sizeof(__u64));
		if ((__s64)address <= 0)
			return 1;
	}
	if (index >= SAMPLE_USER_FRAMES - 1) {
		state->ended = UNWIND_ENDED_DEPTH;
		return 1;
	}
	context->frames[index + 1] = address;
	state->depth = index + 2;
	if (above <= state->frame_pointer) {
		/* perhaps a step from a signal stack to the thread's stack; more often no frame pointer */
		if (!above && context->spans && unwind_may_show(context->spans, address - 1))
			state->ended = UNWIND_ENDED_ROOT;
		if (state->guessed || above == state->frame_pointer || !above)
			return 1;
		state->guessed = 1;
	}
	state->frame_pointer = above;
	return 0;
}

/* Where return probes make functions of the current process return to; 0: none has probed it. */
static __always_inline __u64 return_trampoline(void)
{
	struct mm_struct *mm = bpf_get_current_task_btf()->mm;
	struct xol_area *area;

	if (!mm || !bpf_core_field_exists(mm->uprobes_state))
		return 0;
	area = mm->uprobes_state.xol_area;
	return area ? area->vaddr : 0;
}

/* The innermost function alone, which is in a register. */
static __always_inline long record_leaf(struct sample *slot, const struct unwind_state *state, __u8 ended)
{
	slot->user_frames[0] = state->address;
	slot->unwinder = 0;
	slot->user_ended = ended;
	return 1;
}

__noinline long user_stack_unwind(struct unwind_state *state, struct sample *slot, __u64 started_ns)
{
	struct unwind_context context = { .state = state };
	/*
	 * also valid in an interrupt: the kernel saves the user registers in the same place as for a system
	 * call
	 */
	const struct pt_regs___kernel *registers =
		(const struct pt_regs___kernel *)bpf_task_pt_regs(bpf_get_current_task_btf());
	struct unwind_process *tables;
	__u32 tgid = bpf_get_current_pid_tgid() >> 32;

	if (!state || !slot)
		return -EFAULT;
	context.frames = slot->user_frames;
	if ((__u16)registers->cs != CS_OF_64_BIT || (__s64)registers->ip <= 0)
		return -EFAULT;
	state->address = registers->ip;
	state->stack_pointer = registers->sp;
	state->frame_pointer = registers->bp;
	state->block_begins = state->block_bytes = 0;
	state->depth = 0;
	state->ended = UNWIND_ENDED_NO_RULE;
	state->unwinders = state->guessed = 0;
	state->trampoline = return_trampoline();
	if (policy.unwinding == POLICY_UNWIND_NONE)
		return record_leaf(slot, state, UNWIND_ENDED_POLICY);
	if (!bpf_get_current_task_btf()->mm) /* exit_mm() in kernel/exit.c */
		return record_leaf(slot, state, UNWIND_ENDED_EXITING);
	tables = policy.unwinding == POLICY_UNWIND_DWARF ? bpf_map_lookup_elem(&unwind_procs, &tgid) : NULL;
	context.spans = code_spans_of(tgid);
	if (context.spans && context.spans->started_ns != started_ns)
		context.spans = NULL;
	if (tables && tables->started_ns == started_ns && context.spans) {
		unwind_by_tables(&context, tables);
		if (!state->unwinders)
			state->unwinders = UNWINDER_FRAME_POINTER; /* no method led further */
	} else {
		context.frames[0] = state->address;
		state->depth = 1;
		state->unwinders = UNWINDER_FRAME_POINTER;
		if (unwind_is_first(state))
			state->ended = UNWIND_ENDED_ROOT;
		else
			bpf_loop(SAMPLE_USER_FRAMES, unwind_frame_pointer_up, &context, 0);
	}
	slot->unwinder = state->unwinders;
	slot->user_ended = state->ended;
	return state->depth;
}

#else

__noinline long user_stack_unwind(struct unwind_state *state, struct sample *slot, __u64 started_ns)
{
	return -EFAULT;
}

#endif

__noinline long user_stack_copy(struct sample *slot, const struct unwind_state *state, __u32 bytes)
{
	__u32 depth = 0;

	if (!state || !slot)
		return 0;
	for (; depth < SAMPLE_USER_FRAMES; depth++) {
		if (depth * sizeof(__u64) >= bytes || (__s64)state->words[depth] < 0)
			break;
		slot->user_frames[depth] = state->words[depth];
	}
	return depth;
}
