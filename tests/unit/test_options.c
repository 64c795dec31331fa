/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows how a command line is parsed by its table: options anywhere, words in order, --help and --version,
 * and one line and exit status 2 for each mistake.
 */
#include "common/base/cleanup.h"
#include "common/base/version.h"
#include "common/system/log.h"
#include "common/system/options.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <limits.h>
#include <string.h>

#define WORDS_MAX 8

struct parsed {
	const char *hz, *o, *json;
	char *arguments[WORDS_MAX + 2];
	int words, status;
	char *said;
};

static void parse(struct parsed *parsed, const char *const *words)
{
	const struct option_spec options[] = {
		{ "hz", "N", "samples a second (47)", &parsed->hz },
		{ "o", "FILE", "where to", &parsed->o },
		{ "json", NULL, "for scripts", &parsed->json },
	};
	const struct command_spec command = { "tool",  "[OPTION...] [WORD...]", "Does it.", "tool --hz 9",
					      options, ARRAY_SIZE(options) };
	int count = 1, saved = log_divert();

	*parsed = (struct parsed){ .arguments = { (char *)"tool" }, .words = -1 };
	while (words[count - 1]) {
		parsed->arguments[count] = (char *)words[count - 1];
		count++;
	}
	parsed->status = options_parse(&command, count, parsed->arguments, &parsed->words);
	parsed->said = log_diverted(saved);
}

struct parse_case {
	const char *words[WORDS_MAX];
	int status;
	const char *hz, *o;
	bool json;
	const char *rest; /* words, joined by "|" */
	const char *says;
};

static const struct parse_case parse_cases[] = {
	{ { NULL }, OPTIONS_RUN, NULL, NULL, false, "", "" },
	{ { "--hz", "9" }, OPTIONS_RUN, "9", NULL, false, "", "" },
	{ { "--hz=9" }, OPTIONS_RUN, "9", NULL, false, "", "" },
	{ { "--hz=9=10" }, OPTIONS_RUN, "9=10", NULL, false, "", "" },
	{ { "--hz", "--json" }, OPTIONS_RUN, "--json", NULL, false, "", "" },
	{ { "--hz", "1", "--hz", "2" }, OPTIONS_RUN, "2", NULL, false, "", "" },
	{ { "-o", "f" }, OPTIONS_RUN, NULL, "f", false, "", "" },
	{ { "--json" }, OPTIONS_RUN, NULL, NULL, true, "", "" },
	{ { "a", "--json", "b", "--hz", "9", "c" }, OPTIONS_RUN, "9", NULL, true, "a|b|c", "" },
	{ { "--json", "--", "--hz", "-x", "--" }, OPTIONS_RUN, NULL, NULL, true, "--hz|-x|--", "" },
	{ { "-", "a" }, OPTIONS_RUN, NULL, NULL, false, "-|a", "" },
	{ { "", "a" }, OPTIONS_RUN, NULL, NULL, false, "|a", "" },
	{ { "--hz" }, EXIT_USAGE, NULL, NULL, false, NULL, "option --hz needs N" },
	{ { "--hz=" }, EXIT_USAGE, NULL, NULL, false, NULL, "option --hz needs N" },
	{ { "--hz", "" }, EXIT_USAGE, NULL, NULL, false, NULL, "option --hz needs N" },
	{ { "--json=yes" }, EXIT_USAGE, NULL, NULL, false, NULL, "option --json takes no argument" },
	{ { "--hertz", "9" },
	  EXIT_USAGE,
	  NULL,
	  NULL,
	  false,
	  NULL,
	  "unknown option '--hertz': see 'tool --help'" },
	{ { "--h" }, EXIT_USAGE, NULL, NULL, false, NULL, "unknown option '--h'" },
	{ { "--hzz=1" }, EXIT_USAGE, NULL, NULL, false, NULL, "unknown option '--hzz=1'" },
	{ { "-x" }, EXIT_USAGE, NULL, NULL, false, NULL, "unknown option '-x'" },
	{ { "---json" }, EXIT_USAGE, NULL, NULL, false, NULL, "unknown option '---json'" },
	{ { "--=9" }, EXIT_USAGE, NULL, NULL, false, NULL, "unknown option '--=9'" },
};

START_TEST(command_lines)
{
	const struct parse_case *one = &parse_cases[_i];
	struct parsed parsed;
	char rest[64] = "";

	parse(&parsed, one->words);
	ck_assert_int_eq(parsed.status, one->status);
	ck_assert_msg(*one->says ? strstr(parsed.said, one->says) != NULL : !*parsed.said, "'%s'",
		      parsed.said);
	if (*one->says) /* one line, with a newline at the end */
		ck_assert_ptr_eq(strchr(parsed.said, '\n'), parsed.said + strlen(parsed.said) - 1);
	free(parsed.said);
	if (one->status != OPTIONS_RUN)
		return;
	ck_assert_pstr_eq(parsed.hz, one->hz);
	ck_assert_pstr_eq(parsed.o, one->o);
	ck_assert_int_eq(parsed.json != NULL, one->json);
	for (int i = 0; i < parsed.words; i++)
		snprintf(rest + strlen(rest), sizeof(rest) - strlen(rest), "%s%s", i ? "|" : "",
			 parsed.arguments[1 + i]);
	ck_assert_str_eq(rest, one->rest);
}
END_TEST

/* The standard output of a parse; the caller frees. */
static char *shown_by(const char *const *words, int *ret_status)
{
	_cleanup_file_ FILE *file = tmpfile();
	char *text = calloc(1, 8192);
	struct parsed parsed;
	int saved;

	fflush(stdout);
	saved = dup(STDOUT_FILENO);
	dup2(fileno(file), STDOUT_FILENO);
	parse(&parsed, words);
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	ck_assert_int_ge(pread(fileno(file), text, 8191, 0), 0);
	ck_assert_str_eq(parsed.said, "");
	free(parsed.said);
	*ret_status = parsed.status;
	return text;
}

START_TEST(help_and_version)
{
	static const char *const helps[][3] = { { "--help" }, { "-h" }, { "a", "--help" } };
	static const char *const versions[][2] = { { "--version" }, { "-V" } };
	int status;

	for (size_t i = 0; i < ARRAY_SIZE(helps); i++) {
		_cleanup_free_ char *text = shown_by(helps[i], &status);

		ck_assert_int_eq(status, EXIT_DONE);
		ck_assert_int_eq(strncmp(text, "Usage: tool [OPTION...] [WORD...]\nDoes it.\n", 43), 0);
		ck_assert_ptr_nonnull(strstr(text, "\n  --hz N "));
		ck_assert_ptr_nonnull(strstr(text, "samples a second (47)\n"));
		ck_assert_ptr_nonnull(strstr(text, "\n  --json "));
		ck_assert_ptr_nonnull(strstr(text, "\nExample: tool --hz 9\n"));
	}
	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		_cleanup_free_ char *text = shown_by(versions[i], &status);

		ck_assert_int_eq(status, EXIT_DONE);
		ck_assert_str_eq(text, "tool " BOURDON_VERSION "\n");
	}
}
END_TEST

struct number_case {
	const char *text;
	unsigned long long least, most, number;
	int result;
};

static const struct number_case number_cases[] = {
	{ "0", 0, 9, 0, 0 },
	{ "9", 0, 9, 9, 0 },
	{ "007", 0, 9, 7, 0 },
	{ "18446744073709551615", 0, ULLONG_MAX, ULLONG_MAX, 0 },
	{ "10", 0, 9, 0, -ERANGE },
	{ "4", 5, 9, 0, -ERANGE },
	{ "18446744073709551616", 0, ULLONG_MAX, 0, -ERANGE },
	{ "99999999999999999999999", 0, ULLONG_MAX, 0, -ERANGE },
	{ "", 0, 9, 0, -EINVAL },
	{ " 1", 0, 9, 0, -EINVAL },
	{ "1 ", 0, 9, 0, -EINVAL },
	{ "+1", 0, 9, 0, -EINVAL },
	{ "-1", 0, ULLONG_MAX, 0, -EINVAL },
	{ "0x1", 0, 9, 0, -EINVAL },
	{ "1.5", 0, 9, 0, -EINVAL },
	{ "1e3", 0, 9999, 0, -EINVAL },
	{ "nine", 0, 9, 0, -EINVAL },
};

START_TEST(numbers)
{
	const struct number_case *one = &number_cases[_i];
	unsigned long long number = 4711;

	ck_assert_int_eq(options_number(one->text, one->least, one->most, &number), one->result);
	ck_assert_uint_eq(number, one->result ? 4711 : one->number);
}
END_TEST

START_TEST(an_option_that_may_be_given_several_times)
{
	const char *hz = NULL, *values[2];
	const struct option_spec options[] = { { "hz", "N", "samples a second (47)", &hz } };
	const struct command_spec command = { "tool", "", "Does it.", NULL, options, ARRAY_SIZE(options) };
	struct option_list list = { "hz", values, ARRAY_SIZE(values), 0 };
	char *words[] = { (char *)"tool", (char *)"--hz", (char *)"1", (char *)"--hz=2", (char *)"--hz=3" };
	int count = -1, saved;
	char *said;

	ck_assert_int_eq(options_parse_list(&command, 4, words, &count, &list), OPTIONS_RUN);
	ck_assert_int_eq(count, 0);
	ck_assert_uint_eq(list.count, 2);
	ck_assert_str_eq(values[0], "1");
	ck_assert_str_eq(values[1], "2");
	ck_assert_str_eq(hz, "2");
	list.count = 0;
	saved = log_divert();
	ck_assert_int_eq(options_parse_list(&command, 5, words, &count, &list), EXIT_USAGE);
	said = log_diverted(saved);
	ck_assert_ptr_nonnull(strstr(said, "option --hz may be given 2 times at most"));
	free(said);
}
END_TEST

SUITE(options)
{
	Suite *suite = suite_create("options");
	TCase *options = tcase_create("options");

	tcase_add_loop_test(options, command_lines, 0, ARRAY_SIZE(parse_cases));
	tcase_add_test(options, help_and_version);
	tcase_add_test(options, an_option_that_may_be_given_several_times);
	tcase_add_loop_test(options, numbers, 0, ARRAY_SIZE(number_cases));
	suite_add_tcase(suite, options);
	return suite;
}
