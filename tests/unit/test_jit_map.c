/* SPDX-License-Identifier: GPL-2.0-only */
/* Shows which file is accepted as the perf map of a process, and which is not opened, or refused. */
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/symbolizer/perf_map.h"
#include "consumer/symbols/jit_map.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <fcntl.h>

#define TGID 4711U

static struct capture_process process_make(uint32_t uid)
{
	return (struct capture_process){ .tgid = TGID,
					 .started_ns = clock_read_ns(CLOCK_BOOTTIME) - CLOCK_SECOND_NS,
					 .uid = uid };
}

static int try(const char *directory, const struct capture_process *process)
{
	struct mapped_files nobody = { .grant_socket = NULL };
	struct stat at = { .st_size = -1 };
	int fd = jit_map_open(directory, &nobody, process, 0, &at);

	if (fd >= 0) {
		ck_assert_int_eq(at.st_size, 8);
		close(fd);
	}
	return fd < 0 ? fd : 0;
}

START_TEST(its_owner)
{
	_cleanup_free_ char *directory = directory_make(), *path = path_join(directory, "perf-4711.map");
	struct capture_process own = process_make(geteuid()), other = process_make(geteuid() + 1);

	ck_assert_int_eq(try(directory, &own), -ENOENT);
	file_put(path, "10 10 a\n", 8);
	ck_assert_int_eq(try(directory, &own), 0);
	/* files of root are accepted for every process */
	ck_assert_int_eq(try(directory, &other), geteuid() ? -EPERM : 0);
	if (!geteuid()) {
		ck_assert_int_eq(chown(path, 1234, 1234), 0);
		ck_assert_int_eq(try(directory, &own), -EPERM);
		own.uid = 1234;
		ck_assert_int_eq(try(directory, &own), 0);
	}
	directory_remove(directory);
}
END_TEST

START_TEST(its_kind_of_file)
{
	_cleanup_free_ char *directory = directory_make(), *path = path_join(directory, "perf-4711.map"),
			    *elsewhere = path_join(directory, "elsewhere");
	struct capture_process process = process_make(geteuid());

	file_put(elsewhere, "10 10 a\n", 8);
	ck_assert_int_eq(symlink(elsewhere, path), 0);
	ck_assert_int_eq(try(directory, &process), -ELOOP);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkfifo(path, 0600), 0); /* opening it must not wait for a writer */
	ck_assert_int_eq(try(directory, &process), -EPERM);
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	ck_assert_int_eq(try(directory, &process), -EPERM);
	ck_assert_int_eq(rmdir(path), 0);
	file_put(path, "10 10 a\n", 8);
	/* others may have written it */
	ck_assert_int_eq(chmod(path, 0664), 0);
	ck_assert_int_eq(try(directory, &process), -EPERM);
	ck_assert_int_eq(chmod(path, 0646), 0);
	ck_assert_int_eq(try(directory, &process), -EPERM);
	ck_assert_int_eq(chmod(path, 0644), 0);
	ck_assert_int_eq(try(directory, &process), 0);
	ck_assert_int_eq(truncate(path, (off_t)PERF_MAP_BYTES_MAX + 1), 0);
	ck_assert_int_eq(try(directory, &process), -EFBIG);
	directory_remove(directory);
}
END_TEST

/* Another process had the pid before and left its map. */
START_TEST(maps_older_than_the_process)
{
	_cleanup_free_ char *directory = directory_make(), *path = path_join(directory, "perf-4711.map");
	struct capture_process process = process_make(geteuid());
	struct timespec times[2] = { { .tv_nsec = UTIME_NOW }, { .tv_nsec = UTIME_NOW } };

	file_put(path, "10 10 a\n", 8);
	times[1] = clock_timespec((uint64_t)clock_wall_ns() - 10 * CLOCK_SECOND_NS);
	ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
	ck_assert_int_eq(try(directory, &process), -ESTALE);
	process.started_ns -= 20 * CLOCK_SECOND_NS;
	ck_assert_int_eq(try(directory, &process), 0);
	directory_remove(directory);
}
END_TEST

SUITE(jit_map)
{
	Suite *suite = suite_create("jit_map");
	TCase *maps = tcase_create("maps");

	tcase_add_test(maps, its_owner);
	tcase_add_test(maps, its_kind_of_file);
	tcase_add_test(maps, maps_older_than_the_process);
	suite_add_tcase(suite, maps);
	return suite;
}
