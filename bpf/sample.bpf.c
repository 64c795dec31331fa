/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sample.bpf.c holds those parts of filling a sample that the verifier checks as separate functions: inlined, it would
 * check them again for each way that leads there.
 */
#include "bpf/sample.h"

__noinline int note_stack_error(struct stack_scratch *scratch, __u64 now_ns, __u32 tgid, __u32 code,
				__s64 error)
{
	count(code == ERROR_KERNEL_STACK ? COUNTER_KERNEL_STACK_ERRORS : COUNTER_USER_STACK_ERRORS);
	if (!scratch || now_ns - scratch->erred_ns < ERROR_INTERVAL_NS)
		return 0;
	scratch->erred_ns = now_ns;
	report_error(code, (__s32)error, tgid);
	return 0;
}

__noinline int put_kernel_stack(struct sample *slot, const struct stack_scratch *scratch, __u32 bytes,
				__u32 skipped)
{
	__u32 frames = bytes / sizeof(__u64), depth;

	if (!slot || !scratch)
		return 0;
	if (frames > SAMPLE_KERNEL_FRAMES)
		frames = SAMPLE_KERNEL_FRAMES;
	depth = frames > skipped ? frames - skipped : 0;
	/* otherwise clang 19 leaves out the bound of the loop, which Linux 6.1 does not find in `depth` */
	asm volatile("" : "+r"(depth));
	for (__u32 i = 0; i < SAMPLE_KERNEL_FRAMES; i++) {
		__u32 from = i + skipped;

		if (i >= depth)
			break;
		/* changes nothing, but the verifier does not know `depth` from `skipped`; clang would leave it out */
		asm volatile("" : "+r"(from));
		slot->kernel_frames[i] = rebase(scratch->frames[from & (SAMPLE_KERNEL_FRAMES - 1)]);
	}
	slot->kernel_depth = (__s16)depth;
	return 0;
}
