/* SPDX-License-Identifier: GPL-2.0-only */
/* Shows which names of users are known, also of a file that has mistakes. */
#include "common/base/cleanup.h"
#include "consumer/process/user_names.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <string.h>

static void read_text(const char *text, struct user_names *ret_names)
{
	_cleanup_free_ char *directory = directory_make(), *path = path_join(directory, "passwd");

	file_put(path, text, strlen(text));
	ck_assert_int_eq(user_names_read(ret_names, path), 0);
}

START_TEST(users_are_found_by_their_uid)
{
	struct user_names names;

	read_text("root:x:0:0:root:/root:/bin/bash\nmistake\nalice:x:1000:1000::/home/alice:/bin/sh\n"
		  "twin:x:1000:1000:::\nx:x:not-a-number:1:::\n"
		  "a-name-of-more-than-thirty-two-bytes:x:7:7:::\n",
		  &names);
	ck_assert_str_eq(user_names_find(&names, 0), "root");
	ck_assert_str_eq(user_names_find(&names, 1000), "alice");
	ck_assert_str_eq(user_names_find(&names, 7), "");
	ck_assert_str_eq(user_names_find(&names, 1), "");
	user_names_free(&names);
	ck_assert_str_eq(user_names_find(&names, 0), "");
}
END_TEST

START_TEST(a_file_that_is_missing)
{
	struct user_names names = { 0 };

	ck_assert_int_eq(user_names_read(&names, "/nonexistent/passwd"), -ENOENT);
	ck_assert_str_eq(user_names_find(&names, 0), "");
}
END_TEST

START_TEST(a_file_without_end)
{
	struct user_names names;
	char *text = malloc(40UL * (USER_NAMES_MAX + 10));
	size_t used = 0;

	for (uint32_t i = 0; i < USER_NAMES_MAX + 10; i++)
		used += (size_t)sprintf(text + used, "u%u:x:%u:1:::\n", i, i);
	read_text(text, &names);
	ck_assert_uint_eq(names.count, USER_NAMES_MAX);
	ck_assert_str_eq(user_names_find(&names, USER_NAMES_MAX - 1), "u4095");
	ck_assert_str_eq(user_names_find(&names, USER_NAMES_MAX), "");
	user_names_free(&names);
	free(text);
}
END_TEST

SUITE(user_names)
{
	Suite *suite = suite_create("user_names");
	TCase *names = tcase_create("names");

	tcase_add_test(names, users_are_found_by_their_uid);
	tcase_add_test(names, a_file_that_is_missing);
	tcase_add_test(names, a_file_without_end);
	suite_add_tcase(suite, names);
	return suite;
}
