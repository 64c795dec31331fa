/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/unit/libdw_rules.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <stdbool.h>
#include <string.h>

#define FRAME_POINTER 6 /* DWARF register numbers: System V ABI, AMD64, 3.6.2 */
#define STACK_POINTER 7
#define EXTRA 3

#define PADDING 16U

struct compiler {
	Elf *elf;
	Dwarf_CFI *cfi;
	struct libdw_rules *rules;
};

/* ---- entries ---- */

typedef int entry_add(void *user, uint64_t begins, uint64_t ends);

/* Pointer encoding (Linux Standard Base, Core, 10.5: DW_EH_PE). The low half gives its size. */
#define ENCODING_SIZE 0x0fU
#define ENCODING_RELATIVE 0x70U

#define UNKNOWN_ENCODING 0xffU

struct section {
	const uint8_t *ident;
	Elf_Data *data;
	uint64_t address;
};

static bool find_section(Elf *elf, struct section *ret_section)
{
	Elf_Scn *at = NULL;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((at = elf_nextscn(elf, at))) {
		const char *name = gelf_getshdr(at, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;

		if (!name || strcmp(name, ".eh_frame") || header.sh_type == SHT_NOBITS)
			continue;
		ret_section->ident = (const uint8_t *)elf_getident(elf, NULL);
		ret_section->data = elf_getdata(at, NULL);
		ret_section->address = header.sh_addr;
		return ret_section->ident && ret_section->data && ret_section->data->d_buf;
	}
	return false;
}

/* Returns the size in bytes of a pointer in this encoding, or 0. */
static size_t bytes_of(unsigned int encoding)
{
	switch (encoding & ENCODING_SIZE) {
	case DW_EH_PE_udata2:
	case DW_EH_PE_sdata2:
		return 2;
	case DW_EH_PE_udata4:
	case DW_EH_PE_sdata4:
		return 4;
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return 8;
	default:
		return 0;
	}
}

/* Returns the pointer encoding of the CIE's entries: the byte that belongs to 'R' in its augmentation. */
static unsigned int encoding_of(const Dwarf_CIE *cie)
{
	const uint8_t *at = cie->augmentation_data, *end = at ? at + cie->augmentation_data_size : NULL;
	const char *letter = cie->augmentation;

	if (!letter || !*letter)
		return DW_EH_PE_absptr;
	if (*letter++ != 'z' || !at)
		return UNKNOWN_ENCODING;
	for (; *letter && at < end; letter++) {
		if (*letter == 'R')
			return *at;
		if (*letter == 'L') {
			at++;
		} else if (*letter == 'P') {
			size_t bytes = bytes_of(*at);

			if (!bytes || *at == DW_EH_PE_aligned || (size_t)(end - at) < 1 + bytes)
				return UNKNOWN_ENCODING;
			at += 1 + bytes;
		} else if (*letter != 'S' && *letter != 'B') {
			return UNKNOWN_ENCODING;
		}
	}
	return strchr(cie->augmentation, 'R') ? UNKNOWN_ENCODING : DW_EH_PE_absptr;
}

static uint64_t read_number(const uint8_t *at, size_t bytes, bool is_signed)
{
	uint64_t number = 0;
	unsigned int unused = 64 - 8 * (unsigned int)bytes;

	memcpy(&number, at, bytes); /* little-endian, like the host */
	if (is_signed)
		number = (uint64_t)((int64_t)(number << unused) >> unused);
	return number;
}

static bool read_addresses(const struct section *section, const Dwarf_FDE *fde, unsigned int encoding,
			   uint64_t *ret_begins, uint64_t *ret_ends)
{
	const uint8_t *at = fde->start;
	size_t bytes = bytes_of(encoding);
	uint64_t begins, length;

	if (encoding == UNKNOWN_ENCODING || encoding & DW_EH_PE_indirect || !bytes ||
	    (size_t)(fde->end - at) < 2 * bytes)
		return false;
	begins = read_number(at, bytes, encoding & DW_EH_PE_signed);
	if ((encoding & ENCODING_RELATIVE) == DW_EH_PE_pcrel)
		begins += section->address + (uint64_t)(at - (const uint8_t *)section->data->d_buf);
	else if (encoding & ENCODING_RELATIVE)
		return false;
	length = read_number(at + bytes, bytes, false);
	*ret_begins = begins;
	return length && !__builtin_add_overflow(begins, length, ret_ends);
}

static int each_entry(Elf *elf, entry_add *add, void *user)
{
	struct section section;
	Dwarf_Off cie_at = (Dwarf_Off)-1;
	unsigned int encoding = UNKNOWN_ENCODING;
	Dwarf_CFI_Entry entry;
	Dwarf_Off at = 0, next;
	int result = 0;

	if (!find_section(elf, &section))
		return -ENODATA;
	for (; !result; at = next) {
		uint64_t begins, ends;
		int got;

		next = at;
		got = dwarf_next_cfi(section.ident, section.data, true, at, &next, &entry);
		if (got > 0 || next <= at)
			break;
		if (got < 0 || dwarf_cfi_cie_p(&entry))
			continue;
		if (entry.fde.CIE_pointer != cie_at) {
			Dwarf_CFI_Entry cie;
			Dwarf_Off behind;

			cie_at = entry.fde.CIE_pointer;
			encoding =
				!dwarf_next_cfi(section.ident, section.data, true, cie_at, &behind, &cie) &&
						dwarf_cfi_cie_p(&cie)
					? encoding_of(&cie.cie)
					: UNKNOWN_ENCODING;
		}
		if (read_addresses(&section, &entry.fde, encoding, &begins, &ends))
			result = add(user, begins, ends);
	}
	return result;
}

/* ---- rules ---- */

static int intern_rule(struct compiler *compiler, const struct unwind_rule *rule, uint32_t *ret_rule)
{
	struct unwind_rules *rules = &compiler->rules->rules;

	*ret_rule = unwind_rules_find(rules, rule);
	if (*ret_rule != HASH_INDEX_NONE)
		return 0;
	*ret_rule = rules->count;
	return unwind_rules_add(rules, rule);
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
	if (count == 1 && number == 16 && ops[0].atom == DW_OP_regx && ops[0].number < 16) {
		*ret_where = UNWIND_IN_REGISTER;
		*ret_at = (__s32)ops[0].number;
		return SAVED_AT;
	}
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
	struct libdw_rules *rules = compiler->rules;

	if (array_make_room(rules->ranges, rules->count, rules->room, 1U))
		return -ENOMEM;
	rules->ranges[rules->count++] = (struct libdw_range){ address, rule };
	return 0;
}

/* Whether the function's code begins with mov %rbx, %rsp: nobody calls it. */
static bool begins_stack(const struct compiler *compiler, uint64_t begins)
{
	size_t segments, bytes;
	const char *image = elf_rawfile(compiler->elf, &bytes);

	for (size_t i = 0; !elf_getphdrnum(compiler->elf, &segments) && i < segments; i++) {
		GElf_Phdr segment;

		if (gelf_getphdr(compiler->elf, (int)i, &segment) && segment.p_type == PT_LOAD &&
		    segment.p_flags & PF_X && begins - segment.p_vaddr < segment.p_filesz)
			return begins - segment.p_vaddr + segment.p_offset + 3 <= bytes &&
			       !memcmp(image + begins - segment.p_vaddr + segment.p_offset, "\x48\x89\xdc",
				       3);
	}
	return false;
}

/* Adds all rules of one function; after its end there is no rule. */
static int add_entry(void *user, uint64_t begins, uint64_t ends)
{
	static const struct unwind_rule root = { .kind = UNWIND_ROOT };
	struct compiler *compiler = user;
	uint64_t address = begins;
	uint32_t root_number;
	int result = 0;

	if (begins_stack(compiler, begins)) {
		result = intern_rule(compiler, &root, &root_number);
		if (!result)
			result = add_range(compiler, begins - 1, root_number);
		return result ? result : add_range(compiler, ends, 0);
	}
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
	const struct libdw_range *range = &compiler->rules->ranges[i];

	return i + 1 < compiler->rules->count && !range->rule && range[1].at - range->at < PADDING;
}

/* At one address, a rule sorts before the end of another range. */
static int compare_ranges(const void *a, const void *b)
{
	const struct libdw_range *left = a, *right = b;

	if (left->at != right->at)
		return left->at < right->at ? -1 : 1;
	return left->rule == right->rule ? 0 : left->rule < right->rule ? 1 : -1;
}

static void merge_ranges(struct compiler *compiler)
{
	struct libdw_range *ranges = compiler->rules->ranges;
	uint32_t kept = 0;

	qsort(ranges, compiler->rules->count, sizeof(*ranges), compare_ranges);
	for (uint32_t i = 0; i < compiler->rules->count; i++) {
		if (i && ranges[i].at == ranges[i - 1].at)
			continue;
		if (kept && (ranges[kept - 1].rule == ranges[i].rule || is_padding(compiler, i)))
			continue;
		ranges[kept++] = ranges[i];
	}
	compiler->rules->count = kept;
}

/* Converts addresses to file offsets; drops those outside the file's executable segments. */
static int place_ranges(struct compiler *compiler)
{
	size_t segments;
	uint32_t kept = 0;

	if (elf_getphdrnum(compiler->elf, &segments))
		return -EBADMSG;
	for (uint32_t i = 0; i < compiler->rules->count; i++) {
		struct libdw_range range = compiler->rules->ranges[i];

		for (size_t j = 0; j < segments; j++) {
			GElf_Phdr segment;
			uint64_t into;

			if (!gelf_getphdr(compiler->elf, (int)j, &segment) || segment.p_type != PT_LOAD ||
			    !(segment.p_flags & PF_X))
				continue;
			into = range.at - segment.p_vaddr;
			/* the last function may end exactly at the segment's end */
			if (range.at < segment.p_vaddr || into > segment.p_filesz ||
			    (into == segment.p_filesz && range.rule) || segment.p_offset > INT64_MAX - into)
				continue;
			range.at = segment.p_offset + into;
			compiler->rules->ranges[kept++] = range;
			break;
		}
	}
	compiler->rules->count = kept;
	return kept ? 0 : -ENODATA;
}

int libdw_rules_read(int elf_fd, struct libdw_rules *ret_rules)
{
	const struct unwind_rule none = { .kind = UNWIND_NONE };
	struct libdw_rules rules = { 0 };
	struct compiler compiler = { .rules = &rules };
	uint32_t number;
	int result;

	elf_version(EV_CURRENT);
	compiler.elf = elf_begin(elf_fd, ELF_C_READ_MMAP, NULL);
	compiler.cfi = compiler.elf ? dwarf_getcfi_elf(compiler.elf) : NULL;
	result = compiler.cfi ? intern_rule(&compiler, &none, &number) : -ENODATA;
	if (!result)
		result = each_entry(compiler.elf, add_entry, &compiler);
	if (!result) {
		/* by address first: a segment may end where the next begins in the file */
		merge_ranges(&compiler);
		result = place_ranges(&compiler);
	}
	if (!result)
		merge_ranges(&compiler);
	dwarf_cfi_end(compiler.cfi);
	elf_end(compiler.elf);
	if (result < 0)
		libdw_rules_free(&rules);
	else
		*ret_rules = rules;
	return result;
}

void libdw_rules_free(struct libdw_rules *rules)
{
	free(rules->ranges);
	unwind_rules_free(&rules->rules);
	*rules = (struct libdw_rules){ 0 };
}
