/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/symbolizer/unwind_table.h"

#include "common/array.h"
#include "common/cleanup.h"
#include "consumer/symbolizer/cfi_entries.h"
#include "consumer/symbolizer/unwind_rules.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdbool.h>
#include <string.h>

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#define FRAME_POINTER 6 /* DWARF register numbers: System V ABI, AMD64, 3.6.2 */
#define STACK_POINTER 7
#define EXTRA 3
#else
#define MACHINE EM_NONE /* no tables are compiled; all stacks are unwound by frame pointers */
#define FRAME_POINTER 0
#define STACK_POINTER 0
#define EXTRA 0
#endif

#define RANGES_MAX (16U << 20) /* of address ranges, before equal neighbours are merged */

#define PADDING 16U

/* The rule that holds from this address to the next range. */
struct range {
	uint64_t address;
	uint32_t rule;
};

struct compiler {
	Elf *elf;
	Dwarf_CFI *cfi;
	struct range *ranges;
	uint32_t ranges_count, ranges_room;
	uint32_t pages_room, chunks_room;
	uint32_t chunk_used; /* rows used in the last chunk */
	struct unwind_rules rules;
	struct unwind_table table;
};

/* ---- rules ---- */

static int intern_rule(struct compiler *compiler, const struct unwind_rule *rule, uint32_t *ret_rule)
{
	uint32_t found = unwind_rules_find(&compiler->rules, rule);
	int result = 0;

	if (found == HASH_INDEX_NONE) {
		found = compiler->rules.count;
		result = found == UNWIND_TABLE_RULES_MAX ? -EFBIG : unwind_rules_add(&compiler->rules, rule);
	}
	if (!result)
		*ret_rule = found;
	return result;
}

static bool is_lit(const Dwarf_Op *op, unsigned int *ret_number)
{
	if (op->atom < DW_OP_lit0 || op->atom > DW_OP_lit31)
		return false;
	*ret_number = op->atom - DW_OP_lit0;
	return true;
}

/* Parses a register plus offset. libdw returns a CFA of that form as DW_OP_bregx. */
static bool is_base(const Dwarf_Op *op, struct unwind_rule *rule)
{
	int64_t offset;

	if (op->atom == DW_OP_bregx) {
		if (op->number > UINT8_MAX)
			return false;
		rule->cfa_register = (__u8)op->number;
		offset = (int64_t)op->number2;
	} else if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		rule->cfa_register = (__u8)(op->atom - DW_OP_breg0);
		offset = (int64_t)op->number;
	} else {
		return false;
	}
	rule->cfa_offset = (__s32)offset;
	return offset == rule->cfa_offset;
}

/* rsp + 8 + (((rip & 15) >= n) << 3): binutils writes this for .plt, whose entries push from byte n on. */
static bool is_plt(const Dwarf_Op *ops, size_t count, struct unwind_rule *rule)
{
	unsigned int mask, from, shift;

	if (count != 9 || !is_base(&ops[0], rule) || ops[1].atom != DW_OP_breg16 || ops[1].number ||
	    !is_lit(&ops[2], &mask) || mask != 15 || ops[3].atom != DW_OP_and || !is_lit(&ops[4], &from) ||
	    ops[5].atom != DW_OP_ge || !is_lit(&ops[6], &shift) || shift != 3 || ops[7].atom != DW_OP_shl ||
	    ops[8].atom != DW_OP_plus || rule->cfa_register != STACK_POINTER)
		return false;
	rule->kind = UNWIND_CFA_PLT;
	rule->cfa_add = (__s32)from;
	return true;
}

/* Memory at register plus offset, plus a constant: realigned stacks, signal frames, assembler code. */
static bool is_deref(const Dwarf_Op *ops, size_t count, struct unwind_rule *rule)
{
	unsigned int add = 0;

	if (count < 2 || !is_base(&ops[0], rule) || ops[1].atom != DW_OP_deref)
		return false;
	if (count == 3 && ops[2].atom == DW_OP_plus_uconst && ops[2].number <= INT32_MAX)
		add = (unsigned int)ops[2].number;
	else if (count != 2 && (count != 4 || !is_lit(&ops[2], &add) || ops[3].atom != DW_OP_plus))
		return false;
	rule->kind = UNWIND_CFA_DEREF;
	rule->cfa_add = (__s32)add;
	return true;
}

static bool read_cfa(Dwarf_Frame *frame, struct unwind_rule *rule)
{
	Dwarf_Op *ops;
	size_t count;

	if (dwarf_frame_cfa(frame, &ops, &count) || !count)
		return false;
	rule->kind = UNWIND_CFA;
	return (count == 1 && is_base(&ops[0], rule)) || is_plt(ops, count, rule) ||
	       is_deref(ops, count, rule);
}

enum saved { SAVED_UNDEFINED, SAVED_SAME, SAVED_AT, SAVED_ELSEWHERE };

/* Finds where the frame keeps the caller's register: a location expression that begins with the CFA. */
static enum saved find_register(Dwarf_Frame *frame, int number, __u8 *ret_where, __s32 *ret_at)
{
	struct unwind_rule base = { 0 };
	Dwarf_Op memory[3], *ops;
	size_t count;
	int64_t at;

	if (dwarf_frame_register(frame, number, memory, &ops, &count))
		return SAVED_ELSEWHERE;
	if (!count)
		return ops ? SAVED_UNDEFINED : SAVED_SAME;
	if (ops[0].atom != DW_OP_call_frame_cfa)
		return SAVED_ELSEWHERE;
	if (count == 2 && is_base(&ops[1], &base)) {
		*ret_where = base.cfa_register == STACK_POINTER ? UNWIND_AT_STACK_POINTER
								: UNWIND_AT_FRAME_POINTER;
		*ret_at = base.cfa_offset;
		return base.cfa_register == STACK_POINTER || base.cfa_register == FRAME_POINTER
			       ? SAVED_AT
			       : SAVED_ELSEWHERE;
	}
	if (count > 2 || (count == 2 && ops[1].atom != DW_OP_plus_uconst))
		return SAVED_ELSEWHERE;
	at = count == 2 ? (int64_t)ops[1].number : 0;
	*ret_where = UNWIND_AT_CFA;
	*ret_at = (__s32)at;
	return at == *ret_at ? SAVED_AT : SAVED_ELSEWHERE;
}

/* Rarely needed: if it cannot be expressed, unwinding ends at a frame that needs it. */
static void read_extra(Dwarf_Frame *frame, struct unwind_rule *rule)
{
	__s32 at = 0;
	enum saved saved = find_register(frame, EXTRA, &rule->extra, &at);

	rule->extra_at = (__s16)at;
	if (saved == SAVED_SAME || saved == SAVED_UNDEFINED) /* not mentioned: rbx is callee-saved */
		rule->extra = UNWIND_SAME;
	else if (saved != SAVED_AT || rule->extra_at != at)
		rule->extra = UNWIND_ELSEWHERE;
	if (rule->extra == UNWIND_SAME || rule->extra == UNWIND_ELSEWHERE)
		rule->extra_at = 0;
}

/* A rule without details. */
static struct unwind_rule rule_of_kind(__u8 kind)
{
	struct unwind_rule rule = { .kind = kind };

	return rule;
}

static struct unwind_rule make_rule(Dwarf_Frame *frame, int return_register, bool is_signal)
{
	struct unwind_rule rule = { .is_signal = is_signal };
	enum saved saved;

	/* undefined return address: the first function of a thread */
	saved = find_register(frame, return_register, &rule.return_address, &rule.return_address_at);
	if (saved == SAVED_UNDEFINED)
		return rule_of_kind(UNWIND_ROOT);
	if (saved != SAVED_AT || !read_cfa(frame, &rule))
		return rule_of_kind(UNWIND_EXPRESSION);
	saved = find_register(frame, FRAME_POINTER, &rule.frame_pointer, &rule.frame_pointer_at);
	if (saved == SAVED_ELSEWHERE)
		return rule_of_kind(UNWIND_EXPRESSION);
	if (saved != SAVED_AT)
		rule.frame_pointer = UNWIND_SAME;
	read_extra(frame, &rule);
	return rule;
}

/* ---- ranges ---- */

static int add_range(struct compiler *compiler, uint64_t address, uint32_t rule)
{
	if (compiler->ranges_count == RANGES_MAX)
		return -EFBIG;
	if (array_make_room(compiler->ranges, compiler->ranges_count, compiler->ranges_room, 1U))
		return -ENOMEM;
	compiler->ranges[compiler->ranges_count++] = (struct range){ address, rule };
	return 0;
}

/* Adds all rules of one function; after its end there is no rule. */
static int add_entry(void *user, uint64_t begins, uint64_t ends)
{
	struct compiler *compiler = user;
	uint64_t address = begins;
	int result = 0;

	while (address < ends && !result) {
		_cleanup_free_ Dwarf_Frame *frame = NULL;
		Dwarf_Addr from, to;
		struct unwind_rule rule;
		int return_register;
		bool is_signal;
		uint32_t number;

		if (dwarf_cfi_addrframe(compiler->cfi, address, &frame))
			break;
		return_register = dwarf_frame_info(frame, &from, &to, &is_signal);
		if (return_register < 0 || to <= address)
			break;
		rule = make_rule(frame, return_register, is_signal);
		result = intern_rule(compiler, &rule, &number);
		if (!result)
			result = add_range(compiler, address, number);
		address = to;
	}
	return result ? result : add_range(compiler, address < ends ? address : ends, 0);
}

/* True if the gap between two functions is shorter than their alignment, so it is padding. */
static bool is_padding(const struct compiler *compiler, uint32_t i)
{
	const struct range *range = &compiler->ranges[i];

	return i + 1 < compiler->ranges_count && !range->rule && range[1].address - range->address < PADDING;
}

/* At one address, a rule sorts before the end of another range. */
static int compare_ranges(const void *a, const void *b)
{
	const struct range *left = a, *right = b;

	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	return left->rule == right->rule ? 0 : left->rule < right->rule ? 1 : -1;
}

static void merge_ranges(struct compiler *compiler)
{
	struct range *ranges = compiler->ranges;
	uint32_t kept = 0;

	qsort(ranges, compiler->ranges_count, sizeof(*ranges), compare_ranges);
	for (uint32_t i = 0; i < compiler->ranges_count; i++) {
		if (i && ranges[i].address == ranges[i - 1].address)
			continue;
		if (kept && (ranges[kept - 1].rule == ranges[i].rule || is_padding(compiler, i)))
			continue;
		ranges[kept++] = ranges[i];
	}
	compiler->ranges_count = kept;
}

/* Converts addresses to file offsets; drops those outside the file's executable segments. */
static int place_ranges(struct compiler *compiler)
{
	size_t segments;
	uint32_t kept = 0;

	if (elf_getphdrnum(compiler->elf, &segments))
		return -EBADMSG;
	for (uint32_t i = 0; i < compiler->ranges_count; i++) {
		struct range range = compiler->ranges[i];

		for (size_t j = 0; j < segments; j++) {
			GElf_Phdr segment;
			uint64_t into;

			if (!gelf_getphdr(compiler->elf, (int)j, &segment) || segment.p_type != PT_LOAD ||
			    !(segment.p_flags & PF_X))
				continue;
			into = range.address - segment.p_vaddr;
			/* the last function may end exactly at the segment's end */
			if (range.address < segment.p_vaddr || into > segment.p_filesz ||
			    (into == segment.p_filesz && range.rule) || segment.p_offset > INT64_MAX - into)
				continue;
			range.address = segment.p_offset + into;
			compiler->ranges[kept++] = range;
			break;
		}
	}
	compiler->ranges_count = kept;
	return kept ? 0 : -ENODATA;
}

/* ---- pages ---- */

/* Reserves rows for a page within one chunk. */
static int reserve_rows(struct compiler *compiler, uint32_t rows, struct unwind_row **ret_rows)
{
	struct unwind_table *table = &compiler->table;

	if (!table->chunks_count || compiler->chunk_used + rows > UNWIND_CHUNK_ROWS) {
		if (table->chunks_count == UNWIND_TABLE_CHUNKS_MAX)
			return -EFBIG;
		if (array_make_room(table->chunks, table->chunks_count, compiler->chunks_room, 1U))
			return -ENOMEM;
		memset(&table->chunks[table->chunks_count++], 0, sizeof(*table->chunks));
		compiler->chunk_used = 0;
	}
	*ret_rows = table->chunks[table->chunks_count - 1].rows + compiler->chunk_used;
	compiler->chunk_used += rows;
	table->rows += rows;
	return 0;
}

/*
 * Adds a page with the ranges from `first` on that begin in it, preceded by the rule in force at its start.
 */
static int add_page(struct compiler *compiler, uint64_t begins, uint32_t first, uint32_t rule_before)
{
	struct unwind_table *table = &compiler->table;
	const struct range *ranges = compiler->ranges;
	uint32_t last = first, carried;
	struct unwind_page page = { 0 };
	struct unwind_row *rows;
	int result;

	while (last < compiler->ranges_count && ranges[last].address - begins < UNWIND_PAGE_BYTES)
		last++;
	carried = first == last || ranges[first].address != begins;
	page.rows = last - first + carried;
	if (page.rows > UNWIND_CHUNK_ROWS)
		return -EFBIG;
	if (page.rows > 1 || rule_before || !carried) {
		result = reserve_rows(compiler, page.rows, &rows);
		if (result < 0)
			return result;
		page.first_row =
			(table->chunks_count - 1) * UNWIND_CHUNK_ROWS + compiler->chunk_used - page.rows;
		if (carried)
			*rows++ = (struct unwind_row){ 0, (__u16)rule_before };
		for (uint32_t i = first; i < last; i++)
			*rows++ = (struct unwind_row){ (__u16)(ranges[i].address - begins),
						       (__u16)ranges[i].rule };
	} else {
		page.rows = 0;
	}
	if (array_make_room(table->pages, table->pages_count, compiler->pages_room, 1U))
		return -ENOMEM;
	table->pages[table->pages_count++] = page;
	return 0;
}

static int make_pages(struct compiler *compiler)
{
	const struct range *ranges = compiler->ranges;
	uint32_t count = compiler->ranges_count, next = 0;
	uint64_t first = ranges[0].address / UNWIND_PAGE_BYTES,
		 last = ranges[count - 1].address / UNWIND_PAGE_BYTES;
	int result = 0;

	if (last - first >= UNWIND_TABLE_PAGES_MAX)
		return -EFBIG;
	compiler->table.first_page = first;
	for (uint64_t page = first; page <= last && !result; page++) {
		uint64_t begins = page * UNWIND_PAGE_BYTES;

		result = add_page(compiler, begins, next, next ? ranges[next - 1].rule : 0);
		while (next < count && ranges[next].address - begins < UNWIND_PAGE_BYTES)
			next++;
	}
	return result;
}

/* ---- the file ---- */

static bool is_of_this_machine(Elf *elf)
{
	GElf_Ehdr header;

	return elf && elf_kind(elf) == ELF_K_ELF && gelf_getehdr(elf, &header) &&
	       header.e_machine == MACHINE && header.e_ident[EI_CLASS] == ELFCLASS64 &&
	       header.e_ident[EI_DATA] == ELFDATA2LSB;
}

static int compile(struct compiler *compiler)
{
	const struct unwind_rule none = { .kind = UNWIND_NONE };
	uint32_t number;
	int result = intern_rule(compiler, &none, &number);

	if (!result)
		result = cfi_entries_each(compiler->elf, add_entry, compiler);
	if (result < 0)
		return result;
	if (!compiler->ranges_count)
		return -ENODATA;
	/* sort by address first: a segment may end where the next begins in the file */
	merge_ranges(compiler);
	result = place_ranges(compiler);
	if (result < 0)
		return result;
	merge_ranges(compiler);
	return make_pages(compiler);
}

int unwind_table_compile(int elf_fd, struct unwind_table *ret_table)
{
	struct compiler compiler = { 0 };
	int result = -ENOTSUP;

	elf_version(EV_CURRENT);
	compiler.elf = elf_begin(elf_fd, ELF_C_READ_MMAP, NULL);
	if (is_of_this_machine(compiler.elf)) {
		compiler.cfi = dwarf_getcfi_elf(compiler.elf);
		result = compiler.cfi ? compile(&compiler) : -ENODATA;
	}
	dwarf_cfi_end(compiler.cfi);
	elf_end(compiler.elf);
	free(compiler.ranges);
	compiler.table.rules = TAKE_PTR(compiler.rules.rules);
	compiler.table.rules_count = compiler.rules.count;
	unwind_rules_free(&compiler.rules);
	if (result < 0)
		unwind_table_free(&compiler.table);
	else
		*ret_table = compiler.table;
	return result;
}

void unwind_table_free(struct unwind_table *table)
{
	free(table->pages);
	free(table->chunks);
	free(table->rules);
	*table = (struct unwind_table){ 0 };
}
