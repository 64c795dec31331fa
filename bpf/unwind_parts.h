/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef BOURDON_BPF_UNWIND_PARTS_H
#define BOURDON_BPF_UNWIND_PARTS_H

#include "bpf/maps.h"

/* The element of unwind_maps, of `count` from `first` on, that the address may lie in. */
__u32 unwind_search_maps(__u32 first, __u32 count, __u64 address);

/* The rule at byte `at` of a page, 0 for none. */
__u32 unwind_search_rows(__u32 page_index, __u32 at);

/* A register of the current task's user part, by DWARF's number: in the leaf every one is known. */
__u64 unwind_leaf_register(__u32 number);

#endif
