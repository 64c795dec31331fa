/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows where the cgroup2 hierarchy is found, which directories a walk visits with which path and id, and
 * which path is below which.
 */
#include "common/base/cleanup.h"
#include "common/kernel/cgroup.h"
#include "common/kernel/cgroup_parts.h"
#include "common/kernel/cgroup_walk.h"
#include "consumer/host/cgroups.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <string.h>
#include <sys/stat.h>

struct mount_case {
	const char *what, *mountinfo;
	const char *path; /* NULL: -ENOENT */
};

#define PROC "22 28 0:21 / /proc rw,nosuid - proc proc rw\n"

static const struct mount_case mount_cases[] = {
	{ "unified",
	  PROC "30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:4 - cgroup2 cgroup2 "
	       "rw,nsdelegate\n",
	  "/sys/fs/cgroup" },
	{ "hybrid",
	  "31 23 0:26 / /sys/fs/cgroup ro,nosuid - tmpfs tmpfs ro,mode=755\n"
	  "32 31 0:27 / /sys/fs/cgroup/unified rw,nosuid shared:5 - cgroup2 cgroup2 rw\n"
	  "33 31 0:28 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd\n"
	  "34 31 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n",
	  "/sys/fs/cgroup/unified" },
	{ "no optional fields", "30 23 0:26 / /cg rw - cgroup2 none rw\n", "/cg" },
	{ "many optional fields",
	  "30 23 0:26 / /cg rw shared:1 master:2 propagate_from:3 unbindable - cgroup2 none rw\n", "/cg" },
	{ "no newline", "30 23 0:26 / /cg rw - cgroup2 none rw", "/cg" },
	{ "blanks", "30 23 0:26 / /my\\040own\\011cg\\134x\\012y rw - cgroup2 none rw\n",
	  "/my own\tcg\\x\ny" },
	{ "white space that the kernel does not escape", "30 23 0:26 / /a\fb\vc\rd rw - cgroup2 none rw\n",
	  "/a\fb\vc\rd" },
	{ "a backslash that escapes nothing", "30 23 0:26 / /a\\9\\04 rw - cgroup2 none rw\n", "/a\\9\\04" },
	{ "a dash in the name", "30 23 0:26 / /a\\040-\\040b rw - cgroup2 none rw\n", "/a - b" },
	{ "the first of two",
	  "30 23 0:26 / /first rw - cgroup2 none rw\n31 23 0:26 / /second rw - cgroup2 none rw\n", "/first" },
	{ "a bind mount of a subtree alone", "40 23 0:26 /system.slice /mnt/cg rw - cgroup2 cgroup2 rw\n",
	  NULL },
	{ "a bind mount of a subtree before",
	  "40 23 0:26 /system.slice /mnt/cg rw - cgroup2 cgroup2 rw\n"
	  "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
	  "/sys/fs/cgroup" },
	{ "a mount of another namespace's root", "40 23 0:26 /../.. /mnt/cg rw - cgroup2 cgroup2 rw\n",
	  NULL },
	{ "version 1 only", "34 31 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n", NULL },
	{ "a source of that name", "34 31 0:29 / /x rw - tmpfs cgroup2 rw\n", NULL },
	{ "a type that begins so", "34 31 0:29 / /x rw - cgroup2fs none rw\n", NULL },
	{ "nothing", "", NULL },
	{ "garbage", "\n\n - cgroup2 \nx - cgroup2 \n1 2 3 - cgroup2 none rw\n", NULL },
};

START_TEST(mounts)
{
	const struct mount_case *one = &mount_cases[_i];
	_cleanup_free_ char *path = NULL;
	int result = cgroup_mount_parse(one->mountinfo, &path);

	ck_assert_msg(result == (one->path ? 0 : -ENOENT), "%s: %d, %s", one->what, result,
		      path ? path : "nothing");
	if (one->path)
		ck_assert_msg(!strcmp(path, one->path), "%s: %s", one->what, path);
}
END_TEST

START_TEST(this_machine)
{
	SKIP_IF(no_cgroup2());
	_cleanup_free_ char *path = NULL, *procs = NULL;

	ck_assert_int_eq(cgroup_mount(&path), 0);
	procs = path_join(path, "cgroup.procs");
	ck_assert_int_eq(access(procs, F_OK), 0);
}
END_TEST

/* ---- walking ---- */

#define VISITS_MAX 32

struct visits {
	char *paths[VISITS_MAX];
	uint64_t ids[VISITS_MAX];
	size_t count, stop_after;
};

static bool visit(void *user, uint64_t id, const char *path)
{
	struct visits *visits = user;

	ck_assert_uint_lt(visits->count, VISITS_MAX);
	visits->ids[visits->count] = id;
	visits->paths[visits->count++] = strdup(path);
	return visits->count != visits->stop_after;
}

static void visits_free(struct visits *visits)
{
	for (size_t i = 0; i < visits->count; i++)
		free(visits->paths[i]);
}

static const char *const tree[] = {
	"/a", "/a/b", "/a/b/c", "/system.slice", "/system.slice/x y.service", "/z"
};

static char *tree_make(void)
{
	char *directory = directory_make();
	_cleanup_free_ char *file = path_join(directory, "a/cgroup.procs"),
			    *link = path_join(directory, "a/link");

	for (size_t i = 0; i < ARRAY_SIZE(tree); i++) {
		_cleanup_free_ char *path = path_join(directory, tree[i] + 1);

		ck_assert_int_eq(mkdir(path, 0755), 0);
	}
	file_put(file, "1\n", 2);
	ck_assert_int_eq(symlink("..", link), 0); /* a link, which the walk does not follow */
	return directory;
}

START_TEST(every_directory_is_visited_once)
{
	_cleanup_free_ char *directory = tree_make();
	struct visits visits = { .count = 0 };

	ck_assert_int_eq(cgroup_walk(directory, UINT64_MAX, visit, &visits), 0);
	ck_assert_uint_eq(visits.count, ARRAY_SIZE(tree) + 1);
	ck_assert_str_eq(visits.paths[0], "/");
	for (size_t i = 0; i < visits.count; i++) {
		_cleanup_free_ char *path = path_join(directory, visits.paths[i]);
		size_t known = i ? 0 : ARRAY_SIZE(tree);
		struct stat at;

		ck_assert_int_eq(stat(path, &at), 0);
		ck_assert_uint_eq(visits.ids[i], at.st_ino);
		while (i && known < ARRAY_SIZE(tree) && strcmp(tree[known], visits.paths[i]))
			known++;
		ck_assert_msg(!i || known < ARRAY_SIZE(tree), "%s", visits.paths[i]);
		for (size_t j = 0; j < i; j++)
			ck_assert_str_ne(visits.paths[i], visits.paths[j]);
	}
	visits_free(&visits);
	directory_remove(directory);
}
END_TEST

START_TEST(a_walk_can_be_stopped)
{
	_cleanup_free_ char *directory = tree_make();

	for (size_t stop = 1; stop <= ARRAY_SIZE(tree) + 1; stop++) {
		struct visits visits = { .stop_after = stop };
		size_t open = descriptors_open();

		ck_assert_int_eq(cgroup_walk(directory, UINT64_MAX, visit, &visits), 0);
		ck_assert_uint_eq(visits.count, stop);
		ck_assert_uint_eq(descriptors_open(), open);
		visits_free(&visits);
	}
	directory_remove(directory);
}
END_TEST

static bool count_visit(void *user, uint64_t id, const char *path)
{
	uint32_t *counted = user;

	(void)id;
	(void)path;
	++*counted;
	return true;
}

/* CGROUP_WALK_MOST with the root, then one more. */
START_TEST(a_walk_visits_so_many_at_most)
{
	_cleanup_free_ char *directory = directory_make();
	uint32_t counted = 0;

	for (uint32_t i = 1; i <= CGROUP_WALK_MOST; i++) {
		char path[PATH_MAX];

		snprintf(path, sizeof(path), "%s/%u", directory, i);
		HOLDS(!mkdir(path, 0755));
		if (i + 1 == CGROUP_WALK_MOST) {
			ck_assert_int_eq(cgroup_walk(directory, UINT64_MAX, count_visit, &counted), 0);
			ck_assert_uint_eq(counted, CGROUP_WALK_MOST);
		}
	}
	counted = 0;
	ck_assert_int_eq(cgroup_walk(directory, UINT64_MAX, count_visit, &counted), 1);
	ck_assert_uint_eq(counted, CGROUP_WALK_MOST);
	directory_remove(directory);
}
END_TEST

/* Level by level: what is near the root is visited first, however many directories are below one of its children. */
START_TEST(a_walk_has_a_limit_of_bytes_and_visits_the_highest_first)
{
	_cleanup_free_ char *directory = directory_make();
	char path[PATH_MAX], name[NAME_MAX + 1];
	struct visits visits = { .count = 0 };
	uint32_t counted = 0;

	memset(name, 'n', NAME_MAX);
	name[NAME_MAX] = '\0';
	snprintf(path, sizeof(path), "%s/a", directory);
	HOLDS(!mkdir(path, 0755));
	snprintf(path, sizeof(path), "%s/z", directory);
	HOLDS(!mkdir(path, 0755));
	snprintf(path, sizeof(path), "%s/a/%s", directory, name);
	HOLDS(!mkdir(path, 0755));
	for (uint32_t i = 0; i < CGROUP_WALK_PATH_BYTES / (2 * NAME_MAX); i++) {
		snprintf(path, sizeof(path), "%s/a/%s/%0*u", directory, name, NAME_MAX, i);
		HOLDS(!mkdir(path, 0755));
	}
	visits.stop_after = 3;
	ck_assert_int_eq(cgroup_walk(directory, UINT64_MAX, visit, &visits), 0);
	ck_assert_uint_eq(strlen(visits.paths[1]), 2);
	ck_assert_uint_eq(strlen(visits.paths[2]), 2);
	ck_assert_int_eq(cgroup_walk(directory, UINT64_MAX, count_visit, &counted), 1);
	ck_assert_uint_gt(counted, 7000);
	ck_assert_uint_le(counted, CGROUP_WALK_PATH_BYTES / (2 * NAME_MAX));
	visits_free(&visits);
	directory_remove(directory);
}
END_TEST

START_TEST(a_walk_ends_in_time)
{
	_cleanup_free_ char *directory = tree_make();
	uint32_t counted = 0;

	ck_assert_int_eq(cgroup_walk(directory, 0, count_visit, &counted), 1);
	ck_assert_uint_eq(counted, 1);
	directory_remove(directory);
}
END_TEST

/* Removes a directory before the walk enters it. */
struct removing {
	struct visits visits;
	const char *directory;
};

static bool visit_and_remove(void *user, uint64_t id, const char *path)
{
	struct removing *removing = user;

	if (!strcmp(path, "/")) {
		_cleanup_free_ char *victim = path_join(removing->directory, "a/b/c");

		rmdir(victim);
	}
	return visit(&removing->visits, id, path);
}

START_TEST(a_directory_that_vanishes_is_skipped)
{
	_cleanup_free_ char *directory = tree_make();
	struct removing removing = { .directory = directory };

	ck_assert_int_eq(cgroup_walk(directory, UINT64_MAX, visit_and_remove, &removing), 0);
	ck_assert_uint_eq(removing.visits.count, ARRAY_SIZE(tree));
	for (size_t i = 0; i < removing.visits.count; i++)
		ck_assert_str_ne(removing.visits.paths[i], "/a/b/c");
	visits_free(&removing.visits);
	directory_remove(directory);
}
END_TEST

struct within_case {
	const char *path, *above;
	bool within;
};

static const struct within_case within_cases[] = {
	{ "/a", "/", true },        { "/", "/", true },     { "/a", "/a", true },
	{ "/a/b", "/a", true },     { "/ab", "/a", false }, { "/a", "/a/b", false },
	{ "/b/a", "/a", false },    { "/", "/a", false },   { "/a/bc", "/a/b", false },
	{ "/a/b/c", "/a/b", true },
};

START_TEST(within)
{
	const struct within_case *one = &within_cases[_i];

	ck_assert_int_eq(cgroup_is_within(one->path, one->above), one->within);
}
END_TEST

SUITE(cgroup)
{
	Suite *suite = suite_create("cgroup");
	TCase *cgroup = tcase_create("cgroup"), *limits = tcase_create("limits of a walk");

	tcase_add_loop_test(cgroup, mounts, 0, ARRAY_SIZE(mount_cases));
	tcase_add_test(cgroup, this_machine);
	tcase_add_test(cgroup, every_directory_is_visited_once);
	tcase_add_test(cgroup, a_walk_can_be_stopped);
	tcase_add_test(limits, a_walk_visits_so_many_at_most);
	tcase_add_test(limits, a_walk_has_a_limit_of_bytes_and_visits_the_highest_first);
	tcase_add_test(limits, a_walk_ends_in_time);
	tcase_add_test(cgroup, a_directory_that_vanishes_is_skipped);
	tcase_add_loop_test(cgroup, within, 0, ARRAY_SIZE(within_cases));
	suite_add_tcase(suite, cgroup);
	suite_add_tcase(suite, limits);
	return suite;
}
