/* SPDX-License-Identifier: GPL-2.0-only */
/* Shows that the package of a file is found in lists like dpkg's, whichever way they name files and themselves. */
#include "common/base/cleanup.h"
#include "report/model/packages.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <string.h>
#include <unistd.h>

static void put_list(const char *directory, const char *name, const char *text)
{
	_cleanup_free_ char *path = path_join(directory, name);

	file_put(path, text, strlen(text));
}

START_TEST(a_file_has_the_package_that_lists_it)
{
	static const char *const paths[] = { "/usr/lib/x/libc.so.6", "/usr/bin/b", "/usr/bin/absent",
					     "/usr/bin/a", "/usr/bin/a" };
	_cleanup_free_ char *directory = directory_make();
	char *packages[ARRAY_SIZE(paths)];

	put_list(directory, "libc6:amd64.list", "/.\n/lib\n/lib/x/libc.so.6\n");
	put_list(directory, "python3.11-minimal.list", "/usr/bin/a\n/usr/bin/ab");
	put_list(directory, "last.list", "/usr/bin/b"); /* without an end of line */
	put_list(directory, "empty.list", "");
	put_list(directory, "other.md5sums", "/usr/bin/absent\n");
	ck_assert_int_eq(packages_find(directory, paths, ARRAY_SIZE(paths), packages), 0);
	ck_assert_pstr_eq(packages[0], "libc6");
	ck_assert_pstr_eq(packages[1], "last");
	ck_assert_ptr_null(packages[2]);
	ck_assert_pstr_eq(packages[3], "python3.11-minimal");
	ck_assert_pstr_eq(packages[4], "python3.11-minimal");
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
		free(packages[i]);
	directory_remove(directory);
	ck_assert_int_eq(packages_find(directory, paths, 1, packages), 0);
	ck_assert_ptr_null(packages[0]);
}
END_TEST

START_TEST(symbols_are_in_a_package_of_their_own)
{
	_cleanup_free_ char *libc = packages_symbols("libc6"), *other = packages_symbols("libssl3");

	ck_assert_str_eq(libc, "libc6-dbg");
	ck_assert_str_eq(other, "libssl3-dbgsym");
}
END_TEST

SUITE(packages)
{
	Suite *suite = suite_create("packages");
	TCase *tests = tcase_create("lists");

	tcase_add_test(tests, a_file_has_the_package_that_lists_it);
	tcase_add_test(tests, symbols_are_in_a_package_of_their_own);
	suite_add_tcase(suite, tests);
	return suite;
}
