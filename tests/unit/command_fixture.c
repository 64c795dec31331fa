/* SPDX-License-Identifier: GPL-2.0-only */
#include "tests/unit/command_fixture.h"

#include "common/system/log.h"
#include "common/system/options.h"
#include "report/command.h"
#include "tests/unit/helpers.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX 16

void command_ran_free(struct command_ran *ran)
{
	free(ran->out);
	free(ran->err);
}

static struct command_ran run(char *words)
{
	char *arguments[WORDS_MAX] = { (char[]){ "bourdon" } };
	struct command_ran ran = { 0 };
	int count = 1, saved;
	size_t bytes;
	FILE *out;

	for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
		arguments[count++] = word;
	out = open_memstream(&ran.out, &bytes);
	saved = log_divert();
	ran.status = command_main(count, arguments, out);
	ran.err = log_diverted(saved);
	fclose(out);
	return ran;
}

static struct command_ran __attribute__((format(printf, 1, 0)))
run_format(const char *format, va_list arguments)
{
	_cleanup_free_ char *words = NULL;

	ck_assert_int_gt(vasprintf(&words, format, arguments), 0);
	return run(words);
}

struct command_ran command_run_words(const char *format, ...)
{
	struct command_ran ran;
	va_list arguments;

	va_start(arguments, format);
	ran = run_format(format, arguments);
	va_end(arguments);
	return ran;
}

void expect_command(const char *part, const char *format, ...)
{
	_cleanup_command_ran_ struct command_ran ran = { 0 };
	va_list arguments;

	va_start(arguments, format);
	ran = run_format(format, arguments);
	va_end(arguments);
	ck_assert_msg(!ran.status, "'%s' gave %d: %s%s", format, ran.status, ran.out, ran.err);
	ck_assert_msg(strstr(ran.out, part), "'%s' is not in:\n%s", part, ran.out);
}

void expect_command_fails(const char *part, const char *format, ...)
{
	_cleanup_command_ran_ struct command_ran ran = { 0 };
	va_list arguments;

	va_start(arguments, format);
	ran = run_format(format, arguments);
	va_end(arguments);
	ck_assert_msg(ran.status == EXIT_FAILED, "'%s' gave %d: %s%s", format, ran.status, ran.out, ran.err);
	ck_assert_msg(strstr(ran.err, part), "'%s' is not in:\n%s", part, ran.err);
}
