/* SPDX-License-Identifier: GPL-2.0-only */
/* Shows the verdict of a list of findings, and how it is printed, whatever its texts hold. */
#include "common/base/cleanup.h"
#include "common/system/findings.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <sqlite3.h>
#include <string.h>

static char *shown(const struct findings *findings, void (*show)(const struct findings *, FILE *))
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	ck_assert_ptr_nonnull(out);
	show(findings, out);
	fclose(out);
	return text;
}

START_TEST(the_worst_counts)
{
	struct findings findings = { 0 };

	ck_assert_int_eq(findings_worst(&findings), GRADE_OK);
	findings_ok(&findings, "a", "fine");
	ck_assert_int_eq(findings_worst(&findings), GRADE_OK);
	findings_add(&findings, GRADE_FAILED, "b", "", "broken");
	findings_add(&findings, GRADE_WARNING, "c", "", "so so");
	findings_add(&findings, GRADE_UNKNOWN, "d", "", "who knows");
	ck_assert_int_eq(findings_worst(&findings), GRADE_FAILED);
}
END_TEST

START_TEST(table)
{
	struct findings findings = { 0 };
	_cleanup_free_ char *text = NULL;

	findings_ok(&findings, "kernel", "%d.%d", 6, 1);
	findings_add(&findings, GRADE_WARNING, "PSI of cgroups", "echo 1 > /a\033[2J", "off in /a\033[2J");
	text = shown(&findings, findings_print);
	ck_assert_str_eq(text, "kernel                  ok      6.1\n"
			       "PSI of cgroups          warning off in /a\\x1b[2J\n"
			       "                        remedy: echo 1 > /a\\x1b[2J\n");
}
END_TEST

/* SQLite parses the JSON. */
static void assert_json(const char *json, const char *path, const char *expected)
{
	sqlite3_stmt *asked;
	sqlite3 *memory;
	const char *got;

	ck_assert_int_eq(sqlite3_open(":memory:", &memory), SQLITE_OK);
	ck_assert_int_eq(sqlite3_prepare_v2(memory, "SELECT json_extract(?, ?)", -1, &asked, NULL),
			 SQLITE_OK);
	sqlite3_bind_text(asked, 1, json, -1, SQLITE_STATIC);
	sqlite3_bind_text(asked, 2, path, -1, SQLITE_STATIC);
	ck_assert_int_eq(sqlite3_step(asked), SQLITE_ROW);
	got = (const char *)sqlite3_column_text(asked, 0);
	if (expected)
		ck_assert_str_eq(got, expected);
	else
		ck_assert_ptr_null(got);
	sqlite3_finalize(asked);
	sqlite3_close(memory);
}

START_TEST(json)
{
	struct findings findings = { 0 };
	_cleanup_free_ char *text = NULL, *none = shown(&findings, findings_print_json);

	assert_json(none, "$.verdict", "ok");
	findings_ok(&findings, "kernel", "a \"quoted\"\n%s", "\xff name");
	findings_add(&findings, GRADE_FAILED, "PSI", "boot with psi=1", "off");
	text = shown(&findings, findings_print_json);
	assert_json(text, "$.verdict", "failed");
	assert_json(text, "$.findings[0].name", "kernel");
	assert_json(text, "$.findings[0].found", "a \"quoted\"\n\xef\xbf\xbd name");
	assert_json(text, "$.findings[0].remedy", NULL);
	assert_json(text, "$.findings[1].verdict", "failed");
	assert_json(text, "$.findings[1].remedy", "boot with psi=1");
}
END_TEST

START_TEST(a_full_list_drops_further_findings)
{
	struct findings findings = { 0 };

	for (int i = 0; i < FINDINGS_MAX + 3; i++)
		findings_ok(&findings, "one", "%d", i);
	ck_assert_uint_eq(findings.count, FINDINGS_MAX);
	ck_assert_str_eq(findings.items[FINDINGS_MAX - 1].found, "47");
}
END_TEST

SUITE(findings)
{
	Suite *suite = suite_create("findings");
	TCase *tests = tcase_create("findings");

	tcase_add_test(tests, the_worst_counts);
	tcase_add_test(tests, table);
	tcase_add_test(tests, json);
	tcase_add_test(tests, a_full_list_drops_further_findings);
	suite_add_tcase(suite, tests);
	return suite;
}
