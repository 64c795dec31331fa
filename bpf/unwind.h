/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unwind.h owns the walk over a user stack by the tables of its process (abi.h, unwind_*): what DWARF's call
 * frame information says (DWARF 5, 6.4), for the stack pointer, the frame pointer and the return address. A
 * frame for which there is no rule is left by its frame pointer, if that leads to a known function.
 *
 * The tables are the consumer's to write: whatever they say, a walk reads user memory only, not much of it,
 * and shows no word that is no address of code.
 */
#ifndef BOURDON_BPF_UNWIND_H
#define BOURDON_BPF_UNWIND_H

#include "bpf/unwind_parts.h"
#include "bpf/unwind_state.h"

#if defined(__TARGET_ARCH_x86)

#define PLT_ENTRY_BYTES 16U
#define VDSO_BYTES_MAX 16384U
#define FRAME_BYTES_MAX (16ULL << 20) /* between two frame pointers: more is no frame */

/* user_walk.extra_at, of which neither is an address. */
#define EXTRA_IN_REGISTER 0
#define EXTRA_LOST 1

/* DWARF's numbers of registers (System V ABI, AMD64, 3.6.2). */
#define DWARF_RBX 3
#define DWARF_RBP 6
#define DWARF_RSP 7

/* Makes walk->mapping the one that the address lies in. */
static __always_inline bool unwind_find_mapping(struct user_walk *walk, __u64 address)
{
	struct unwind_mapping *mapping;
	__u32 at;

	if (address - walk->mapping.begins < walk->mapping.ends - walk->mapping.begins)
		return true;
	at = unwind_search_maps(walk->maps_first, walk->maps_count, address);
	mapping = walk->maps_count ? bpf_map_lookup_elem(&unwind_maps, &at) : NULL;
	if (!mapping || address < mapping->begins || address >= mapping->ends)
		return false;
	walk->mapping = *mapping;
	return true;
}

/* The rule for an address in walk->mapping, or NULL. */
static __always_inline struct unwind_rule *unwind_find_rule(const struct user_walk *walk, __u64 address)
{
	__u64 offset = address - walk->mapping.table_at;
	__u32 rule;

	if (offset / UNWIND_PAGE_BYTES >= walk->mapping.pages)
		return NULL;
	rule = unwind_search_rows(walk->mapping.first_page + (__u32)(offset / UNWIND_PAGE_BYTES),
				  (__u32)(offset % UNWIND_PAGE_BYTES));
	return bpf_map_lookup_elem(&unwind_rules, &rule);
}

/* Whether it may be shown: programs have seen code there. */
static __always_inline bool unwind_may_show(const struct code_spans *spans, __u64 address)
{
	const struct code_span *span = &spans->spans[(address >> CODE_SPAN_BITS) % CODE_SPANS];

	return address - span->begins < span->ends - span->begins ||
	       (spans->vdso && address - spans->vdso < VDSO_BYTES_MAX);
}

/* A word of the stack. False where it cannot be read. A block begins at a word, and has whole ones. */
static __always_inline bool unwind_read(struct user_walk *walk, __u64 address, __u64 *ret_word)
{
	__u64 offset = address - walk->block_begins, word;

	if (offset % sizeof(__u64) || offset >= walk->block_bytes) {
		if (address % sizeof(__u64))
			return !bpf_probe_read_user(ret_word, sizeof(*ret_word), (void *)address);
		if (user_block_read(walk, address)) {
			walk->block_bytes = 0;
			/* a block has two words at least: one may be the last of the stack */
			return !bpf_probe_read_user(ret_word, sizeof(*ret_word), (void *)address);
		}
		offset = 0;
	}
	word = (offset / sizeof(__u64)) & (USER_BLOCK_WORDS - 1);
	asm volatile("" : "+r"(word));
	*ret_word = walk->words[word];
	return true;
}

/* By the frame pointer, as if it was one. */
static __always_inline bool unwind_by_frame_pointer(struct user_walk *walk)
{
	__u64 at = walk->frame_pointer;

	/* System V ABI, AMD64, 3.4.1 */
	if (!at && walk->guessed) {
		walk->ended = UNWIND_ENDED_ROOT;
		return false;
	}
	walk->ended = UNWIND_ENDED_NO_RULE;
	if (at % sizeof(__u64) || at - walk->stack_pointer > FRAME_BYTES_MAX ||
	    !unwind_read(walk, at, &walk->frame_pointer) ||
	    !unwind_read(walk, at + sizeof(__u64), &walk->address))
		return false;
	walk->stack_pointer = at + 2 * sizeof(__u64);
	walk->exact = 0;
	walk->guessed = 1;
	walk->extra_at = EXTRA_LOST;
	walk->unwinders |= UNWINDER_FRAME_POINTER;
	return true;
}

/* The register that the frame's CFA is computed from. */
static __always_inline bool unwind_base(struct user_walk *walk, __u32 number, __u64 *ret_base)
{
	if (number == DWARF_RSP)
		*ret_base = walk->stack_pointer;
	else if (number == DWARF_RBP)
		*ret_base = walk->frame_pointer;
	else if (walk->depth == 1 || (number == DWARF_RBX && walk->extra_at == EXTRA_IN_REGISTER))
		*ret_base = unwind_leaf_register(number);
	else
		return number == DWARF_RBX && walk->extra_at != EXTRA_LOST &&
		       unwind_read(walk, walk->extra_at, ret_base);
	return true;
}

static __always_inline __u64 unwind_place(const struct user_walk *walk, __u64 cfa, __u32 where, __s64 at)
{
	return (where == UNWIND_AT_CFA             ? cfa
		: where == UNWIND_AT_STACK_POINTER ? walk->stack_pointer
						   : walk->frame_pointer) +
	       at;
}

/*
 * At the end of a function that aligned its stack the frame pointer is the caller's already, and GCC still
 * says that it points to where that is saved: one that does not point into the frame is as it was.
 */
static __always_inline void unwind_frame_pointer(struct user_walk *walk, const struct unwind_rule *rule,
						 __u64 cfa, __u64 *frame_pointer)
{
	__u64 at = unwind_place(walk, cfa, rule->frame_pointer, rule->frame_pointer_at), saved;

	if (rule->frame_pointer == UNWIND_AT_FRAME_POINTER &&
	    at - walk->stack_pointer >= cfa - walk->stack_pointer)
		return;
	if (unwind_read(walk, at, &saved))
		*frame_pointer = saved;
}

static __always_inline bool unwind_by_rule(struct user_walk *walk, const struct unwind_rule *rule)
{
	__u64 cfa, frame_pointer = walk->frame_pointer, extra_at = walk->extra_at, address;

	if (!unwind_base(walk, rule->cfa_register, &cfa)) {
		walk->ended = UNWIND_ENDED_REGISTER;
		return false;
	}
	walk->ended = UNWIND_ENDED_MEMORY;
	cfa += (__s64)rule->cfa_offset;
	if (rule->kind == UNWIND_CFA_DEREF) {
		if (!unwind_read(walk, cfa, &cfa))
			return false;
		cfa += (__s64)rule->cfa_add;
	} else if (rule->kind == UNWIND_CFA_PLT && walk->address % PLT_ENTRY_BYTES >= (__u32)rule->cfa_add) {
		cfa += sizeof(__u64);
	}
	/* but for a signal's, which may lie on a stack of its own, a caller's frame is above */
	if (cfa <= walk->stack_pointer && !rule->is_signal)
		return false;
	if (rule->extra == UNWIND_ELSEWHERE)
		extra_at = EXTRA_LOST;
	else if (rule->extra != UNWIND_SAME)
		extra_at = unwind_place(walk, cfa, rule->extra, rule->extra_at);
	/* the lower word first, so that one block has both */
	if (rule->frame_pointer != UNWIND_SAME)
		unwind_frame_pointer(walk, rule, cfa, &frame_pointer);
	if (!unwind_read(walk, unwind_place(walk, cfa, rule->return_address, rule->return_address_at),
			 &address) ||
	    !address)
		return false;
	walk->address = address;
	walk->frame_pointer = frame_pointer;
	walk->stack_pointer = cfa;
	walk->extra_at = extra_at;
	walk->exact = rule->is_signal;
	walk->guessed = 0;
	walk->unwinders |= UNWINDER_EH_FRAME;
	return true;
}

/* Who looks again what is mapped finds out whether that is why. */
static __always_inline void unwind_doubt(void)
{
	struct control *shared = control_get();

	if (shared)
		__sync_fetch_and_add(&shared->unmapped, 1);
}

/* Takes the frame at walk->address, and goes to its caller. */
static long unwind_up(__u32 index, struct user_walking *walking)
{
	struct user_walk *walk = walking->walk;
	__u64 inside = walk->address - !walk->exact;
	struct unwind_rule *rule;
	bool shown = !index || unwind_may_show(walking->spans, inside), mapped;

	if (index >= SAMPLE_USER_FRAMES) {
		walk->ended = UNWIND_ENDED_DEPTH;
		return 1;
	}
	mapped = shown && unwind_find_mapping(walk, inside);
	if (!mapped && walk->guessed)
		return 1; /* it was no frame pointer */
	if (shown) {
		walking->frames[index] = walk->address + (walk->exact && index);
		walk->depth = index + 1;
	}
	if (!mapped) {
		walk->ended = UNWIND_ENDED_UNMAPPED;
		unwind_doubt();
		return 1;
	}
	rule = unwind_find_rule(walk, inside);
	if (!rule || rule->kind == UNWIND_NONE)
		return !unwind_by_frame_pointer(walk);
	/* the handler of a signal returns to the first byte of what called it, where no call was made */
	if (rule->is_signal && !walk->exact)
		walking->frames[index]++;
	if (rule->kind == UNWIND_ROOT) {
		walk->ended = UNWIND_ENDED_ROOT;
		/* a thread that is in its first function needed no table to get there */
		walk->unwinders |= UNWINDER_EH_FRAME;
		return 1;
	}
	if (rule->kind >= UNWIND_EXPRESSION) {
		walk->ended = UNWIND_ENDED_EXPRESSION;
		walk->unwinders |= UNWINDER_EH_FRAME;
		return 1;
	}
	if (unwind_by_rule(walk, rule))
		return 0;
	unwind_doubt(); /* a rule of what was there before? */
	return 1;
}

/* The registers are there. */
static __always_inline void unwind_walk(struct user_walking *walking, const struct unwind_process *tables)
{
	struct user_walk *walk = walking->walk;

	walk->maps_first = tables->first;
	walk->maps_count = tables->count;
	walk->mapping.begins = walk->mapping.ends = 0;
	walk->exact = 1;
	walk->extra_at = EXTRA_IN_REGISTER;
	bpf_loop(SAMPLE_USER_FRAMES + 1, unwind_up, walking, 0);
}

#endif

#endif
