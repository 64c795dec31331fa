/* SPDX-License-Identifier: GPL-2.0-only */
/* epoch.h tells whether an address space has changed: the kernel counts who locked it to change its mappings (mm/mmap_lock.c). */
#ifndef BOURDON_BPF_EPOCH_H
#define BOURDON_BPF_EPOCH_H

#include "bpf/kernel.h"

/* mapping_record.epoch; 0: the kernel does not count. */
static __always_inline __u32 epoch_of(struct mm_struct *mm)
{
	struct mm_struct___since_6_14 *since_6_14 = (void *)mm;

	if (!mm)
		return 0;
	if (bpf_core_field_exists(since_6_14->mm_lock_seq.sequence))
		return since_6_14->mm_lock_seq.sequence;
	return bpf_core_field_exists(mm->mm_lock_seq) ? (__u32)mm->mm_lock_seq : 0;
}

#endif
