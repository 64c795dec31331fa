/* SPDX-License-Identifier: GPL-2.0-only */
/* Shows which threads the words of --match mean. */
#include "common/base/cleanup.h"
#include "report/live/thread_filter.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <errno.h>
#include <string.h>

static const char *const thread[THREAD_GROUPING] = {
	[THREAD_STATE] = "D",
	[THREAD_SYSCALL] = "pwrite64",
	[THREAD_COMM] = "a=b c",
	[THREAD_PROCESS] = "main",
	[THREAD_UNIT] = "web.service",
	[THREAD_CGROUP] = "/system.slice/web.service",
	[THREAD_CONTAINER] = "0123456789ab",
	[THREAD_FUNCTION] = "folio_wait_bit_common",
	[THREAD_MODULE] = THREAD_NONE,
	[THREAD_KERNEL] = "no",
	[THREAD_UID] = "33",
	[THREAD_FD] = "7",
	[THREAD_FUTEX] = THREAD_NONE,
	[THREAD_TGID] = "4711",
	[THREAD_TID] = "4712",
};

static const struct {
	const char *words;
	bool matches, has_state;
} cases[] = {
	{ "", true, false },
	{ "   ", true, false },
	{ "state=D", true, true },
	{ "state=S", false, true },
	{ "state!=S", true, true },
	{ "state!=D", false, true },
	{ "state=[DS] syscall=p*64", true, true },
	{ "state=D syscall=read", false, true },
	{ "pwrite64", true, false },
	{ "pwrite", false, false }, /* the whole value */
	{ "*wait*", true, false },
	{ "fd=7 futex=-", true, false },
	{ "cgroup=/system.slice/*", true, false },
	{ "container=0123* kernel=no", true, false },
	{ "unit=web.service uid=33 tgid=4711 tid=4712 process=main", true, false },
};

START_TEST(which_threads_words_mean)
{
	struct thread_filter filter, copy;
	const char *word;

	ck_assert_int_eq(thread_filter_read(&filter, cases[_i].words, &word), 0);
	copy = filter;
	memset(&filter, 0xff, sizeof(filter));
	ck_assert_msg(thread_filter_matches(&copy, thread) == cases[_i].matches, "'%s'", cases[_i].words);
	ck_assert_int_eq(copy.has_state, cases[_i].has_state);
	ck_assert_str_eq(copy.text, cases[_i].words);
}
END_TEST

START_TEST(a_mistake_leaves_the_filter_as_it_was)
{
	struct thread_filter filter;
	char text[FILTER_BYTES + 8];
	const char *word;

	ck_assert_int_eq(thread_filter_read(&filter, "state=D", &word), 0);
	ck_assert_int_eq(thread_filter_read(&filter, "syscall=read colour=red", &word), -ENOENT);
	ck_assert_str_eq(word, "colour=red");
	memset(text, 'x', sizeof(text));
	text[FILTER_BYTES] = '\0';
	ck_assert_int_eq(thread_filter_read(&filter, text, &word), -E2BIG);
	for (size_t i = 1; i < FILTER_BYTES; i += 2)
		text[i] = ' ';
	text[FILTER_BYTES - 1] = '\0';
	ck_assert_int_eq(thread_filter_read(&filter, text, &word), -E2BIG);
	ck_assert_str_eq(filter.text, "state=D");
	ck_assert_uint_eq(filter.count, 1);
	text[FILTER_WORDS_MAX * 2 - 1] = '\0';
	ck_assert_int_eq(thread_filter_read(&filter, text, &word), 0);
	ck_assert_uint_eq(filter.count, FILTER_WORDS_MAX);
}
END_TEST

START_TEST(columns_have_the_names_of_the_text)
{
	for (int column = 0; column < THREAD_GROUPING; column++)
		ck_assert_int_eq(
			thread_column_find(thread_columns[column].name, strlen(thread_columns[column].name)),
			column);
	ck_assert_int_eq(thread_column_find("cpu", 3), -ENOENT); /* differs with each look */
	ck_assert_int_eq(thread_column_find("state", 4), -ENOENT);
	ck_assert_int_eq(thread_column_find("", 0), -ENOENT);
}
END_TEST

SUITE(thread_filter)
{
	Suite *suite = suite_create("thread_filter");
	TCase *words = tcase_create("words");

	tcase_add_loop_test(words, which_threads_words_mean, 0, ARRAY_SIZE(cases));
	tcase_add_test(words, a_mistake_leaves_the_filter_as_it_was);
	tcase_add_test(words, columns_have_the_names_of_the_text);
	suite_add_tcase(suite, words);
	return suite;
}
