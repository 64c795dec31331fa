/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unwind.h unwinds a user stack by the tables of its process (abi.h, unwind_*). They hold DWARF's call frame
 * information (DWARF 5, 6.4) for the stack pointer, the frame pointer and the return address. A frame without
 * a rule is unwound by its frame pointer, if that leads to a known function; code that HotSpot compiled, by
 * HotSpot's own tables (hotspot.bpf.c).
 *
 * The consumer can write the tables. Whatever they contain, unwinding reads a bounded amount of user memory
 * only, and records no word that is not an address of code.
 */
#ifndef BOURDON_BPF_UNWIND_H
#define BOURDON_BPF_UNWIND_H

#include "bpf/unwind_parts.h"
#include "bpf/unwind_state.h"

#if defined(__TARGET_ARCH_x86)

#define PLT_ENTRY_BYTES 16U
#define FIRST_BYTES_MAX 64U /* that a program's first function pushes, or leaves free to align its stack */
#define VDSO_BYTES_MAX 16384U

/* DWARF register numbers (System V ABI, AMD64, 3.6.2). */
#define DWARF_RBX 3
#define DWARF_RBP 6
#define DWARF_RSP 7

/* Sets state->mapping to the mapping that contains the address. Returns false if none does. */
static __always_inline bool unwind_find_mapping(struct unwind_state *state, __u64 address)
{
	struct unwind_mapping *mapping;
	__u32 at;

	if (address - state->mapping.begins < state->mapping.ends - state->mapping.begins)
		return true;
	at = unwind_search_maps(state->maps_first, state->maps_count, address);
	mapping = state->maps_count ? bpf_map_lookup_elem(&unwind_maps, &at) : NULL;
	if (!mapping || address < mapping->begins || address >= mapping->ends)
		return false;
	state->mapping = *mapping;
	return true;
}

/* Returns the rule for an address in state->mapping, or NULL. */
static __always_inline struct unwind_rule *unwind_find_rule(struct unwind_state *state, __u64 address)
{
	__u64 offset = address - state->mapping.table_at;
	__u32 rule;

	if (offset / UNWIND_PAGE_BYTES >= state->mapping.pages)
		return NULL;
	rule = unwind_search_rows(state->mapping.first_page + (__u32)(offset / UNWIND_PAGE_BYTES),
				  (__u32)(offset % UNWIND_PAGE_BYTES));
	state->rule = rule;
	return bpf_map_lookup_elem(&unwind_rules, &rule);
}

/* True if the mappings iterator has seen code at this address: only then may it be recorded. */
static __always_inline bool unwind_may_show(const struct code_spans *spans, __u64 address)
{
	const struct code_span *span = &spans->spans[(address >> CODE_SPAN_BITS) % CODE_SPANS];

	return address - span->begins < span->ends - span->begins ||
	       (spans->vdso && address - spans->vdso < VDSO_BYTES_MAX);
}

/* Reads the return address at this address of the stack. Returns false if it cannot be read. */
static __always_inline bool unwind_read_return(struct unwind_state *state, __u64 at, __u64 *ret_address)
{
	__u64 probed;

	if (!unwind_read(state, at, ret_address))
		return false;
	if (!state->trampoline || *ret_address != state->trampoline)
		return true;
	probed = unwind_return_probed(at);
	if (probed)
		*ret_address = probed;
	return true;
}

/*
 * Whether the frame is that of a program's first function, which has no caller: none can be so near to where the kernel has put the
 * arguments (create_elf_tables() in fs/binfmt_elf.c). The dynamic loader's _dl_start_user and the _start of other C libraries than
 * glibc have no table that says so.
 */
static __always_inline bool unwind_is_first(const struct unwind_state *state)
{
	const struct mm_struct *mm = bpf_get_current_task_btf()->mm;

	return mm && mm->start_stack - state->stack_pointer <= FIRST_BYTES_MAX;
}

/* Unwinds one frame by rbp, on the assumption that it is a frame pointer. */
static __always_inline bool unwind_by_frame_pointer(struct unwind_state *state)
{
	__u64 at = state->frame_pointer;

	/* a zero frame pointer ends the chain (System V ABI, AMD64, 3.4.1) */
	if (!at && state->guessed) {
		state->ended = UNWIND_ENDED_ROOT;
		return false;
	}
	state->ended = UNWIND_ENDED_NO_RULE;
	if (at % sizeof(__u64) || at - state->stack_pointer > FRAME_BYTES_MAX ||
	    !unwind_read(state, at, &state->frame_pointer) ||
	    !unwind_read_return(state, at + sizeof(__u64), &state->address))
		return false;
	state->stack_pointer = at + 2 * sizeof(__u64);
	state->exact = 0;
	state->guessed = 1;
	state->extra_at = EXTRA_LOST;
	state->unwinders |= UNWINDER_FRAME_POINTER;
	return true;
}

/*
 * Unwinds one frame of code that was made at run time. It has no table, and often no frame pointer either. Then its caller is said
 * to be the first word above the stack pointer that is the return address of an indirect call in a file with a table: a library
 * enters such code so.
 */
static __always_inline bool unwind_made_code(struct unwind_state *state)
{
	__u64 at = unwind_search_entry(state->maps_first, state->maps_count, state->stack_pointer,
				       state->frame_pointer);

	if (!at || at == state->frame_pointer + sizeof(__u64))
		return unwind_by_frame_pointer(state);
	state->ended = UNWIND_ENDED_NO_RULE;
	if (!unwind_read(state, at, &state->address))
		return false;
	state->stack_pointer = at + sizeof(__u64);
	state->exact = 0;
	state->guessed = 1;
	state->extra_at = EXTRA_LOST;
	state->unwinders |= UNWINDER_FRAME_POINTER;
	return true;
}

/* Reads the register that the frame's CFA is computed from. Returns false if its value is unknown. */
static __always_inline bool unwind_base(struct unwind_state *state, __u32 number, __u64 *ret_base)
{
	if (number == DWARF_RSP)
		*ret_base = state->stack_pointer;
	else if (number == DWARF_RBP)
		*ret_base = state->frame_pointer;
	else if (state->depth == 1 || (number == DWARF_RBX && state->extra_at == EXTRA_IN_REGISTER))
		*ret_base = unwind_leaf_register(number);
	else
		return number == DWARF_RBX && state->extra_at != EXTRA_LOST &&
		       unwind_read(state, state->extra_at, ret_base);
	return true;
}

static __always_inline __u64 unwind_place(const struct unwind_state *state, __u64 cfa, __u32 where, __s64 at)
{
	return (where == UNWIND_AT_CFA             ? cfa
		: where == UNWIND_AT_STACK_POINTER ? state->stack_pointer
						   : state->frame_pointer) +
	       at;
}

/*
 * In the epilogue of a function that realigned its stack, rbp already holds the caller's value, but GCC's
 * rule still says that rbp points to the saved value. If it does not point into the frame, rbp is left
 * unchanged.
 */
static __always_inline void unwind_frame_pointer(struct unwind_state *state, const struct unwind_rule *rule,
						 __u64 cfa, __u64 *frame_pointer)
{
	__u64 at = unwind_place(state, cfa, rule->frame_pointer, rule->frame_pointer_at), saved;

	if (rule->frame_pointer == UNWIND_AT_FRAME_POINTER &&
	    at - state->stack_pointer >= cfa - state->stack_pointer)
		return;
	if (unwind_read(state, at, &saved))
		*frame_pointer = saved;
}

/* Finds the caller's address of a frame with this CFA. Returns false, and why, if it is not known. */
static __always_inline bool unwind_caller(struct unwind_state *state, const struct unwind_rule *rule,
					  __u64 cfa, __u64 *ret_address)
{
	if (rule->return_address == UNWIND_IN_REGISTER) {
		state->ended = UNWIND_ENDED_REGISTER;
		if (state->depth != 1)
			return false;
		*ret_address = unwind_leaf_register((__u32)rule->return_address_at);
		return true;
	}
	return unwind_read_return(
		state, unwind_place(state, cfa, rule->return_address, rule->return_address_at), ret_address);
}

static __always_inline bool unwind_by_rule(struct unwind_state *state, const struct unwind_rule *rule)
{
	__u64 cfa, frame_pointer = state->frame_pointer, extra_at = state->extra_at, address;

	if (!unwind_base(state, rule->cfa_register, &cfa)) {
		state->ended = UNWIND_ENDED_REGISTER;
		return false;
	}
	state->ended = UNWIND_ENDED_MEMORY;
	cfa += (__s64)rule->cfa_offset;
	if (rule->kind == UNWIND_CFA_DEREF) {
		if (!unwind_read(state, cfa, &cfa))
			return false;
		cfa += (__s64)rule->cfa_add;
	} else if (rule->kind == UNWIND_CFA_PLT && state->address % PLT_ENTRY_BYTES >= (__u32)rule->cfa_add) {
		cfa += sizeof(__u64);
	}
	/*
	 * A caller's frame is above, except across a signal frame, which may be on another stack. It may begin right there if the
	 * return address is in a register: then this frame has no word on the stack.
	 */
	if (cfa < state->stack_pointer + (rule->return_address != UNWIND_IN_REGISTER) && !rule->is_signal &&
	    rule->kind != UNWIND_CFA_MOVED)
		return false;
	if (rule->extra == UNWIND_ELSEWHERE)
		extra_at = EXTRA_LOST;
	else if (rule->extra != UNWIND_SAME)
		extra_at = unwind_place(state, cfa, rule->extra, rule->extra_at);
	/* the lower word first, so that one block holds both */
	if (rule->frame_pointer != UNWIND_SAME)
		unwind_frame_pointer(state, rule, cfa, &frame_pointer);
	if (!unwind_caller(state, rule, cfa, &address))
		return false;
	if (!address) {
		/* the end of a stack that a program made, as for a coroutine; without the other 0, a rule may just be wrong */
		if (!frame_pointer) {
			state->unwinders |= UNWINDER_EH_FRAME;
			state->ended = UNWIND_ENDED_ROOT;
		}
		return false;
	}
	state->address = address;
	state->frame_pointer = frame_pointer;
	state->stack_pointer = cfa;
	state->extra_at = extra_at;
	state->exact = rule->is_signal;
	state->guessed = 0;
	state->unwinders |= UNWINDER_EH_FRAME;
	return true;
}

/*
 * Goes on with the goroutine that called a function of Go's runtime on the scheduler's stack. It is left once: a second time the
 * runtime's structures would say the same of it.
 */
static __always_inline bool unwind_to_goroutine(struct unwind_state *state, const struct unwind_rule *rule)
{
	__u64 pointer = state->has_switched ? 0 : unwind_go_pointer(state->rule), cfa, address, saved;

	state->ended = UNWIND_ENDED_MEMORY;
	if (!pointer || !unwind_read(state, pointer, &cfa) || !cfa)
		return false;
	if (rule->return_address == UNWIND_SAME) {
		if (!unwind_read(state, pointer + sizeof(__u64), &address))
			return false;
	}
	cfa += (__s64)rule->cfa_offset;
	if (rule->frame_pointer == UNWIND_AT_CFA) {
		if (!unwind_read(state, cfa - 2 * sizeof(__u64), &saved))
			return false;
		state->frame_pointer = saved;
	}
	if (rule->return_address != UNWIND_SAME && !unwind_read(state, cfa - sizeof(__u64), &address))
		return false;
	state->address = address;
	state->stack_pointer = cfa;
	state->extra_at = EXTRA_LOST;
	state->exact = 0;
	state->guessed = 0;
	state->has_switched = 1;
	state->unwinders |= UNWINDER_EH_FRAME;
	return true;
}

/* Tells the consumer that mappings may have changed: it scans them again when this counter grows. */
static __always_inline void unwind_doubt(void)
{
	struct control *shared = control_get();

	if (shared)
		__sync_fetch_and_add(&shared->unmapped, 1);
}

/* Records the frame at state->address and moves to its caller. Returns 1 to stop. */
static long unwind_up(__u32 index, struct unwind_context *context)
{
	struct unwind_state *state = context->state;
	__u64 inside = state->address - !state->exact;
	struct unwind_rule *rule;
	bool shown = !index || unwind_may_show(context->spans, inside), mapped;

	if (index >= SAMPLE_USER_FRAMES) {
		state->ended = UNWIND_ENDED_DEPTH;
		return 1;
	}
	mapped = shown && unwind_find_mapping(state, inside);
	if (!mapped && state->guessed)
		return 1; /* the guess was wrong: not a frame pointer */
	if (shown) {
		context->frames[index] = state->address + (state->exact && index);
		state->depth = index + 1;
	}
	if (!mapped) {
		state->ended = UNWIND_ENDED_UNMAPPED;
		unwind_doubt();
		return 1;
	}
	rule = unwind_find_rule(state, inside);
	if (!rule || rule->kind == UNWIND_NONE) {
		int moved = 0;

		if (unwind_is_first(state)) {
			state->ended = UNWIND_ENDED_ROOT;
			return 1;
		}
		if (!state->mapping.pages && state->mapping.first_page == UNWIND_OF_NO_FILE)
			return !unwind_made_code(state);
		if (!state->mapping.pages && state->mapping.first_page)
			moved = unwind_by_hotspot(state);
		return moved ? moved < 0 : !unwind_by_frame_pointer(state);
	}
	/* a signal handler returns to the exact interrupted instruction, not to one after a call */
	if (rule->is_signal && !state->exact)
		context->frames[index]++;
	if (rule->kind == UNWIND_ROOT) {
		state->ended = UNWIND_ENDED_ROOT;
		/* a thread in its first function needs no table to get there */
		state->unwinders |= UNWINDER_EH_FRAME;
		return 1;
	}
	if (rule->kind == UNWIND_GO_SWITCH)
		return !unwind_to_goroutine(state, rule);
	if (rule->kind == UNWIND_EXPRESSION || rule->kind >= UNWIND_KINDS) {
		state->ended = UNWIND_ENDED_EXPRESSION;
		state->unwinders |= UNWINDER_EH_FRAME;
		return 1;
	}
	if (unwind_by_rule(state, rule))
		return 0;
	if (state->ended != UNWIND_ENDED_ROOT)
		unwind_doubt(); /* the rule may belong to an earlier mapping of this address */
	return 1;
}

/* Unwinds from the registers already in the state. */
static __always_inline void unwind_by_tables(struct unwind_context *context,
					     const struct unwind_process *tables)
{
	struct unwind_state *state = context->state;

	state->maps_first = tables->first;
	state->maps_count = tables->count;
	state->mapping.begins = state->mapping.ends = 0;
	state->exact = 1;
	state->extra_at = EXTRA_IN_REGISTER;
	state->blob_ends = 0;
	state->has_switched = 0;
	bpf_loop(SAMPLE_USER_FRAMES + 1, unwind_up, context, 0);
}

#endif

#endif
