/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that offsets in an ELF file get the name of the function that covers them, or none: this program's
 * own functions, random offsets of it against a plain search over its symbols, files that are cut or are no
 * ELF. And that of a reply every field that cannot be is refused.
 */
#include "common/cleanup.h"
#include "consumer/symbolizer/elf_symbols.h"
#include "consumer/symbolizer/symbolizer.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <fcntl.h>
#include <gelf.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>

/* Asks and checks that the answer is one. The caller frees. */
static struct symbolize_reply *ask(int fd, const struct symbolize_request *request)
{
	struct symbolize_reply *reply = malloc(sizeof(*reply));
	size_t bytes;

	memset(reply, 0xa5, sizeof(*reply)); /* what the last one left */
	bytes = elf_symbols_answer(fd, request, reply);
	HOLDS(symbolizer_reply_is_valid(reply, bytes, request));
	return reply;
}

static void name_of(const struct symbolize_reply *reply, uint32_t at, char name[SYMBOLIZE_NAME_BYTES + 1])
{
	memcpy(name, reply->names + reply->symbols[at].at, reply->symbols[at].bytes);
	name[reply->symbols[at].bytes] = '\0';
}

static void expect_one(int fd, uint64_t offset, const char *name, uint64_t function_offset)
{
	const struct symbolize_request request = { .count = 1, .offsets = { offset } };
	_cleanup_free_ struct symbolize_reply *reply = ask(fd, &request);
	char found[SYMBOLIZE_NAME_BYTES + 1];

	ck_assert_uint_eq(reply->count, 1);
	name_of(reply, 0, found);
	ck_assert_str_eq(found, name);
	ck_assert_uint_eq(reply->symbols[0].function_offset, *name ? function_offset : 0);
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
	expect_one(fd, own_offset((const void *)elf_symbols_suite), "elf_symbols_suite", 0);
	expect_one(fd, own_offset((const void *)elf_symbols_answer) + 20, "elf_symbols_answer", 20);
}
END_TEST

/* A function within a function, one of many names, and one without a size. */
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

START_TEST(offsets_without_a_function)
{
	_cleanup_close_ int fd = open(OWN_PATH, O_RDONLY | O_CLOEXEC);
	static int variable = 1;
	struct stat at;

	ck_assert_int_eq(fstat(fd, &at), 0);
	expect_one(fd, 0, "", 0);                           /* the ELF header */
	expect_one(fd, own_offset(&variable), "", 0);       /* data */
	expect_one(fd, (uint64_t)at.st_size - 1, "", 0);    /* section headers: no segment holds them */
	expect_one(fd, (uint64_t)at.st_size + 5000, "", 0); /* behind the file */
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
	uint64_t text_offset, text_bytes, text_address; /* its executable segment */
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

/* The innermost that covers it; of those the exported one, of those the first by name. */
static const struct function *search(const struct program *program, uint64_t address)
{
	const struct function *best = NULL;

	for (size_t i = 0; i < program->count; i++) {
		const struct function *function = &program->functions[i];

		if (address < function->begins || address - function->begins >= function->bytes)
			continue;
		if (!best || function->begins > best->begins ||
		    (function->begins == best->begins &&
		     (function->rank > best->rank ||
		      (function->rank == best->rank && strcmp(function->name, best->name) < 0))))
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
	case 2: /* the last byte of one */
		return function->begins + function->bytes - 1 - program->text_address + program->text_offset;
	default: /* the one before it */
		return function->begins - 1 - program->text_address + program->text_offset;
	}
}

START_TEST(random_offsets_against_a_search)
{
	_cleanup_close_ int fd = open(OWN_PATH, O_RDONLY | O_CLOEXEC);
	struct dice dice = dice_take(220);
	struct program program;
	size_t named = 0, unnamed = 0;

	program_read(&program, fd);
	for (int round = 0; round < 60; round++) {
		struct symbolize_request request = { .count = 1 + dice_below(&dice, SYMBOLIZE_BATCH) };
		_cleanup_free_ struct symbolize_reply *reply = NULL;

		if (round < 20)
			request.count = SYMBOLIZE_BATCH;
		for (uint32_t i = 0; i < request.count; i++)
			request.offsets[i] = i && !dice_below(&dice, 10) ? request.offsets[i - 1]
									 : random_offset(&dice, &program);
		reply = ask(fd, &request);
		HOLDS(reply->count == request.count);
		for (uint32_t i = 0; i < request.count; i++) {
			uint64_t address = request.offsets[i] - program.text_offset + program.text_address;
			bool in_text = request.offsets[i] - program.text_offset < program.text_bytes;
			const struct function *function = in_text ? search(&program, address) : NULL;
			char name[SYMBOLIZE_NAME_BYTES + 1];

			name_of(reply, i, name);
			ck_assert_msg(!strcmp(name, function ? function->name : ""),
				      "offset %#lx: '%s', expected '%s'", request.offsets[i], name,
				      function ? function->name : "");
			HOLDS(reply->symbols[i].function_offset ==
			      (function ? address - function->begins : 0));
			named += function != NULL;
			unnamed += !function;
		}
	}
	ck_assert_uint_gt(named, 100);
	ck_assert_uint_gt(unnamed, 10);
	program_free(&program);
}
END_TEST

/* ---- build ids ---- */

struct build_id {
	uint8_t bytes[SYMBOLIZE_BUILD_ID_BYTES];
	size_t count;
};

static int find_build_id(struct dl_phdr_info *info, size_t bytes, void *user)
{
	struct build_id *id = user;

	(void)bytes;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const char *note = (const char *)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		const char *end = note + info->dlpi_phdr[i].p_memsz;

		while (info->dlpi_phdr[i].p_type == PT_NOTE && note < end) {
			const ElfW(Nhdr) *header = (const void *)note;
			const char *name = note + sizeof(*header),
				   *value = name + ((header->n_namesz + 3U) & ~3U);

			if (header->n_type == NT_GNU_BUILD_ID && !strcmp(name, "GNU") &&
			    header->n_descsz <= sizeof(id->bytes)) {
				memcpy(id->bytes, value, header->n_descsz);
				id->count = header->n_descsz;
			}
			note = value + ((header->n_descsz + 3U) & ~3U);
		}
	}
	return 1; /* the first is this program */
}

START_TEST(own_build_id)
{
	_cleanup_close_ int fd = open(OWN_PATH, O_RDONLY | O_CLOEXEC);
	const struct symbolize_request request = { .count = 1 };
	_cleanup_free_ struct symbolize_reply *reply = ask(fd, &request);
	struct build_id id = { .count = 0 };

	dl_iterate_phdr(find_build_id, &id);
	ck_assert_uint_eq(reply->build_id_bytes, id.count);
	ck_assert_int_eq(memcmp(reply->build_id, id.bytes, id.count), 0);
}
END_TEST

/* ---- files that are not what they should be ---- */

/* A file of one segment and one function, each as large as numbers get. */
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

static struct symbolize_reply *ask_file(const char *bytes, size_t length,
					const struct symbolize_request *request)
{
	_cleanup_free_ char *directory = directory_make(), *path = path_join(directory, "file");
	_cleanup_close_ int fd = -EBADF;
	struct symbolize_reply *reply;

	file_put(path, bytes, length);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	reply = ask(fd, request);
	directory_remove(directory);
	return reply;
}

/* Whoever parses the reply would refuse it whole: ask() checks that it is one. */
START_TEST(a_function_without_an_end)
{
	const struct symbolize_request request = { .count = 1, .offsets = { 5 } };
	struct endless file = endless;
	_cleanup_free_ struct symbolize_reply *reply = ask_file((const char *)&file, sizeof(file), &request),
					      *named = NULL;
	char name[SYMBOLIZE_NAME_BYTES + 1];

	ck_assert_uint_eq(reply->count, 1);
	ck_assert_uint_eq(reply->symbols[0].bytes, 0);
	file.segment.p_vaddr = 0;
	file.symbols[1].st_size = INT64_MAX;
	named = ask_file((const char *)&file, sizeof(file), &request);
	name_of(named, 0, name);
	ck_assert_str_eq(name, "endless");
	ck_assert_uint_eq(named->symbols[0].function_offset, 5);
}
END_TEST

START_TEST(what_is_no_elf)
{
	static const char *const texts[] = {
		"",
		"x",
		"just a text that is long enough for a header or two, or three\n",
		"\x7f"
		"ELF",
		"\x7f"
		"ELF\2\1\1",
		"!<arch>\n"
	};
	const struct symbolize_request request = { .count = 3, .offsets = { 0, 100, UINT64_MAX } };
	_cleanup_free_ struct symbolize_reply *reply = ask_file(texts[_i], strlen(texts[_i]), &request);

	if (reply->count) /* a cut header is an ELF to libelf; it has nothing */
		for (uint32_t i = 0; i < reply->count; i++)
			ck_assert_uint_eq(reply->symbols[i].bytes, 0);
	ck_assert_uint_eq(reply->build_id_bytes, 0);
	ck_assert(reply->count == 0 || !strncmp(texts[_i],
						"\x7f"
						"ELF",
						4));
}
END_TEST

START_TEST(what_is_no_file)
{
	const struct symbolize_request request = { .count = 1 };
	_cleanup_close_ int directory = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_close_ int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	_cleanup_free_ struct symbolize_reply *first = ask(directory, &request),
					      *second = ask(null, &request), *third = ask(-1, &request);

	ck_assert_uint_eq(first->count + second->count + third->count, 0);
}
END_TEST

/* Cut at a hundred places: an answer each time, and no name that the whole file does not give. */
START_TEST(an_elf_that_is_cut)
{
	_cleanup_close_ int fd = open(OWN_PATH, O_RDONLY | O_CLOEXEC);
	const struct symbolize_request request = { .count = 2,
						   .offsets = {
							   own_offset((const void *)elf_symbols_answer),
							   own_offset((const void *)a_static_function) } };
	struct dice dice = dice_take(221);
	_cleanup_free_ char *bytes = NULL;
	struct stat at;

	ck_assert_int_eq(fstat(fd, &at), 0);
	bytes = malloc((size_t)at.st_size);
	ck_assert_int_eq(pread(fd, bytes, (size_t)at.st_size, 0), at.st_size);
	for (int round = 0; round < 100; round++) {
		size_t most = round % 2 ? (size_t)at.st_size : 8192, length = dice_roll(&dice) % most;
		_cleanup_free_ struct symbolize_reply *reply = ask_file(bytes, length, &request);
		char name[SYMBOLIZE_NAME_BYTES + 1];

		for (uint32_t i = 0; i < reply->count; i++) {
			name_of(reply, i, name);
			HOLDS(!*name || !strcmp(name, i ? "a_static_function" : "elf_symbols_answer"));
		}
	}
}
END_TEST

/* ---- replies ---- */

struct said {
	struct symbolize_request request;
	struct symbolize_reply reply;
	size_t bytes;
};

#define HEAD offsetof(struct symbolize_reply, names)

static void said_make(struct said *said)
{
	memset(said, 0, sizeof(*said));
	said->request.count = 3;
	said->reply.count = 3;
	said->reply.build_id_bytes = 20;
	memcpy(said->reply.names, "mainfree", 8);
	said->reply.symbols[0] = (struct symbolize_name){ 0, 4, 7 };
	said->reply.symbols[1] = (struct symbolize_name){ 0, 0, 0 };
	said->reply.symbols[2] = (struct symbolize_name){ 4, 4, INT64_MAX };
	said->bytes = HEAD + 8;
}

static void lie_count_more(struct said *said)
{
	said->reply.count = 4;
}

static void lie_count_fewer(struct said *said)
{
	said->reply.count = 2;
}

static void lie_count_huge(struct said *said)
{
	said->reply.count = UINT32_MAX;
}

static void lie_build_id(struct said *said)
{
	said->reply.build_id_bytes = SYMBOLIZE_BUILD_ID_BYTES + 1;
}

static void lie_build_id_huge(struct said *said)
{
	said->reply.build_id_bytes = UINT32_MAX;
}

static void lie_at(struct said *said)
{
	said->reply.symbols[2].at = 5;
}

static void lie_at_behind(struct said *said)
{
	said->reply.symbols[1].at = 9;
}

static void lie_at_huge(struct said *said)
{
	said->reply.symbols[2].at = UINT32_MAX - 2; /* and its end is within, modulo 2^32 */
}

static void lie_bytes(struct said *said)
{
	said->reply.symbols[0].bytes = 9;
}

static void lie_bytes_huge(struct said *said)
{
	said->reply.symbols[0].bytes = UINT32_MAX;
}

static void lie_name_too_long(struct said *said)
{
	memset(said->reply.names, 'n', SYMBOLIZE_NAME_BYTES + 1);
	said->reply.symbols[0].bytes = SYMBOLIZE_NAME_BYTES + 1;
	said->bytes = HEAD + SYMBOLIZE_NAME_BYTES + 1;
}

static void lie_nul_in_name(struct said *said)
{
	said->reply.names[6] = '\0';
}

static void lie_nul_at_end(struct said *said)
{
	said->reply.names[7] = '\0';
}

static void lie_function_offset(struct said *said)
{
	said->reply.symbols[0].function_offset = (uint64_t)INT64_MAX + 1;
}

static void lie_function_offset_unnamed(struct said *said)
{
	said->reply.symbols[1].function_offset = UINT64_MAX;
}

static void lie_short(struct said *said)
{
	said->bytes = HEAD - 1;
}

static void lie_nothing(struct said *said)
{
	said->bytes = 0;
}

static void lie_names_cut(struct said *said)
{
	said->bytes--;
}

static void lie_long(struct said *said)
{
	said->bytes = sizeof(said->reply) + 1;
}

static void (*const lies[])(struct said *) = {
	lie_count_more, lie_count_fewer,     lie_count_huge,
	lie_build_id,   lie_build_id_huge,   lie_at,
	lie_at_behind,  lie_at_huge,         lie_bytes,
	lie_bytes_huge, lie_name_too_long,   lie_nul_in_name,
	lie_nul_at_end, lie_function_offset, lie_function_offset_unnamed,
	lie_short,      lie_nothing,         lie_names_cut,
	lie_long,
};

START_TEST(a_reply_that_cannot_be)
{
	struct said *said = malloc(sizeof(*said));

	said_make(said);
	ck_assert(symbolizer_reply_is_valid(&said->reply, said->bytes, &said->request));
	lies[_i](said);
	ck_assert(!symbolizer_reply_is_valid(&said->reply, said->bytes, &said->request));
	free(said);
}
END_TEST

START_TEST(replies_that_can_be)
{
	struct said *said = malloc(sizeof(*said));

	said_make(said);
	said->reply.count = 0; /* no ELF: what else it says is not looked at */
	ck_assert(symbolizer_reply_is_valid(&said->reply, said->bytes, &said->request));
	ck_assert(symbolizer_reply_is_valid(&said->reply, HEAD, &said->request));
	said_make(said);
	said->reply.build_id_bytes = SYMBOLIZE_BUILD_ID_BYTES;
	memset(said->reply.names, 'n', sizeof(said->reply.names));
	said->reply.symbols[0].bytes = SYMBOLIZE_NAME_BYTES;
	ck_assert(symbolizer_reply_is_valid(&said->reply, sizeof(said->reply), &said->request));
	free(said);
}
END_TEST

Suite *elf_symbols_suite(void)
{
	Suite *suite = suite_create("elf_symbols");
	TCase *elf = tcase_create("elf"), *replies = tcase_create("replies");

	tcase_set_timeout(elf, 60);
	tcase_add_test(elf, own_functions);
	tcase_add_test(elf, the_innermost_by_its_best_name);
	tcase_add_test(elf, offsets_without_a_function);
	tcase_add_test(elf, random_offsets_against_a_search);
	tcase_add_test(elf, own_build_id);
	tcase_add_test(elf, a_function_without_an_end);
	tcase_add_loop_test(elf, what_is_no_elf, 0, 6);
	tcase_add_test(elf, what_is_no_file);
	tcase_add_test(elf, an_elf_that_is_cut);
	tcase_add_loop_test(replies, a_reply_that_cannot_be, 0, ARRAY_SIZE(lies));
	tcase_add_test(replies, replies_that_can_be);
	suite_add_tcase(suite, elf);
	suite_add_tcase(suite, replies);
	return suite;
}
