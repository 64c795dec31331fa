/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that an offset gets the kernel symbol that it is in: aliases, modules, negative offsets, gaps, odd
 * lines, and every offset of random texts compared with a plain search.
 */
#include "common/base/cleanup.h"
#include "consumer/symbols/kernel_symbols.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

static void open_text(struct kernel_symbols *symbols, const char *text, size_t bytes)
{
	_cleanup_free_ char *directory = directory_make(), *path = path_join(directory, "kernel-symbols");
	_cleanup_close_ int fd = -EBADF;

	file_put(path, text, bytes);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(kernel_symbols_open(symbols, fd), 0);
	directory_remove(directory); /* the file stays open */
}

struct find_case {
	const char *text;
	int64_t offset;
	const char *found; /* "OFFSET NAME" or "OFFSET NAME MODULE"; NULL: nothing */
};

#define PLAIN "0 _text\n4096 first\n4112 second\n1000000 far\n"
#define ALIASES                                                                                              \
	"0 _text\n16 __pfx_start\n32 __pi_start\n32 start\n64 __pi_only\n96 a\n96 b\n96 c\n128 "             \
	"__pfx_x\n128 __pi_x\n"
#define MODULES "-500 below [old]\n-400 lower\n0 _text\n100 mod_a ext4\n200 mod_b ext4\n300 kernel_again\n"
#define GAP "0 _text\n100 last_of_text\n1000000 next\n"

static const struct find_case find_cases[] = {
	{ PLAIN, -1, NULL },
	{ PLAIN, 0, "0 _text" },
	{ PLAIN, 1, "0 _text" },
	{ PLAIN, 4095, "0 _text" },
	{ PLAIN, 4096, "4096 first" },
	{ PLAIN, 4111, "4096 first" },
	{ PLAIN, 4112, "4112 second" },
	{ PLAIN, 999999, NULL }, /* too far behind the symbol */
	{ PLAIN, 1000000, "1000000 far" },
	{ PLAIN, INT64_MAX, NULL },
	{ PLAIN, INT64_MIN, NULL },
	{ ALIASES, 16, "16 __pfx_start" }, /* has no other name */
	{ ALIASES, 31, "16 __pfx_start" },
	{ ALIASES, 32, "32 start" },
	{ ALIASES, 63, "32 start" },
	{ ALIASES, 64, "64 __pi_only" },
	{ ALIASES, 96, "96 c" },
	{ ALIASES, 128, "128 __pfx_x" },
	{ MODULES, -501, NULL },
	{ MODULES, -500, "-500 below [old]" },
	{ MODULES, -401, "-500 below [old]" },
	{ MODULES, -400, "-400 lower" },
	{ MODULES, -1, "-400 lower" },
	{ MODULES, 150, "100 mod_a ext4" },
	{ MODULES, 200, "200 mod_b ext4" },
	{ MODULES, 300, "300 kernel_again" },
	{ GAP, 100 + KERNEL_SYMBOL_BYTES_MAX - 1, "100 last_of_text" },
	{ GAP, 100 + KERNEL_SYMBOL_BYTES_MAX, NULL },
	{ GAP, 999999, NULL },
	{ "0 only", 5, "0 only" }, /* no newline at the end */
	{ "0 only", -5, NULL },
	{ "-9223372036854775808 least\n", INT64_MIN, "-9223372036854775808 least" },
	{ "9223372036854775807 most\n", INT64_MAX, "9223372036854775807 most" },
	{ "9223372036854775807 most\n", INT64_MIN, NULL },
	{ "-9223372036854775808 least\n", 0, NULL },
	{ "-9223372036854775808 least\n", INT64_MAX, NULL },
	{ "900 out_of_order\nno line\n", 8, NULL },
	{ "", 0, NULL },
	{ "\n", 0, NULL },
	{ "garbage\n", 0, NULL },
	{ "5\n", 5, NULL },
	{ "5 \n", 5, NULL },
};

static void describe(const struct kernel_symbol *symbol, char *into, size_t room)
{
	snprintf(into, room, "%" PRId64 " %s%s%s", symbol->offset, symbol->name, *symbol->module ? " " : "",
		 symbol->module);
}

START_TEST(offsets_get_their_symbols)
{
	const struct find_case *one = &find_cases[_i];
	struct kernel_symbols symbols;
	struct kernel_symbol symbol;
	char found[256] = "";
	bool is_found;

	open_text(&symbols, one->text, strlen(one->text));
	is_found = kernel_symbols_find(&symbols, one->offset, &symbol);
	if (is_found)
		describe(&symbol, found, sizeof(found));
	ck_assert_msg(is_found == (one->found != NULL), "%" PRId64 ": '%s'", one->offset, found);
	if (one->found)
		ck_assert_str_eq(found, one->found);
	kernel_symbols_close(&symbols);
	kernel_symbols_close(&symbols);
}
END_TEST

/*
 * The kernel allows 511 bytes (KSYM_NAME_LEN), for Rust: a longer name is cut, and its rest is not taken for
 * a module.
 */
START_TEST(long_names)
{
	static const size_t lengths[] = { 126, 127, 128, 129, 200, 240, 250, 260, 511 };
	size_t length = lengths[_i];
	struct kernel_symbols symbols;
	struct kernel_symbol symbol;
	char text[2048], name[512];

	memset(name, 'n', length);
	name[length] = '\0';
	snprintf(text, sizeof(text), "0 _text\n100 %s\n200 %s ext4\n300 after\n", name, name);
	open_text(&symbols, text, strlen(text));
	ck_assert(kernel_symbols_find(&symbols, 0, &symbol));
	ck_assert_str_eq(symbol.name, "_text");
	ck_assert(kernel_symbols_find(&symbols, 300, &symbol));
	ck_assert_str_eq(symbol.name, "after");
	name[sizeof(symbol.name) - 1] = '\0';
	ck_assert(kernel_symbols_find(&symbols, 150, &symbol));
	ck_assert_int_eq(symbol.offset, 100);
	ck_assert_str_eq(symbol.name, name);
	ck_assert_str_eq(symbol.module, "");
	ck_assert(kernel_symbols_find(&symbols, 250, &symbol));
	ck_assert_int_eq(symbol.offset, 200);
	ck_assert_str_eq(symbol.name, name);
	ck_assert_str_eq(symbol.module, "ext4");
	kernel_symbols_close(&symbols);
}
END_TEST

/* ---- every offset of random texts ---- */

#define SYMBOLS 400

struct line {
	int64_t offset;
	char name[24], module[8];
};

static size_t make_lines(struct dice *dice, struct line *lines)
{
	static const char *const prefixes[] = { "", "", "", "__pfx_", "__pi_" };
	int64_t offset = -(int64_t)dice_below(dice, 2000);
	size_t count = 1 + dice_below(dice, SYMBOLS);

	for (size_t i = 0; i < count; i++) {
		struct line *line = &lines[i];

		if (dice_below(dice, 3))
			offset += 1 + dice_below(dice, 30);
		if (!dice_below(dice, 100))
			offset += KERNEL_SYMBOL_BYTES_MAX - 5 + dice_below(dice, 20);
		line->offset = offset;
		snprintf(line->name, sizeof(line->name), "%ss%zu", prefixes[dice_below(dice, 5)], i);
		snprintf(line->module, sizeof(line->module), "%s", dice_below(dice, 4) ? "" : "mod");
	}
	return count;
}

static bool is_alias(const char *name)
{
	return !strncmp(name, "__pfx_", 6) || !strncmp(name, "__pi_", 5);
}

/* The last line before the offset; of several at one address the last that is no alias, else the first. */
static const struct line *search(const struct line *lines, size_t count, int64_t offset)
{
	const struct line *last = NULL, *best = NULL;

	for (size_t i = 0; i < count && lines[i].offset <= offset; i++)
		last = &lines[i];
	if (!last || offset - last->offset >= KERNEL_SYMBOL_BYTES_MAX)
		return NULL;
	for (size_t i = 0; i < count; i++)
		if (lines[i].offset == last->offset && (!best || !is_alias(lines[i].name)))
			best = &lines[i];
	return best;
}

static void check_offset(const struct kernel_symbols *symbols, const struct line *lines, size_t count,
			 int64_t offset)
{
	const struct line *expected = search(lines, count, offset);
	struct kernel_symbol symbol;

	HOLDS(kernel_symbols_find(symbols, offset, &symbol) == (expected != NULL));
	HOLDS(!expected || (symbol.offset == expected->offset && !strcmp(symbol.name, expected->name) &&
			    !strcmp(symbol.module, expected->module)));
}

START_TEST(every_offset_against_a_search)
{
	struct dice dice = dice_new(190 + (uint64_t)_i);
	struct line *lines = calloc(SYMBOLS, sizeof(*lines));
	size_t count = make_lines(&dice, lines), bytes;
	struct kernel_symbols symbols;
	char *text = NULL;
	FILE *stream = open_memstream(&text, &bytes);

	for (size_t i = 0; i < count; i++)
		fprintf(stream, "%" PRId64 " %s%s%s\n", lines[i].offset, lines[i].name,
			*lines[i].module ? " " : "", lines[i].module);
	fclose(stream);
	open_text(&symbols, text, bytes);
	for (int64_t offset = lines[0].offset - 10; offset < lines[0].offset + 4000; offset++)
		check_offset(&symbols, lines, count, offset);
	for (size_t i = 0; i < count; i++)
		for (int64_t near = -2; near <= 2; near++) {
			check_offset(&symbols, lines, count, lines[i].offset + near);
			check_offset(&symbols, lines, count,
				     lines[i].offset + KERNEL_SYMBOL_BYTES_MAX + near);
		}
	kernel_symbols_close(&symbols);
	free(lines);
	free(text);
}
END_TEST

/* An address with more names than are searched at once gets one of them, and its neighbours theirs. */
START_TEST(an_address_with_many_names)
{
	struct kernel_symbols symbols;
	struct kernel_symbol symbol;
	char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);

	fputs("0 _text\n", stream);
	for (int i = 0; i < 1000; i++)
		fprintf(stream, "100 %sname_%d\n", i == 999 ? "__pi_" : "", i);
	fputs("200 after\n", stream);
	fclose(stream);
	ck_assert_uint_gt(bytes, 12000);
	open_text(&symbols, text, bytes);
	ck_assert(kernel_symbols_find(&symbols, 99, &symbol));
	ck_assert_str_eq(symbol.name, "_text");
	ck_assert(kernel_symbols_find(&symbols, 100, &symbol));
	ck_assert_str_eq(symbol.name, "name_998");
	ck_assert(kernel_symbols_find(&symbols, 199, &symbol));
	ck_assert_str_eq(symbol.name, "name_998");
	ck_assert(kernel_symbols_find(&symbols, 200, &symbol));
	ck_assert_str_eq(symbol.name, "after");
	kernel_symbols_close(&symbols);
	free(text);
}
END_TEST

/* No byte outside the text is read, whatever it holds: behind it is an unmapped page. */
START_TEST(random_bytes)
{
	static const char usual[] = "0123456789-- \n\n\nab[]\t";
	struct dice dice = dice_new(210);

	for (int round = 0; round < 300; round++) {
		size_t length = round % 3 ? dice_below(&dice, 300) : 4096;
		char *text = malloc(length + !length);
		struct kernel_symbols symbols;
		struct kernel_symbol symbol;

		for (size_t i = 0; i < length; i++)
			text[i] = dice_below(&dice, 50) ? usual[dice_below(&dice, sizeof(usual) - 1)]
							: (char)dice_roll(&dice);
		symbols = (struct kernel_symbols){ .text = text,
						   .bytes = length }; /* a heap buffer, for the sanitizer */
		for (int i = 0; i < 50; i++) {
			if (!kernel_symbols_find(&symbols, (int64_t)dice_roll(&dice) >> dice_below(&dice, 60),
						 &symbol))
				continue;
			HOLDS(*symbol.name && memchr(symbol.name, 0, sizeof(symbol.name)));
			HOLDS(memchr(symbol.module, 0, sizeof(symbol.module)) != NULL);
		}
		free(text);
	}
}
END_TEST

START_TEST(files)
{
	_cleanup_free_ char *directory = directory_make(), *path = path_join(directory, "empty");
	_cleanup_close_ int fd = -EBADF;
	struct kernel_symbols symbols = { .text = "x", .bytes = 1 };

	ck_assert_int_eq(kernel_symbols_open(&symbols, -1), -EBADF);
	file_put(path, "", 0);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_eq(kernel_symbols_open(&symbols, fd), 0);
	ck_assert_ptr_null(symbols.text);
	kernel_symbols_close(&symbols);
	directory_remove(directory);
}
END_TEST

SUITE(kernel_symbols)
{
	Suite *suite = suite_create("kernel_symbols");
	TCase *symbols = tcase_create("symbols");

	tcase_add_loop_test(symbols, offsets_get_their_symbols, 0, ARRAY_SIZE(find_cases));
	tcase_add_loop_test(symbols, long_names, 0, 9);
	tcase_add_loop_test(symbols, every_offset_against_a_search, 0, 10);
	tcase_add_test(symbols, an_address_with_many_names);
	tcase_add_test(symbols, random_bytes);
	tcase_add_test(symbols, files);
	suite_add_tcase(suite, symbols);
	return suite;
}
