/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows the syntax of the INI files: which lines are sections and keys, under which line number, and that
 * each mistake is reported with its line and hides none of the lines after it.
 */
#include "common/base/cleanup.h"
#include "common/system/ini.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <string.h>
#include <sys/stat.h>

/* All that was read, one line an entry: "LINE [SECTION]" or "LINE SECTION.KEY=VALUE". */
struct story {
	char text[8192];
	size_t used;
};

static void tell(void *user, const struct ini_entry *entry)
{
	struct story *story = user;
	int length;

	ck_assert_str_eq(entry->file, "x.conf");
	if (entry->key)
		length = snprintf(story->text + story->used, sizeof(story->text) - story->used,
				  "%u %s.%s=%s\n", entry->line, entry->section, entry->key, entry->value);
	else
		length = snprintf(story->text + story->used, sizeof(story->text) - story->used, "%u [%s]\n",
				  entry->line, entry->section);
	story->used += (size_t)length;
	ck_assert_uint_lt(story->used, sizeof(story->text));
}

static void join_errors(const struct config_errors *errors, char *into, size_t room)
{
	size_t used = 0;

	into[0] = '\0';
	for (size_t i = 0; i < errors->count && i < CONFIG_ERRORS_KEPT && used < room; i++)
		used += (size_t)snprintf(into + used, room - used, "%s\n", errors->messages[i]);
}

struct text_case {
	const char *text;
	size_t bytes; /* 0: up to its NUL */
	const char *entries;
	const char *errors;
};

#define BYTES(literal) literal, sizeof(literal) - 1
#define KEY_EXPECTED "expected 'key = value' or '[section]'\n"
#define FIFTY "12345678901234567890123456789012345678901234567890"
#define FORTY_NINE "1234567890123456789012345678901234567890123456789"

static const struct text_case text_cases[] = {
	/* valid */
	{ "", 0, "", "" },
	{ "\n\n\n", 0, "", "" },
	{ "[a]\nk = v\n", 0, "1 [a]\n2 a.k=v\n", "" },
	{ "[a]\nk = v", 0, "1 [a]\n2 a.k=v\n", "" },
	{ "[a]", 0, "1 [a]\n", "" },
	{ "k=v\n", 0, "1 .k=v\n", "" },
	{ "[a]\n\n\nk1=1\n\nk2=2\n[b]\nk1=3\n", 0, "1 [a]\n4 a.k1=1\n6 a.k2=2\n7 [b]\n8 b.k1=3\n", "" },
	{ "[a]\nk=1\nk=2\n", 0, "1 [a]\n2 a.k=1\n3 a.k=2\n", "" },
	{ "[a]\n[a]\n", 0, "1 [a]\n2 [a]\n", "" },
	{ "[a]\r\nk = v\r\n\r\nj=w\r\n", 0, "1 [a]\n2 a.k=v\n4 a.j=w\n", "" },
	{ "\xef\xbb\xbf[a]\nk=v\n", 0, "1 [a]\n2 a.k=v\n", "" },
	{ "\xef\xbb\xbf", 0, "", "" },
	{ "  [a]  \n\t k\t =\t v \t\n", 0, "1 [a]\n2 a.k=v\n", "" },
	{ "[a]\nk=v\n   j=w\n\tl=x\n", 0, "1 [a]\n2 a.k=v\n3 a.j=w\n4 a.l=x\n", "" },
	{ "[rule  a b]\nlong key = long  value\n", 0, "1 [rule  a b]\n2 rule  a b.long key=long  value\n",
	  "" },
	{ "# c\n; c\n[a]\n  # c = d\n  ; c\nk=v\n", 0, "3 [a]\n6 a.k=v\n", "" },
	{ "[a]\nk = v ; why\nj = v;w\nl = # no comment\n", 0,
	  "1 [a]\n2 a.k=v\n3 a.j=v;w\n4 a.l=# no comment\n", "" },
	{ "[a]\nk = ; why\n", 0, "1 [a]\n2 a.k=\n", "" },
	{ "[a]\nk =\nj=\n", 0, "1 [a]\n2 a.k=\n3 a.j=\n", "" },
	{ "[a]\nk = a=b=c\nj = [x]\n", 0, "1 [a]\n2 a.k=a=b=c\n3 a.j=[x]\n", "" },
	{ "[a]\nk = \"v\"\n", 0, "1 [a]\n2 a.k=\"v\"\n", "" },
	{ "[a]\nk = caf\xc3\xa9 \xff\n", 0, "1 [a]\n2 a.k=caf\xc3\xa9 \xff\n", "" },
	{ "[a]\nk = one\ttwo\n", 0, "1 [a]\n2 a.k=one\ttwo\n", "" },
	{ "[" FORTY_NINE "]\nk=v\n", 0, "1 [" FORTY_NINE "]\n2 " FORTY_NINE ".k=v\n", "" },
	/* invalid */
	{ "[a]\nkey\nk=v\n", 0, "1 [a]\n3 a.k=v\n", "x.conf:2: " KEY_EXPECTED },
	{ "[a]\nkey", 0, "1 [a]\n", "x.conf:2: " KEY_EXPECTED },
	{ "[a]\nk=v\n  continued\n", 0, "1 [a]\n2 a.k=v\n", "x.conf:3: " KEY_EXPECTED },
	{ "key ; = v\n", 0, "", "x.conf:1: " KEY_EXPECTED },
	{ "[a]\n= value\n=\n", 0, "1 [a]\n",
	  "x.conf:2: missing key before '='\nx.conf:3: missing key before '='\n" },
	/* keys below an invalid section line are skipped until the next section */
	{ "[a]\n[\nk=v\n[b]\nk=w\n", 0, "1 [a]\n4 [b]\n5 b.k=w\n", "x.conf:2: expected '[section]'\n" },
	{ "[]\n", 0, "", "x.conf:1: expected '[section]'\n" },
	{ "[a\n", 0, "", "x.conf:1: expected '[section]'\n" },
	{ "[a] x\n", 0, "", "x.conf:1: unexpected text after the section's ']'\n" },
	{ "[a]]\n", 0, "", "x.conf:1: unexpected text after the section's ']'\n" },
	{ "[a]k=v\n", 0, "", "x.conf:1: unexpected text after the section's ']'\n" },
	{ "[" FIFTY "]\n", 0, "", "x.conf:1: section name is longer than 49 bytes\n" },
	{ BYTES("[a]\nk=\0v\nj=w\n"), "1 [a]\n3 a.j=w\n", "x.conf:2: control character 0x00\n" },
	{ BYTES("[a]\nk=v\0\nj=w\n"), "1 [a]\n3 a.j=w\n", "x.conf:2: control character 0x00\n" },
	{ BYTES("[a]\n\0k=v\nj=w\n"), "1 [a]\n3 a.j=w\n", "x.conf:2: control character 0x00\n" },
	{ BYTES("\0"), "", "x.conf:1: control character 0x00\n" },
	{ "k=\x1b[31mv\nj=w\n", 0, "2 .j=w\n", "x.conf:1: control character 0x1b\n" },
	{ "k=v\rj=w\nl=x\n", 0, "2 .l=x\n", "x.conf:1: control character 0x0d\n" },
	{ "\r\rk=v\n", 0, "", "x.conf:1: control character 0x0d\n" },
	{ "one\n[a\n= 3\n[b] four\n\x01\nk=v\nseven\n", 0, "",
	  "x.conf:1: " KEY_EXPECTED "x.conf:2: expected '[section]'\nx.conf:3: missing key before '='\n"
	  "x.conf:4: unexpected text after the section's ']'\nx.conf:5: control character "
	  "0x01\nx.conf:7: " KEY_EXPECTED },
};

START_TEST(lines_become_entries_and_mistakes)
{
	const struct text_case *one = &text_cases[_i];
	struct config_errors errors = { 0 };
	size_t bytes = one->bytes ? one->bytes : strlen(one->text);
	_cleanup_free_ char *exact = malloc(bytes + 1); /* a sanitizer sees reads behind the end */
	struct story story = { 0 };
	char said[4096];

	memcpy(exact, one->text, bytes);
	exact = realloc(exact, bytes ? bytes : 1);
	ck_assert_int_eq(ini_read_text("x.conf", exact, bytes, tell, &story, &errors), 0);
	join_errors(&errors, said, sizeof(said));
	ck_assert_str_eq(story.text, one->entries);
	ck_assert_str_eq(said, one->errors);
	config_errors_free(&errors);
}
END_TEST

/* ---- long lines ---- */

struct line_case {
	size_t bytes;
	const char *blanks; /* blanks around the line; they do not count */
	bool fits;
};

static const struct line_case line_cases[] = {
	{ INI_LINE_BYTES - 1, "", true },
	{ INI_LINE_BYTES, "", true },
	{ INI_LINE_BYTES, "  ", true },
	{ INI_LINE_BYTES + 1, "", false },
	{ INI_LINE_BYTES + 2, "", false },
	{ 2 * INI_LINE_BYTES, "", false },
	{ 70000, "", false },
};

static void read_long_line(const struct line_case *one, const char *begins, char filler, const char *expected,
			   size_t value_bytes)
{
	struct config_errors errors = { 0 };
	struct story story = { 0 };
	_cleanup_free_ char *line = malloc(one->bytes + 1), *text = NULL;
	char said[256];

	memset(line, filler, one->bytes);
	memcpy(line, begins, strlen(begins));
	line[one->bytes] = '\0';
	ck_assert_int_gt(asprintf(&text, "[a]\n%s%s%s\nz=1\n", one->blanks, line, one->blanks), 0);
	ck_assert_int_eq(ini_read_text("x.conf", text, strlen(text), tell, &story, &errors), 0);
	join_errors(&errors, said, sizeof(said));
	ck_assert_str_eq(said, one->fits ? "" : "x.conf:2: line is longer than 1024 bytes\n");
	ck_assert_int_eq(strncmp(story.text, "1 [a]\n", 6), 0);
	ck_assert_ptr_nonnull(strstr(story.text, "3 a.z=1\n"));
	if (one->fits)
		ck_assert_uint_eq(
			strspn(strstr(story.text, expected) + strlen(expected), (char[]){ filler, 0 }),
			value_bytes);
	else
		ck_assert_str_eq(story.text, "1 [a]\n3 a.z=1\n");
	config_errors_free(&errors);
}

START_TEST(a_line_has_at_most_1024_bytes)
{
	const struct line_case *one = &line_cases[_i];

	read_long_line(one, "k=", 'v', "2 a.k=", one->bytes - 2);
	/* a comment is a line, too, but has no entry */
	read_long_line(one, "k=v ;", 'c', "2 a.k=v", 0);
}
END_TEST

/* ---- mistakes ---- */

START_TEST(mistakes_beyond_64_are_counted)
{
	struct config_errors errors = { 0 };
	char text[4 * 200 + 1] = "";
	struct story story = { 0 };
	_cleanup_free_ char *said = NULL;
	int saved;

	for (int i = 0; i < 200; i++)
		strcat(text, "bad\n");
	ck_assert_int_eq(ini_read_text("x.conf", text, strlen(text), tell, &story, &errors), 0);
	ck_assert_uint_eq(errors.count, 200);
	ck_assert_str_eq(errors.messages[0], "x.conf:1: expected 'key = value' or '[section]'");
	ck_assert_str_eq(errors.messages[63], "x.conf:64: expected 'key = value' or '[section]'");
	saved = log_divert();
	config_errors_log(&errors);
	said = log_diverted(saved);
	ck_assert_ptr_nonnull(strstr(said, "x.conf:64: "));
	ck_assert_ptr_null(strstr(said, "x.conf:65: "));
	ck_assert_ptr_nonnull(strstr(said, "136 more errors are not shown"));
	config_errors_free(&errors);
	ck_assert_uint_eq(errors.count, 0);
	config_errors_free(&errors);
}
END_TEST

START_TEST(errors_without_a_line_and_long_ones)
{
	struct config_errors errors = { 0 };
	char text[2000];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	config_error(&errors, "f", 0, "no line, %d", 7);
	config_error(&errors, "f", 4294967295U, "%s", text);
	ck_assert_str_eq(errors.messages[0], "f: no line, 7");
	ck_assert_int_eq(strncmp(errors.messages[1], "f:4294967295: xxxx", 18), 0);
	ck_assert_uint_lt(strlen(errors.messages[1]), 600);
	config_errors_free(&errors);
}
END_TEST

/* ---- files ---- */

static void count_entry(void *user, const struct ini_entry *entry)
{
	(void)entry;
	++*(size_t *)user;
}

static void expect_file(const char *path, size_t entries, const char *error)
{
	struct config_errors errors = { 0 };
	size_t count = 0;

	ck_assert_int_eq(ini_read_file(path, count_entry, &count, &errors), 0);
	ck_assert_uint_eq(count, entries);
	ck_assert_uint_eq(errors.count, error != NULL);
	if (error)
		ck_assert_msg(strstr(errors.messages[0], error) &&
				      !strncmp(errors.messages[0], path, strlen(path)),
			      "%s", errors.messages[0]);
	config_errors_free(&errors);
}

START_TEST(files)
{
	_cleanup_free_ char *directory = directory_make(), *path = path_join(directory, "x.conf");
	_cleanup_free_ char *large = malloc((1 << 20) + 1), *fifo = path_join(directory, "fifo.conf");

	expect_file(path, 0, ": cannot read the file: No such file");
	expect_file(directory, 0, ": cannot read the file: Is a directory");
	file_put(path, "[a]\nk=v\n", 8);
	expect_file(path, 2, NULL);
	memset(large, '\n', (1 << 20) + 1);
	memcpy(large, "[a]\n", 4);
	file_put(path, large, 1 << 20);
	expect_file(path, 1, NULL);
	file_put(path, large, (1 << 20) + 1);
	expect_file(path, 0, ": cannot read the file: larger than 1 MiB");
	/* blocks the reader, or never ends */
	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
	expect_file(fifo, 0, ": cannot read the file: not a regular file");
	expect_file("/dev/zero", 0, ": cannot read the file: not a regular file");
	expect_file("/dev/null", 0, NULL);
	directory_remove(directory);
}
END_TEST

/* ---- random text ---- */

static void swallow(void *user, const struct ini_entry *entry)
{
	HOLDS(entry->section != NULL && entry->line > 0);
	HOLDS(!entry->key || (*entry->key && entry->value));
	++*(size_t *)user;
}

/* Nothing is read behind the end, and each line is an entry, a mistake, or blank. */
START_TEST(random_text)
{
	static const char bytes[] = "[]=:;# \t\r\n\n\nab\x01\xef\xbb\xbf\xff";
	struct dice dice = dice_new(30);

	for (int round = 0; round < 3000; round++) {
		size_t length = dice_below(&dice, 200), lines = 1, entries = 0;
		char *text = malloc(length + !length);
		struct config_errors errors = { 0 };

		for (size_t i = 0; i < length; i++) {
			text[i] = bytes[dice_below(&dice, sizeof(bytes))];
			lines += text[i] == '\n';
		}
		HOLDS(ini_read_text("x.conf", text, length, swallow, &entries, &errors) == 0);
		HOLDS(entries + errors.count <= lines);
		config_errors_free(&errors);
		free(text);
	}
}
END_TEST

SUITE(ini)
{
	Suite *suite = suite_create("ini");
	TCase *texts = tcase_create("texts"), *rest = tcase_create("files and mistakes");

	tcase_add_loop_test(texts, lines_become_entries_and_mistakes, 0, ARRAY_SIZE(text_cases));
	tcase_add_loop_test(texts, a_line_has_at_most_1024_bytes, 0, ARRAY_SIZE(line_cases));
	tcase_add_test(rest, mistakes_beyond_64_are_counted);
	tcase_add_test(rest, errors_without_a_line_and_long_ones);
	tcase_add_test(rest, files);
	tcase_add_test(rest, random_text);
	suite_add_tcase(suite, texts);
	suite_add_tcase(suite, rest);
	return suite;
}
