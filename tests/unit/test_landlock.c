/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows what a process may open in a Landlock domain: below which directories, with which access, and that
 * the rules survive memory pressure, which evicts inodes.
 */
#define _GNU_SOURCE 1

#include "common/base/cleanup.h"
#include "common/confine/landlock.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

struct tree {
	char *root, *allowed, *state, *secret;
};

static struct tree tree_make(void)
{
	struct tree tree = { .root = directory_make() };
	_cleanup_free_ char *file = NULL;

	tree.allowed = path_join(tree.root, "allowed");
	tree.state = path_join(tree.root, "state");
	tree.secret = path_join(tree.root, "secret");
	ck_assert(!mkdir(tree.allowed, 0700) && !mkdir(tree.state, 0700));
	file = path_join(tree.allowed, "file");
	file_put(file, "x", 1);
	file_put(tree.secret, "x", 1);
	return tree;
}

static void tree_free(struct tree *tree)
{
	directory_remove(tree->root);
	free(tree->root);
	free(tree->allowed);
	free(tree->state);
	free(tree->secret);
}

/* CHILD: exits with the line of the first failed expectation. */
#define SO(expression)                                                                                       \
	do {                                                                                                 \
		if (!(expression))                                                                           \
			_exit(__LINE__ % 254 + 1);                                                           \
	} while (0)

static bool opens(const char *directory, const char *name, int flags)
{
	char path[160];
	int fd;

	snprintf(path, sizeof(path), "%s%s%s", directory, *name ? "/" : "", name);
	fd = open(path, flags | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int in_child(void (*work)(const struct tree *), const struct tree *tree)
{
	int status = -1;
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (!child) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
			_exit(255);
		work(tree);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	return status;
}

static void use_places(const struct tree *tree)
{
	const struct landlock_place places[] = {
		{ .path = tree->allowed, .uses = LANDLOCK_READ },
		{ .path = "/no/such/place", .uses = LANDLOCK_READ },
		{ .path = NULL,
		  .fd = open(tree->state, O_PATH | O_CLOEXEC),
		  .uses = LANDLOCK_READ | LANDLOCK_LIST | LANDLOCK_WRITE | LANDLOCK_MAKE },
	};
	char path[160], other[160];

	SO(landlock_confine(places, ARRAY_SIZE(places)) == landlock_abi());
	SO(opens(tree->allowed, "file", O_RDONLY));
	SO(!opens(tree->allowed, "file", O_RDWR) && errno == EACCES);
	SO(!opens(tree->allowed, "new", O_WRONLY | O_CREAT) && errno == EACCES);
	SO(!opens(tree->allowed, "", O_RDONLY | O_DIRECTORY) && errno == EACCES);
	SO(!opens(tree->secret, "", O_RDONLY) && errno == EACCES);
	SO(!opens("/etc/passwd", "", O_RDONLY) && errno == EACCES);
	SO(opens(tree->state, "new", O_RDWR | O_CREAT) && opens(tree->state, "", O_RDONLY | O_DIRECTORY));
	snprintf(path, sizeof(path), "%s/new", tree->state);
	snprintf(other, sizeof(other), "%s/directory", tree->state);
	SO(mkdir(other, 0700) && errno == EACCES);
	SO(symlink("x", other) && errno == EACCES);
	SO(mkfifo(other, 0600) && errno == EACCES);
	SO(rename(tree->secret, other) && (errno == EACCES || errno == EXDEV));
	SO(!unlink(path));
}

START_TEST(named_places)
{
	_cleanup_(tree_free) struct tree tree = tree_make();

	ck_assert_int_eq(in_child(use_places, &tree), 0);
}
END_TEST

static void use_nothing(const struct tree *tree)
{
	struct sockaddr_in loopback = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int version = landlock_confine(NULL, 0), tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	SO(version == landlock_abi());
	SO(!opens(tree->allowed, "file", O_RDONLY) && errno == EACCES);
	SO(!opens("/", "", O_RDONLY | O_DIRECTORY) && errno == EACCES);
	SO(version < 3 || (truncate(tree->secret, 0) && errno == EACCES));
	SO(version < 4 || tcp < 0 ||
	   (bind(tcp, (struct sockaddr *)&loopback, sizeof(loopback)) && errno == EACCES));
	SO(version < 6 || (kill(getppid(), 0) && errno == EPERM));
}

START_TEST(no_directory)
{
	_cleanup_(tree_free) struct tree tree = tree_make();

	ck_assert_int_eq(in_child(use_nothing, &tree), 0);
}
END_TEST

static void use_proc(const struct tree *tree)
{
	static const struct landlock_place places[] = { { .path = "/proc/vmstat", .uses = LANDLOCK_READ } };
	int caches = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);

	(void)tree;
	SO(landlock_confine(places, ARRAY_SIZE(places)) == landlock_abi());
	for (int i = 0; i < 2; i++) {
		SO(opens("/proc/vmstat", "", O_RDONLY));
		SO(caches < 0 || write(caches, "2", 1) == 1);
	}
	SO(!opens("/proc/meminfo", "", O_RDONLY));
}

START_TEST(open_procfs_stays_usable)
{
	ck_assert_int_eq(in_child(use_proc, NULL), 0);
}
END_TEST

static void forbid_a_list_in_a_file(const struct tree *tree)
{
	const struct landlock_place places[] = { { .path = tree->secret, .uses = LANDLOCK_LIST } };

	SO(landlock_confine(places, ARRAY_SIZE(places)) == -EINVAL);
	SO(opens(tree->secret, "", O_RDONLY)); /* nothing is enforced */
}

START_TEST(a_mistake_is_an_error)
{
	_cleanup_(tree_free) struct tree tree = tree_make();

	ck_assert_int_eq(in_child(forbid_a_list_in_a_file, &tree), 0);
}
END_TEST

SUITE(landlock)
{
	Suite *suite = suite_create(landlock_abi() ? "landlock" : "landlock (not in this kernel)");
	TCase *all = tcase_create("all");

	if (landlock_abi()) {
		tcase_add_test(all, named_places);
		tcase_add_test(all, no_directory);
		tcase_add_test(all, open_procfs_stays_usable);
		tcase_add_test(all, a_mistake_is_an_error);
	}
	suite_add_tcase(suite, all);
	return suite;
}
