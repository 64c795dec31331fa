/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that a program gets the same names and source lines whatever the form of its symbols and its
 * debugging information, that a debug file is used only if it belongs to the program, and that any file gives
 * a valid answer.
 */
#include "common/base/cleanup.h"
#include "common/symbolizer/elf_module.h"
#include "common/symbolizer/symbolizer.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gelf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* One expected frame. A file of NULL: no file, and any line. */
struct expected {
	const char *function, *file;
	uint32_t line;
};

/* At the label place_spin of tests/workloads/inlines.cc; the function that is not inlined comes first. */
static const struct expected at_spin[] = {
	{ "hog::outer(unsigned int)", "inlines.cc", 305 },
	{ "void hog::twice<hog::Counter>(hog::Counter&, unsigned int)", "inlines.cc", 204 },
	{ "hog::Counter::spin(unsigned int)", "inlines.cc", 102 },
};
static const struct expected at_twice[] = {
	{ "hog::outer(unsigned int)", "inlines.cc", 305 },
	{ "void hog::twice<hog::Counter>(hog::Counter&, unsigned int)", "inlines.cc", 202 },
};
static const struct expected at_outer[] = { { "hog::outer(unsigned int)", "inlines.cc", 304 } };
static const struct expected outer_alone[] = { { "hog::outer(unsigned int)", NULL, 0 } };
static const struct expected nothing[] = { { "", NULL, 0 } };

/* Asks, and asserts that the answer is valid. The caller frees. */
static struct symbolize_reply *ask(struct elf_module *module, const struct symbolize_request *request)
{
	struct symbolize_reply *reply = malloc(sizeof(*reply));
	size_t bytes;

	memset(reply, 0xa5, sizeof(*reply)); /* the last request wrote here */
	bytes = elf_module_name(module, request, reply);
	HOLDS(symbolizer_reply_is_valid(reply, bytes, request));
	return reply;
}

static void expect_text(const struct symbolize_reply *reply, uint32_t at, uint32_t bytes, const char *text)
{
	_cleanup_free_ char *found = strndup(reply->text + at, bytes);

	ck_assert_str_eq(found, text);
}

static void expect_frames(struct elf_module *module, uint64_t offset, const struct expected *frames,
			  uint32_t count)
{
	const struct symbolize_request request = { .count = 1, .offsets = { offset } };
	_cleanup_free_ struct symbolize_reply *reply = ask(module, &request);

	ck_assert_uint_eq(reply->count, 1);
	ck_assert_uint_eq(reply->depths[0], count);
	for (uint32_t i = 0; i < count; i++) {
		const struct symbolize_frame *frame = &reply->frames[i];
		const char *slash;

		expect_text(reply, frame->name, frame->name_bytes, frames[i].function);
		if (!frames[i].file) {
			ck_assert_uint_eq(frame->file_bytes, 0);
			continue;
		}
		/* the compiler puts its directory before it */
		slash = memrchr(reply->text + frame->file, '/', frame->file_bytes);
		ck_assert_ptr_nonnull(slash);
		expect_text(reply, (uint32_t)(slash + 1 - reply->text),
			    (uint32_t)(reply->text + frame->file + frame->file_bytes - slash - 1),
			    frames[i].file);
		ck_assert_uint_eq(frame->line, frames[i].line);
	}
}

#define EXPECT_FRAMES(module, offset, frames) expect_frames(module, offset, frames, ARRAY_SIZE(frames))

static void expect_all(struct elf_module *module, const char *labels)
{
	EXPECT_FRAMES(module, symbols_offset(labels, "place_spin"), at_spin);
	EXPECT_FRAMES(module, symbols_offset(labels, "place_twice"), at_twice);
	EXPECT_FRAMES(module, symbols_offset(labels, "place_outer"), at_outer);
}

static struct elf_module *open_symbols(const char *name)
{
	struct elf_module *module = elf_module_open(symbols_open(name));

	ck_assert_ptr_nonnull(module);
	return module;
}

static uint32_t lacks(const struct elf_module *module)
{
	struct symbolize_module reply;

	elf_module_describe(module, &reply);
	HOLDS(symbolizer_module_is_valid(&reply, sizeof(reply)));
	ck_assert_uint_eq(reply.readable, 1);
	return reply.lacks;
}

/* ---- within the file ---- */

static const char *const whole[] = { "dwarf5", "dwarf4", "clang", "compressed" };

START_TEST(inlined_functions_and_source_places)
{
	struct elf_module *module = open_symbols(whole[_i]);

	ck_assert_uint_eq(lacks(module), 0);
	expect_all(module, whole[_i]);
	elf_module_close(module);
}
END_TEST

START_TEST(names_that_rustc_gives)
{
	static const struct expected v0[] = { { "123foo::bar", "inlines.cc", 0 } };
	static const struct expected legacy[] = { { "core::fmt::Formatter::pad", "inlines.cc", 0 } };
	struct elf_module *module = open_symbols("symbols");
	struct expected frame = v0[0];

	frame.file = NULL;
	expect_frames(module, symbols_offset("symbols", "_RNvC6_123foo3bar"), &frame, 1);
	frame.function = legacy[0].function;
	expect_frames(module, symbols_offset("symbols", "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE") + 1,
		      &frame, 1);
	elf_module_close(module);
}
END_TEST

START_TEST(symbols_alone)
{
	struct elf_module *module = open_symbols("symbols");

	EXPECT_FRAMES(module, symbols_offset("symbols", "place_spin"), outer_alone);
	elf_module_close(module);
}
END_TEST

/* ---- spans ---- */

/* Of one address: what a name index would keep of the answer. The caller frees. */
static char *answer_of(struct elf_module *module, uint64_t offset, uint64_t *ret_begins, uint64_t *ret_ends)
{
	const struct symbolize_request request = { .count = 1, .offsets = { offset } };
	_cleanup_free_ struct symbolize_reply *reply = ask(module, &request);
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	ck_assert_uint_eq(reply->count, 1);
	*ret_begins = offset - reply->before[0];
	*ret_ends = offset + reply->after[0];
	for (uint32_t i = 0; i < reply->depths[0]; i++) {
		const struct symbolize_frame *frame = &reply->frames[i];

		fprintf(out, "%.*s from %#lx at %.*s:%u\n", (int)frame->name_bytes, reply->text + frame->name,
			frame->name_bytes ? offset - frame->function_offset : 0, (int)frame->file_bytes,
			reply->text + frame->file, frame->line);
	}
	fclose(out);
	return text;
}

/* Finds the program's code in its file. */
static void find_code(int fd, uint64_t *ret_offset, uint64_t *ret_bytes)
{
	size_t count;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	*ret_bytes = 0;
	ck_assert_int_eq(elf_getphdrnum(elf, &count), 0);
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr header;

		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD ||
		    !(header.p_flags & PF_X))
			continue;
		*ret_offset = header.p_offset;
		*ret_bytes = header.p_filesz;
	}
	elf_end(elf);
	ck_assert_uint_gt(*ret_bytes, 0);
}

/* Each with symbols, DWARF, Go's table, several of these, or the dynamic symbols alone. NULL: this program's libc. */
static const char *const spanned[] = { "dwarf5",  "dwarf4",   "clang",    "compressed", "packed",
				       "symbols", "go_plain", "go_whole", "stripped",   NULL };

/* The caller closes the module. */
static struct elf_module *open_spanned(const char *name, uint64_t *ret_offset, uint64_t *ret_bytes)
{
	struct elf_module *module;
	Dl_info info;
	int fd;

	ck_assert_int_ne(dladdr((void *)qsort, &info), 0);
	fd = name ? symbols_open(name) : open(info.dli_fname, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	find_code(fd, ret_offset, ret_bytes);
	module = elf_module_open(fd);
	ck_assert_ptr_nonnull(module);
	return module;
}

/* Any two addresses of a span have the same answer, and the same span. */
START_TEST(a_span_has_one_answer)
{
	struct dice dice = dice_new(255 + (uint64_t)_i);
	uint64_t offset, bytes, wide = 0;
	struct elf_module *module = open_spanned(spanned[_i], &offset, &bytes);

	for (int round = 0; round < 2000; round++) {
		uint64_t one = offset + dice_roll(&dice) % bytes, other, begins, ends, others_begins,
			 others_ends;
		_cleanup_free_ char *of_one = answer_of(module, one, &begins, &ends), *of_other = NULL;

		ck_assert_uint_lt(begins, ends);
		/* its edges above all */
		other = round % 3 == 0   ? begins
			: round % 3 == 1 ? ends - 1
					 : begins + dice_roll(&dice) % (ends - begins);
		of_other = answer_of(module, other, &others_begins, &others_ends);
		ck_assert_str_eq(of_one, of_other);
		ck_assert_uint_eq(begins, others_begins);
		ck_assert_uint_eq(ends, others_ends);
		wide += ends - begins > 4;
	}
	ck_assert_uint_gt(wide, 500);
	elf_module_close(module);
}
END_TEST

/* Addresses that are asked for together have the spans that each has alone. */
START_TEST(spans_of_a_batch)
{
	struct dice dice = dice_new(256 + (uint64_t)_i);
	uint64_t offset, bytes;
	struct elf_module *module = open_spanned(spanned[_i], &offset, &bytes);

	for (int round = 0; round < 20; round++) {
		struct symbolize_request request = { .count = SYMBOLIZE_BATCH };
		_cleanup_free_ struct symbolize_reply *reply = NULL;

		for (uint32_t i = 0; i < request.count; i++)
			request.offsets[i] = offset + dice_roll(&dice) % bytes;
		reply = ask(module, &request);
		for (uint32_t i = 0; i < reply->count; i++) {
			uint64_t begins, ends;

			free(answer_of(module, request.offsets[i], &begins, &ends));
			ck_assert_uint_eq(request.offsets[i] - reply->before[i], begins);
			ck_assert_uint_eq(request.offsets[i] + reply->after[i], ends);
		}
	}
	elf_module_close(module);
}
END_TEST

START_TEST(without_any_symbol)
{
	struct elf_module *module = open_symbols("stripped");

	ck_assert_uint_eq(lacks(module), SYMBOLIZE_LACKS_DEBUG);
	EXPECT_FRAMES(module, symbols_offset("dwarf5", "place_spin"), nothing);
	elf_module_close(module);
}
END_TEST

START_TEST(packed_symbols)
{
	struct elf_module *module = open_symbols("packed");

	EXPECT_FRAMES(module, symbols_offset("dwarf5", "place_spin"), outer_alone);
	elf_module_close(module);
}
END_TEST

/* ---- debug files ---- */

START_TEST(a_debug_file_by_its_build_id)
{
	struct elf_module *module = open_symbols("stripped");
	struct symbolize_module before, after;

	elf_module_describe(module, &before);
	/* debug files of other programs, and no debug file at all */
	elf_module_add_file(module, symbols_open("linked.debug"));
	elf_module_add_file(module, symbols_open("dwarf4"));
	elf_module_add_file(module, symbols_open("made"));
	elf_module_describe(module, &after);
	ck_assert_int_eq(memcmp(&before, &after, sizeof(before)), 0);
	EXPECT_FRAMES(module, symbols_offset("dwarf5", "place_spin"), nothing);
	elf_module_add_file(module, symbols_open("stripped.debug"));
	ck_assert_uint_eq(lacks(module), 0);
	expect_all(module, "dwarf5");
	/* a second file is refused */
	elf_module_add_file(module, symbols_open("stripped.debug"));
	expect_all(module, "dwarf5");
	elf_module_close(module);
}
END_TEST

START_TEST(a_debug_file_by_its_link)
{
	struct elf_module *module = open_symbols("linked");
	struct symbolize_module described;

	elf_module_describe(module, &described);
	ck_assert_uint_eq(described.build_id_bytes, 0);
	ck_assert_uint_eq(described.lacks, SYMBOLIZE_LACKS_DEBUG);
	ck_assert_str_eq(described.debuglink, "linked.debug");
	/* a file under the name of the link with another CRC is refused, even if its build id matches */
	elf_module_add_file(module, symbols_open("stripped.debug"));
	elf_module_add_file(module, symbols_open("unlinked"));
	ck_assert_uint_eq(lacks(module), SYMBOLIZE_LACKS_DEBUG);
	elf_module_add_file(module, symbols_open("linked.debug"));
	ck_assert_uint_eq(lacks(module), 0);
	expect_all(module, "unlinked");
	elf_module_close(module);
}
END_TEST

START_TEST(an_alternate_file)
{
	struct elf_module *module = open_symbols("shared");
	struct symbolize_module described;

	elf_module_describe(module, &described);
	ck_assert_uint_eq(described.lacks, SYMBOLIZE_LACKS_ALTERNATE);
	ck_assert_uint_eq(described.alternate_id_bytes, 20);
	/* the name has the directory in which it was made, which may be another now */
	ck_assert_int_eq(described.alternate[0], '/');
	ck_assert_str_eq(strrchr(described.alternate, '/'), "/shared.alternate");
	elf_module_add_file(module, symbols_open("stripped.debug"));
	ck_assert_uint_eq(lacks(module), SYMBOLIZE_LACKS_ALTERNATE);
	elf_module_add_file(module, symbols_open("shared.alternate"));
	ck_assert_uint_eq(lacks(module), 0);
	expect_all(module, "shared");
	elf_module_close(module);
}
END_TEST

START_TEST(without_its_alternate_file)
{
	struct elf_module *module = open_symbols("shared");
	const struct symbolize_request request = { .count = 1,
						   .offsets = { symbols_offset("shared", "place_spin") } };
	_cleanup_free_ struct symbolize_reply *reply = ask(module, &request);

	/* the function has a symbol; the inlined ones have their names in the alternate file */
	expect_text(reply, reply->frames[0].name, reply->frames[0].name_bytes, "hog::outer(unsigned int)");
	elf_module_close(module);
}
END_TEST

/* ---- many addresses ---- */

/*
 * 64 long chains do not fit into one reply: it has whole chains only, and the next request asks for the rest.
 */
START_TEST(a_reply_has_as_many_chains_as_fit)
{
	struct elf_module *module = open_symbols("dwarf5");
	struct symbolize_request request = { .count = SYMBOLIZE_BATCH };
	uint64_t offset = symbols_offset("dwarf5", "place_spin");
	_cleanup_free_ struct symbolize_reply *reply = NULL;

	for (uint32_t i = 0; i < request.count; i++)
		request.offsets[i] = offset;
	reply = ask(module, &request);
	ck_assert_uint_eq(reply->count, SYMBOLIZE_BATCH);
	ck_assert_uint_eq(reply->frames_count, 3 * SYMBOLIZE_BATCH);
	elf_module_close(module);
}
END_TEST

/* ---- the procedure linkage table ---- */

static void expect_entry(struct elf_module *module, uint64_t address, uint64_t into, const char *name)
{
	const struct symbolize_request request = { .kind = SYMBOLIZE_ADDRESSES,
						   .count = 1,
						   .offsets = { address + into } };
	_cleanup_free_ struct symbolize_reply *reply = ask(module, &request);

	ck_assert_uint_eq(reply->depths[0], 1);
	expect_text(reply, reply->frames[0].name, reply->frames[0].name_bytes, name);
	ck_assert_uint_eq(reply->frames[0].function_offset, into);
	/* of this entry alone */
	ck_assert_uint_eq(reply->before[0], into);
	ck_assert_uint_le(reply->after[0], 16);
}

START_TEST(entries_by_the_function_that_they_lead_to)
{
	static const char *const names[][2] = { { "lazy", "lazy.plt" }, { "ibt", "ibt.plt" } };
	struct elf_module *module = open_symbols(names[_i][0]);
	_cleanup_file_ FILE *truth = fdopen(symbols_open(names[_i][1]), "re");
	unsigned long long address;
	unsigned int entries = 0;
	char name[256];

	while (truth && fscanf(truth, "%llx %255[^\n]", &address, name) == 2) {
		expect_entry(module, address, 0, name);
		expect_entry(module, address, 7, name);
		entries++;
	}
	ck_assert_uint_ge(entries, 4);
	elf_module_close(module);
}
END_TEST

/* ---- this program ---- */

struct own_id {
	uint8_t bytes[SYMBOLIZE_BUILD_ID_BYTES];
	size_t count;
};

static int find_build_id(struct dl_phdr_info *info, size_t bytes, void *user)
{
	struct own_id *id = user;

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
	return 1; /* the first module is this program */
}

START_TEST(own_build_id)
{
	struct elf_module *module = elf_module_open(open(OWN_PATH, O_RDONLY | O_CLOEXEC));
	struct symbolize_module described;
	struct own_id id = { .count = 0 };

	elf_module_describe(module, &described);
	dl_iterate_phdr(find_build_id, &id);
	ck_assert_uint_eq(described.build_id_bytes, id.count);
	ck_assert_int_eq(memcmp(described.build_id, id.bytes, id.count), 0);
	elf_module_close(module);
}
END_TEST

/* A symbol that covers a part of another function, and a symbol in the text that DWARF does not have. */
__asm__(".pushsection .text\n"
	".type disagreeing, @function\n"
	"disagreeing: .skip 8, 0x90\n"
	".size disagreeing, 8\n"
	".type bare_label, @function\n"
	"bare_label: .skip 8, 0x90\n"
	".popsection\n");
extern const char disagreeing[], bare_label[];

START_TEST(the_symbol_that_begins_last)
{
	struct elf_module *module = elf_module_open(open(OWN_PATH, O_RDONLY | O_CLOEXEC));
	const struct symbolize_request request = {
		.count = 2, .offsets = { own_offset(disagreeing) + 3, own_offset(bare_label) + 3 }
	};
	_cleanup_free_ struct symbolize_reply *reply = ask(module, &request);

	expect_text(reply, reply->frames[0].name, reply->frames[0].name_bytes, "disagreeing");
	ck_assert_uint_eq(reply->frames[0].function_offset, 3);
	/* a symbol without a size is a label where neither a symbol nor DWARF knows a function */
	expect_text(reply, reply->frames[1].name, reply->frames[1].name_bytes, "bare_label");
	ck_assert_uint_eq(reply->frames[1].function_offset, 3);
	elf_module_close(module);
}
END_TEST

/* ---- damaged files ---- */

static int memory_file(const void *bytes, size_t length)
{
	int fd = memfd_create("file", MFD_CLOEXEC);

	HOLDS(fd >= 0 && write(fd, bytes, length) == (ssize_t)length);
	return fd;
}

static char *read_whole(const char *name, size_t *ret_length)
{
	_cleanup_close_ int fd = symbols_open(name);
	struct stat at;
	char *bytes;

	HOLDS(!fstat(fd, &at));
	bytes = malloc((size_t)at.st_size);
	HOLDS(pread(fd, bytes, (size_t)at.st_size, 0) == at.st_size);
	*ret_length = (size_t)at.st_size;
	return bytes;
}

/* Whatever the file is, the answer is valid. */
static void survive(int fd, const struct symbolize_request *request)
{
	struct elf_module *module = elf_module_open(fd);

	if (module) {
		_cleanup_free_ struct symbolize_reply *reply = ask(module, request);

		HOLDS(reply->count > 0);
		lacks(module);
		elf_module_add_file(module, symbols_open("stripped.debug"));
		elf_module_add_file(module, symbols_open("shared.alternate"));
		free(ask(module, request));
	}
	elf_module_close(module);
}

START_TEST(files_that_are_no_elf)
{
	static const char *const texts[] = { "", "x", "just a text that is long enough for a header or two\n",
					     ELFMAG, "!<arch>\n" };

	ck_assert_ptr_null(elf_module_open(memory_file(texts[0], strlen(texts[0]))));
	ck_assert_ptr_null(elf_module_open(memory_file(texts[1], strlen(texts[1]))));
	ck_assert_ptr_null(elf_module_open(memory_file(texts[2], strlen(texts[2]))));
	ck_assert_ptr_null(elf_module_open(memory_file(texts[4], strlen(texts[4]))));
	ck_assert_ptr_null(elf_module_open(open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
	ck_assert_ptr_null(elf_module_open(open("/dev/null", O_RDONLY | O_CLOEXEC)));
	ck_assert_ptr_null(elf_module_open(-1));
	survive(memory_file(texts[3], strlen(texts[3])),
		&(const struct symbolize_request){ .count = 1, .offsets = { 1 } });
}
END_TEST

static const char *const mutated[] = {
	"dwarf5", "dwarf4", "clang", "compressed", "packed", "linked", "shared"
};

static struct symbolize_request some_offsets(const char *labels)
{
	return (struct symbolize_request){ .count = 4,
					   .offsets = { symbols_offset(labels, "place_spin"),
							symbols_offset(labels, "place_twice"), 0,
							UINT64_MAX } };
}

static const char *labels_of(const char *name)
{
	return !strcmp(name, "packed") ? "dwarf5" : !strcmp(name, "linked") ? "unlinked" : name;
}

START_TEST(a_file_that_is_cut)
{
	const struct symbolize_request request = some_offsets(labels_of(mutated[_i]));
	struct dice dice = dice_new(230 + (uint64_t)_i);
	size_t length;
	_cleanup_free_ char *bytes = read_whole(mutated[_i], &length);

	for (int round = 0; round < 60; round++)
		survive(memory_file(bytes, dice_roll(&dice) % length), &request);
}
END_TEST

/* Replaces numbers where offsets, counts and references are: by 0, all ones, one more, or a neighbour. */
static void mutate(struct dice *dice, char *bytes, size_t from, size_t length)
{
	size_t at = from + dice_roll(dice) % (length - 8 - from), width = 1U << dice_below(dice, 4);

	switch (dice_below(dice, 4)) {
	case 0:
		memset(bytes + at, 0, width);
		break;
	case 1:
		memset(bytes + at, 0xff, width);
		break;
	case 2:
		memmove(bytes + at, bytes + from + dice_roll(dice) % (length - 8 - from), width);
		break;
	default:
		bytes[at]++;
		break;
	}
}

START_TEST(a_file_with_wrong_numbers)
{
	const struct symbolize_request request = some_offsets(labels_of(mutated[_i]));
	struct dice dice = dice_new(240 + (uint64_t)_i);
	size_t length;
	_cleanup_free_ char *bytes = read_whole(mutated[_i], &length), *copy = malloc(length);

	for (int round = 0; round < 150; round++) {
		/*
		 * a third of the changes in the header, a third in the sections that describe code, a third
		 * anywhere
		 */
		size_t from = round % 3 == 1 ? 0x3000 : 0, to = round % 3 ? length : sizeof(Elf64_Ehdr) + 8;

		memcpy(copy, bytes, length);
		for (uint32_t i = 0; i <= dice_below(&dice, 8); i++)
			mutate(&dice, copy, from < to - 8 ? from : 0, to);
		survive(memory_file(copy, length), &request);
	}
}
END_TEST

START_TEST(entries_that_refer_to_each_other)
{
	static const struct expected frames[] = { { "looping", NULL, 0 } };
	uint64_t offset = symbols_offset("cyclic", "looping");
	struct elf_module *module = open_symbols("cyclic");

	for (uint64_t i = 0; i < 16; i++)
		EXPECT_FRAMES(module, offset + i, frames);
	EXPECT_FRAMES(module, offset + 16, nothing);
	elf_module_close(module);
}
END_TEST

/* Counts as large as their fields, in the header and in what it counts. */
START_TEST(huge_counts)
{
	const struct symbolize_request request = some_offsets("dwarf5");
	size_t length;
	_cleanup_free_ char *bytes = read_whole("dwarf5", &length), *copy = malloc(length);

	for (int i = 0; i < 7; i++) {
		Elf64_Ehdr *header = memcpy(copy, bytes, length);
		Elf64_Shdr *sections = (Elf64_Shdr *)(copy + header->e_shoff);
		uint16_t count = header->e_shnum;

		if (i == 0)
			header->e_phnum = UINT16_MAX;
		if (i == 1)
			header->e_shnum = UINT16_MAX;
		if (i == 2) { /* the count is in the first section */
			header->e_shnum = 0;
			sections[0].sh_size = UINT64_MAX;
		}
		if (i == 3) { /* this count, too */
			header->e_phnum = PN_XNUM;
			sections[0].sh_info = UINT32_MAX;
		}
		for (uint16_t j = 1; i > 3 && j < count; j++) {
			if (i == 4)
				sections[j].sh_size = UINT64_MAX;
			if (i == 5)
				sections[j].sh_size = length - sections[j].sh_offset;
			if (i == 6)
				sections[j].sh_entsize = UINT64_MAX;
		}
		survive(memory_file(copy, length), &request);
	}
}
END_TEST

/* Each section in turn gets the place of each other: they overlap, and are read as what they are not. */
START_TEST(sections_that_overlap)
{
	const struct symbolize_request request = some_offsets("dwarf5");
	size_t length;
	_cleanup_free_ char *bytes = read_whole("dwarf5", &length);
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)bytes;
	Elf64_Shdr *sections = (Elf64_Shdr *)(bytes + header->e_shoff);

	for (uint16_t i = 1; i < header->e_shnum; i++) {
		Elf64_Shdr before = sections[i];
		uint16_t other = (uint16_t)(1 + (i * 7) % (header->e_shnum - 1));

		sections[i].sh_offset = sections[other].sh_offset;
		survive(memory_file(bytes, length), &request);
		sections[i].sh_size = UINT64_MAX - 4096;
		survive(memory_file(bytes, length), &request);
		sections[i] = before;
		sections[i].sh_link = other;
		sections[i].sh_entsize = 1;
		survive(memory_file(bytes, length), &request);
		sections[i] = before;
	}
}
END_TEST

SUITE(elf_module)
{
	Suite *suite = suite_create("elf_module");
	TCase *names = tcase_create("names"), *files = tcase_create("files"), *odd = tcase_create("odd");

	tcase_add_loop_test(names, inlined_functions_and_source_places, 0, ARRAY_SIZE(whole));
	tcase_add_test(names, names_that_rustc_gives);
	tcase_add_test(names, symbols_alone);
	tcase_add_loop_test(names, a_span_has_one_answer, 0, ARRAY_SIZE(spanned));
	tcase_add_loop_test(names, spans_of_a_batch, 0, ARRAY_SIZE(spanned));
	tcase_add_test(names, without_any_symbol);
	tcase_add_test(names, packed_symbols);
	tcase_add_test(names, a_reply_has_as_many_chains_as_fit);
	tcase_add_loop_test(names, entries_by_the_function_that_they_lead_to, 0, 2);
	tcase_add_test(names, own_build_id);
	tcase_add_test(names, the_symbol_that_begins_last);
	tcase_add_test(files, a_debug_file_by_its_build_id);
	tcase_add_test(files, a_debug_file_by_its_link);
	tcase_add_test(files, an_alternate_file);
	tcase_add_test(files, without_its_alternate_file);
	tcase_add_test(odd, files_that_are_no_elf);
	tcase_add_loop_test(odd, a_file_that_is_cut, 0, ARRAY_SIZE(mutated));
	tcase_add_loop_test(odd, a_file_with_wrong_numbers, 0, ARRAY_SIZE(mutated));
	tcase_add_test(odd, sections_that_overlap);
	tcase_add_test(odd, huge_counts);
	tcase_add_test(odd, entries_that_refer_to_each_other);
	suite_add_tcase(suite, names);
	suite_add_tcase(suite, files);
	suite_add_tcase(suite, odd);
	return suite;
}
