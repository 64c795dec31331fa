/* SPDX-License-Identifier: GPL-2.0-only */
/* Shows that a log line carries its priority where the journal reads it, and nowhere else. */
#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <sys/stat.h>

/* The text of three log lines with that value of the variable. The caller frees. */
static char *log_three(const char *journal, int saved)
{
	if (journal)
		setenv("JOURNAL_STREAM", journal, 1);
	else
		unsetenv("JOURNAL_STREAM");
	log_init("test");
	log_error("an error");
	log_warning("a warning");
	log_info("some\nnews");
	return log_diverted(saved);
}

/* Logs while JOURNAL_STREAM names the inode of standard error, or one so many inodes away. The caller frees. */
static char *log_beside(intmax_t inodes_away)
{
	int saved = log_divert();
	char name[64];
	struct stat at;

	ck_assert_int_eq(fstat(STDERR_FILENO, &at), 0);
	snprintf(name, sizeof(name), "%ju:%jd", (uintmax_t)at.st_dev, (intmax_t)at.st_ino + inodes_away);
	return log_three(name, saved);
}

#define PLAIN "test: an error\ntest: a warning\ntest: some\\x0anews\n"

START_TEST(priorities)
{
	_cleanup_free_ char *journal = log_beside(0), *other = log_beside(1);

	ck_assert_str_eq(journal, "<3>an error\n<4>a warning\n<6>some\\x0anews\n");
	ck_assert_str_eq(other, PLAIN);
}
END_TEST

static const char *const no_journals[] = { NULL, "", "8", "8:", ":", "x:y", "8:1 " };

START_TEST(no_priorities)
{
	_cleanup_free_ char *log = log_three(no_journals[_i], log_divert());

	ck_assert_str_eq(log, PLAIN);
}
END_TEST

SUITE(log)
{
	Suite *suite = suite_create("log");
	TCase *tests = tcase_create("log");

	tcase_add_test(tests, priorities);
	tcase_add_loop_test(tests, no_priorities, 0, ARRAY_SIZE(no_journals));
	suite_add_tcase(suite, tests);
	return suite;
}
