/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rebase.h converts kernel addresses to offsets: user space never sees an absolute one. In the kernel's own
 * text the offset is from _text. In the module area it is from the module that was lowest at load time: the
 * start of that area is public, so an offset from _text would reveal _text.
 */
#ifndef BOURDON_BPF_REBASE_H
#define BOURDON_BPF_REBASE_H

#include "bpf/maps.h"
#include "common/abi/abi.h"

extern __u64 kernel_text;      /* address of _text; 0: unknown, no kernel frames are recorded */
extern __u64 kernel_text_last; /* last symbol of the kernel's own code */
extern __u64 kernel_modules;   /* lowest symbol of any module, 0 without modules */

/* Parts of the kernel's code: where each begins and ends; 0 if unknown. */
extern __u64 kernel_schedule[2];   /* __schedule(), where a thread leaves the CPU */
extern __u64 kernel_waking[2];     /* try_to_wake_up() */
extern __u64 kernel_interrupts[2]; /* where the CPU enters the kernel for an interrupt */
extern __u64 kernel_softirqs[2];   /* the function that runs the softirqs */
extern __u64 kernel_forked;        /* ret_from_fork_asm(), where a new thread begins; 0 if unknown */
extern __u64 kernel_locks[2];      /* functions that wait for locks, and those of the scheduler beside them */
extern __u64 kernel_backlog[2]; /* process_backlog(): packets that a thread of this CPU sent to this host */

static __always_inline bool is_in_part(const __u64 part[2], __u64 address)
{
	return address >= part[0] && address < part[1];
}

/* The same without a branch: not 0 if it is there. */
static __always_inline __u64 part_mask(const __u64 part[2], __u64 address)
{
	return not_less(address, part[0]) & ~not_less(address, part[1]);
}

/* Offsets from _text have 30 bits: the kernel's image is at most 1 GiB (arch/x86, KERNEL_IMAGE_SIZE). */
#define TEXT_BYTES_MAX (1ULL << 30)
#define LAST_FUNCTION_BYTES (64ULL << 10)

static __always_inline __s32 rebase(__u64 address)
{
	__u64 offset = address - kernel_text;
	__s64 from_modules = (__s64)(address - kernel_modules);

	if (offset < TEXT_BYTES_MAX && address - LAST_FUNCTION_BYTES <= kernel_text_last)
		return (__s32)offset;
	if (kernel_modules && from_modules >= -KERNEL_FRAME_MODULES_SPAN &&
	    from_modules < KERNEL_FRAME_MODULES_SPAN)
		return (__s32)(KERNEL_FRAME_MODULES + from_modules);
	return KERNEL_FRAME_UNKNOWN;
}

#endif
