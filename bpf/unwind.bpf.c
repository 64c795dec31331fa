/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unwind.bpf.c holds those parts of table unwinding that the verifier checks as separate functions. The two
 * search loops compare without branches: with branches the verifier would follow thousands of paths.
 */
#include "bpf/unwind_parts.h"

#define SEARCH_MAPS_STEPS 12 /* log2(UNWIND_MAPPINGS_MAX), plus one */

/* Returns all ones if left >= right, else 0. Both must be below 2^63. */
static __always_inline __u64 not_less(__u64 left, __u64 right)
{
	return ~(__u64)((__s64)(left - right) >> 63);
}

__noinline __u32 unwind_search_maps(__u32 first, __u32 count, __u64 address)
{
	__u32 low = first;

	/* the last mapping that begins at or before the address, provided that the first one does */
	for (__u32 i = 0; i < SEARCH_MAPS_STEPS && count > 1; i++) {
		__u32 half = count / 2, middle = low + half;
		struct unwind_mapping *mapping = bpf_map_lookup_elem(&unwind_maps, &middle);

		if (!mapping)
			return low;
		low += half & (__u32)not_less(address, mapping->begins);
		count -= half;
	}
	return low;
}

__noinline __u32 unwind_search_rows(__u32 page_index, __u32 at)
{
	struct unwind_page *page = bpf_map_lookup_elem(&unwind_pages, &page_index);
	struct unwind_chunk *chunk;
	__u32 rows, row, index;

	if (!page || !page->rows)
		return 0;
	row = page->first_row;
	rows = page->rows;
	index = row / UNWIND_CHUNK_ROWS;
	chunk = bpf_map_lookup_elem(&unwind_rows, &index);
	if (!chunk)
		return 0;
	/* the last row at or before the address; the first row always is */
	for (__u32 i = 0; i <= UNWIND_CHUNK_BITS && rows > 1; i++) {
		__u32 half = rows / 2, middle = (row + half) % UNWIND_CHUNK_ROWS;

		row += half & (__u32)not_less(at, chunk->rows[middle].at);
		rows -= half;
	}
	return chunk->rows[row % UNWIND_CHUNK_ROWS].rule;
}

#if defined(__TARGET_ARCH_x86)

__noinline __u64 unwind_leaf_register(__u32 number)
{
	const struct pt_regs___kernel *registers =
		(const struct pt_regs___kernel *)bpf_task_pt_regs(bpf_get_current_task_btf());

	switch (number) {
	case 0:
		return registers->ax;
	case 1:
		return registers->dx;
	case 2:
		return registers->cx;
	case 3:
		return registers->bx;
	case 4:
		return registers->si;
	case 5:
		return registers->di;
	case 8:
		return registers->r8;
	case 9:
		return registers->r9;
	case 10:
		return registers->r10;
	case 11:
		return registers->r11;
	case 12:
		return registers->r12;
	case 13:
		return registers->r13;
	case 14:
		return registers->r14;
	case 15:
		return registers->r15;
	default:
		return 0;
	}
}

#endif
