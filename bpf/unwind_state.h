/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unwind_state.h owns the state of unwinding one user stack, and how its memory is read: in blocks, one fault-proof
 * copy for many frames, where the kernel's own walk makes two for each.
 */
#ifndef BOURDON_BPF_UNWIND_STATE_H
#define BOURDON_BPF_UNWIND_STATE_H

#include "bpf/maps.h"

#define USER_BLOCK_WORDS 64U
#define USER_BLOCK_BYTES (USER_BLOCK_WORDS * sizeof(__u64))
#define USER_PAGE_BYTES 4096U

/*
 * One for each CPU, in a map that is not visible to user space: what was read of a stack is not checked yet.
 * (And the verifier forgets what it knows of numbers there: on the stack it would tell apart thousands of
 * states.)
 */
struct unwind_state {
	__u64 block_begins; /* the user address of words[0] */
	__u64 block_bytes;
	__u64 address; /* of the frame that is next */
	__u64 stack_pointer;
	__u64 frame_pointer;
	__u32 depth;
	__u8 ended;     /* UNWIND_ENDED_* */
	__u8 unwinders; /* UNWINDER_*: those that have led from one frame to the next */
	__u8 exact; /* the thread is at that address, or was interrupted there: it is not one behind a call */
	__u8 guessed; /* a frame pointer led there, and that may have been none */
	/* of the walk by tables */
	__u64 extra_at;                /* where the frame's rbx is saved; EXTRA_IN_REGISTER, EXTRA_LOST */
	__u32 maps_first, maps_count;  /* of the process, in unwind_maps */
	struct unwind_mapping mapping; /* the one that was looked up last */
	__u64 words[SAMPLE_USER_FRAMES + 1];
};

/* What a callback of bpf_loop() is passed. */
struct unwind_context {
	struct unwind_state *state;
	__u64 *frames; /* SAMPLE_USER_FRAMES of them */
	struct code_spans *spans;
};

static __always_inline int user_block_read(struct unwind_state *state, __u64 address)
{
	__u64 bytes = USER_PAGE_BYTES - address % USER_PAGE_BYTES;

	/* the page above may not be there: no further than this one, but for a frame that lies in both */
	if (bytes > USER_BLOCK_BYTES)
		bytes = USER_BLOCK_BYTES;
	if (bytes < 2 * sizeof(__u64))
		bytes = 2 * sizeof(__u64);
	state->block_begins = address;
	state->block_bytes = bytes;
	return bpf_probe_read_user(state->words, (__u32)bytes, (void *)address);
}

#endif
