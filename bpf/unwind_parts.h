/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef BOURDON_BPF_UNWIND_PARTS_H
#define BOURDON_BPF_UNWIND_PARTS_H

#include "bpf/maps.h"

/*
 * Returns the index of the one element, among `count` elements of unwind_maps from `first` on, that may
 * contain the address.
 */
__u32 unwind_search_maps(__u32 first, __u32 count, __u64 address);

/* Returns the rule at offset `at` of a page, 0 if it has none. */
__u32 unwind_search_rows(__u32 page_index, __u32 at);

/*
 * Returns a user register of the current task by its DWARF number. Only the leaf frame knows all registers.
 */
__u64 unwind_leaf_register(__u32 number);

#endif
