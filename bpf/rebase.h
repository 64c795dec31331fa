/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rebase.h owns how a kernel address is told to user space: never as it is. In the kernel's own text it is
 * the offset from _text. In the module area it is the offset from the module that was lowest at load time,
 * because that area begins at an address that is no secret: its distance from _text would give _text away.
 */
#ifndef BOURDON_BPF_REBASE_H
#define BOURDON_BPF_REBASE_H

#include "bpf/kernel.h"
#include "common/abi.h"

extern __u64 kernel_text;      /* 0: not known, and then there are no kernel frames */
extern __u64 kernel_text_last; /* the last symbol of the kernel's own code */
extern __u64 kernel_modules;   /* the lowest symbol of a module, 0 without any */

/* Where __schedule() lies, in which a thread leaves the CPU; 0 where that is not known. */
extern __u64 kernel_schedule;
extern __u64 kernel_schedule_end;

/* An offset from _text has 30 bits: the kernel's image is at most 1 GiB (arch/x86, KERNEL_IMAGE_SIZE). */
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
