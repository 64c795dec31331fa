/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unwind_state.h owns the state of unwinding one user stack, and reads user memory in blocks: one fault-safe
 * copy serves many frames, where the kernel's own unwinder makes two copies a frame.
 */
#ifndef BOURDON_BPF_UNWIND_STATE_H
#define BOURDON_BPF_UNWIND_STATE_H

#include "bpf/maps.h"

#define USER_BLOCK_WORDS 64U
#define USER_BLOCK_BYTES (USER_BLOCK_WORDS * sizeof(__u64))
#define USER_PAGE_BYTES 4096U

#define FRAME_BYTES_MAX (16ULL << 20) /* largest plausible distance between two frame pointers */

/* Values of unwind_state.extra_at that are not addresses. */
#define EXTRA_IN_REGISTER 0
#define EXTRA_LOST 1

/*
 * One for each CPU, in a map that user space cannot see, because words read from a stack are not checked yet.
 * (Also, the verifier does not track values in a map; on the BPF stack it would distinguish thousands of
 * states.)
 */
struct unwind_state {
	__u64 block_begins; /* user address of words[0] */
	__u64 block_bytes;
	__u64 address; /* instruction address of the next frame */
	__u64 stack_pointer;
	__u64 frame_pointer;
	__u64 trampoline; /* what return probes put in the place of return addresses; 0: the process has none */
	__u32 depth;
	__u8 ended;     /* UNWIND_ENDED_* */
	__u8 unwinders; /* UNWINDER_*: methods used so far */
	__u8 exact;     /* `address` is exact (running or interrupted there), not a return address */
	__u8 guessed;   /* reached through a frame pointer, which may not have been one */
	/* used by table unwinding only */
	__u8 has_switched; /* from the stack of Go's scheduler to the goroutine's, which happens once */
	__u32 rule;        /* index of the frame's rule */
	/* address where the frame's rbx is saved, or EXTRA_IN_REGISTER, EXTRA_LOST */
	__u64 extra_at;
	__u32 maps_first, maps_count;  /* the process's part of unwind_maps */
	struct unwind_mapping mapping; /* result of the last lookup */
	/* the last code that HotSpot's tables were asked about; recursion asks for the same one again */
	__u64 blob, blob_ends;
	__u32 blob_words; /* of its frame */
	__u32 code_at;    /* place in its code, which is read into `words` */
	__u64 words[SAMPLE_USER_FRAMES + 1];
};

/* Argument of a bpf_loop() callback. */
struct unwind_context {
	struct unwind_state *state;
	__u64 *frames; /* SAMPLE_USER_FRAMES elements */
	struct code_spans *spans;
};

static __always_inline int user_block_read(struct unwind_state *state, __u64 address)
{
	__u64 bytes = USER_PAGE_BYTES - address % USER_PAGE_BYTES;

	/* do not read past this page, the next may be unmapped, except for a frame that straddles both */
	if (bytes > USER_BLOCK_BYTES)
		bytes = USER_BLOCK_BYTES;
	if (bytes < 2 * sizeof(__u64))
		bytes = 2 * sizeof(__u64);
	state->block_begins = address;
	state->block_bytes = bytes;
	return bpf_probe_read_user(state->words, (__u32)bytes, (void *)address);
}

/*
 * Reads one word of the stack. Returns false if it cannot be read. A block begins on a word and holds whole
 * words.
 */
static __always_inline bool unwind_read(struct unwind_state *state, __u64 address, __u64 *ret_word)
{
	__u64 offset = address - state->block_begins, word;

	if (offset % sizeof(__u64) || offset >= state->block_bytes) {
		if (address % sizeof(__u64))
			return !bpf_probe_read_user(ret_word, sizeof(*ret_word), (void *)address);
		if (user_block_read(state, address)) {
			state->block_bytes = 0;
			/* a block has at least two words, but this may be the last word of the stack */
			return !bpf_probe_read_user(ret_word, sizeof(*ret_word), (void *)address);
		}
		offset = 0;
	}
	word = (offset / sizeof(__u64)) & (USER_BLOCK_WORDS - 1);
	asm volatile("" : "+r"(word));
	*ret_word = state->words[word];
	return true;
}

#endif
