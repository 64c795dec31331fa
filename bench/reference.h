/* SPDX-License-Identifier: GPL-2.0-only */
/* reference.h owns the record of the reference program: both stacks, as the kernel's helpers return them. */
#ifndef BOURDON_BENCH_REFERENCE_H
#define BOURDON_BENCH_REFERENCE_H

#include <linux/bpf.h>
#include <linux/types.h>

#define REFERENCE_FRAMES 127 /* the kernel's default limit, sysctl kernel.perf_event_max_stack */

struct reference_record {
	__u64 time_ns;
	__u32 tgid, tid;
	__s32 kernel_bytes, user_bytes; /* the number of frames, or a negative errno */
	char comm[16];
	__u64 kernel_frames[REFERENCE_FRAMES];
	struct bpf_stack_build_id user_frames[REFERENCE_FRAMES];
};

#endif
