/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows which user may have written a database, or a file beside it, and that root becomes that user without
 * a way back.
 */
#include "common/base/cleanup.h"
#include "report/model/owner.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <cap-ng.h>
#include <grp.h>
#include <limits.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/xattr.h>

/* TOP/state/bourdon.db: owner and mode of each, and the expected user. */
struct owner_case {
	uid_t top;
	mode_t top_mode;
	uid_t state;
	gid_t state_group;
	mode_t state_mode;
	uid_t file;
	mode_t file_mode;
	uid_t expected;
};

static const struct owner_case owner_cases[] = {
	{ 0, 0755, 0, 0, 0755, 0, 0640, 0 },
	{ 0, 0755, 0, 0, 0755, 1000, 0640, 1000 },
	{ 0, 0755, 1000, 1000, 0750, 0, 0640, 1000 },
	{ 0, 0755, 1000, 1000, 0750, 2000, 0640, 2000 },
	{ 0, 0755, 1000, 0, 0750, 0, 0640, 1000 },
	{ 1000, 0755, 0, 0, 0755, 0, 0640, 1000 },
	{ 1000, 0755, 2000, 2000, 0755, 0, 0640, 2000 },
	/* others may write: any user, or all of a group */
	{ 0, 0755, 0, 0, 0777, 0, 0640, OWNER_NOBODY },
	{ 0, 0755, 0, 1000, 0775, 0, 0640, OWNER_NOBODY },
	{ 0, 0755, 0, 0, 0775, 0, 0640, 0 },
	{ 0, 0755, 0, 0, 0755, 0, 0646, OWNER_NOBODY },
	{ 0, 0755, 0, 0, 0755, 0, 0660, OWNER_NOBODY },
	{ 0, 0755, 0, 0, 0755, 0, 0644, 0 },
	{ 0, 0755, 0, 0, 0755, 1000, 0666, 1000 },
	/* sticky: no one else can remove the database, but anyone could put a -wal beside it */
	{ 0, 0755, 0, 0, 01777, 0, 0640, OWNER_NOBODY },
	{ 0, 01777, 0, 0, 0755, 0, 0640, 0 },
	{ 0, 0777, 0, 0, 0755, 0, 0640, OWNER_NOBODY },
};

struct place {
	char *top, *state, *file;
};

static struct place place_make(const struct owner_case *one)
{
	struct place place;

	place.top = directory_make();
	place.state = path_join(place.top, "state");
	place.file = path_join(place.state, "bourdon.db");
	ck_assert_int_eq(mkdir(place.state, 0700), 0);
	file_put(place.file, "", 0);
	ck_assert_int_eq(chown(place.file, one->file, 7) || chmod(place.file, one->file_mode), 0);
	ck_assert_int_eq(
		chown(place.state, one->state, one->state_group) || chmod(place.state, one->state_mode), 0);
	ck_assert_int_eq(chown(place.top, one->top, 0) || chmod(place.top, one->top_mode), 0);
	return place;
}

static void place_free(struct place *place)
{
	directory_remove(place->top);
	free(place->top);
	free(place->state);
	free(place->file);
}

START_TEST(the_user_who_may_have_written_it)
{
	const struct owner_case *one = &owner_cases[_i];
	struct place place;
	uid_t uid = 1;
	gid_t gid = 1;

	SKIP_IF(no_root());
	place = place_make(one);
	ck_assert_int_eq(owner_find(place.file, &uid, &gid), 0);
	ck_assert_uint_eq(uid, one->expected);
	ck_assert(!uid || gid); /* never the group of root */
	place_free(&place);
}
END_TEST

/* In the kernel's format: version 2, then tag, permissions and id of each entry. */
static void let_in(const char *path, uid_t uid, uint16_t permissions)
{
	const struct {
		uint32_t version;
		struct {
			uint16_t tag, permissions;
			uint32_t id;
		} entries[5];
	} list = { 2,
		   { { 1, 7, ~0U },
		     { 2, permissions, uid },
		     { 4, 5, ~0U },
		     { 16, permissions, ~0U },
		     { 32, 5, ~0U } } };

	ck_assert_int_eq(setxattr(path, "system.posix_acl_access", &list, sizeof(list), 0), 0);
}

START_TEST(users_whom_an_acl_lets_write)
{
	static const struct owner_case trusted = { 0, 0755, 0, 0, 0755, 0, 0644, 0 };
	struct place place;
	uid_t uid = 1;
	gid_t gid = 1;

	SKIP_IF(no_root());
	place = place_make(&trusted);
	let_in(place.state, 1000, _i ? 7 : 5);
	ck_assert_int_eq(owner_find(place.file, &uid, &gid), 0);
	ck_assert_uint_eq(uid, _i ? OWNER_NOBODY : 0);
	place_free(&place);
}
END_TEST

START_TEST(missing_files)
{
	_cleanup_free_ char *directory = directory_make(), *path = path_join(directory, "none"), *real = NULL;
	uid_t uid;
	gid_t gid;

	ck_assert_int_eq(owner_find(path, &uid, &gid), -ENOENT);
	ck_assert_int_eq(owner_become_of(path, &real), geteuid() ? 0 : -ENOENT);
	ck_assert_ptr_null(real);
	directory_remove(directory);
}
END_TEST

/* Somebody else's link leads to a database of root: only root can change anything behind the link. */
START_TEST(a_link_to_a_database_of_root_is_read_as_root)
{
	static const struct owner_case trusted = { 0, 0755, 0, 0, 0755, 0, 0640, 0 };
	static const struct owner_case other = { 0, 0755, 1000, 0, 0755, 0, 0640, 1000 };
	_cleanup_free_ char *real = NULL, *expected = NULL;
	struct place target, place;

	SKIP_IF(no_root());
	target = place_make(&trusted);
	place = place_make(&other);
	expected = realpath(target.file, NULL);
	ck_assert_int_eq(unlink(place.file) || symlink(target.file, place.file), 0);
	ck_assert_int_eq(owner_become_of(place.file, &real), 0);
	ck_assert_uint_eq(geteuid(), 0);
	ck_assert_str_eq(real, expected);
	place_free(&target);
	place_free(&place);
}
END_TEST

START_TEST(there_is_no_way_back_to_root)
{
	static const struct owner_case owned = { 0, 0755, 1000, 1000, 0750, 1000, 0640, 1000 };
	_cleanup_free_ char *real = NULL;
	struct place place;
	uid_t uid[3];
	gid_t gid[3];

	SKIP_IF(no_root());
	place = place_make(&owned);
	ck_assert_int_eq(owner_become_of(place.file, &real), 0);
	ck_assert_int_eq(getresuid(&uid[0], &uid[1], &uid[2]) || getresgid(&gid[0], &gid[1], &gid[2]), 0);
	for (int i = 0; i < 3; i++) {
		ck_assert_uint_eq(uid[i], 1000);
		ck_assert_uint_eq(gid[i], 7);
	}
	ck_assert_int_eq(getgroups(0, NULL), 0);
	ck_assert_int_eq(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), 1);
	capng_clear(CAPNG_SELECT_BOTH);
	ck_assert_int_eq(capng_get_caps_process(), 0);
	ck_assert_int_eq(capng_have_capabilities(CAPNG_SELECT_CAPS), CAPNG_NONE);
	ck_assert_int_eq(setuid(0), -1);
	ck_assert_int_eq(seteuid(0), -1);
	/* a process that is not root keeps its user */
	free(TAKE_PTR(real));
	ck_assert_int_eq(owner_become_of("/etc/passwd", &real), 0);
	ck_assert_ptr_null(real);
	ck_assert_uint_eq(geteuid(), 1000);
	place_free(&place); /* main() removes the files that this process may not remove any more */
}
END_TEST

SUITE(owner)
{
	Suite *suite = suite_create("owner");
	TCase *tests = tcase_create("owner");

	tcase_add_loop_test(tests, the_user_who_may_have_written_it, 0, ARRAY_SIZE(owner_cases));
	tcase_add_loop_test(tests, users_whom_an_acl_lets_write, 0, 2);
	tcase_add_test(tests, missing_files);
	tcase_add_test(tests, a_link_to_a_database_of_root_is_read_as_root);
	tcase_add_test(tests, there_is_no_way_back_to_root);
	suite_add_tcase(suite, tests);
	return suite;
}
