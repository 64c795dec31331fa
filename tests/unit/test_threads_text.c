/* SPDX-License-Identifier: GPL-2.0-only */
/* Shows how the text of the iterator `threads` is read: its columns, escaped names, and lines that are none. */
#include "common/base/cleanup.h"
#include "report/live/threads_text.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HEADER                                                                                               \
	"tid\ttgid\tcomm\tuid\tstate\tsyscall\tfd\tfutex\tfunction\tcpu\tstate_ns\trun_delay_ns\tio_delay_ns\tcgroup\n"

static int read_text(const char *text, struct thread_lines *ret_lines)
{
	return threads_text_read(strdup(text), strlen(text), ret_lines);
}

START_TEST(a_line_has_its_values_by_column)
{
	_cleanup_thread_lines_ struct thread_lines lines = { 0 };

	ck_assert_int_eq(read_text(HEADER "10\t10\tmain\t0\tS\tread\t4\t-\tpipe_read\t1\t5\t6\t-\t/a\n"
					  "11\t10\tother\t0\tqueued\t-\t-\t-\t-\t0\t7\t8\t9\t/a/b\n",
				   &lines),
			 0);
	ck_assert_uint_eq(lines.count, 2);
	ck_assert_uint_eq(lines.malformed, 0);
	ck_assert_str_eq(lines.lines[0].values[THREAD_TID], "10");
	ck_assert_str_eq(lines.lines[0].values[THREAD_FD], "4");
	ck_assert_str_eq(lines.lines[0].values[THREAD_FUNCTION], "pipe_read");
	ck_assert_str_eq(lines.lines[0].values[THREAD_IO_DELAY_NS], THREAD_NONE);
	ck_assert_str_eq(lines.lines[1].values[THREAD_STATE], "queued");
	ck_assert_str_eq(lines.lines[1].values[THREAD_CGROUP], "/a/b");
	ck_assert_str_eq(lines.lines[1].values[THREAD_COMM], "other");
	ck_assert_str_eq(lines.lines[1].values[THREAD_PROCESS], "main");
}
END_TEST

START_TEST(a_process_without_its_first_thread_has_no_name)
{
	_cleanup_thread_lines_ struct thread_lines lines = { 0 };

	ck_assert_int_eq(read_text(HEADER "11\t10\tother\t0\tS\t-\t-\t-\t-\t0\t7\t8\t9\t/\n", &lines), 0);
	ck_assert_str_eq(lines.lines[0].values[THREAD_PROCESS], THREAD_NONE);
}
END_TEST

static const struct {
	const char *written, *meant;
} names[] = {
	{ "plain", "plain" },
	{ "\\040two\\040\\040blanks", " two  blanks" },
	{ "\\011\\012\\033[31m", "\t\n\033[31m" },
	{ "\\377\\200", "\377\200" },
	{ "\\134\\060", "\\0" },
	{ "\\000", "" },
	{ "\\400", "\\400" }, /* no byte */
	{ "\\8", "\\8" },
	{ "\\", "\\" },
};

START_TEST(names_are_what_they_were_before_they_were_escaped)
{
	_cleanup_thread_lines_ struct thread_lines lines = { 0 };
	char text[512];

	snprintf(text, sizeof(text), HEADER "10\t10\t%s\t0\tS\t-\t-\t-\t-\t0\t7\t8\t9\t/\n",
		 names[_i].written);
	ck_assert_int_eq(read_text(text, &lines), 0);
	ck_assert_uint_eq(lines.count, 1);
	ck_assert_str_eq(lines.lines[0].values[THREAD_COMM], names[_i].meant);
}
END_TEST

START_TEST(columns_are_found_by_their_names)
{
	_cleanup_thread_lines_ struct thread_lines lines = { 0 };

	ck_assert_int_eq(
		read_text(
			"new\tcgroup\tio_delay_ns\trun_delay_ns\tstate_ns\tcpu\tfunction\tfutex\tfd\tsyscall\tstate\tuid\tcomm\ttgid\ttid\n"
			"?\t/\t1\t2\t3\t4\tf\t-\t5\tread\tS\t6\tme\t7\t8\n",
			&lines),
		0);
	ck_assert_uint_eq(lines.count, 1);
	ck_assert_str_eq(lines.lines[0].values[THREAD_TID], "8");
	ck_assert_str_eq(lines.lines[0].values[THREAD_CPU], "4");
	ck_assert_str_eq(lines.lines[0].values[THREAD_COMM], "me");
}
END_TEST

START_TEST(what_is_no_line_is_counted)
{
	_cleanup_thread_lines_ struct thread_lines lines = { 0 };

	ck_assert_int_eq(read_text(HEADER "10\t10\tme\t0\tS\t-\t-\t-\t-\t0\t7\t8\t9\t/\n"
					  "\n"
					  "10\t10\tme\t0\tS\n"
					  "10\t10\tme\t0\tS\t-\t-\t-\t-\t0\t7\t8\t9\t/\tmore\n"
					  "10\t10\t\t0\tS\t-\t-\t-\t-\t0\t7\t8\t9\t/\n"
					  "10\t10\tme\t0\tS\t-\t-\t-\t-\t0\t7\t8\t9\t/cut",
				   &lines),
			 0);
	ck_assert_uint_eq(lines.count, 1);
	ck_assert_uint_eq(lines.malformed, 5);
}
END_TEST

START_TEST(a_text_without_the_columns_is_refused)
{
	struct thread_lines lines;

	ck_assert_int_eq(read_text("", &lines), -ENODATA);
	ck_assert_int_eq(read_text("\n", &lines), -EPROTO);
	ck_assert_int_eq(read_text("tid\ttgid\n1\t1\n", &lines), -EPROTO);
	ck_assert_int_eq(read_text(HEADER, &lines), 0);
	ck_assert_uint_eq(lines.count, 0);
	thread_lines_free(&lines);
}
END_TEST

SUITE(threads_text)
{
	Suite *suite = suite_create("threads_text");
	TCase *lines = tcase_create("lines");

	tcase_add_test(lines, a_line_has_its_values_by_column);
	tcase_add_test(lines, a_process_without_its_first_thread_has_no_name);
	tcase_add_loop_test(lines, names_are_what_they_were_before_they_were_escaped, 0, ARRAY_SIZE(names));
	tcase_add_test(lines, columns_are_found_by_their_names);
	tcase_add_test(lines, what_is_no_line_is_counted);
	tcase_add_test(lines, a_text_without_the_columns_is_refused);
	suite_add_tcase(suite, lines);
	return suite;
}
