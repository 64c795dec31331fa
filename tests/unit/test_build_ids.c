/* SPDX-License-Identifier: GPL-2.0-only */
/* Shows that a file is known again by all that tells one content from another, and that memory is bounded. */
#include "common/cleanup.h"
#include "consumer/build_ids.h"
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
	struct build_ids *ids = build_ids_new();
	struct stat at = file(1), others[7];

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		others[i] = at;
	others[0].st_dev++;
	others[1].st_ino++;
	others[2].st_size++;
	others[3].st_mtim.tv_sec++;
	others[4].st_mtim.tv_nsec++;
	others[5].st_ctim.tv_sec++;
	others[6].st_ctim.tv_nsec++;
	ck_assert_ptr_null(build_ids_find(ids, &at));
	build_ids_add(ids, &at, "00ff");
	build_ids_add(ids, &at, "11ff"); /* cannot be: the first stays */
	ck_assert_str_eq(build_ids_find(ids, &at), "00ff");
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		ck_assert_ptr_null(build_ids_find(ids, &others[i]));
	build_ids_add(ids, &others[0], "");
	ck_assert_ptr_null(build_ids_find(ids, &others[0]));
	build_ids_free(ids);
}
END_TEST

START_TEST(many_files)
{
	struct build_ids *ids = build_ids_new();

	for (uint64_t i = 0; i < 10000; i++) {
		struct stat at = file(i);
		char id[32];

		snprintf(id, sizeof(id), "%04lx", (unsigned long)i);
		build_ids_add(ids, &at, id);
		HOLDS(!strcmp(build_ids_find(ids, &at), id));
	}
	build_ids_free(ids);
}
END_TEST

START_TEST(without_a_memory)
{
	struct stat at = file(1);

	build_ids_add(NULL, &at, "00ff");
	ck_assert_ptr_null(build_ids_find(NULL, &at));
	build_ids_free(NULL);
}
END_TEST

Suite *build_ids_suite(void)
{
	Suite *suite = suite_create("build_ids");
	TCase *files = tcase_create("files");

	tcase_add_test(files, the_same_file);
	tcase_add_test(files, many_files);
	tcase_add_test(files, without_a_memory);
	suite_add_tcase(suite, files);
	return suite;
}
