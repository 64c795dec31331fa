/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that an offset in an ELF file gets the symbol that covers it, or none: functions of this program, and
 * random offsets compared with a plain search over the symbols.
 */
#include "common/base/cleanup.h"
#include "common/symbolizer/elf_symbols.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

static void find(int fd, const uint64_t *offsets, struct elf_place *places, uint32_t count, Elf **ret_elf)
{
	elf_version(EV_CURRENT);
	*ret_elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	ck_assert_ptr_nonnull(*ret_elf);
	elf_symbols_map(*ret_elf, offsets, places, count);
	elf_symbols_find(*ret_elf, SHT_SYMTAB, places, count);
	elf_symbols_find(*ret_elf, SHT_DYNSYM, places, count);
}

static void expect_one(int fd, uint64_t offset, const char *name, uint64_t function_offset)
{
	struct elf_place place;
	Elf *elf;

	find(fd, &offset, &place, 1, &elf);
	ck_assert_str_eq(place.name ? place.name : "", name);
	if (*name)
		ck_assert_uint_eq(place.address - place.begins, function_offset);
	elf_end(elf);
}

static __attribute__((noinline)) int a_static_function(int x)
{
	__asm__ volatile("nop; nop; nop; nop" ::: "memory");
	return x + 1;
}

START_TEST(own_functions)
{
	_cleanup_close_ int fd = open(OWN_PATH, O_RDONLY | O_CLOEXEC);

	ck_assert_int_eq(a_static_function(1), 2);
	expect_one(fd, own_offset((const void *)a_static_function), "a_static_function", 0);
	expect_one(fd, own_offset((const void *)a_static_function) + 3, "a_static_function", 3);
	expect_one(fd, own_offset((const void *)elf_symbols_find) + 20, "elf_symbols_find", 20);
}
END_TEST

/* A function within a function, one with several names, and one without a size. */
__asm__(".pushsection .text\n"
	".type nested_outer, @function\n"
	"nested_outer: .skip 2, 0x90\n"
	".type nested_a_local, @function\n"
	".type nested_b_global, @function\n"
	".type nested_c_global, @function\n"
	".type nested_a_weak, @function\n"
	".globl nested_b_global, nested_c_global\n"
	".weak nested_a_weak\n"
	"nested_a_local: nested_c_global: nested_b_global: nested_a_weak: .skip 3, 0x90\n"
	".size nested_a_local, 3\n"
	".size nested_b_global, 3\n"
	".size nested_c_global, 3\n"
	".size nested_a_weak, 3\n"
	".skip 3, 0x90\n"
	".size nested_outer, 8\n"
	".type nested_sizeless, @function\n"
	"nested_sizeless: .skip 16, 0x90\n"
	"nested_label: .skip 4, 0x90\n"
	".type nested_ended, @function\n"
	"nested_ended: .skip 4, 0x90\n"
	".size nested_ended, 2\n"
	".popsection\n");

extern const char nested_b_global[];

START_TEST(the_innermost_by_its_best_name)
{
	static const char *const names[] = { "nested_outer",
					     "nested_outer",
					     "nested_b_global",
					     "nested_b_global",
					     "nested_b_global",
					     "nested_outer",
					     "nested_outer",
					     "nested_outer",
					     "",
					     "" };
	_cleanup_close_ int fd = open(OWN_PATH, O_RDONLY | O_CLOEXEC);
	uint64_t begins = own_offset(nested_b_global) - 2;

	for (uint64_t i = 0; i < ARRAY_SIZE(names); i++)
		expect_one(fd, begins + i, names[i], strstr(names[i], "_b_") ? i - 2 : i);
}
END_TEST

/* Behind a function that has ended is nothing, whatever label was before it. */
START_TEST(a_label_reaches_to_the_next_symbol)
{
	_cleanup_close_ int fd = open(OWN_PATH, O_RDONLY | O_CLOEXEC);
	uint64_t begins = own_offset(nested_b_global) + 6, offsets[24];
	struct elf_place places[ARRAY_SIZE(offsets)];
	Elf *elf;

	for (uint64_t i = 0; i < ARRAY_SIZE(offsets); i++)
		offsets[i] = begins + i;
	find(fd, offsets, places, ARRAY_SIZE(offsets), &elf);
	elf_symbols_find_labels(elf, places, ARRAY_SIZE(offsets));
	for (uint64_t i = 0; i < ARRAY_SIZE(offsets); i++) {
		const char *label = i < 16 ? "nested_sizeless" : i < 20 ? "nested_label" : "";

		ck_assert_str_eq(places[i].label ? places[i].label : "", label);
		HOLDS(!*label || places[i].address - places[i].label_begins == i % 16);
		HOLDS(i < 20 || !strcmp(places[i].name ? places[i].name : "", i < 22 ? "nested_ended" : ""));
	}
	ck_assert_uint_eq(places[3].span.begins, places[0].address);
	ck_assert_uint_eq(places[3].span.ends, places[16].address);
	elf_end(elf);
}
END_TEST

START_TEST(offsets_without_a_function)
{
	_cleanup_close_ int fd = open(OWN_PATH, O_RDONLY | O_CLOEXEC);
	static int variable = 1;
	struct stat at;

	ck_assert_int_eq(fstat(fd, &at), 0);
	expect_one(fd, 0, "", 0);                           /* the ELF header */
	expect_one(fd, own_offset(&variable), "", 0);       /* data */
	expect_one(fd, (uint64_t)at.st_size - 1, "", 0);    /* section headers: no segment has them */
	expect_one(fd, (uint64_t)at.st_size + 5000, "", 0); /* behind the end of the file */
	expect_one(fd, INT64_MAX, "", 0);
	expect_one(fd, UINT64_MAX, "", 0);
}
END_TEST

/* ---- against a plain search ---- */

struct function {
	uint64_t begins, bytes;
	int rank;
	char *name;
};

struct program {
	struct function *functions;
	size_t count;
	uint64_t text_offset, text_bytes, text_address; /* the executable segment */
};

static void add_functions(struct program *program, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t symbols = header->sh_size / header->sh_entsize;

	program->functions = calloc(symbols, sizeof(*program->functions));
	for (size_t i = 0; i < symbols; i++) {
		struct function *function = &program->functions[program->count];
		GElf_Sym symbol;
		int bind;

		ck_assert_ptr_nonnull(gelf_getsym(data, (int)i, &symbol));
		if ((GELF_ST_TYPE(symbol.st_info) != STT_FUNC &&
		     GELF_ST_TYPE(symbol.st_info) != STT_GNU_IFUNC) ||
		    symbol.st_shndx == SHN_UNDEF)
			continue;
		bind = GELF_ST_BIND(symbol.st_info);
		*function = (struct function){ symbol.st_value, symbol.st_size,
					       bind == STB_GLOBAL ? 2 : bind == STB_WEAK,
					       strdup(elf_strptr(elf, header->sh_link, symbol.st_name)) };
		program->count++;
	}
}

static void program_read(struct program *program, int fd)
{
	Elf_Scn *section = NULL;
	GElf_Phdr segment;
	GElf_Shdr header;
	size_t segments;
	Elf *elf;

	*program = (struct program){ .count = 0 };
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	ck_assert_ptr_nonnull(elf);
	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB)
			add_functions(program, elf, section, &header);
	ck_assert_uint_gt(program->count, 500);
	ck_assert_int_eq(elf_getphdrnum(elf, &segments), 0);
	for (size_t i = 0; i < segments; i++) {
		if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_LOAD ||
		    !(segment.p_flags & PF_X))
			continue;
		program->text_offset = segment.p_offset;
		program->text_bytes = segment.p_filesz;
		program->text_address = segment.p_vaddr;
	}
	elf_end(elf);
}

static void program_free(struct program *program)
{
	for (size_t i = 0; i < program->count; i++)
		free(program->functions[i].name);
	free(program->functions);
}

/*
 * The order at one address: exported before local, then the name with fewer leading underscores, then the
 * first by name.
 */
static bool is_better(const struct function *one, const struct function *other)
{
	size_t reserved = strspn(one->name, "_"), others = strspn(other->name, "_");

	if (one->rank != other->rank)
		return one->rank > other->rank;
	return reserved != others ? reserved < others : strcmp(one->name, other->name) < 0;
}

/* The innermost symbol that covers the offset. */
static const struct function *search(const struct program *program, uint64_t address)
{
	const struct function *best = NULL;

	for (size_t i = 0; i < program->count; i++) {
		const struct function *function = &program->functions[i];

		if (address < function->begins || address - function->begins >= function->bytes)
			continue;
		if (!best || function->begins > best->begins ||
		    (function->begins == best->begins && is_better(function, best)))
			best = function;
	}
	return best;
}

static uint64_t random_offset(struct dice *dice, const struct program *program)
{
	const struct function *function = &program->functions[dice_below(dice, (uint32_t)program->count)];

	switch (dice_below(dice, 4)) {
	case 0: /* anywhere */
		return program->text_offset + dice_roll(dice) % program->text_bytes;
	case 1: /* the first byte behind a function, or of the padding */
		return function->begins + function->bytes - program->text_address + program->text_offset;
	case 2: /* the last byte of a function */
		return function->begins + function->bytes - 1 - program->text_address + program->text_offset;
	default: /* the byte before a function */
		return function->begins - 1 - program->text_address + program->text_offset;
	}
}

START_TEST(random_offsets_against_a_search)
{
	_cleanup_close_ int fd = open(OWN_PATH, O_RDONLY | O_CLOEXEC);
	struct dice dice = dice_new(220);
	struct program program;
	size_t named = 0, unnamed = 0;

	program_read(&program, fd);
	for (int round = 0; round < 60; round++) {
		uint32_t count = round < 20 ? SYMBOLIZE_BATCH : 1 + dice_below(&dice, SYMBOLIZE_BATCH);
		struct elf_place places[SYMBOLIZE_BATCH];
		uint64_t offsets[SYMBOLIZE_BATCH];
		Elf *elf;

		for (uint32_t i = 0; i < count; i++)
			offsets[i] = i && !dice_below(&dice, 10) ? offsets[i - 1]
								 : random_offset(&dice, &program);
		find(fd, offsets, places, count, &elf);
		for (uint32_t i = 0; i < count; i++) {
			uint64_t address = offsets[i] - program.text_offset + program.text_address;
			bool in_text = offsets[i] - program.text_offset < program.text_bytes;
			const struct function *function = in_text ? search(&program, address) : NULL;
			const char *name = places[i].name ? places[i].name : "";

			ck_assert_msg(!strcmp(name, function ? function->name : ""),
				      "offset %#lx: '%s', expected '%s'", offsets[i], name,
				      function ? function->name : "");
			HOLDS(!function || places[i].begins == function->begins);
			named += function != NULL;
			unnamed += !function;
		}
		elf_end(elf);
	}
	ck_assert_uint_gt(named, 100);
	ck_assert_uint_gt(unnamed, 10);
	program_free(&program);
}
END_TEST

/* ---- damaged files ---- */

/* A file of one segment and one function, both of the largest size that a number can hold. */
struct endless {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr sections[3];
	Elf64_Sym symbols[2];
	char names[16];
};

static const struct endless endless = {
	.header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		    .e_type = ET_DYN,
		    .e_machine = EM_X86_64,
		    .e_version = EV_CURRENT,
		    .e_phoff = offsetof(struct endless, segment),
		    .e_shoff = offsetof(struct endless, sections),
		    .e_ehsize = sizeof(Elf64_Ehdr),
		    .e_phentsize = sizeof(Elf64_Phdr),
		    .e_phnum = 1,
		    .e_shentsize = sizeof(Elf64_Shdr),
		    .e_shnum = 3 },
	.segment = { .p_type = PT_LOAD, .p_vaddr = UINT64_MAX - 4096, .p_filesz = 4096 },
	.sections = { [1] = { .sh_type = SHT_SYMTAB,
			      .sh_link = 2,
			      .sh_offset = offsetof(struct endless, symbols),
			      .sh_size = sizeof(endless.symbols),
			      .sh_entsize = sizeof(Elf64_Sym) },
		      [2] = { .sh_type = SHT_STRTAB,
			      .sh_offset = offsetof(struct endless, names),
			      .sh_size = sizeof(endless.names) } },
	.symbols = { [1] = { .st_name = 1,
			     .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			     .st_shndx = 1,
			     .st_size = UINT64_MAX } },
	.names = "\0endless",
};

static void expect_in_memory(const void *bytes, size_t length, uint64_t offset, const char *name,
			     uint64_t function_offset)
{
	_cleanup_close_ int fd = memfd_create("file", MFD_CLOEXEC);

	HOLDS(fd >= 0 && write(fd, bytes, length) == (ssize_t)length);
	expect_one(fd, offset, name, function_offset);
}

/* A function offset that is too large would make the reader of the reply refuse all of it. */
START_TEST(a_function_without_an_end)
{
	struct endless file = endless;

	expect_in_memory(&file, sizeof(file), 5, "", 0);
	file.segment.p_vaddr = 0;
	file.symbols[1].st_size = INT64_MAX;
	expect_in_memory(&file, sizeof(file), 5, "endless", 5);
}
END_TEST

SUITE(elf_symbols)
{
	Suite *suite = suite_create("elf_symbols");
	TCase *elf = tcase_create("elf");

	tcase_add_test(elf, own_functions);
	tcase_add_test(elf, the_innermost_by_its_best_name);
	tcase_add_test(elf, a_label_reaches_to_the_next_symbol);
	tcase_add_test(elf, offsets_without_a_function);
	tcase_add_test(elf, random_offsets_against_a_search);
	tcase_add_test(elf, a_function_without_an_end);
	suite_add_tcase(suite, elf);
	return suite;
}
