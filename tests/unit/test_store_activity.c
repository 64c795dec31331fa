/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows what a reader of the database sees of minutes of activity, that a key is one row however often it is met, that
 * minutes stay within their bytes, and which go first.
 */
#include "common/base/clock.h"
#include "consumer/store/store_activity.h"
#include "tests/unit/store_fixture.h"
#include "tests/unit/suites.h"

#include <string.h>

#define AT 1700000000000000000
#define MINUTE (60 * (int64_t)SECOND)

static struct store_fixture fixture;
static struct cgroups *cgroups;

static void set_up(void)
{
	const char path[] = "/system.slice/web.service";
	const struct cgroup_record record = { .cgroup_id = 1, .path_bytes = sizeof(path) - 1 };

	store_fixture_start(&fixture);
	ck_assert_int_eq(cgroups_open(&cgroups, "/sys/fs/cgroup", -1, clock_monotonic_ns()), 0);
	cgroups_learn(cgroups, &record, path);
}

static void tear_down(void)
{
	cgroups_free(cgroups);
	store_fixture_free(&fixture);
}

static void count(struct activity_count *row, const char *comm, uint16_t state, uint32_t threads)
{
	*row = (struct activity_count){ .key = { .cgroup_id = 1,
						 .uid = 33,
						 .call = state == THREAD_RUNNING ? -1 : 1,
						 .function = KERNEL_FRAME_UNKNOWN,
						 .state = state },
					.threads = threads };
	snprintf(row->key.comm, sizeof(row->key.comm), "%s", comm);
}

/* Adds the minute, whose looks are those of the steps, and frees it. */
static int add_minute(struct activity_minute *minute, uint32_t steps)
{
	static const char text[] = "0 _text\n";
	const struct kernel_symbols symbols = { .text = text, .bytes = sizeof(text) - 1 };
	int result;

	activity_minute_end(minute, steps, cgroups);
	result = store_add_activity(fixture.store, minute, &symbols);
	activity_minute_free(minute);
	return result;
}

/* A minute of three steps, of which the second was missed. */
static void add_small_minute(int64_t at)
{
	struct activity_minute *minute = activity_minute_new(at, SECOND);
	struct activity_count rows[2];
	struct activity_counts counts = { .rows = rows, .count = 2 };

	ck_assert_ptr_nonnull(minute);
	counts.look.others[THREAD_IDLE] = 1;
	count(&rows[0], "web", THREAD_RUNNING, 1);
	count(&rows[1], "web", THREAD_DISK, 5);
	activity_minute_add(minute, 0, &counts, cgroups);
	counts.count = 1;
	activity_minute_add(minute, 2, &counts, cgroups);
	ck_assert_int_eq(add_minute(minute, 3), 0);
}

/* Each of so many keys, whose names are numbers from `first` on, is met once. */
static int add_crowd(int64_t at, uint32_t first, uint32_t keys)
{
	_cleanup_free_ struct activity_count *rows = calloc(keys, sizeof(*rows));
	struct activity_counts counts = { .rows = rows, .count = keys };
	struct activity_minute *minute = activity_minute_new(at, SECOND);

	ck_assert_ptr_nonnull(rows);
	ck_assert_ptr_nonnull(minute);
	for (uint32_t i = 0; i < keys; i++) {
		char comm[ABI_COMM_BYTES];

		snprintf(comm, sizeof(comm), "worker-%u", first + i);
		count(&rows[i], comm, THREAD_SLEEPING, 1 + i % 3);
	}
	activity_minute_add(minute, 0, &counts, cgroups);
	return add_minute(minute, 1);
}

static void expect_sums(void)
{
	expect_count(
		&fixture,
		"activity_minute m WHERE threads <> (SELECT sum(threads) FROM activity a WHERE a.minute_id = m.minute_id)",
		0);
	expect_count(&fixture, "activity_key WHERE key_id NOT IN (SELECT key_id FROM activity)", 0);
}

START_TEST(readers_see_what_was_counted)
{
	add_small_minute(AT);
	expect_rows(
		&fixture,
		"SELECT run_id, at - 1700000000000000000, interval_ns, steps, looks, missed, threads FROM activity_minute",
		"1|0|1000000000|3|2|[[1,1]]|9\n");
	expect_rows(
		&fixture,
		"SELECT state, comm, kernel, syscall, function, uid, unit, cgroup, average, threads, least, most, times "
		"FROM activity_minutes ORDER BY threads",
		"running|web|0|NULL|NULL|33|web.service|/system.slice/web.service|1.0|2|1|1|[[0,1]]\n"
		"I|NULL|0|NULL|NULL|NULL|NULL|NULL|1.0|2|1|1|NULL\n"
		"D|web|0|write|NULL|33|web.service|/system.slice/web.service|2.5|5|0|5|[[0,5],[2,0]]\n");
	expect_rows(
		&fixture,
		"SELECT state, at - 1700000000000000000, (until_at - at) / 1000000000, step, until_step, threads FROM "
		"activity_steps ORDER BY state DESC, step",
		"running|0|3|0|3|1\nD|0|2|0|2|5\nD|2000000000|1|2|3|0\n");
	expect_sums();
}
END_TEST

START_TEST(a_key_is_one_row)
{
	add_small_minute(AT);
	add_small_minute(AT + MINUTE);
	expect_count(&fixture, "activity_key", 3);
	expect_count(&fixture, "activity", 6);
	/* another daemon has to find them in the database */
	store_fixture_close(&fixture);
	store_fixture_open(&fixture, 64 * MIB);
	begin_run(&fixture);
	add_small_minute(AT + 2 * MINUTE);
	expect_count(&fixture, "activity_key", 3);
	expect_count(&fixture, "activity_minute", 3);
	expect_sums();
}
END_TEST

START_TEST(names_are_escaped)
{
	struct activity_minute *minute = activity_minute_new(AT, SECOND);
	struct activity_count row;
	const struct activity_counts counts = { .rows = &row, .count = 1 };

	count(&row, "\x1b[31m\xff", THREAD_RUNNING, 1);
	activity_minute_add(minute, 0, &counts, cgroups);
	ck_assert_int_eq(add_minute(minute, 1), 0);
	expect_rows(&fixture, "SELECT comm FROM activity_key", "\\x1b[31m\\xff\n");
}
END_TEST

START_TEST(a_day_stays_within_its_bytes)
{
	/* the first minutes may take what was saved */
	for (uint32_t i = 0; i < 20; i++)
		ck_assert_int_eq(add_crowd(AT + i * MINUTE, i * 3000, 3000), 0);
	expect_sums();
	expect_rows(
		&fixture,
		"SELECT count(*), min(bytes) > 18000, max(bytes) <= 9 * 21504, sum(bytes) <= 28 * 21504 FROM activity_minute",
		"20|1|1|1\n");
	expect_rows(
		&fixture,
		"SELECT count(*), sum(times NOT NULL) FROM activity JOIN activity_key USING(key_id) WHERE comm IS NULL",
		"20|0\n");
}
END_TEST

/* The estimate of bytes, from which all bounds follow, is not too small. */
START_TEST(bytes_are_what_sqlite_takes)
{
	int64_t before = number(&fixture, "PRAGMA page_count"), estimated, taken;

	/* of each minute's keys, a twentieth is new */
	for (uint32_t i = 0; i < 200; i++)
		ck_assert_int_eq(add_crowd(AT + i * MINUTE, i * 10, 200), 0);
	taken = 4096 * (number(&fixture, "PRAGMA page_count") - before);
	estimated = number(&fixture, "SELECT sum(bytes) FROM activity_minute");
	ck_assert_int_le(taken, estimated);
	ck_assert_int_ge(taken, estimated / 2);
}
END_TEST

static void expire(uint64_t age_ns)
{
	const struct store_limits limits = { .bytes_max = 64 * MIB, .activity_age_ns_max = age_ns };
	uint64_t next_ns;
	int saved = log_divert();

	ck_assert_int_eq(store_limit(fixture.store, &limits), 0);
	ck_assert_int_eq(store_expire(fixture.store, &next_ns), 0);
	ck_assert_uint_ge(next_ns, clock_monotonic_ns());
	free(log_diverted(saved));
}

START_TEST(old_minutes_go_with_their_keys)
{
	int64_t now_at = clock_wall_ns();

	ck_assert_int_eq(add_crowd(now_at - 10 * MINUTE, 0, 7), 0);
	add_small_minute(now_at - 5 * MINUTE);
	add_small_minute(now_at);
	expire(20 * MINUTE);
	expect_count(&fixture, "activity_minute", 3);
	expire(8 * MINUTE);
	expect_count(&fixture, "activity_minute", 2);
	expect_count(&fixture, "activity_key", 3);
	expire(2 * MINUTE);
	expect_count(&fixture, "activity_minute", 1);
	expect_sums();
	/* what was removed is found no more */
	ck_assert_int_eq(add_crowd(now_at - 10 * MINUTE, 0, 7), 0);
	expect_count(&fixture, "activity_key", 10);
	expect_sums();
}
END_TEST

/* A small database that is full: captures stay while activity takes more than a quarter. */
START_TEST(activity_goes_before_captures)
{
	struct store_limits limits = { .bytes_max = 64 * MIB };
	int saved;
	_cleanup_capture_ struct capture *capture = capture_of_stack(3, 3, 7);

	expect_commit(&fixture, capture);
	for (uint32_t i = 0; i < 300; i++)
		ck_assert_int_eq(add_crowd(AT + i * MINUTE, i * 100, 100), 0);
	limits.bytes_max = 4 * MIB;
	saved = log_divert();
	ck_assert_int_eq(store_limit(fixture.store, &limits), 0);
	free(log_diverted(saved));
	expect_count(&fixture, "capture", 1);
	expect_rows(&fixture,
		    "SELECT count(*) BETWEEN 1 AND 299, min(at) > 1700000000000000000 FROM activity_minute",
		    "1|1\n");
	expect_sums();
	/* and it goes on */
	for (uint32_t i = 300; i < 600; i++) {
		saved = log_divert();
		ck_assert_int_eq(add_crowd(AT + i * MINUTE, i * 100, 100), 0);
		free(log_diverted(saved));
	}
	expect_rows(&fixture, "SELECT max(at) = 1700000000000000000 + 599 * 60000000000 FROM activity_minute",
		    "1\n");
	ck_assert_uint_le(file_bytes(fixture.path), 4 * MIB);
	expect_sums();
}
END_TEST

SUITE(store_activity)
{
	Suite *suite = suite_create("store_activity");
	TCase *activity = tcase_create("store_activity");

	tcase_add_checked_fixture(activity, set_up, tear_down);
	tcase_add_test(activity, readers_see_what_was_counted);
	tcase_add_test(activity, a_key_is_one_row);
	tcase_add_test(activity, names_are_escaped);
	tcase_add_test(activity, a_day_stays_within_its_bytes);
	tcase_add_test(activity, bytes_are_what_sqlite_takes);
	tcase_add_test(activity, old_minutes_go_with_their_keys);
	tcase_add_test(activity, activity_goes_before_captures);
	suite_add_tcase(suite, activity);
	return suite;
}
