/* SPDX-License-Identifier: GPL-2.0-only */
/* Shows what `bourdon threads --once` prints of groups with hostile names: as text, JSON and CSV. */
#include "common/base/cleanup.h"
#include "report/live/threads_output.h"
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
	.groups = made,
	.count = 2,
	.average = 2,
	.states = { [ACTIVITY_RUNNING] = 0.75, [ACTIVITY_DISK] = 1.25 },
	.all = 40,
	.looks = 4,

};

enum form { TEXT, JSON, CSV };

/* The caller frees it. */
static char *print_view(const struct thread_view *shown, enum form form, const struct thread_groups *of,
			int64_t limit)
{
	const struct thread_lines look = { .cpus = 4, .left_out = 12, .missed = 1 };
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	ck_assert_ptr_nonnull(out);
	if (form == TEXT)
		threads_print_text(out, shown, of, limit, &look);
	if (form == JSON)
		threads_print_json(out, shown, of, limit, &look, 1000000000);
	if (form == CSV) {
		threads_print_csv_header(out, shown);
		threads_print_csv(out, shown, of, limit, "1970-01-01T00:00:01Z");
	}
	fclose(out);
	return text;
}

static char *print(enum form form, const struct thread_groups *of, int64_t limit)
{
	return print_view(&view, form, of, limit);
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

/* Numbers are CPUs, and what is missing is said. */
START_TEST(samples)
{
	static const struct thread_view live = { .columns = { THREAD_FUNCTION, THREAD_MODULE },
						 .columns_count = 2,
						 .window = 1,
						 .origin = THREADS_SAMPLED };
	static struct thread_group of_functions[] = {
		{ .values = { "f;\033", "libc.so.6" }, .average = 1.5, .share = 1 }
	};
	static const struct thread_groups busy = {
		.groups = of_functions, .count = 1, .average = 1.5, .all = 1.5, .looks = 99
	};
	_cleanup_free_ char *text = print_view(&live, TEXT, &busy, -1),
			    *json = print_view(&live, JSON, &busy, -1),
			    *csv = print_view(&live, CSV, &busy, -1),
			    *none = print_view(&live, TEXT, &empty, -1);

	ck_assert_str_eq(
		text,
		"1.50 of 4 CPUs in use, 12 samples left out, 1 second missed, over 99 ticks of the clock\n"
		"\n"
		"    CPUS   SHARE              FUNCTION  MODULE\n"
		"    1.50   100 %  ██████████  f;\\x1b    libc.so.6\n");
	ck_assert_str_eq(
		json,
		"{\"at\": \"1970-01-01T00:00:01Z\", \"ticks\": 99, \"cpus\": 1.500, \"cpus_sampled\": 4, \"left_out\": 12, \"missed\": 1, \"groups\": ["
		"{\"function\": \"f;\\u001b\", \"module\": \"libc.so.6\", \"cpus\": 1.500, \"share\": 1.0000}]}\n");
	ck_assert_str_eq(csv, "at,cpus,share,function,module\r\n"
			      "1970-01-01T00:00:01Z,1.500,1.0000,\"f;\\x1b\",\"libc.so.6\"\r\n");
	ck_assert_ptr_nonnull(strstr(none, "nothing on a CPU matches"));
}
END_TEST

SUITE(threads_output)
{
	Suite *suite = suite_create("threads_output");
	TCase *forms = tcase_create("forms");

	tcase_add_test(forms, as_text);
	tcase_add_test(forms, as_json);
	tcase_add_test(forms, as_csv);
	tcase_add_test(forms, samples);
	suite_add_tcase(suite, forms);
	return suite;
}
