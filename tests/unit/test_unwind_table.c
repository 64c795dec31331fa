/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that a table has the rules of .eh_frame: functions of this file with call frame information of each
 * kind that a rule can hold, and of kinds that it cannot; and random addresses in the C library and this
 * program, where the rule, computed with random registers, gives the same as libdw's expression. Of whole files of
 * several compilers each row is what libdw finds. Truncated and invalid files give an error.
 */
#include "common/base/cleanup.h"
#include "common/symbolizer/call_frames.h"
#include "common/symbolizer/unwind_table.h"
#include "tests/unit/helpers.h"
#include "tests/unit/libdw_rules.h"
#include "tests/unit/suites.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <gelf.h>
#include <glob.h>
#include <inttypes.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>

#if defined(__x86_64__)

#define RBX 3
#define RBP 6
#define RSP 7
#define RIP 16
#define REGISTERS 17

/* The rule for the byte at an offset of the file, found as by the programs (bpf/unwind.bpf.c), but slowly. */
static const struct unwind_rule *rule_at(const struct unwind_table *table, uint64_t offset)
{
	uint64_t index = offset / UNWIND_PAGE_BYTES - table->first_page;
	const struct unwind_row *found = NULL;
	const struct unwind_page *page;

	if (offset / UNWIND_PAGE_BYTES < table->first_page || index >= table->pages_count)
		return &table->rules[0];
	page = &table->pages[index];
	HOLDS(!page->rows || page->first_row / UNWIND_CHUNK_ROWS < table->chunks_count);
	HOLDS(page->first_row % UNWIND_CHUNK_ROWS + page->rows <= UNWIND_CHUNK_ROWS);
	for (uint32_t i = 0; i < page->rows; i++) {
		const struct unwind_row *row = &table->chunks[page->first_row / UNWIND_CHUNK_ROWS]
							.rows[page->first_row % UNWIND_CHUNK_ROWS + i];

		HOLDS(i ? row->at > found->at : !row->at);
		if (row->at > offset % UNWIND_PAGE_BYTES)
			break;
		found = row;
	}
	if (!found)
		return &table->rules[0];
	HOLDS(found->rule < table->rules_count);
	return &table->rules[unwind_table_step(table->rules, found->rule,
					       (uint32_t)(offset % UNWIND_PAGE_BYTES) - found->at)];
}

static void compile_file(const char *path, struct unwind_table *ret_table)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(unwind_table_compile(fd, ret_table), 0);
}

/* ---- functions with known rules ---- */

/* clang-format off */
#define CODE(name, cfi) \
	".type " name ", @function\n" name ":\n.cfi_startproc\n" cfi ".skip 16, 0x90\n.cfi_endproc\n" \
	".size " name ", . - " name "\n.p2align 5\n"

__asm__(".pushsection .text\n.p2align 5\n"
	/* rsp and rbp, and where rbp is saved */
	CODE("cfi_rsp", "")
	CODE("cfi_rsp_pushed", ".cfi_def_cfa_offset 80\n.cfi_offset 6, -40\n")
	CODE("cfi_rbp", ".cfi_def_cfa 6, 16\n.cfi_offset 6, -16\n")
	CODE("cfi_rbx", ".cfi_def_cfa 3, 1234567\n")
	CODE("cfi_root", ".cfi_undefined 16\n")
	/* breg6 -8; deref */
	CODE("cfi_deref", ".cfi_escape 0x0f, 0x03, 0x76, 0x78, 0x06\n")
	/* breg7 120; deref; plus_uconst 8 */
	CODE("cfi_deref_add", ".cfi_escape 0x0f, 0x06, 0x77, 0xf8, 0x00, 0x06, 0x23, 0x08\n")
	/* breg7 16; deref; lit5; plus */
	CODE("cfi_deref_lit", ".cfi_escape 0x0f, 0x05, 0x77, 0x10, 0x06, 0x35, 0x22\n")
	/* breg7 8; breg16 0; lit15; and; lit11; ge; lit3; shl; plus */
	CODE("cfi_plt", ".cfi_escape 0x0f, 0x0b, 0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22\n")
	/* breg7 160; deref; rip and rbp as expressions: a frame of a signal */
	CODE("cfi_signal", ".cfi_signal_frame\n.cfi_escape 0x0f, 0x04, 0x77, 0xa0, 0x01, 0x06\n"
		".cfi_escape 0x10, 0x10, 0x03, 0x77, 0xa8, 0x01\n.cfi_escape 0x10, 0x06, 0x03, 0x77, 0xf8, 0x00\n")
	/* breg7 8; breg9 0; lit8; mul; plus; deref: two registers */
	CODE("cfi_two_registers", ".cfi_escape 0x0f, 0x08, 0x77, 0x08, 0x79, 0x00, 0x38, 0x1e, 0x22, 0x06\n")
	/* CFA by r10, rbp where rbp points to: the prologue of an aligned stack */
	CODE("cfi_aligned", ".cfi_def_cfa 10, 0\n.cfi_escape 0x10, 0x06, 0x02, 0x76, 0x00\n.cfi_offset 3, -24\n")
	CODE("cfi_rbx_elsewhere", ".cfi_register 3, 12\n")
	/* as in glibc's vfork() */
	CODE("cfi_return_in_rdi", ".cfi_def_cfa_offset 0\n.cfi_register 16, 5\n")
	CODE("cfi_return_nowhere", ".cfi_register 16, 49\n")
	/* the first function of a stack that was made by hand */
	"cfi_before_stack: nop\n.type cfi_begins_stack, @function\ncfi_begins_stack:\n.cfi_startproc\nmov %rbx, %rsp\n.skip 13, 0x90\n"
	".cfi_def_cfa_offset 64\n.skip 16, 0x90\n.cfi_endproc\n.size cfi_begins_stack, . - cfi_begins_stack\n.p2align 5\n"
	/* rbp is in another register */
	CODE("cfi_rbp_elsewhere", ".cfi_register 6, 3\n")
	".globl cfi_none\ncfi_none: .skip 64, 0x90\n"
	".popsection\n");
/* clang-format on */

extern const char cfi_rsp[], cfi_rsp_pushed[], cfi_rbp[], cfi_rbx[], cfi_root[], cfi_deref[], cfi_deref_add[],
	cfi_deref_lit[], cfi_plt[], cfi_signal[], cfi_two_registers[], cfi_rbp_elsewhere[], cfi_aligned[],
	cfi_rbx_elsewhere[], cfi_return_in_rdi[], cfi_return_nowhere[], cfi_before_stack[],
	cfi_begins_stack[], cfi_none[];

#define AT_CFA(at) .return_address = UNWIND_AT_CFA, .return_address_at = (at)
#define SAVED(at) .frame_pointer = UNWIND_AT_CFA, .frame_pointer_at = (at)

static const struct known_case {
	const char *code;
	struct unwind_rule rule;
} known_cases[] = {
	{ cfi_rsp, { .kind = UNWIND_CFA, .cfa_register = RSP, .cfa_offset = 8, AT_CFA(-8) } },
	{ cfi_rsp_pushed,
	  { .kind = UNWIND_CFA, .cfa_register = RSP, .cfa_offset = 80, AT_CFA(-8), SAVED(-40) } },
	{ cfi_rbp, { .kind = UNWIND_CFA, .cfa_register = RBP, .cfa_offset = 16, AT_CFA(-8), SAVED(-16) } },
	{ cfi_rbx, { .kind = UNWIND_CFA, .cfa_register = 3, .cfa_offset = 1234567, AT_CFA(-8) } },
	{ cfi_root, { .kind = UNWIND_ROOT } },
	{ cfi_deref, { .kind = UNWIND_CFA_DEREF, .cfa_register = RBP, .cfa_offset = -8, AT_CFA(-8) } },
	{ cfi_deref_add,
	  { .kind = UNWIND_CFA_DEREF, .cfa_register = RSP, .cfa_offset = 120, .cfa_add = 8, AT_CFA(-8) } },
	{ cfi_deref_lit,
	  { .kind = UNWIND_CFA_DEREF, .cfa_register = RSP, .cfa_offset = 16, .cfa_add = 5, AT_CFA(-8) } },
	{ cfi_plt,
	  { .kind = UNWIND_CFA_PLT, .cfa_register = RSP, .cfa_offset = 8, .cfa_add = 11, AT_CFA(-8) } },
	{ cfi_signal,
	  { .kind = UNWIND_CFA_DEREF,
	    .cfa_register = RSP,
	    .cfa_offset = 160,
	    .is_signal = 1,
	    .return_address = UNWIND_AT_STACK_POINTER,
	    .return_address_at = 168,
	    .frame_pointer = UNWIND_AT_STACK_POINTER,
	    .frame_pointer_at = 120 } },
	{ cfi_aligned,
	  { .kind = UNWIND_CFA,
	    .cfa_register = 10,
	    AT_CFA(-8),
	    .frame_pointer = UNWIND_AT_FRAME_POINTER,
	    .extra = UNWIND_AT_CFA,
	    .extra_at = -24 } },
	{ cfi_rbx_elsewhere,
	  { .kind = UNWIND_CFA,
	    .cfa_register = RSP,
	    .cfa_offset = 8,
	    AT_CFA(-8),
	    .extra = UNWIND_ELSEWHERE } },
	{ cfi_return_in_rdi,
	  { .kind = UNWIND_CFA,
	    .cfa_register = RSP,
	    .return_address = UNWIND_IN_REGISTER,
	    .return_address_at = 5 } },
	{ cfi_return_nowhere, { .kind = UNWIND_EXPRESSION } },
	{ cfi_before_stack, { .kind = UNWIND_ROOT } },
	{ cfi_begins_stack, { .kind = UNWIND_ROOT } },
	{ cfi_begins_stack + 16, { .kind = UNWIND_ROOT } },
	{ cfi_two_registers, { .kind = UNWIND_EXPRESSION } },
	{ cfi_rbp_elsewhere, { .kind = UNWIND_EXPRESSION } },
	{ cfi_none + 32, { .kind = UNWIND_NONE } },
};

START_TEST(every_kind_of_rule)
{
	const struct known_case *one = &known_cases[_i];
	struct unwind_table table;

	compile_file(OWN_PATH, &table);
	for (int byte = 0; byte < 16; byte++) {
		const struct unwind_rule *rule = rule_at(&table, own_offset(one->code + byte));

		ck_assert_mem_eq(rule, &one->rule, sizeof(*rule));
	}
	unwind_table_free(&table);
}
END_TEST

/* The page of the file that the kernel maps first of this program's code. */
START_TEST(the_first_page_with_code)
{
	_cleanup_file_ FILE *maps = fopen("/proc/self/maps", "re");
	char line[512], mode[8] = "";
	uint64_t offset = 0;
	struct unwind_table table;

	while (mode[2] != 'x' && fgets(line, sizeof(line), maps))
		ck_assert_int_eq(sscanf(line, "%*s %7s %" SCNx64, mode, &offset), 2);
	compile_file(OWN_PATH, &table);
	ck_assert_uint_eq(table.text_page, offset / UNWIND_PAGE_BYTES);
	unwind_table_free(&table);
}
END_TEST

/* 1 << 63, of either sign, in each instruction that has an offset: nothing overflows, as make sanitize shows. */
START_TEST(offsets_beyond_all_numbers)
{
	static const uint8_t codes[] = { DW_CFA_offset_extended, DW_CFA_offset_extended_sf,
					 DW_CFA_GNU_negative_offset_extended, DW_CFA_def_cfa,
					 DW_CFA_def_cfa_sf };
	static const int64_t alignments[] = { 1, -1, -8, INT64_MIN, INT64_MAX };
	uint8_t instructions[] = { 0, RBP, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01 };

	for (size_t i = 0; i < ARRAY_SIZE(codes) * ARRAY_SIZE(alignments); i++) {
		struct call_frames_common common = { .code_alignment = 1,
						     .data_alignment = alignments[i % ARRAY_SIZE(alignments)],
						     .return_register = RIP };

		instructions[0] = codes[i / ARRAY_SIZE(alignments)];
		ck_assert(call_frames_begin(
			&common,
			(struct dwarf_bytes){ instructions, instructions + sizeof(instructions), false }));
	}
}
END_TEST

/* ---- random addresses, against libdw's own expressions ---- */

/* The word at an address: made up, but the same each time. */
static uint64_t memory_at(uint64_t address)
{
	return (address ^ address >> 29) * 0xbf58476d1ce4e5b9U;
}

/*
 * A plain interpreter of the operations in the expressions of frames. Returns false for any other operation.
 */
static bool evaluate(const Dwarf_Op *ops, size_t count, const uint64_t *registers, uint64_t cfa,
		     uint64_t *ret_value)
{
	uint64_t stack[16] = { 0 };
	size_t depth = 0;

	for (size_t i = 0; i < count; i++) {
		const Dwarf_Op *op = &ops[i];

		HOLDS(depth < ARRAY_SIZE(stack) - 1);
		if (op->atom == DW_OP_bregx && op->number < REGISTERS)
			stack[depth++] = registers[op->number] + op->number2;
		else if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg16)
			stack[depth++] = registers[op->atom - DW_OP_breg0] + op->number;
		else if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
			stack[depth++] = op->atom - DW_OP_lit0;
		else if (op->atom == DW_OP_call_frame_cfa)
			stack[depth++] = cfa;
		else if (op->atom == DW_OP_plus_uconst && depth)
			stack[depth - 1] += op->number;
		else if (op->atom == DW_OP_deref && depth)
			stack[depth - 1] = memory_at(stack[depth - 1]);
		else if (op->atom == DW_OP_and && depth > 1 && depth--)
			stack[depth - 1] &= stack[depth];
		else if (op->atom == DW_OP_plus && depth > 1 && depth--)
			stack[depth - 1] += stack[depth];
		else if (op->atom == DW_OP_mul && depth > 1 && depth--)
			stack[depth - 1] *= stack[depth];
		else if (op->atom == DW_OP_shl && depth > 1 && depth--)
			stack[depth - 1] <<= stack[depth];
		else if (op->atom == DW_OP_ge && depth > 1 && depth--)
			stack[depth - 1] = (int64_t)stack[depth - 1] >= (int64_t)stack[depth];
		else
			return false;
	}
	if (depth)
		*ret_value = stack[depth - 1];
	return depth != 0;
}

/* As the programs do it (bpf/unwind.h, unwind_by_rule()). */
static uint64_t cfa_of(const struct unwind_rule *rule, const uint64_t *registers)
{
	uint64_t cfa = registers[rule->cfa_register] + (uint64_t)(int64_t)rule->cfa_offset;

	if (rule->kind == UNWIND_CFA_DEREF)
		return memory_at(cfa) + (uint64_t)(int64_t)rule->cfa_add;
	if (rule->kind == UNWIND_CFA_PLT && registers[RIP] % 16 >= (uint32_t)rule->cfa_add)
		return cfa + 8;
	return cfa;
}

static void expect_location(Dwarf_Frame *frame, int number, uint8_t where, int32_t at,
			    const struct unwind_rule *rule, const uint64_t *registers)
{
	uint64_t cfa = cfa_of(rule, registers), place = 0;
	Dwarf_Op memory[3], *ops;
	size_t count;

	HOLDS(!dwarf_frame_register(frame, number, memory, &ops, &count));
	if (!count) {
		HOLDS(where == UNWIND_SAME);
		return;
	}
	if (where == UNWIND_IN_REGISTER) {
		HOLDS(count == 1 && ops->atom == DW_OP_regx && (int32_t)ops->number == at);
		return;
	}
	HOLDS(where != UNWIND_SAME && evaluate(ops, count, registers, cfa, &place));
	HOLDS(place == (where == UNWIND_AT_CFA             ? cfa
			: where == UNWIND_AT_STACK_POINTER ? registers[RSP]
							   : registers[RBP]) +
			       (uint64_t)(int64_t)at);
}

/* Whether the rule finds a caller. The code of an address is at `text` plus the address. */
static bool expect_as_libdw(Dwarf_CFI *cfi, const char *text, uint64_t address,
			    const struct unwind_rule *rule, struct dice *dice)
{
	_cleanup_free_ Dwarf_Frame *frame = NULL;
	uint64_t registers[REGISTERS], cfa = 0;
	Dwarf_Addr from, to;
	Dwarf_Op memory[3], *ops;
	size_t count;
	bool is_signal;

	if (dwarf_cfi_addrframe(cfi, address, &frame)) {
		/* except between two functions, where the rule of the first may still hold */
		return false;
	}
	for (size_t i = 0; i < REGISTERS; i++)
		registers[i] = dice_roll(dice);
	registers[RIP] = address;
	HOLDS(dwarf_frame_info(frame, &from, &to, &is_signal) == RIP);
	HOLDS(!dwarf_frame_register(frame, RIP, memory, &ops, &count));
	/* glibc's __start_context() begins with mov %rbx, %rsp; it has 26 bytes */
	if (rule->kind == UNWIND_ROOT && memmem(text + address - 32, 35, "\x48\x89\xdc", 3))
		return true;
	if (rule->kind == UNWIND_ROOT || (!count && ops)) {
		HOLDS(rule->kind == UNWIND_ROOT && !count && ops);
		return true;
	}
	if (rule->kind == UNWIND_EXPRESSION)
		return false;
	HOLDS(rule->kind == UNWIND_CFA || rule->kind == UNWIND_CFA_DEREF || rule->kind == UNWIND_CFA_PLT);
	HOLDS(!dwarf_frame_cfa(frame, &ops, &count));
	HOLDS(evaluate(ops, count, registers, 0, &cfa) && cfa == cfa_of(rule, registers));
	HOLDS(rule->is_signal == is_signal);
	expect_location(frame, RIP, rule->return_address, rule->return_address_at, rule, registers);
	if (rule->extra != UNWIND_ELSEWHERE)
		expect_location(frame, RBX, rule->extra, rule->extra_at, rule, registers);
	expect_location(frame, RBP, rule->frame_pointer, rule->frame_pointer_at, rule, registers);
	return true;
}

static int note_libc(struct dl_phdr_info *info, size_t bytes, void *user)
{
	(void)bytes;
	if (strstr(info->dlpi_name, "/libc.so"))
		snprintf(user, 256, "%s", info->dlpi_name);
	return 0;
}

static void compare_all(const char *path, uint64_t salt)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct dice dice = dice_new(salt);
	struct unwind_table table;
	unsigned int walkable = 0, all = 0;
	size_t segments;
	Dwarf_CFI *cfi;
	Elf *elf;

	ck_assert_int_eq(unwind_table_compile(fd, &table), 0);
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	cfi = dwarf_getcfi_elf(elf);
	ck_assert_ptr_nonnull(cfi);
	ck_assert_int_eq(elf_getphdrnum(elf, &segments), 0);
	for (size_t i = 0; i < segments; i++) {
		GElf_Phdr segment;

		if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
		    !(segment.p_flags & PF_X))
			continue;
		for (int tries = 0; tries < 30000; tries++) {
			uint64_t into = dice_roll(&dice) % segment.p_filesz;

			all++;
			walkable += expect_as_libdw(
				cfi, elf_rawfile(elf, NULL) + segment.p_offset - segment.p_vaddr,
				segment.p_vaddr + into, rule_at(&table, segment.p_offset + into), &dice);
		}
	}
	/* the rest is padding, or has no call frame information */
	ck_assert_uint_gt(walkable, all / 10 * 7);
	dwarf_cfi_end(cfi);
	elf_end(elf);
	unwind_table_free(&table);
}

START_TEST(this_program_against_libdw)
{
	compare_all(OWN_PATH, 210);
}
END_TEST

START_TEST(the_c_library_against_libdw)
{
	char path[256] = "";

	dl_iterate_phdr(note_libc, path);
	ck_assert_msg(path[0], "this program has no libc.so");
	compare_all(path, 211);
}
END_TEST

/* ---- whole files, row by row, against libdw ---- */

/* Programs and libraries of several compilers, languages and linkers; those from MAY_LACK on are not of make deps. */
static const char *const compared_files[] = {
	"/proc/self/exe",
	"/usr/bin/bash",
	"/usr/bin/perl",
	"/usr/bin/python3",
	"/lib*/*/libc.so.6",
	"/usr/lib/*/libcrypto.so.3",
	"/usr/lib/*/libstdc++.so.6",
	"/usr/lib/*/libLLVM*.so*",
	"/usr/lib/*/libpython3*.so.1.0",
	"/usr/bin/node",
	"/usr/lib/*/libnode.so.*",
	"/usr/lib/jvm/*/lib/server/libjvm.so",
};

#define MAY_LACK 8

struct comparison {
	const char *path;
	const struct libdw_rules *wanted;
	uint32_t met; /* of wanted->ranges */
	const struct unwind_rule *last;
};

/* Takes the rows of a table one by one; those that repeat what the row before says begin a page. */
static void expect_row(struct comparison *comparison, uint64_t at, const struct unwind_rule *rule)
{
	const struct libdw_range *range = &comparison->wanted->ranges[comparison->met];

	if (comparison->last ? !memcmp(comparison->last, rule, sizeof(*rule)) : rule->kind == UNWIND_NONE)
		return;
	ck_assert_msg(comparison->met < comparison->wanted->count && range->at == at &&
			      !memcmp(&comparison->wanted->rules.rules[range->rule], rule, sizeof(*rule)),
		      "%s: the rule at %#" PRIx64 " is not libdw's, which has range %" PRIu32 " of %" PRIu32
		      " there",
		      comparison->path, at, comparison->met, comparison->wanted->count);
	comparison->met++;
	comparison->last = rule;
}

/* The row, or each of its steps. */
static void expect_steps(struct comparison *comparison, uint64_t at, const struct unwind_rule *rules,
			 uint32_t number)
{
	const struct unwind_steps *steps = &rules[number].steps;

	if (steps->kind != UNWIND_STEPS) {
		expect_row(comparison, at, &rules[number]);
		return;
	}
	HOLDS(!steps->at[0]);
	for (size_t i = 0; i < UNWIND_STEPS_MAX; i++) {
		HOLDS(!i || steps->at[i] > steps->at[i - 1] ||
		      (steps->at[i] == steps->at[i - 1] && steps->rules[i] == steps->rules[i - 1]));
		expect_row(comparison, at + steps->at[i],
			   &rules[unwind_table_step(rules, number, steps->at[i])]);
	}
}

static void expect_same_rows(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct libdw_rules wanted;
	struct comparison comparison = { .path = path, .wanted = &wanted };
	struct unwind_table table;
	struct stat at;

	ck_assert_msg(!unwind_table_compile(fd, &table) && !libdw_rules_read(fd, &wanted), "%s", path);
	/* libdw's may begin with an end that nothing is before */
	comparison.met = wanted.ranges[0].rule == 0;
	for (uint32_t i = 0; i < table.pages_count; i++) {
		uint64_t begins = (table.first_page + i) * UNWIND_PAGE_BYTES;

		if (!table.pages[i].rows)
			expect_row(&comparison, begins, &table.rules[0]);
		for (uint32_t j = 0; j < table.pages[i].rows; j++) {
			uint32_t number = table.pages[i].first_row + j;
			const struct unwind_row *row =
				&table.chunks[number / UNWIND_CHUNK_ROWS].rows[number % UNWIND_CHUNK_ROWS];

			expect_steps(&comparison, begins + row->at, table.rules, row->rule);
		}
	}
	/* Debian 13's node is a small program that calls its library */
	ck_assert_msg(!fstat(fd, &at) && comparison.met == wanted.count &&
			      (wanted.count > 1000 || at.st_size < 100000),
		      "%s: %" PRIu32 " of %" PRIu32 " ranges", path, comparison.met, wanted.count);
	unwind_table_free(&table);
	libdw_rules_free(&wanted);
}

START_TEST(each_row_is_libdws)
{
	glob_t found;
	int result = glob(compared_files[_i], 0, NULL, &found);

	ck_assert_msg(!result || _i >= MAY_LACK, "no file is %s", compared_files[_i]);
	if (!result)
		expect_same_rows(
			found.gl_pathv[0]); /* the others are most often links to it, or its last version */
	globfree(&found);
}
END_TEST

/* ---- damaged files ---- */

START_TEST(files_that_are_no_program)
{
	_cleanup_close_ int null = open("/dev/null", O_RDONLY | O_CLOEXEC),
			    text = open("/etc/passwd", O_RDONLY);
	struct unwind_table table = { .rows = 77 };

	ck_assert_int_eq(unwind_table_compile(null, &table), -ENOTSUP);
	ck_assert_int_eq(unwind_table_compile(text, &table), -ENOTSUP);
	ck_assert_int_eq(unwind_table_compile(-1, &table), -ENOTSUP);
	ck_assert_uint_eq(table.rows, 77);
}
END_TEST

static void *read_whole(const char *path, size_t *ret_bytes)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat at;
	void *bytes;

	ck_assert_int_eq(fstat(fd, &at), 0);
	bytes = malloc((size_t)at.st_size);
	ck_assert_int_eq(read(fd, bytes, (size_t)at.st_size), at.st_size);
	*ret_bytes = (size_t)at.st_size;
	return bytes;
}

/* An error, or a table whose numbers are all in their ranges (rule_at() checks), but no crash. */
static void compile_damaged(const char *path)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct unwind_table table;

	if (unwind_table_compile(fd, &table))
		return;
	for (uint32_t page = 0; page < table.pages_count; page++)
		rule_at(&table, (table.first_page + page) * UNWIND_PAGE_BYTES + UNWIND_PAGE_BYTES - 1);
	unwind_table_free(&table);
}

START_TEST(damaged_files)
{
	_cleanup_free_ char *directory = directory_make(), *path = path_join(directory, "damaged");
	struct dice dice = dice_new(212);
	size_t bytes;
	_cleanup_free_ uint8_t *program = read_whole("/usr/bin/env", &bytes);
	_cleanup_free_ uint8_t *damaged = malloc(bytes);

	for (int round = 0; round < 300; round++) {
		size_t cut = round % 3 ? bytes : dice_below(&dice, (uint32_t)bytes);

		memcpy(damaged, program, bytes);
		for (uint32_t i = dice_below(&dice, 60); i > 0; i--)
			damaged[dice_below(&dice, round % 2 ? 4096 : (uint32_t)bytes)] =
				(uint8_t)dice_roll(&dice);
		file_put(path, damaged, cut);
		compile_damaged(path);
	}
}
END_TEST

#endif

SUITE(unwind_table)
{
	Suite *suite = suite_create("unwind_table");
	TCase *cases = tcase_create("tables");

#if defined(__x86_64__)
	tcase_add_loop_test(cases, every_kind_of_rule, 0, ARRAY_SIZE(known_cases));
	tcase_add_test(cases, the_first_page_with_code);
	tcase_add_test(cases, offsets_beyond_all_numbers);
	tcase_add_test(cases, this_program_against_libdw);
	tcase_add_test(cases, the_c_library_against_libdw);
	tcase_add_loop_test(cases, each_row_is_libdws, 0, ARRAY_SIZE(compared_files));
	tcase_add_test(cases, files_that_are_no_program);
	tcase_add_test(cases, damaged_files);
#endif
	suite_add_tcase(suite, cases);
	return suite;
}
