/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows which cgroups are read, that a cgroup without the memory controller counts for the one above it, that the kernel's
 * numbers become bytes, and that cgroup v1 is left alone.
 */
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "consumer/capture/cgroup_memory.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *mount;

static void set_up(void)
{
	mount = directory_make();
}

static void tear_down(void)
{
	directory_remove(mount);
	free(mount);
}

/* Writes the files of a cgroup with the memory controller. */
static void put(const char *cgroup, int anon, int file, int refaults, int current)
{
	char path[128], text[256];

	snprintf(
		text, sizeof(text),
		"anon %d\nfile %d\nfile_mapped 9\nworkingset_refault_anon 1\nworkingset_refault_file %d\npgscan %d\npgsteal %d\n"
		"pgscan_kswapd 77\n",
		anon, file, refaults, 2 * refaults, refaults);
	snprintf(path, sizeof(path), "%smemory.stat", cgroup);
	file_put_below(mount, path, text);
	if (current < 0)
		return;
	snprintf(path, sizeof(path), "%smemory.current", cgroup);
	snprintf(text, sizeof(text), "%d\n", current);
	file_put_below(mount, path, text);
}

static void meet(struct usage *usage, uint32_t tgid, uint64_t cgroup_id, uint64_t rss_bytes)
{
	struct task_record record = { .tgid = tgid,
				      .started_ns = tgid,
				      .cgroup_id = cgroup_id,
				      .comm = "process",
				      .rss_bytes = rss_bytes };

	usage_walk_process(usage, &record);
}

/* Cgroup 1 is /1; 2 is /a/b; 3 is /a; of 4 the path is not known; 1000 and more are /many/ID. */
static const char *path_of(void *user, uint64_t cgroup_id)
{
	static char path[64];

	++*(unsigned int *)user;
	snprintf(path, sizeof(path), cgroup_id >= 1000 ? "/many/%d" : "/%d", (int)cgroup_id);
	return cgroup_id == 2 ? "/a/b" : cgroup_id == 3 ? "/a" : cgroup_id == 4 ? NULL : path;
}

static const struct cgroup_memory_row *row_of(const struct cgroup_memory *memory, const char *cgroup)
{
	for (uint32_t i = 0; i < memory->count; i++)
		if (!strcmp(memory->rows[i].cgroup, cgroup))
			return &memory->rows[i];
	return NULL;
}

START_TEST(cgroups_of_processes_are_read_twice)
{
	struct cgroup_memory memory;
	const struct cgroup_memory_row *row;
	unsigned int asked = 0;
	struct usage usage;

	put("", 1000, 2000, 5, -1);
	put("1/", 10, 20, 30, 40);
	put("a/", 100, 200, 300, 400);
	file_put_below(mount, "1/io.stat", "8:0 rbytes=4096 wbytes=0 rios=1 wios=0\n");
	put("lonely/", 1, 1, 1, 1);                    /* without processes */
	file_put_below(mount, "a/b/cgroup.procs", ""); /* without the controller */
	usage_init(&usage);
	usage_walk_begin(&usage, UINT64_MAX);
	meet(&usage, 10, 1, 4096);
	meet(&usage, 11, 2, 8192);
	meet(&usage, 12, 3, 1);
	meet(&usage, 13, 4, 1);
	meet(&usage, 14, 5, 4096); /* has gone */
	usage_walk_end(&usage, 1, UINT32_MAX);
	cgroup_memory_begin(&memory, mount, &usage, path_of, &asked, clock_monotonic_ns());
	ck_assert_uint_eq(memory.count, 3);
	file_put_below(mount, "1/io.stat",
		       "8:0 rbytes=4296 wbytes=4096 rios=3 wios=1\n8:16 rbytes=5 wbytes=7 rios=1\n254:0 \n");
	put("", 1001, 2000, 6, -1);
	put("1/", 11, 19, 33, 45);
	put("9/", 7, 8, 9, 10);
	meet(&usage, 15, 9, 4096); /* came up meanwhile */
	cgroup_memory_end(&memory, mount, &usage, path_of, &asked, clock_monotonic_ns());
	ck_assert_uint_eq(memory.count, 4);
	ck_assert_str_eq(memory.rows[0].cgroup, "/");
	ck_assert_int_eq(memory.rows[0].after.current, -1);
	ck_assert_int_eq(memory.rows[0].after.anon, 1001);
	row = row_of(&memory, "/1");
	ck_assert(row->before.anon == 10 && row->after.anon == 11);
	ck_assert(row->before.file == 20 && row->after.file == 19);
	ck_assert(row->before.current == 40 && row->after.current == 45);
	/* pages of both kinds */
	ck_assert(row->before.refaulted == 31 * 4096 && row->after.refaulted == 34 * 4096);
	ck_assert(row->before.scanned == 60 * 4096 && row->after.scanned == 66 * 4096);
	ck_assert(row->before.reclaimed == 30 * 4096 && row->after.reclaimed == 33 * 4096);
	/* of all devices */
	ck_assert(row->before.device_read == 4096 && row->after.device_read == 4301);
	ck_assert(row->before.device_written == 0 && row->after.device_written == 4103);
	ck_assert_ptr_nonnull(row_of(&memory, "/a"));
	/* without the I/O controller */
	ck_assert(row_of(&memory, "/a")->after.device_written == -1);
	ck_assert_ptr_null(row_of(&memory, "/a/b"));
	ck_assert_ptr_null(row_of(&memory, "/lonely"));
	row = row_of(&memory, "/9");
	ck_assert(row->before.anon == -1 && row->before.refaulted == -1 && row->after.anon == 7);
	cgroup_memory_free(&memory);
	usage_free(&usage);
}
END_TEST

START_TEST(a_cgroup_that_goes_has_no_row)
{
	struct cgroup_memory memory;
	_cleanup_free_ char *stat = NULL;
	unsigned int asked = 0;
	struct usage usage;

	put("", 1, 1, 1, -1);
	put("1/", 1, 1, 1, 1);
	usage_init(&usage);
	usage_walk_begin(&usage, UINT64_MAX);
	meet(&usage, 10, 1, 4096);
	usage_walk_end(&usage, 1, UINT32_MAX);
	cgroup_memory_begin(&memory, mount, &usage, path_of, &asked, clock_monotonic_ns());
	ck_assert_uint_eq(memory.count, 2);
	stat = path_join(mount, "1/memory.stat");
	ck_assert_int_eq(unlink(stat), 0);
	cgroup_memory_end(&memory, mount, &usage, path_of, &asked, clock_monotonic_ns());
	ck_assert_uint_eq(memory.count, 1);
	cgroup_memory_free(&memory);
	usage_free(&usage);
}
END_TEST

START_TEST(a_cgroup_that_goes_later_keeps_its_last_numbers)
{
	_cleanup_free_ char *stat = path_join(mount, "1/memory.stat"), *cgroup = path_join(mount, "1"),
			    *away = path_join(mount, "gone");
	const struct cgroup_memory_row *row;
	struct cgroup_memory memory;
	unsigned int asked = 0;
	struct usage usage;

	put("", 1, 1, 1, -1);
	put("1/", 10, 20, 30, 40);
	usage_init(&usage);
	usage_walk_begin(&usage, UINT64_MAX);
	meet(&usage, 10, 1, 4096);
	usage_walk_end(&usage, 1, UINT32_MAX);
	cgroup_memory_begin(&memory, mount, &usage, path_of, &asked, clock_monotonic_ns());
	put("1/", 11, 19, 33, 45);
	/* so often that each row has had its turn, however slow the machine is */
	for (int i = 0; i < 100; i++)
		cgroup_memory_look(&memory, mount);
	ck_assert_int_eq(unlink(stat), 0);
	cgroup_memory_look(&memory, mount);
	/* another cgroup of the same name, which has processes */
	ck_assert_int_eq(rename(cgroup, away), 0);
	put("1/", 1, 1, 1, 1);
	cgroup_memory_end(&memory, mount, &usage, path_of, &asked, clock_monotonic_ns());
	ck_assert_uint_eq(memory.count, 2);
	row = row_of(&memory, "/1");
	ck_assert(row->before.anon == 10 && row->after.anon == 11);
	ck_assert(row->before.current == 40 && row->after.current == 45);
	cgroup_memory_free(&memory);
	usage_free(&usage);
}
END_TEST

/* A user makes any number of cgroups: so many are read, and so many paths asked for. */
START_TEST(the_number_of_cgroups_has_a_limit)
{
	struct cgroup_memory memory;
	unsigned int asked = 0;
	struct usage usage;

	put("", 1, 1, 1, -1);
	put("1/", 1, 1, 1, 1);
	usage_init(&usage);
	usage_walk_begin(&usage, UINT64_MAX);
	for (uint32_t i = 0; i < 20000; i++)
		meet(&usage, 1000 + i, 1000 + i, 4096);
	meet(&usage, 999, 1, 1 << 20); /* the largest is among them */
	usage_walk_end(&usage, 1, UINT32_MAX);
	cgroup_memory_begin(&memory, mount, &usage, path_of, &asked, clock_monotonic_ns());
	cgroup_memory_end(&memory, mount, &usage, path_of, &asked, clock_monotonic_ns());
	ck_assert_uint_le(asked, 2 * 5 * CGROUP_MEMORY_MAX);
	ck_assert_ptr_nonnull(row_of(&memory, "/1"));
	cgroup_memory_free(&memory);
	usage_free(&usage);
}
END_TEST

START_TEST(nothing_is_read_of_version_1)
{
	struct cgroup_memory memory;
	unsigned int asked = 0;
	struct usage usage;

	put("1/", 1, 1, 1, 1); /* but not in the root */
	usage_init(&usage);
	usage_walk_begin(&usage, UINT64_MAX);
	meet(&usage, 10, 1, 4096);
	usage_walk_end(&usage, 1, UINT32_MAX);
	cgroup_memory_begin(&memory, mount, &usage, path_of, &asked, clock_monotonic_ns());
	cgroup_memory_end(&memory, mount, &usage, path_of, &asked, clock_monotonic_ns());
	ck_assert_uint_eq(memory.count, 0);
	ck_assert_uint_eq(asked, 0);
	cgroup_memory_free(&memory);
	usage_free(&usage);
}
END_TEST

SUITE(cgroup_memory)
{
	Suite *suite = suite_create("cgroup_memory");
	TCase *tests = tcase_create("cgroup_memory");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, cgroups_of_processes_are_read_twice);
	tcase_add_test(tests, a_cgroup_that_goes_has_no_row);
	tcase_add_test(tests, a_cgroup_that_goes_later_keeps_its_last_numbers);
	tcase_add_test(tests, the_number_of_cgroups_has_a_limit);
	tcase_add_test(tests, nothing_is_read_of_version_1);
	suite_add_tcase(suite, tests);
	return suite;
}
