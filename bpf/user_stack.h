/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * user_stack.h owns the walk over the current task's user stack. By frame pointers it does what
 * bpf_get_stack() does (arch/x86/events/core.c, perf_callchain_user), but reads the stack in blocks, one
 * fault-proof copy for many frames, where the kernel makes two for each.
 */
#ifndef BOURDON_BPF_USER_STACK_H
#define BOURDON_BPF_USER_STACK_H

#include "bpf/kernel.h"
#include "common/abi.h"

#define USER_BLOCK_WORDS 64U
#define USER_BLOCK_BYTES (USER_BLOCK_WORDS * sizeof(__u64))
#define USER_PAGE_BYTES 4096U

/*
 * What was read of a stack and is not checked yet. Not visible to user space; a program that walks has one
 * for each CPU.
 */
struct user_block {
	__u64 words[SAMPLE_USER_FRAMES + 1];
};

/* The kernel's own walk: of 32-bit programs, and where no registers are known to us. */
static __always_inline long user_stack_get(void *ctx, struct user_block *block, __u64 *frames)
{
	long bytes = bpf_get_stack(ctx, block->words, SAMPLE_USER_FRAMES * sizeof(__u64), BPF_F_USER_STACK);
	__u32 depth = 0;

	if (bytes < 0)
		return bytes;
	for (; depth < SAMPLE_USER_FRAMES; depth++) {
		if (depth * sizeof(__u64) >= (__u64)bytes || (__s64)block->words[depth] < 0)
			break;
		frames[depth] = block->words[depth];
	}
	return depth;
}

#if defined(__TARGET_ARCH_x86)

#define CS_OF_64_BIT 0x33 /* __USER_CS */

struct user_walk {
	__u64 *frames; /* SAMPLE_USER_FRAMES of them */
	struct user_block *block;
	__u64 block_begins; /* the user address of block->words[0] */
	__u64 block_bytes;
	__u64 frame_pointer;
	__u32 depth;
	__u32 turned; /* back down, once */
};

static __always_inline int user_block_read(struct user_walk *walk)
{
	__u64 bytes = USER_PAGE_BYTES - walk->frame_pointer % USER_PAGE_BYTES;

	/* the page above may not be there: no further than this one, but for a frame that lies in both */
	if (bytes > USER_BLOCK_BYTES)
		bytes = USER_BLOCK_BYTES;
	if (bytes < 2 * sizeof(__u64))
		bytes = 2 * sizeof(__u64);
	walk->block_begins = walk->frame_pointer;
	walk->block_bytes = bytes;
	return bpf_probe_read_user(walk->block->words, (__u32)bytes, (void *)walk->frame_pointer);
}

/*
 * One frame up: the saved frame pointer, and above it the return address. A return address with the top bit
 * is no user address on any architecture that we run on, and may look like one of the kernel's: the stack
 * ends there, as it does at a frame pointer that is none.
 */
static long user_walk_up(__u32 index, struct user_walk *walk)
{
	__u64 word = (walk->frame_pointer - walk->block_begins) / sizeof(__u64), address, above;

	if (walk->frame_pointer % sizeof(__u64))
		return 1;
	if (walk->frame_pointer < walk->block_begins || (word + 2) * sizeof(__u64) > walk->block_bytes) {
		if (user_block_read(walk))
			return 1;
		word = 0;
	}
	/* which it is, but the verifier wants to see it */
	word &= USER_BLOCK_WORDS - 1;
	asm volatile("" : "+r"(word));
	above = walk->block->words[word];
	address = walk->block->words[word + 1];
	if ((__s64)address <= 0 || index >= SAMPLE_USER_FRAMES - 1)
		return 1;
	walk->frames[index + 1] = address;
	walk->depth = index + 2;
	if (above <= walk->frame_pointer) {
		/* from a signal's stack to the thread's, perhaps; more often this is no frame pointer */
		if (walk->turned || above == walk->frame_pointer)
			return 1;
		walk->turned = 1;
	}
	walk->frame_pointer = above;
	return 0;
}

/* `walk` is as yet empty. */
static __always_inline long user_stack_walk(struct user_walk *walk)
{
	/* also after an interrupt: the kernel copies what it saved to where a system call does */
	const struct pt_regs___kernel *registers =
		(const struct pt_regs___kernel *)bpf_task_pt_regs(bpf_get_current_task_btf());
	__u64 leaf = registers->ip;

	if ((__u16)registers->cs != CS_OF_64_BIT || (__s64)leaf <= 0)
		return -EFAULT;
	walk->frames[0] = leaf;
	walk->depth = 1;
	walk->frame_pointer = registers->bp;
	bpf_loop(SAMPLE_USER_FRAMES - 1, user_walk_up, walk, 0);
	return walk->depth;
}

#endif

/*
 * The frames of the current task into `frames`, SAMPLE_USER_FRAMES of them, leaf first. Returns their number,
 * or a negative errno where it has no stack that can be walked.
 */
static __always_inline long user_stack_take(void *ctx, struct user_block *block, __u64 *frames)
{
#if defined(__TARGET_ARCH_x86)
	struct user_walk walk = { .frames = frames, .block = block };
	long depth = user_stack_walk(&walk);

	if (depth > 0)
		return depth;
#endif
	return user_stack_get(ctx, block, frames);
}

#endif
