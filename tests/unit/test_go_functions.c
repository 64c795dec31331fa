/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that tables of every layout are read, that damaged ones are refused or name nothing, and that a stripped Go program gets
 * the names and places that Go itself gives its code, however it was linked; and, of inlined functions, those of its DWARF.
 */
#include "common/base/cleanup.h"
#include "common/symbolizer/dwarf_frames.h"
#include "common/symbolizer/elf_module.h"
#include "common/symbolizer/go_program.h"
#include "common/symbolizer/symbolizer.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* ---- tables made by hand ---- */

#define TEXT 0x401000U
#define MAIN_BYTES 0x100U
#define EXIT_BYTES 0x20U

struct made {
	enum go_layout layout;
	unsigned int word, entry; /* bytes of an address in the header, and in the table */
	uint8_t bytes[1024];
	size_t count;
	uint8_t trees[64];
	size_t trees_count;
	/* where parts begin; of Go 1.2 all is relative to the table */
	size_t names, units, files, values, records, entries;
};

static size_t put(struct made *made, uint64_t number, unsigned int width)
{
	size_t at = made->count;

	HOLDS(at + width <= sizeof(made->bytes));
	memcpy(made->bytes + at, &number, width);
	made->count += width;
	return at;
}

static void set(struct made *made, size_t at, uint64_t number, unsigned int width)
{
	memcpy(made->bytes + at, &number, width);
}

static size_t put_text(struct made *made, const char *text)
{
	size_t at = made->count;

	HOLDS(at + strlen(text) < sizeof(made->bytes));
	strcpy((char *)made->bytes + at, text);
	made->count += strlen(text) + 1;
	return at;
}

static void put_varint(struct made *made, unsigned int number)
{
	for (; number >= 0x80; number >>= 7)
		put(made, 0x80 | (number & 0x7f), 1);
	put(made, number, 1);
}

/* Pairs: by how much the value changes from -1 on, and for how many bytes it holds. */
static size_t put_values(struct made *made, const int (*pairs)[2], size_t count)
{
	size_t at = made->count;

	for (size_t i = 0; i < count; i++) {
		put_varint(made, (unsigned int)(pairs[i][0] < 0 ? -2 * pairs[i][0] - 1 : 2 * pairs[i][0]));
		put_varint(made, (unsigned int)pairs[i][1]);
	}
	put(made, 0, 1);
	return at - made->values;
}

struct record {
	uint64_t begins;
	size_t name, files, lines, inlined;
	uint32_t tree;
};

static void put_record(struct made *made, const struct record *record, unsigned int number)
{
	set(made, made->entries + 2 * number * made->entry, record->begins, made->entry);
	set(made, made->entries + (2 * number + 1) * made->entry, made->count - made->records, made->entry);
	put(made, record->begins, made->entry);
	put(made, record->name, 4);
	for (int i = 0; i < 3; i++) /* arguments, deferreturn, stack */
		put(made, 0, 4);
	put(made, record->files, 4);
	put(made, record->lines, 4);
	put(made, 3, 4);
	if (made->layout >= GO_1_16)
		put(made, 0, 4); /* where the files of its unit begin */
	if (made->layout >= GO_1_20)
		put(made, 19, 4); /* the line that it begins at */
	put(made, made->layout == GO_1_2 ? 4 : 4U << 24, 4);
	put(made, 0, 4);
	put(made, 0, 4);
	put(made, record->inlined, 4);
	for (int i = 0; i < 3; i++)
		put(made, UINT32_MAX, 4);
	put(made, record->tree, 4);
}

static void put_node(struct made *made, int parent, size_t name, size_t call)
{
	const uint32_t of_1_18[] = { (uint16_t)parent, 0, 0, (uint32_t)name, (uint32_t)call };
	const uint32_t of_1_20[] = { 1, (uint32_t)name, (uint32_t)call, 0 };
	bool is_old = made->layout < GO_1_20;

	memcpy(made->trees + made->trees_count, is_old ? of_1_18 : of_1_20,
	       is_old ? sizeof(of_1_18) : sizeof(of_1_20));
	made->trees_count += is_old ? sizeof(of_1_18) : sizeof(of_1_20);
}

static void put_header(struct made *made)
{
	static const uint32_t magics[] = { 0xfffffffb, 0xfffffffa, 0xfffffff0, 0xfffffff1 };

	put(made, magics[made->layout], 4);
	put(made, 0, 2);
	put(made, 1, 1);
	put(made, made->word, 1);
	put(made, 2, made->word); /* functions */
	if (made->layout == GO_1_2)
		return;
	put(made, 2, made->word); /* files */
	if (made->layout >= GO_1_18)
		put(made, TEXT, made->word);
}

/* Of Go 1.2 a file's number begins at 1, behind their count. */
static void put_files(struct made *made)
{
	size_t main = put_text(made, "/src/main.go"), once = put_text(made, "/src/once.go");

	if (made->layout == GO_1_2) {
		set(made, made->entries + 5 * made->entry, made->count, 4);
		put(made, 3, 4);
		put(made, main, 4);
		put(made, once, 4);
		return;
	}
	set(made, made->units, main - made->files, 4);
	set(made, made->units + 4, once - made->files, 4);
}

/*
 * main.main: line 20; from 0x20 on line 30 of main.twice, which is inlined; from 0x30 on line 40 of main.once[...] in another
 * file, inlined into that; from 0x40 on line 20 again. runtime.exit has no lines.
 */
static void make(struct made *made, enum go_layout layout, unsigned int word)
{
	static const int lines[][2] = { { 21, 0x20 }, { 10, 0x10 }, { 10, 0x10 }, { -20, 0xc0 } };
	static const int numbers[][2] = { { 0, 0x20 }, { 1, 0x10 }, { 1, 0x10 }, { -2, 0xc0 } };
	const int files[][2] = { { layout == GO_1_2 ? 2 : 1, 0x30 }, { 1, 0x10 }, { -1, 0xc0 } };
	uint64_t begins = layout >= GO_1_18 ? 0 : TEXT;
	struct record first = { .begins = begins, .tree = 0 },
		      last = { .begins = begins + MAIN_BYTES, .tree = UINT32_MAX };
	size_t parts, twice, once;

	*made = (struct made){ .layout = layout, .word = word, .entry = layout >= GO_1_18 ? 4 : word };
	put_header(made);
	parts = made->count;
	made->entries = made->count;
	made->count += layout == GO_1_2 ? 5 * made->entry + 4 : 5 * word;
	if (layout != GO_1_2)
		made->names = made->count;
	first.name = put_text(made, "main.main") - made->names;
	twice = put_text(made, "main.twice") - made->names;
	once = put_text(made, "main.once[...]") - made->names;
	last.name = put_text(made, "runtime.exit") - made->names;
	if (layout != GO_1_2) {
		made->units = made->count;
		made->count += 8;
		made->files = made->count;
	}
	put_files(made);
	if (layout != GO_1_2)
		made->values = put(made, 0, 1);
	first.files = put_values(made, files, ARRAY_SIZE(files));
	first.lines = put_values(made, lines, ARRAY_SIZE(lines));
	first.inlined = put_values(made, numbers, ARRAY_SIZE(numbers));
	if (layout != GO_1_2) {
		made->records = made->entries = made->count;
		made->count += 5 * made->entry;
		set(made, parts, made->names, word);
		set(made, parts + word, made->units, word);
		set(made, parts + 2 * word, made->files, word);
		set(made, parts + 3 * word, made->values, word);
		set(made, parts + 4 * word, made->records, word);
	}
	put_record(made, &first, 0);
	put_record(made, &last, 1);
	set(made, made->entries + 4 * made->entry, last.begins + EXIT_BYTES, made->entry);
	put_node(made, -1, twice, 0x10);
	put_node(made, 0, once, 0x2f);
}

/* Opens a copy of exactly its size, so that AddressSanitizer sees reads behind the end. The caller frees the copy. */
static int open_made(const struct made *made, struct go_functions *ret_functions, void **ret_copy)
{
	uint8_t *copy = malloc(made->count + made->trees_count);
	int result;

	memcpy(copy, made->trees, made->trees_count);
	memcpy(copy + made->trees_count, made->bytes, made->count);
	*ret_copy = copy;
	result = go_functions_open(ret_functions, copy + made->trees_count, made->count);
	if (result < 0)
		return result;
	if (made->layout >= GO_1_18)
		ret_functions->text = TEXT;
	ret_functions->trees = (struct go_bytes){ copy, made->trees_count };
	return 0;
}

/* "FUNCTION FILE:LINE, …", outermost first; the caller frees. */
static char *describe(const struct go_functions *functions, uint64_t address)
{
	struct source_frame frames[SYMBOLIZE_DEPTH];
	struct span span = SPAN_ALL;
	uint32_t count = go_functions_find(functions, address, frames, &span);
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	for (uint32_t i = 0; i < count; i++) {
		fprintf(out, "%s%s", i ? ", " : "", frames[i].name);
		if (frames[i].file)
			fprintf(out, " %s:%u", frames[i].file, frames[i].line);
		HOLDS(frames[i].begins <= address && frames[i].begins <= span.begins &&
		      !frames[i].line == !frames[i].file);
	}
	fclose(out);
	return text;
}

static void expect(const struct go_functions *functions, uint64_t address, const char *text)
{
	_cleanup_free_ char *found = describe(functions, address);

	ck_assert_str_eq(found, text);
}

static const struct {
	enum go_layout layout;
	unsigned int word;
} layouts[] = { { GO_1_2, 8 },  { GO_1_2, 4 },  { GO_1_16, 8 }, { GO_1_16, 4 },
		{ GO_1_18, 8 }, { GO_1_18, 4 }, { GO_1_20, 8 }, { GO_1_20, 4 } };

START_TEST(a_table_of_each_layout)
{
	bool has_inlined = layouts[_i].layout >= GO_1_18;
	_cleanup_free_ void *copy = NULL;
	struct go_functions functions;
	struct made made;

	make(&made, layouts[_i].layout, layouts[_i].word);
	ck_assert_int_eq(open_made(&made, &functions, &copy), 0);
	ck_assert_uint_eq(functions.count, 2);
	expect(&functions, TEXT - 1, "");
	expect(&functions, TEXT, "main.main /src/main.go:20");
	expect(&functions, TEXT + 0x1f, "main.main /src/main.go:20");
	expect(&functions, TEXT + 0x20,
	       has_inlined ? "main.main /src/main.go:20, main.twice /src/main.go:30"
			   : "main.main /src/main.go:30");
	expect(&functions, TEXT + 0x3f,
	       has_inlined
		       ? "main.main /src/main.go:20, main.twice /src/main.go:30, main.once[...] /src/once.go:40"
		       : "main.main /src/once.go:40");
	expect(&functions, TEXT + 0x40, "main.main /src/main.go:20");
	expect(&functions, TEXT + 0xff, "main.main /src/main.go:20");
	expect(&functions, TEXT + MAIN_BYTES, "runtime.exit");
	expect(&functions, TEXT + MAIN_BYTES + EXIT_BYTES - 1, "runtime.exit");
	expect(&functions, TEXT + MAIN_BYTES + EXIT_BYTES, "");
	expect(&functions, UINT64_MAX, "");
	expect(&functions, 0, "");
	functions.trees.count = 0;
	expect(&functions, TEXT + 0x30, "main.main /src/once.go:40");
}
END_TEST

START_TEST(a_table_that_is_cut)
{
	struct go_functions functions;
	struct made made;

	make(&made, layouts[_i].layout, layouts[_i].word);
	for (size_t count = made.count; made.count--; count--) {
		_cleanup_free_ void *copy = NULL;

		if (open_made(&made, &functions, &copy))
			continue;
		for (uint64_t into = 0; into < MAIN_BYTES + EXIT_BYTES; into += 8)
			free(describe(&functions, TEXT + into));
	}
}
END_TEST

/* Every byte in turn. The texts are the only part of which a change cannot be told. */
START_TEST(a_table_with_a_wrong_byte)
{
	static const uint8_t changes[] = { 0x01, 0x80, 0xff };
	struct go_functions functions;
	struct made made;

	make(&made, layouts[_i].layout, layouts[_i].word);
	for (size_t at = 0; at < (made.count + made.trees_count) * ARRAY_SIZE(changes); at++) {
		size_t place = at / ARRAY_SIZE(changes);
		uint8_t *byte = place < made.count ? &made.bytes[place] : &made.trees[place - made.count];
		_cleanup_free_ void *copy = NULL;

		*byte ^= changes[at % ARRAY_SIZE(changes)];
		if (!open_made(&made, &functions, &copy))
			for (uint64_t into = 0; into < MAIN_BYTES + EXIT_BYTES; into += 8)
				free(describe(&functions, TEXT + into));
		*byte ^= changes[at % ARRAY_SIZE(changes)];
	}
}
END_TEST

/* Makes a table of Go 1.20, has it damaged, and opens it. */
static int open_damaged(void (*damage)(struct made *made), struct go_functions *ret_functions,
			void **ret_copy)
{
	struct made made;

	make(&made, GO_1_20, 8);
	damage(&made);
	return open_made(&made, ret_functions, ret_copy);
}

static void unsort(struct made *made)
{
	set(made, made->entries + 2 * made->entry, MAIN_BYTES + EXIT_BYTES + 1, 4);
}

static void count_too_many(struct made *made)
{
	set(made, GO_HEADER_BYTES, UINT64_MAX / 8, 8);
}

static void count_none(struct made *made)
{
	set(made, GO_HEADER_BYTES, 0, 8);
}

static void overlap_parts(struct made *made)
{
	set(made, GO_HEADER_BYTES + 4 * 8, made->files + 1, 8);
}

static void end_a_part_outside(struct made *made)
{
	set(made, GO_HEADER_BYTES + 7 * 8, UINT64_MAX, 8);
}

static void pad_the_header(struct made *made)
{
	made->bytes[4] = 1;
}

static void know_no_release(struct made *made)
{
	made->bytes[0] = 0xf2;
}

START_TEST(a_damaged_header)
{
	static void (*const damages[])(
		struct made *) = { unsort,         count_too_many,  count_none,        overlap_parts,
				   pad_the_header, know_no_release, end_a_part_outside };

	for (size_t i = 0; i < ARRAY_SIZE(damages); i++) {
		_cleanup_free_ void *copy = NULL;
		struct go_functions functions;

		ck_assert_int_eq(open_damaged(damages[i], &functions, &copy), -EBADMSG);
	}
}
END_TEST

static void name_the_middle(struct made *made)
{
	uint64_t at = 0;

	memcpy(&at, made->bytes + made->entries + made->entry, made->entry);
	set(made, made->records + at + 4, 5, 4);
}

static void point_elsewhere(struct made *made)
{
	set(made, made->entries + made->entry, made->count - made->records - 40, 4);
}

static void call_behind_the_end(struct made *made)
{
	const uint32_t call = MAIN_BYTES;

	memcpy(made->trees + 8, &call, sizeof(call));
}

static void call_itself(struct made *made)
{
	const uint32_t call = 0x30;

	memcpy(made->trees + 16 + 8, &call, sizeof(call));
}

static void name_no_inlined(struct made *made)
{
	const uint32_t name = 3;

	memcpy(made->trees + 16 + 4, &name, sizeof(name));
}

static void pad_the_node(struct made *made)
{
	made->trees[16 + 2] = 1;
}

static void cut_the_tree(struct made *made)
{
	made->trees_count -= 8;
}

static void lose_the_file(struct made *made)
{
	set(made, made->units + 4, UINT32_MAX, 4);
}

/* What is damaged has no name, and the rest has. */
START_TEST(damaged_entries)
{
	static const struct {
		void (*damage)(struct made *made);
		const char *text;
	} damaged[] = {
		{ name_the_middle, "" },
		{ point_elsewhere, "" },
		{ call_behind_the_end, "main.main /src/once.go:40" },
		{ call_itself, "main.main /src/once.go:40" },
		{ name_no_inlined, "main.main /src/once.go:40" },
		{ pad_the_node, "main.main /src/once.go:40" },
		{ cut_the_tree, "main.main /src/once.go:40" },
		{ lose_the_file, "main.main /src/main.go:20, main.twice /src/main.go:30, main.once[...]" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(damaged); i++) {
		_cleanup_free_ void *copy = NULL;
		struct go_functions functions;

		ck_assert_int_eq(open_damaged(damaged[i].damage, &functions, &copy), 0);
		expect(&functions, TEXT + 0x30, damaged[i].text);
		expect(&functions, TEXT + MAIN_BYTES, "runtime.exit");
	}
}
END_TEST

/* ---- programs that tests/make_go.sh made ---- */

struct program {
	char *bytes;
	size_t count;
	Elf *elf;
};

static struct program program_read(const char *name)
{
	_cleanup_close_ int fd = symbols_open(name);
	struct program program;
	struct stat at;

	HOLDS(!fstat(fd, &at));
	program.count = (size_t)at.st_size;
	program.bytes = malloc(program.count);
	HOLDS(pread(fd, program.bytes, program.count, 0) == at.st_size);
	elf_version(EV_CURRENT);
	program.elf = elf_memory(program.bytes, program.count);
	return program;
}

static void program_free(struct program *program)
{
	elf_end(program->elf);
	free(program->bytes);
}

static int memory_file(const struct program *program)
{
	int fd = memfd_create("program", MFD_CLOEXEC);

	HOLDS(fd >= 0 && write(fd, program->bytes, program->count) == (ssize_t)program->count);
	return fd;
}

/* A line of a view. */
struct seen {
	uint64_t address;
	const char *function, *file;
	uint32_t line;
};

struct view {
	char *text, *next;
};

static struct view view_read(const char *name)
{
	_cleanup_free_ char *path = symbols_path(name);
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct view view;
	struct stat at;

	HOLDS(fd >= 0 && !fstat(fd, &at));
	view.text = view.next = calloc(1, (size_t)at.st_size + 1);
	HOLDS(read(fd, view.text, (size_t)at.st_size) == at.st_size);
	return view;
}

static bool view_next(struct view *view, struct seen *ret_seen)
{
	char *line = strsep(&view->next, "\n");

	if (!line || !*line)
		return false;
	ret_seen->address = strtoull(strsep(&line, "\t"), NULL, 16);
	ret_seen->function = strsep(&line, "\t");
	ret_seen->file = strsep(&line, "\t");
	ret_seen->line = (uint32_t)strtoul(line, NULL, 10);
	return true;
}

static bool is_text(const struct symbolize_reply *reply, uint32_t at, uint32_t bytes, const char *text)
{
	return bytes == strlen(text) && !memcmp(reply->text + at, text, bytes);
}

/* From Go 1.21 on the runtime shows [...] instead of types, which the table has. */
static bool is_function(const struct symbolize_reply *reply, const struct symbolize_frame *frame,
			const char *function)
{
	const char *name = reply->text + frame->name, *dots = strstr(function, "[...]");
	size_t before, behind;

	if (!dots)
		return is_text(reply, frame->name, frame->name_bytes, function);
	before = (size_t)(dots - function) + 1;
	behind = strlen(dots) - strlen("[...");
	return frame->name_bytes >= before + behind && !memcmp(name, function, before) &&
	       !memcmp(name + frame->name_bytes - behind, dots + strlen("[..."), behind);
}

/* Go has "?" or nothing for an unknown file. */
static bool is_place(const struct symbolize_reply *reply, const struct symbolize_frame *frame,
		     const struct seen *seen)
{
	if (!*seen->file || !strcmp(seen->file, "?") || !seen->line)
		return !frame->file_bytes;
	return frame->line == seen->line && is_text(reply, frame->file, frame->file_bytes, seen->file);
}

/* `is_innermost`: the view has the innermost function, not the one that has the code. */
static void compare_batch(struct elf_module *module, const struct symbolize_request *request,
			  const struct seen *seen, bool is_innermost, struct symbolize_reply *reply)
{
	size_t bytes = elf_module_name(module, request, reply);
	uint32_t first = 0;

	HOLDS(symbolizer_reply_is_valid(reply, bytes, request) && reply->count == request->count);
	for (uint32_t i = 0; i < reply->count; i++) {
		const struct symbolize_frame *outer = &reply->frames[first],
					     *inner = &reply->frames[first + reply->depths[i] - 1],
					     *named = is_innermost ? inner : outer;

		ck_assert_msg(is_function(reply, named, seen[i].function) && is_place(reply, inner, &seen[i]),
			      "%#lx: %.*s %.*s:%u, and Go says %s %s:%u", seen[i].address,
			      (int)named->name_bytes, reply->text + named->name, (int)inner->file_bytes,
			      reply->text + inner->file, inner->line, seen[i].function, seen[i].file,
			      seen[i].line);
		first += reply->depths[i];
	}
}

/* Returns the number of addresses compared. */
static size_t compare(struct elf_module *module, const char *name, bool is_innermost)
{
	_cleanup_free_ struct symbolize_reply *reply = malloc(sizeof(*reply));
	struct view view = view_read(name);
	size_t compared = 0;
	bool more = true;

	while (more) {
		/* few, so that all fit into one reply */
		struct symbolize_request request = { .kind = SYMBOLIZE_ADDRESSES };
		struct seen seen[16];

		while (request.count < ARRAY_SIZE(seen) && (more = view_next(&view, &seen[request.count]))) {
			request.offsets[request.count] = seen[request.count].address;
			request.count++;
		}
		if (request.count)
			compare_batch(module, &request, seen, is_innermost, reply);
		compared += request.count;
	}
	free(view.text);
	return compared;
}

static const struct {
	const char *program, *view;
	bool is_innermost;
} views[] = {
	{ "go_plain", "go_plain.runtime", true },       { "go_anywhere", "go_anywhere.runtime", true },
	{ "go_external", "go_external.runtime", true }, { "go_plain", "go_plain.gosym", false },
	{ "go_anywhere", "go_anywhere.gosym", false },
};

START_TEST(as_go_itself_names_its_code)
{
	struct elf_module *module = elf_module_open(symbols_open(views[_i].program));

	ck_assert_uint_gt(compare(module, views[_i].view, views[_i].is_innermost), 10000);
	elf_module_close(module);
}
END_TEST

START_TEST(without_sections)
{
	struct program program = program_read(views[_i].program);
	Elf64_Ehdr *header = (Elf64_Ehdr *)program.bytes;
	struct elf_module *module;

	header->e_shoff = header->e_shnum = header->e_shstrndx = 0;
	module = elf_module_open(memory_file(&program));
	ck_assert_uint_gt(compare(module, views[_i].view, views[_i].is_innermost), 10000);
	elf_module_close(module);
	program_free(&program);
}
END_TEST

static bool is_same_place(const struct source_frame *one, const struct source_frame *other)
{
	/* DWARF puts a directory before it */
	if (!strcmp(one->file, "<autogenerated>"))
		return true;
	return other->file && !strcmp(one->file, other->file) && one->line == other->line;
}

static bool is_same(const struct source_frame *one, uint32_t count, const struct source_frame *other,
		    uint32_t other_count)
{
	if (count != other_count)
		return false;
	for (uint32_t i = 0; i < count; i++)
		if (strcmp(one[i].name, other[i].name) || !one[i].file || !is_same_place(&one[i], &other[i]))
			return false;
	return true;
}

/* Where DWARF has an answer: it leaves out the code between two functions, and some of what compilers add. */
START_TEST(inlined_functions_as_dwarf_has_them)
{
	_cleanup_close_ int fd = symbols_open("go_whole");
	struct program program = program_read("go_whole");
	Dwarf *dwarf = dwarf_begin(fd, DWARF_C_READ);
	struct dwarf_frames *whole = dwarf_frames_new(dwarf);
	size_t inlined = 0, same = 0;
	struct go_functions go;

	HOLDS(dwarf && whole && !go_program_open(&go, program.elf));
	for (uint64_t into = 0; into < go_functions_entry(&go, go.count); into += 7) {
		struct source_frame of_go[SYMBOLIZE_DEPTH], of_dwarf[SYMBOLIZE_DEPTH];
		struct span span = SPAN_ALL;
		uint32_t count = dwarf_frames_find(whole, go.text + into, of_dwarf, &span);

		if (count < 2)
			continue;
		inlined++;
		same += is_same(of_go, go_functions_find(&go, go.text + into, of_go, &span), of_dwarf, count);
	}
	ck_assert_uint_gt(inlined, 5000);
	ck_assert_msg(same * 1000 >= inlined * 999, "%zu of %zu", same, inlined);
	dwarf_frames_free(whole);
	dwarf_end(dwarf);
	program_free(&program);
}
END_TEST

/* Without its moduledata a program has no inlined functions; where the table lacks the text, it has no names. */
START_TEST(without_moduledata)
{
	struct program program = program_read("go_plain");
	struct go_functions whole, without;
	struct source_frame frames[SYMBOLIZE_DEPTH];
	struct span span = SPAN_ALL;
	uint64_t address, word;
	int result;

	ck_assert_int_eq(go_program_open(&whole, program.elf), 0);
	ck_assert_uint_gt(whole.trees.count, 0);
	address = whole.text + 64;
	memcpy(&word, whole.all.at + go_functions_text_at(&whole), sizeof(word));
	for (size_t at = 0; at + 9 * 8 <= program.count; at += 8) {
		uint64_t words[9];

		/* the moduledata: the table, and then its names, whose length and room are alike */
		memcpy(words, program.bytes + at, sizeof(words));
		if (words[1] - words[0] == (uint64_t)(whole.names.at - whole.all.at) && words[2] == words[3])
			memset(program.bytes + at, 0, sizeof(words));
	}
	result = go_program_open(&without, program.elf);
	ck_assert_int_eq(result, word ? 0 : -EBADMSG);
	if (!result) {
		ck_assert_uint_eq(without.trees.count, 0);
		ck_assert_uint_eq(go_functions_find(&without, address, frames, &span), 1);
	}
	program_free(&program);
}
END_TEST

/* Replaces a few numbers in the parts that are read: headers, moduledata and its surroundings, table, trees; or cuts the file. */
START_TEST(damaged_programs)
{
	static const char *const names[] = { "go_plain", "go_anywhere", "go_external" };
	struct program program = program_read(names[_i]);
	struct dice dice = dice_new(260 + (uint64_t)_i);
	struct go_functions whole;

	HOLDS(!go_program_open(&whole, program.elf));
	for (int round = 0; round < 300; round++) {
		size_t table = (size_t)((const char *)whole.all.at - program.bytes), at;
		struct source_frame frames[SYMBOLIZE_DEPTH];
		struct span span = SPAN_ALL;
		struct go_functions go;
		uint8_t saved[8];
		Elf *elf;

		at = round % 3 ? table + dice_roll(&dice) % (round % 2 ? 256 : whole.all.count)
			       : dice_roll(&dice) % program.count;
		at = at + sizeof(saved) > program.count ? program.count - sizeof(saved) : at;
		memcpy(saved, program.bytes + at, sizeof(saved));
		memset(program.bytes + at, dice_below(&dice, 2) ? 0xff : 0, 1U << dice_below(&dice, 4));
		elf = elf_memory(program.bytes, round % 5 ? program.count : dice_roll(&dice) % program.count);
		if (elf && !go_program_open(&go, elf))
			for (int i = 0; i < 200; i++)
				go_functions_find(&go, whole.text + dice_roll(&dice) % (1U << 20), frames,
						  &span);
		elf_end(elf);
		memcpy(program.bytes + at, saved, sizeof(saved));
	}
	program_free(&program);
}
END_TEST

START_TEST(programs_of_other_languages)
{
	struct program program = program_read("dwarf5");
	struct go_functions go;

	ck_assert_int_eq(go_program_open(&go, program.elf), -ENOENT);
	program_free(&program);
}
END_TEST

SUITE(go_functions)
{
	Suite *suite = suite_create("go_functions");
	TCase *tables = tcase_create("tables"), *programs = tcase_create("programs");

	tcase_add_loop_test(tables, a_table_of_each_layout, 0, ARRAY_SIZE(layouts));
	tcase_add_loop_test(tables, a_table_that_is_cut, 0, ARRAY_SIZE(layouts));
	tcase_add_loop_test(tables, a_table_with_a_wrong_byte, 0, ARRAY_SIZE(layouts));
	tcase_add_test(tables, a_damaged_header);
	tcase_add_test(tables, damaged_entries);
	tcase_add_loop_test(programs, as_go_itself_names_its_code, 0, ARRAY_SIZE(views));
	tcase_add_loop_test(programs, without_sections, 0, ARRAY_SIZE(views));
	tcase_add_test(programs, inlined_functions_as_dwarf_has_them);
	tcase_add_test(programs, without_moduledata);
	tcase_add_loop_test(programs, damaged_programs, 0, 3);
	tcase_add_test(programs, programs_of_other_languages);
	suite_add_tcase(suite, tables);
	suite_add_tcase(suite, programs);
	return suite;
}
