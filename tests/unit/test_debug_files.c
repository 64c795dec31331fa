/* SPDX-License-Identifier: GPL-2.0-only */
/* Shows where debug files are looked for, and which files are not opened. */
#include "common/base/cleanup.h"
#include "common/symbolizer/debug_files.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <string.h>
#include <sys/stat.h>

/* The text of the file; "" for an error. */
static void expect_text(int fd, const char *text)
{
	char found[64] = "";

	if (fd >= 0) {
		ck_assert_int_ge(read(fd, found, sizeof(found) - 1), 0);
		close(fd);
	}
	ck_assert_str_eq(found, text);
}

START_TEST(by_build_id)
{
	_cleanup_free_ char *root = directory_make(), *fifo = path_join(root, ".build-id/ab/ff.debug");

	file_put_below(root, ".build-id/ab/cdef01.debug", "it");
	expect_text(debug_file_open_by_id(root, "abcdef01"), "it");
	ck_assert_int_eq(debug_file_open_by_id(root, "abcdef02"), -ENOENT);
	ck_assert_int_eq(debug_file_open_by_id(root, ""), -ENOENT);
	ck_assert_int_eq(debug_file_open_by_id(root, "ab"), -ENOENT);
	/* opening it must not wait for a writer */
	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
	ck_assert_int_eq(debug_file_open_by_id(root, "abff"), -EINVAL);
	directory_remove(root);
}
END_TEST

START_TEST(by_link)
{
	_cleanup_free_ char *directory = directory_make(), *root = path_join(directory, "debug"),
			    *module = path_join(directory, "bin/program"), *below = NULL;

	ck_assert_int_gt(asprintf(&below, "%s/bin/program.debug", directory + 1), 0);
	file_put_below(directory, "bin/program.debug", "beside");
	file_put_below(directory, "bin/.debug/program.debug", "in .debug");
	ck_assert_int_eq(mkdir(root, 0755), 0);
	file_put_below(root, below, "below the root");
	expect_text(debug_file_open_by_link(root, module, "program.debug", 0), "beside");
	expect_text(debug_file_open_by_link(root, module, "program.debug", 1), "in .debug");
	expect_text(debug_file_open_by_link(root, module, "program.debug", 2), "below the root");
	ck_assert_int_eq(debug_file_open_by_link(root, module, "program.debug", 3), -ERANGE);
	for (unsigned int i = 0; i < 3; i++) {
		ck_assert_int_eq(debug_file_open_by_link(root, module, "", i), -ENOENT);
		ck_assert_int_eq(debug_file_open_by_link(root, module, "../bin/program.debug", i), -ENOENT);
		ck_assert_int_eq(debug_file_open_by_link(root, "program", "program.debug", i), -ENOENT);
		ck_assert_int_lt(debug_file_open_by_link(root, module, "..", i), 0);
		ck_assert_int_lt(debug_file_open_by_link(root, module, ".", i), 0);
	}
	directory_remove(directory);
}
END_TEST

START_TEST(an_alternate_file)
{
	_cleanup_free_ char *directory = directory_make(), *root = path_join(directory, "debug"),
			    *inside = path_join(root, ".dwz/it"), *outside = path_join(directory, "debugged"),
			    *around = path_join(root, "../debugged");

	file_put_below(directory, "debug/.dwz/it", "it");
	file_put(outside, "other", 5);
	expect_text(debug_file_open_alternate(root, inside), "it");
	ck_assert_int_eq(debug_file_open_alternate(root, outside), -ENOENT);
	ck_assert_int_eq(debug_file_open_alternate(root, around), -ENOENT);
	ck_assert_int_eq(debug_file_open_alternate(root, ""), -ENOENT);
	directory_remove(directory);
}
END_TEST

SUITE(debug_files)
{
	Suite *suite = suite_create("debug_files");
	TCase *files = tcase_create("files");

	tcase_add_test(files, by_build_id);
	tcase_add_test(files, by_link);
	tcase_add_test(files, an_alternate_file);
	suite_add_tcase(suite, files);
	return suite;
}
