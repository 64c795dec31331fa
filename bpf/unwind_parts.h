/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef BOURDON_BPF_UNWIND_PARTS_H
#define BOURDON_BPF_UNWIND_PARTS_H

#include "bpf/maps.h"
#include "bpf/unwind_state.h"

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

/*
 * A return probe of somebody has put its trampoline in the place of the return address at this address of the stack. Returns that
 * one, or 0 where the kernel does not know of it.
 */
__u64 unwind_return_probed(__u64 at);

/*
 * Moves to the caller of a frame in state->mapping, which may have code that HotSpot compiled. Returns 1; 0 if it
 * is no such code, or has a frame pointer; or -1 if no caller can be told.
 */
int unwind_by_hotspot(struct unwind_state *state);

/*
 * Returns where on the stack of code made at run time its return address is: above the frame pointer, if that leads to known code;
 * or the first word above the stack pointer that an indirect call in a file with a table may have put there; or 0.
 */
__u64 unwind_search_entry(__u32 first, __u32 count, __u64 stack_pointer, __u64 frame_pointer);

/*
 * Returns where the runtime of Go keeps the stack pointer of the goroutine that the current thread has left for the scheduler's
 * stack, by a rule of the kind UNWIND_GO_SWITCH; 0 if it cannot be read.
 */
__u64 unwind_go_pointer(__u32 rule_index);

#endif
