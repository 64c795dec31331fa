/* SPDX-License-Identifier: GPL-2.0-only */
/* Shows which texts are lists of CPUs, and which CPUs they list. */
#include "common/base/cleanup.h"
#include "common/kernel/cpus.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <string.h>
#include <sys/sysinfo.h>

struct list_case {
	const char *text;
	int result;
	const char *cpus; /* separated by blanks */
};

static const struct list_case list_cases[] = {
	{ "0", 0, "0" },
	{ "0\n", 0, "0" },
	{ "0-3", 0, "0 1 2 3" },
	{ "0-3,5", 0, "0 1 2 3 5" },
	{ "0-1,3-4,7,9-9\n", 0, "0 1 3 4 7 9" },
	{ "4095", 0, "4095" },
	{ "", -EINVAL, NULL },
	{ "\n", -EINVAL, NULL },
	{ "a", -EINVAL, NULL },
	{ "0,", -EINVAL, NULL },
	{ ",0", -EINVAL, NULL },
	{ "0-", -EINVAL, NULL },
	{ "-3", -EINVAL, NULL },
	{ "0--3", -EINVAL, NULL },
	{ "0-3-5", -EINVAL, NULL },
	{ "3-0", -EINVAL, NULL },
	{ "1,0", -EINVAL, NULL },
	{ "1,1", -EINVAL, NULL },
	{ "0-3,3", -EINVAL, NULL },
	{ "0-3,2-5", -EINVAL, NULL },
	{ "0 1", -EINVAL, NULL },
	{ " 0", -EINVAL, NULL },
	{ "0 ", -EINVAL, NULL },
	{ "0\n\n", -EINVAL, NULL },
	{ "0\n1", -EINVAL, NULL },
	{ "0x1", -EINVAL, NULL },
	{ "+1", -EINVAL, NULL },
	{ "4096", -ERANGE, NULL },
	{ "0-4096", -ERANGE, NULL },
	{ "4294967296", -ERANGE, NULL },
	{ "99999999999999999999", -ERANGE, NULL },
};

START_TEST(lists)
{
	const struct list_case *one = &list_cases[_i];
	_cleanup_free_ unsigned int *cpus = NULL;
	size_t count = 4711;
	char text[128] = "";

	ck_assert_int_eq(cpus_parse(one->text, &cpus, &count), one->result);
	if (one->result) {
		ck_assert_ptr_null(cpus);
		ck_assert_uint_eq(count, 4711);
		return;
	}
	for (size_t i = 0; i < count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%u", i ? " " : "", cpus[i]);
	ck_assert_str_eq(text, one->cpus);
}
END_TEST

START_TEST(the_longest_list)
{
	_cleanup_free_ unsigned int *cpus = NULL;
	size_t count;

	ck_assert_int_eq(cpus_parse("0-4095", &cpus, &count), 0);
	ck_assert_uint_eq(count, CPUS_MAX);
	for (unsigned int i = 0; i < CPUS_MAX; i++)
		ck_assert_uint_eq(cpus[i], i);
}
END_TEST

START_TEST(the_cpus_of_this_machine)
{
	_cleanup_free_ unsigned int *cpus = NULL;
	size_t count;

	ck_assert_int_eq(cpus_online(&cpus, &count), 0);
	ck_assert_int_eq((int)count, get_nprocs());
}
END_TEST

SUITE(cpus)
{
	Suite *suite = suite_create("cpus");
	TCase *cpus = tcase_create("cpus");

	tcase_add_loop_test(cpus, lists, 0, ARRAY_SIZE(list_cases));
	tcase_add_test(cpus, the_longest_list);
	tcase_add_test(cpus, the_cpus_of_this_machine);
	suite_add_tcase(suite, cpus);
	return suite;
}
