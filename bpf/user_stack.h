/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * user_stack.h records the user stack of the current task. The verifier checks both functions of
 * bpf/user_stack.bpf.c once a program, whatever it knows of their arguments at a call.
 */
#ifndef BOURDON_BPF_USER_STACK_H
#define BOURDON_BPF_USER_STACK_H

#include "bpf/unwind_state.h"

extern const volatile struct policy policy SEC(".rodata.policy");

/*
 * Records the frames in the slot by its own methods. `started_ns` is the start time of the process. It must not be read
 * back from the slot: the consumer may write there at any time. Returns the number of frames, or a negative errno where
 * the kernel's unwinder has to do.
 */
long user_stack_unwind(struct unwind_state *state, struct sample *slot, __u64 started_ns);

/* Copies the addresses of user code in the first `bytes` of state->words. Returns the number of frames. */
long user_stack_copy(struct sample *slot, const struct unwind_state *state, __u32 bytes);

/*
 * Uses the kernel's own unwinder: for 32-bit programs, and on architectures whose registers are not decoded
 * here.
 */
static __always_inline long user_stack_get(void *ctx, struct unwind_state *state, struct sample *slot)
{
	__u32 most = policy.unwinding == POLICY_UNWIND_NONE ? 1 : SAMPLE_USER_FRAMES;
	long bytes = bpf_get_stack(ctx, state->words, most * sizeof(__u64), BPF_F_USER_STACK);

	slot->unwinder = most > 1 ? UNWINDER_FRAME_POINTER : 0;
	/* the kernel does not say why it stopped */
	slot->user_ended = most > 1 ? UNWIND_ENDED_NO_RULE : UNWIND_ENDED_POLICY;
	return bytes < 0 ? bytes : user_stack_copy(slot, state, (__u32)bytes);
}

/*
 * Records the user frames of the current task, whose process started at `started_ns`, in the slot. Returns
 * their number, or a negative errno if the stack cannot be unwound.
 */
static __always_inline long user_stack_record(void *ctx, struct unwind_state *state, struct sample *slot,
					      __u64 started_ns)
{
	long depth = user_stack_unwind(state, slot, started_ns);

	return depth > 0 ? depth : user_stack_get(ctx, state, slot);
}

#endif
