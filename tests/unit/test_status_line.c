/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that a status line is one line, whatever its values hold, that its values read back escaped, and that
 * a damaged line is refused.
 */
#include "common/base/cleanup.h"
#include "common/protocol/status_line.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <string.h>

START_TEST(a_written_line_reads_back)
{
	static const char *const values[] = { "",  "plain", "a\tb\nc\\d",  "\\t",
					      "=", "a=b",   "\xff\x1b[2J", "\\" };
	static const char *const forms[] = { "",  "plain", "a\\x09b\\x0ac\\d", "\\t",
					     "=", "a=b",   "\\xff\\x1b[2J",    "\\" };
	_cleanup_free_ char *text = NULL;
	struct status_line line;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	status_line_begin(out, "kind");
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		char key[8];

		snprintf(key, sizeof(key), "k%zu", i);
		status_line_field(out, key, "%s", values[i]);
	}
	status_line_end(out);
	fclose(out);
	ck_assert_ptr_eq(strchr(text, '\n'), text + bytes - 1);
	text[bytes - 1] = '\0';
	ck_assert_int_eq(status_line_parse(text, &line), 0);
	ck_assert_str_eq(line.kind, "kind");
	ck_assert_uint_eq(line.count, ARRAY_SIZE(values));
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		ck_assert_str_eq(line.values[i], forms[i]);
	ck_assert_str_eq(status_line_get(&line, "k1"), "plain");
	ck_assert_str_eq(status_line_get(&line, "nothing"), "");
}
END_TEST

static const char *const damaged[] = { "kind\tkey", "kind\ta=1\t", "kind\t\ta=1" };

START_TEST(damaged_lines)
{
	_cleanup_free_ char *text = strdup(damaged[_i]);
	struct status_line line;

	ck_assert_int_eq(status_line_parse(text, &line), -EBADMSG);
}
END_TEST

START_TEST(too_many_fields)
{
	char text[8 * STATUS_FIELDS_MAX + 16] = "kind";
	_cleanup_free_ char *copy = NULL;
	struct status_line line;

	for (int i = 0; i < STATUS_FIELDS_MAX; i++)
		strcat(text, "\ta=1");
	copy = strdup(text);
	ck_assert_int_eq(status_line_parse(copy, &line), 0);
	strcat(text, "\ta=1");
	ck_assert_int_eq(status_line_parse(text, &line), -EBADMSG);
}
END_TEST

SUITE(status_line)
{
	Suite *suite = suite_create("status_line");
	TCase *tests = tcase_create("status_line");

	tcase_add_test(tests, a_written_line_reads_back);
	tcase_add_loop_test(tests, damaged_lines, 0, ARRAY_SIZE(damaged));
	tcase_add_test(tests, too_many_fields);
	suite_add_tcase(suite, tests);
	return suite;
}
