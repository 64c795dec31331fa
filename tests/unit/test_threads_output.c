/* SPDX-License-Identifier: GPL-2.0-only */
/* Shows what `bourdon threads --once` prints of groups with hostile names: as text, JSON and CSV. */
#include "common/cleanup.h"
#include "report/threads_output.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct thread_view view = {
	.columns = { THREAD_STATE, THREAD_COMM, THREAD_UID, THREAD_FD, THREAD_FUTEX },
	.columns_count = 5,
	.window = 1,
};

static struct thread_group made[] = {
	{ .values = { "D", "a\"b,\033[31m\n", "33", THREAD_NONE, "0123456789abcdef" },
	  .average = 1.25,
	  .share = 0.625 },
	{ .values = { "running", THREAD_NONE, "0", "7", THREAD_NONE }, .average = 0.75, .share = 0.375 },
};

static const struct thread_groups empty = { .looks = 1 };
static const struct thread_groups groups = {
	.groups = made, .count = 2, .average = 2, .running = 0.75, .disk = 1.25, .all = 40, .looks = 4
};

enum form { TEXT, JSON, CSV };

/* The caller frees it. */
static char *print(enum form form, const struct thread_groups *of, int64_t limit)
{
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	ck_assert_ptr_nonnull(out);
	if (form == TEXT)
		threads_print_text(out, &view, of, limit);
	if (form == JSON)
		threads_print_json(out, &view, of, limit, 1000000000);
	if (form == CSV) {
		threads_print_csv_header(out, &view);
		threads_print_csv(out, &view, of, limit, 1000000000);
	}
	fclose(out);
	return text;
}

START_TEST(as_text)
{
	_cleanup_free_ char *text = print(TEXT, &groups, -1), *cut = print(TEXT, &groups, 1),
			    *none = print(TEXT, &empty, -1);

	ck_assert_str_eq(
		text,
		"40.0 threads on average over 4 looks: 0.8 running, 0.0 queued, 1.2 in D\n"
		"\n"
		" AVERAGE   SHARE              STATE    COMM             UID     FD     FUTEX\n"
		"    1.25    62 %  ██████      D        a\"b,\\x1b[31m\\x…  33      -      0123456789abcdef\n"
		"    0.75    38 %  ███         running  -                0       7      -\n");
	ck_assert_ptr_nonnull(strstr(cut, "\nand 1 more; --limit shows them\n"));
	ck_assert_ptr_nonnull(strstr(none, "--match 'state=*' shows the others"));
}
END_TEST

START_TEST(as_json)
{
	_cleanup_free_ char *text = print(JSON, &groups, -1), *cut = print(JSON, &groups, 0);

	ck_assert_str_eq(
		text,
		"{\"at\": \"1970-01-01T00:00:01Z\", \"looks\": 4, \"threads\": 40.000, \"running\": 0.750, \"queued\": 0.000, \"in_d\": 1.250, \"groups\": ["
		"{\"state\": \"D\", \"comm\": \"a\\\"b,\\u001b[31m\\u000a\", \"uid\": 33, \"fd\": null, \"futex\": \"0123456789abcdef\", \"average\": 1.250, \"share\": 0.6250}, "
		"{\"state\": \"running\", \"comm\": \"-\", \"uid\": 0, \"fd\": 7, \"futex\": null, \"average\": 0.750, \"share\": 0.3750}]}\n");
	ck_assert_ptr_nonnull(strstr(cut, "\"groups\": []}"));
}
END_TEST

START_TEST(as_csv)
{
	_cleanup_free_ char *text = print(CSV, &groups, -1);

	ck_assert_str_eq(
		text,
		"at,average,share,state,comm,uid,fd,futex\r\n"
		"1970-01-01T00:00:01Z,1.250,0.6250,\"D\",\"a\"\"b,\\x1b[31m\\x0a\",\"33\",,\"0123456789abcdef\"\r\n"
		"1970-01-01T00:00:01Z,0.750,0.3750,\"running\",\"-\",\"0\",\"7\",\r\n");
}
END_TEST

Suite *threads_output_suite(void)
{
	Suite *suite = suite_create("threads_output");
	TCase *forms = tcase_create("forms");

	tcase_add_test(forms, as_text);
	tcase_add_test(forms, as_json);
	tcase_add_test(forms, as_csv);
	suite_add_tcase(suite, forms);
	return suite;
}
