/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unwind.bpf.c holds those parts of table unwinding that the verifier checks as separate functions. The two
 * search loops compare without branches: with branches the verifier would follow thousands of paths.
 */
#include "bpf/unwind_parts.h"

#define SEARCH_MAPS_STEPS 12 /* log2(UNWIND_MAPPINGS_MAX), plus one */

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

#define USES_MAX 0xffffU

/* The rule so many bytes behind a row that names this element: most have one rule. */
static __always_inline __u32 take_step(__u32 number, __u32 distance)
{
	struct unwind_rule *rule = bpf_map_lookup_elem(&unwind_rules, &number);
	__u32 step = 0;

	if (!rule || rule->kind != UNWIND_STEPS)
		return number;
	for (__u32 i = 1; i < UNWIND_STEPS_MAX; i++)
		step += 1 & (__u32)not_less(distance, rule->steps.at[i]);
	return step < UNWIND_STEPS_MAX ? rule->steps.rules[step] : 0;
}

__noinline __u32 unwind_search_rows(__u32 page_index, __u32 at)
{
	struct unwind_page *page = bpf_map_lookup_elem(&unwind_pages, &page_index);
	struct unwind_chunk *chunk;
	__u32 rows, row, index;

	if (!page || !page->rows)
		return 0;
	page->uses += 1 & (__u16)not_less(USES_MAX - 1, page->uses);
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
	row %= UNWIND_CHUNK_ROWS;
	return take_step(chunk->rows[row].rule, at - chunk->rows[row].at);
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

#define RETURN_PROBES_MAX 64 /* MAX_URETPROBE_DEPTH in the kernel's include/linux/uprobes.h */

/* prepare_uretprobe() in kernel/events/uprobes.c: one for each call, the last call first, with the stack pointer at its begin. */
__noinline __u64 unwind_return_probed(__u64 at)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct return_instance *instance;

	if (!bpf_core_field_exists(task->utask) || !task->utask)
		return 0;
	instance = task->utask->return_instances;
	for (int i = 0; i < RETURN_PROBES_MAX && instance; i++) {
		if (instance->stack == at)
			return instance->orig_ret_vaddr;
		instance = instance->next;
	}
	return 0;
}

#define ENTRY_WORDS 64U /* of the stack, in which the return address is looked for */

struct entry_search {
	__u64 at, address;
	__u32 first, count;
	__u64 found;
};

/* Returns the mapping that contains the address, or NULL. */
static __always_inline struct unwind_mapping *mapping_of(const struct entry_search *search, __u64 address)
{
	__u32 at = unwind_search_maps(search->first, search->count, address);
	struct unwind_mapping *mapping = search->count ? bpf_map_lookup_elem(&unwind_maps, &at) : NULL;

	return mapping && address >= mapping->begins && address < mapping->ends ? mapping : NULL;
}

/*
 * True if the bytes before a return address may be a call through a register or through memory at one, perhaps with an index, and
 * a distance of one byte or four: opcode FF /2. With `direct` also if they may be any other call.
 */
static __always_inline bool is_call(__u64 address, bool direct)
{
	__u8 code[8] = { 0 };

	if (bpf_probe_read_user(code + 1, 7, (void *)(address - 7)))
		return false;
	return (code[6] == 0xff && (code[7] & 0x38) == 0x10) ||
	       (code[5] == 0xff && ((code[6] & 0xf8) == 0x50 || code[6] == 0x14)) ||
	       (code[4] == 0xff && code[5] == 0x54) ||
	       (code[2] == 0xff && ((code[3] & 0xf8) == 0x90 || code[3] == 0x15)) ||
	       (code[1] == 0xff && code[2] == 0x94) || (direct && code[3] == 0xe8);
}

/* Stops at a word that other such code may have been called from: how many callers are before the entry cannot be told. */
static long search_word(__u32 index, struct entry_search *search)
{
	struct unwind_mapping *mapping;
	__u64 at = search->at + index * sizeof(__u64), address;
	bool is_of_file;

	if (bpf_probe_read_user(&address, sizeof(address), (void *)at))
		return 1;
	mapping = mapping_of(search, address - 1);
	if (!mapping)
		return 0;
	is_of_file = mapping->pages;
	if ((!is_of_file && mapping->first_page != UNWIND_OF_NO_FILE) || !is_call(address, !is_of_file))
		return 0;
	if (is_of_file)
		search->found = at;
	return 1;
}

__noinline __u64 unwind_search_entry(__u32 first, __u32 count, __u64 stack_pointer, __u64 frame_pointer)
{
	struct entry_search search = { .at = stack_pointer, .first = first, .count = count };
	__u64 at = frame_pointer + sizeof(__u64);

	if (frame_pointer % sizeof(__u64) == 0 && frame_pointer - stack_pointer <= FRAME_BYTES_MAX &&
	    !bpf_probe_read_user(&search.address, sizeof(search.address), (void *)at) &&
	    mapping_of(&search, search.address - 1))
		return at;
	bpf_loop(ENTRY_WORDS, search_word, &search, 0);
	return search.found;
}

/*
 * thread.fsbase is what the thread had when it last came to this CPU: Go's runtime and the C library set it once, by a system call,
 * which writes it there.
 */
__noinline __u64 unwind_go_pointer(__u32 rule_index)
{
	struct unwind_rule *rule = bpf_map_lookup_elem(&unwind_rules, &rule_index);
	__u64 at = bpf_get_current_task_btf()->thread.fsbase;

	if (!rule || bpf_probe_read_user(&at, sizeof(at), (void *)(at + (__s64)rule->cfa_add)) ||
	    bpf_probe_read_user(&at, sizeof(at), (void *)(at + rule->cfa_register)) ||
	    bpf_probe_read_user(&at, sizeof(at), (void *)(at + (__s64)rule->extra_at)) || !at)
		return 0;
	return at + (__s64)rule->frame_pointer_at;
}

#endif
