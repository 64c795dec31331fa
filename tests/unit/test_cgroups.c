/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows which paths of cgroups are known and for how long, that the kernel's map always says the same, that
 * memory is limited and comes back, and who loses paths where there are too many.
 */
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "consumer/host/cgroups.h"
#include "consumer/host/fair_share.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <bpf/bpf.h>
#include <string.h>

#define KEEP_NS (100 * CLOCK_SECOND_NS)

static struct cgroups *cgroups_make(int known_fd)
{
	struct cgroups *cgroups;

	ck_assert_int_eq(cgroups_open(&cgroups, "/sys/fs/cgroup", known_fd, clock_monotonic_ns()), 0);
	return cgroups;
}

static void learn(struct cgroups *cgroups, uint64_t id, uint64_t account, const char *path)
{
	struct cgroup_record record = { .header = { RECORD_CGROUP, sizeof(record) },
					.cgroup_id = id,
					.account = account,
					.path_bytes = (uint32_t)strlen(path),
					.flags = *path ? 0 : CGROUP_TOO_LONG };

	cgroups_learn(cgroups, &record, path);
}

/* A path of `bytes` bytes that says which cgroup it is. */
static const char *numbered(uint64_t id, size_t bytes)
{
	static char path[CGROUP_PATH_BYTES + 1];
	int length = snprintf(path, sizeof(path), "/%llu/", (unsigned long long)id);

	ck_assert_uint_le(bytes, CGROUP_PATH_BYTES);
	ck_assert_uint_le((size_t)length, bytes);
	memset(path + length, 'x', bytes - (size_t)length);
	path[bytes] = '\0';
	return path;
}

static bool knows(struct cgroups *cgroups, uint64_t id, size_t bytes)
{
	const char *path = cgroups_path(cgroups, id);

	if (path)
		ck_assert_str_eq(path, numbered(id, bytes));
	return path;
}

/* ---- knowing ---- */

START_TEST(a_path_is_known_when_it_was_told)
{
	struct cgroups *cgroups = cgroups_make(-1);
	const char *path = "";

	ck_assert_int_eq(cgroups_find(cgroups, 7, &path), CGROUP_UNKNOWN);
	ck_assert_ptr_null(path);
	learn(cgroups, 7, 7, "/a/b");
	learn(cgroups, 1, 1, "/");
	learn(cgroups, UINT64_MAX, 7, "/a/b/c");
	ck_assert_int_eq(cgroups_find(cgroups, 7, &path), CGROUP_KNOWN);
	ck_assert_str_eq(path, "/a/b");
	ck_assert_str_eq(cgroups_path(cgroups, 1), "/");
	ck_assert_str_eq(cgroups_path(cgroups, UINT64_MAX), "/a/b/c");
	ck_assert_ptr_null(cgroups_path(cgroups, 8));
	ck_assert_uint_eq(cgroups_gauges(cgroups).count, 3);
	ck_assert_uint_eq(cgroups_gauges(cgroups).learned, 3);
	cgroups_free(cgroups);
}
END_TEST

START_TEST(a_path_that_is_told_twice_counts_once)
{
	struct cgroups *cgroups = cgroups_make(-1);

	learn(cgroups, 7, 7, "/a");
	learn(cgroups, 7, 7, "/a");
	ck_assert_uint_eq(cgroups_gauges(cgroups).count, 1);
	ck_assert_uint_eq(cgroups_gauges(cgroups).learned, 1);
	cgroups_free(cgroups);
}
END_TEST

START_TEST(a_path_that_is_too_long_is_remembered)
{
	struct cgroups *cgroups = cgroups_make(-1);
	const char *path = "";

	learn(cgroups, 7, 7, "");
	learn(cgroups, 8, 7, numbered(8, CGROUP_PATH_BYTES));
	ck_assert_int_eq(cgroups_find(cgroups, 7, &path), CGROUP_UNUSABLE);
	ck_assert_ptr_null(path);
	ck_assert(knows(cgroups, 8, CGROUP_PATH_BYTES));
	ck_assert_uint_eq(cgroups_gauges(cgroups).too_long, 1);
	ck_assert_uint_eq(cgroups_gauges(cgroups).count, 2);
	cgroups_free(cgroups);
}
END_TEST

START_TEST(free_takes_null)
{
	cgroups_free(NULL);
}
END_TEST

/* ---- forgetting ---- */

START_TEST(what_is_looked_up_stays)
{
	struct cgroups *cgroups = cgroups_make(-1);
	uint64_t now_ns = clock_monotonic_ns() + KEEP_NS;

	cgroups_tick(cgroups, now_ns, KEEP_NS);
	for (uint64_t id = 1; id <= 1000; id++)
		learn(cgroups, id, id, numbered(id, 10 + id % 100));
	for (int i = 0; i < 20; i++) {
		cgroups_tick(cgroups, now_ns += KEEP_NS / 10, KEEP_NS);
		for (uint64_t id = 1; id <= 1000; id += 3)
			HOLDS(knows(cgroups, id, 10 + id % 100));
	}
	ck_assert_uint_eq(cgroups_gauges(cgroups).count, 334);
	for (uint64_t id = 1; id <= 1000; id++)
		HOLDS(knows(cgroups, id, 10 + id % 100) == (id % 3 == 1));
	/* no room was lacking */
	ck_assert_uint_eq(cgroups_gauges(cgroups).forgotten, 0);
	cgroups_tick(cgroups, now_ns + 2 * KEEP_NS, KEEP_NS);
	ck_assert_uint_eq(cgroups_gauges(cgroups).count, 0);
	ck_assert_uint_eq(cgroups_gauges(cgroups).bytes, 0);
	learn(cgroups, 5, 5, "/again");
	ck_assert_str_eq(cgroups_path(cgroups, 5), "/again");
	cgroups_free(cgroups);
}
END_TEST

static size_t resident_bytes(void)
{
	_cleanup_file_ FILE *file = fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fscanf(file, "%*u %lu", &pages), 1);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

START_TEST(memory_is_limited_and_comes_back)
{
	struct cgroups *cgroups = cgroups_make(-1);
	size_t before = resident_bytes(), most = 0;
	uint64_t now_ns = clock_monotonic_ns();

	for (uint64_t id = 1; id <= 25000; id++) {
		learn(cgroups, id, id % 3, numbered(id, 3800));
		HOLDS(cgroups_gauges(cgroups).bytes <= CGROUPS_BYTES_MAX);
		HOLDS(knows(cgroups, id, 3800));
	}
	most = resident_bytes();
	ck_assert_uint_gt(cgroups_gauges(cgroups).forgotten, 20000);
	ck_assert_uint_gt(cgroups_gauges(cgroups).bytes, CGROUPS_BYTES_MAX / 2);
	if (!SANITIZED) /* each byte takes memory of the sanitizer's own */
		ck_assert_uint_lt(most, before + 2UL * CGROUPS_BYTES_MAX);
	cgroups_tick(cgroups, now_ns + 2 * KEEP_NS, KEEP_NS);
	ck_assert_uint_eq(cgroups_gauges(cgroups).bytes, 0);
	if (!SANITIZED)
		ck_assert_uint_lt(resident_bytes() + CGROUPS_BYTES_MAX / 2, most);
	cgroups_free(cgroups);
}
END_TEST

START_TEST(short_paths_are_limited_too)
{
	struct cgroups *cgroups = cgroups_make(-1);

	for (uint64_t id = 1; id <= 100000; id++)
		learn(cgroups, id, 1, "/");
	ck_assert_uint_le(cgroups_gauges(cgroups).count, CGROUPS_KNOWN);
	ck_assert_uint_gt(cgroups_gauges(cgroups).count, CGROUPS_BYTES_MAX / CGROUPS_ENTRY_BYTES / 2);
	cgroups_free(cgroups);
}
END_TEST

#define HONEST 2000U /* cgroups that only root can have made: each is its own account */
#define HOSTILE 1000000U

START_TEST(who_has_many_loses_them_first)
{
	struct cgroups *cgroups = cgroups_make(-1);

	for (uint64_t id = 1; id <= HONEST; id++)
		learn(cgroups, id, id, numbered(id, 150));
	/* two users, one of whom has few */
	for (uint64_t id = 0; id < 100; id++)
		learn(cgroups, HOSTILE + id, HOSTILE, numbered(HOSTILE + id, 1000));
	for (uint64_t id = 0; id < 30000; id++)
		learn(cgroups, 2 * HOSTILE + id, 2 * HOSTILE, numbered(2 * HOSTILE + id, 3800));
	for (uint64_t id = 1; id <= HONEST; id++)
		HOLDS(knows(cgroups, id, 150));
	for (uint64_t id = 0; id < 100; id++)
		HOLDS(knows(cgroups, HOSTILE + id, 1000));
	/* of the other's, the last remain */
	ck_assert(knows(cgroups, 2 * HOSTILE + 29999, 3800));
	ck_assert(!knows(cgroups, 2 * HOSTILE, 3800));
	ck_assert_uint_gt(cgroups_gauges(cgroups).forgotten, 25000);
	cgroups_free(cgroups);
}
END_TEST

START_TEST(what_was_used_last_stays)
{
	struct cgroups *cgroups = cgroups_make(-1);
	uint64_t now_ns = clock_monotonic_ns();

	for (uint64_t id = 1; id <= 600; id++)
		learn(cgroups, id, 1, numbered(id, 2000));
	for (uint64_t id = 601; id <= 10000; id++) {
		cgroups_tick(cgroups, now_ns += 1000, KEEP_NS);
		HOLDS(knows(cgroups, 1, 2000));
		learn(cgroups, id, 1, numbered(id, 2000));
	}
	ck_assert_uint_gt(cgroups_gauges(cgroups).forgotten, 5000);
	cgroups_free(cgroups);
}
END_TEST

/* ---- the kernel's map ---- */

static int known_make(void)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_NO_PREALLOC);
	int fd = bpf_map_create(BPF_MAP_TYPE_HASH, "unit_known", sizeof(uint64_t), sizeof(uint32_t),
				CGROUPS_KNOWN, &options);

	ck_assert_msg(fd >= 0, "bpf_map_create: %s", strerror(-fd));
	return fd;
}

static bool is_confirmed(int known_fd, uint64_t id)
{
	uint32_t value;

	return !bpf_map_lookup_elem(known_fd, &id, &value);
}

static uint32_t confirmed_count(int known_fd)
{
	uint32_t count = 0;
	uint64_t key, next;

	for (void *before = NULL; !bpf_map_get_next_key(known_fd, before, &next); count++) {
		key = next;
		before = &key;
	}
	return count;
}

START_TEST(the_kernel_is_told_what_is_known)
{
	SKIP_IF(no_bpf());
	int known_fd = known_make();
	uint64_t stale = 99, now_ns = clock_monotonic_ns();
	uint32_t one = 1;
	struct cgroups *cgroups;

	/* of an earlier daemon */
	ck_assert_int_eq(bpf_map_update_elem(known_fd, &stale, &one, BPF_ANY), 0);
	cgroups = cgroups_make(known_fd);
	ck_assert_uint_eq(confirmed_count(known_fd), 0);
	learn(cgroups, 7, 7, "/a");
	learn(cgroups, 8, 7, "");
	ck_assert(is_confirmed(known_fd, 7));
	ck_assert(is_confirmed(known_fd, 8));
	/* told again, because the kernel's map lost it */
	stale = 7;
	ck_assert_int_eq(bpf_map_delete_elem(known_fd, &stale), 0);
	learn(cgroups, 7, 7, "/a");
	ck_assert(is_confirmed(known_fd, 7));
	cgroups_tick(cgroups, now_ns + 2 * KEEP_NS, KEEP_NS);
	ck_assert_uint_eq(confirmed_count(known_fd), 0);
	/* also what is forgotten for lack of room */
	for (uint64_t id = 1; id <= 3000; id++)
		learn(cgroups, id, 1, numbered(id, 3000));
	ck_assert_uint_eq(confirmed_count(known_fd), cgroups_gauges(cgroups).count);
	for (uint64_t id = 1; id <= 3000; id++)
		HOLDS(is_confirmed(known_fd, id) == knows(cgroups, id, 3000));
	cgroups_free(cgroups);
	close(known_fd);
}
END_TEST

/* ---- shares ---- */

struct share_case {
	const char *what;
	uint64_t wanted[4];
	size_t count;
	uint64_t limit, share;
};

static const struct share_case share_cases[] = {
	{ "nobody", { 0 }, 0, 10, UINT64_MAX },
	{ "enough for all", { 3, 7 }, 2, 10, UINT64_MAX },
	{ "one wants too much", { 11 }, 1, 10, 10 },
	{ "the modest one gets all", { 100, 1 }, 2, 10, 9 },
	{ "equal parts", { 9, 9, 9 }, 3, 12, 4 },
	{ "what one leaves goes to the others", { 50, 2, 60, 4 }, 4, 46, 20 },
	{ "nothing to give", { 5, 5 }, 2, 0, 0 },
};

START_TEST(shares_are_fair)
{
	const struct share_case *one = &share_cases[_i];
	uint64_t wanted[4];

	memcpy(wanted, one->wanted, sizeof(wanted));
	ck_assert_msg(fair_share(wanted, one->count, one->limit) == one->share, "%s", one->what);
}
END_TEST

SUITE(cgroups)
{
	Suite *suite = suite_create("cgroups");
	TCase *tests = tcase_create("paths");

	tcase_add_test(tests, a_path_is_known_when_it_was_told);
	tcase_add_test(tests, a_path_that_is_told_twice_counts_once);
	tcase_add_test(tests, a_path_that_is_too_long_is_remembered);
	tcase_add_test(tests, free_takes_null);
	tcase_add_test(tests, what_is_looked_up_stays);
	tcase_add_test(tests, memory_is_limited_and_comes_back);
	tcase_add_test(tests, short_paths_are_limited_too);
	tcase_add_test(tests, who_has_many_loses_them_first);
	tcase_add_test(tests, what_was_used_last_stays);
	tcase_add_test(tests, the_kernel_is_told_what_is_known);
	tcase_add_loop_test(tests, shares_are_fair, 0, ARRAY_SIZE(share_cases));
	suite_add_tcase(suite, tests);
	return suite;
}
