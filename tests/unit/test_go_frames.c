/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that the rules of a Go program agree with the .debug_frame that Go's linker writes beside the symbols, that the functions
 * that move to another stack have rules of their own, however the program was linked, and that a damaged program has none that
 * are out of order.
 */
#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/symbolizer/go_frames.h"
#include "common/symbolizer/go_program.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <string.h>

#define RSP 7
#define ROWS_MAX 400000U

struct row {
	uint64_t address;
	struct unwind_rule rule;
};

struct rows {
	struct row *list;
	size_t count;
	uint64_t begins;
};

static int begin_rows(void *user, uint64_t begins)
{
	struct rows *rows = user;

	rows->begins = begins;
	return 0;
}

static int add_rule(void *user, uint64_t address, const struct unwind_rule *rule)
{
	struct rows *rows = user;

	HOLDS(address >= rows->begins && rule->kind < UNWIND_KINDS);
	if (rows->count == ROWS_MAX)
		return -EFBIG;
	rows->list[rows->count++] = (struct row){ address, *rule };
	rows->begins = address;
	return 0;
}

/* The caller frees the list. */
static struct rows rows_of(Elf *elf)
{
	struct rows rows = { .list = malloc(ROWS_MAX * sizeof(*rows.list)) };

	HOLDS(rows.list && !go_frames_read(elf, begin_rows, add_rule, &rows));
	return rows;
}

static const struct row *find_row(const struct rows *rows, uint64_t address)
{
	size_t low = array_partition_point(rows->count, i, rows->list[i].address <= address);

	return low ? &rows->list[low - 1] : NULL;
}

/* Returns how far above the stack pointer the frame begins, or -1 if it is found in another way. */
static int64_t cfa_of(Dwarf_CFI *cfi, uint64_t address)
{
	Dwarf_Frame *frame = NULL;
	Dwarf_Op *ops;
	size_t count;
	int64_t offset = -1;

	if (!dwarf_cfi_addrframe(cfi, address, &frame) && !dwarf_frame_cfa(frame, &ops, &count) &&
	    count == 1) {
		if (ops->atom == DW_OP_bregx && ops->number == RSP)
			offset = (int64_t)ops->number2;
		if (ops->atom == DW_OP_breg0 + RSP)
			offset = (int64_t)ops->number;
	}
	free(frame);
	return offset;
}

START_TEST(as_debug_frame_has_them)
{
	_cleanup_close_ int fd = symbols_open("go_whole");
	Dwarf *dwarf = dwarf_begin(fd, DWARF_C_READ);
	Dwarf_CFI *cfi = dwarf_getcfi(dwarf);
	struct rows rows = rows_of(dwarf_getelf(dwarf));
	size_t compared = 0;

	ck_assert_ptr_nonnull(cfi);
	for (size_t i = 0; i < rows.count; i++) {
		const struct row *row = &rows.list[i];
		int64_t offset;

		if (row->rule.kind != UNWIND_CFA)
			continue;
		offset = cfa_of(cfi, row->address);
		if (offset < 0)
			continue;
		compared++;
		ck_assert_msg(row->rule.cfa_register == RSP && row->rule.cfa_offset == offset,
			      "%#lx: %d, and .debug_frame says %ld", row->address, row->rule.cfa_offset,
			      offset);
	}
	ck_assert_uint_gt(compared, 5000);
	free(rows.list);
	dwarf_end(dwarf);
}
END_TEST

/* Finds a function of the program by its name. */
static struct go_function function_of(Elf *elf, const char *name)
{
	struct go_functions functions;
	struct go_function function;

	HOLDS(!go_program_open(&functions, elf));
	for (uint64_t i = 0; i < functions.count; i++)
		if (go_functions_get(&functions, i, &function) && function.name &&
		    !strcmp(function.name, name))
			return function;
	ck_abort_msg("no function %s", name);
	return function;
}

/* Returns the rule of this kind that holds somewhere in the function, or NULL. */
static const struct unwind_rule *rule_in(const struct rows *rows, Elf *elf, const char *name, uint32_t kind)
{
	struct go_function function = function_of(elf, name);

	for (uint64_t into = 0; into < function.bytes; into++) {
		const struct row *row = find_row(rows, function.begins + into);

		if (row && row->rule.kind == kind)
			return &row->rule;
	}
	return NULL;
}

static const char *const programs[] = { "go_plain", "go_anywhere", "go_external" };

START_TEST(functions_that_move_to_another_stack)
{
	_cleanup_close_ int fd = symbols_open(programs[_i]);
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	struct rows rows = rows_of(elf);
	const struct unwind_rule *systemstack, *morestack;

	systemstack = rule_in(&rows, elf, "runtime.systemstack", UNWIND_GO_SWITCH);
	morestack = rule_in(&rows, elf, "runtime.morestack", UNWIND_GO_SWITCH);
	ck_assert_ptr_nonnull(systemstack);
	ck_assert_ptr_nonnull(morestack);
	/* g.m and g.sched are where they have been since Go 1.4; the goroutine in an M is not */
	ck_assert_int_eq(systemstack->cfa_add, -8);
	ck_assert_int_eq(systemstack->cfa_register, 48);
	ck_assert_int_eq(systemstack->frame_pointer_at, 56);
	ck_assert(systemstack->extra_at > 0 && systemstack->extra_at % 8 == 0);
	ck_assert_int_eq(morestack->extra_at, systemstack->extra_at);
	ck_assert_int_eq(systemstack->return_address, UNWIND_AT_CFA);
	ck_assert_int_eq(morestack->return_address, UNWIND_SAME);
	ck_assert_ptr_nonnull(rule_in(&rows, elf, "runtime.mcall", UNWIND_ROOT));
	ck_assert_ptr_nonnull(rule_in(&rows, elf, "runtime.mcall", UNWIND_CFA));
	ck_assert_ptr_nonnull(rule_in(&rows, elf, "gogo", UNWIND_ROOT));
	ck_assert_ptr_nonnull(rule_in(&rows, elf, "gogo", UNWIND_CFA));
	ck_assert_ptr_nonnull(rule_in(&rows, elf, "runtime.goexit", UNWIND_ROOT));
	ck_assert_ptr_nonnull(rule_in(&rows, elf, "runtime.mstart", UNWIND_ROOT));
	ck_assert_ptr_nonnull(rule_in(&rows, elf, "runtime.nanotime1", UNWIND_CFA_MOVED));
	ck_assert_ptr_nonnull(rule_in(&rows, elf, "runtime.asmcgocall", UNWIND_GO_SWITCH));
	ck_assert_ptr_null(rule_in(&rows, elf, "runtime.mallocgc", UNWIND_NONE));
	free(rows.list);
	elf_end(elf);
}
END_TEST

/* Each byte of runtime.systemstack in turn: either all is known of the runtime's structures, or its callers are not followed. */
START_TEST(machine_code_of_another_release)
{
	_cleanup_close_ int fd = symbols_open("go_plain");
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL), *changed;
	size_t count, followed = 0;
	const char *bytes = elf_rawfile(elf, &count);
	struct go_function function = function_of(elf, "runtime.systemstack");
	_cleanup_free_ char *copy = malloc(count);
	struct go_functions functions;
	size_t at;

	memcpy(copy, bytes, count);
	HOLDS(!go_program_open(&functions, elf));
	at = (size_t)((const char *)functions.code.at - bytes) + (size_t)(function.begins - functions.text);
	for (size_t into = 0; into < function.bytes; into++) {
		struct rows rows;

		copy[at + into] ^= 0x10;
		changed = elf_memory(copy, count);
		rows = rows_of(changed);
		followed += rule_in(&rows, changed, "runtime.systemstack", UNWIND_GO_SWITCH) != NULL;
		ck_assert_ptr_nonnull(rule_in(&rows, changed, "runtime.mallocgc", UNWIND_CFA));
		free(rows.list);
		elf_end(changed);
		copy[at + into] ^= 0x10;
	}
	/* the code before the call, and the numbers in that behind it, may be any */
	ck_assert_uint_gt(followed, function.bytes / 3);
	ck_assert_uint_lt(followed, function.bytes);
	elf_end(elf);
}
END_TEST

START_TEST(a_program_of_another_language)
{
	_cleanup_close_ int fd = symbols_open("dwarf5");
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	struct rows rows = rows_of(elf);

	ck_assert_uint_eq(rows.count, 0);
	free(rows.list);
	elf_end(elf);
}
END_TEST

SUITE(go_frames)
{
	Suite *suite = suite_create("go_frames");
	TCase *tcase = tcase_create("frames");

	elf_version(EV_CURRENT);
	tcase_add_test(tcase, as_debug_frame_has_them);
	tcase_add_loop_test(tcase, functions_that_move_to_another_stack, 0, ARRAY_SIZE(programs));
	tcase_add_test(tcase, machine_code_of_another_release);
	tcase_add_test(tcase, a_program_of_another_language);
	suite_add_tcase(suite, tcase);
	return suite;
}
