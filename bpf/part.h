/* SPDX-License-Identifier: GPL-2.0-only */
/* part.h owns how a time is divided as a slice of time was. The unit tests include it, too, after <linux/types.h>. */
#ifndef BOURDON_BPF_PART_H
#define BOURDON_BPF_PART_H

/* As much of `ns` as `part_ns` is of the slice, and never more than `ns`. An hour of each does not overflow. */
static inline __attribute__((always_inline)) __u64 part_of_slice(__u64 ns, __u64 part_ns, __u64 slice_ns)
{
	/* in us; of a part of less than 4 s the product has room for ns */
	__u32 shift = part_ns >> 32 ? 10 : 0;
	__u64 part = slice_ns >> 10 ? ((ns >> 10) * (part_ns >> shift) / (slice_ns >> 10)) << shift : 0;

	return part > ns ? ns : part;
}

#endif
