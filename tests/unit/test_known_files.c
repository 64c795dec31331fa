/* SPDX-License-Identifier: GPL-2.0-only */
/* Shows that a file is recognised by everything that tells two contents apart, and that memory is bounded. */
#include "common/base/cleanup.h"
#include "consumer/symbols/known_files.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <string.h>

static struct stat file(uint64_t inode)
{
	return (struct stat){
		.st_dev = 7, .st_ino = inode, .st_size = 1000, .st_mtim = { 10, 11 }, .st_ctim = { 20, 21 }
	};
}

START_TEST(the_same_file)
{
	struct known_files *files = known_files_new();
	struct stat at = file(1), others[6];

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		others[i] = at;
	others[0].st_dev++;
	others[1].st_ino++;
	others[2].st_size++;
	others[3].st_uid++;
	others[4].st_ctim.tv_sec++;
	others[5].st_ctim.tv_nsec++;
	ck_assert_ptr_null(known_files_build_id(files, &at));
	known_files_add(files, &at, "00ff");
	known_files_add(files, &at, "11ff"); /* cannot happen: the first entry stays */
	ck_assert_str_eq(known_files_build_id(files, &at), "00ff");
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		ck_assert_ptr_null(known_files_build_id(files, &others[i]));
	known_files_add(files, &others[0], "");
	ck_assert_ptr_null(known_files_build_id(files, &others[0]));
	known_files_free(files);
}
END_TEST

START_TEST(many_files_are_bounded)
{
	struct known_files *files = known_files_new();

	for (uint64_t i = 0; i < 10000; i++) {
		struct stat at = file(i);
		char id[32];

		snprintf(id, sizeof(id), "%04lx", (unsigned long)i);
		known_files_add(files, &at, id);
		HOLDS(!strcmp(known_files_build_id(files, &at), id));
	}
	known_files_free(files);
}
END_TEST

START_TEST(without_a_memory)
{
	struct stat at = file(1);

	known_files_add(NULL, &at, "00ff");
	ck_assert_ptr_null(known_files_build_id(NULL, &at));
	known_files_free(NULL);
}
END_TEST

START_TEST(addresses_without_a_name)
{
	struct known_files *files = known_files_new();
	struct stat at = file(1), other = file(2);

	known_files_settle(files, &at, false, 5, false); /* of a file that is not known */
	ck_assert(!known_files_is_settled(files, &at, false, 5, false));
	known_files_add(files, &at, "00ff");
	known_files_add(files, &other, "00fe");
	known_files_settle(files, &at, false, 5, false);
	ck_assert(known_files_is_settled(files, &at, false, 5, false));
	ck_assert(!known_files_is_settled(files, &at, false, 6, false));
	ck_assert(!known_files_is_settled(files, &other, false, 5, false));
	ck_assert(!known_files_is_settled(NULL, &at, false, 5, false));
	/* a name without a source line is another answer */
	ck_assert(!known_files_is_settled(files, &at, false, 5, true));
	known_files_settle(files, &at, false, 5, true);
	ck_assert(known_files_is_settled(files, &at, false, 5, true));
	ck_assert(known_files_is_settled(files, &at, false, 5, false));
	/* whether there is a debug file is a part of the question: the other answer replaces this one */
	ck_assert(!known_files_is_settled(files, &at, true, 5, false));
	known_files_settle(files, &at, true, 7, false);
	ck_assert(known_files_is_settled(files, &at, true, 7, false));
	ck_assert(!known_files_is_settled(files, &at, true, 5, false));
	ck_assert(!known_files_is_settled(files, &at, false, 5, false));
	for (int64_t i = 0; i < 5000; i++) {
		known_files_settle(files, &other, true, i, false);
		HOLDS(known_files_is_settled(files, &other, true, i, false) == (i < 256));
	}
	known_files_free(files);
}
END_TEST

SUITE(known_files)
{
	Suite *suite = suite_create("known_files");
	TCase *files = tcase_create("files");

	tcase_add_test(files, the_same_file);
	tcase_add_test(files, many_files_are_bounded);
	tcase_add_test(files, addresses_without_a_name);
	tcase_add_test(files, without_a_memory);
	suite_add_tcase(suite, files);
	return suite;
}
