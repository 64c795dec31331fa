/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that the files of the database never grow beyond the limit, that the oldest captures give way, and
 * what a commit does while another process holds a lock or a long read transaction.
 */
#include "common/base/clock.h"
#include "common/protocol/counters.h"
#include "consumer/store/store_capture_size.h"
#include "tests/unit/store_fixture.h"
#include "tests/unit/suites.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>

/* ---- the limit ---- */

/* A thread that watches the size of the files, also during transactions. */
struct sizes {
	const struct store_fixture *fixture;
	uint64_t most;
	bool ended;
};

static void *watch_sizes(void *user)
{
	const struct timespec pause = { .tv_nsec = 200000 };
	struct sizes *sizes = user;

	while (!__atomic_load_n(&sizes->ended, __ATOMIC_ACQUIRE)) {
		uint64_t bytes = file_bytes(sizes->fixture->path) + file_bytes(sizes->fixture->wal);

		if (bytes > sizes->most)
			sizes->most = bytes;
		nanosleep(&pause, NULL);
	}
	return NULL;
}

struct cap_case {
	uint64_t bytes_max;
	uint32_t stacks; /* of a capture */
	int captures;
};

static const struct cap_case cap_cases[] = {
	{ 8 * MIB, 1000, 34 },
	{ 8 * MIB, 2000, 18 },
	{ 4 * MIB, 400, 40 },
	{ 16 * MIB, 6000, 14 },
};

START_TEST(the_files_never_outgrow_the_limit)
{
	const struct cap_case *one = &cap_cases[_i];
	struct dice dice = dice_new(70 + (uint64_t)_i);
	struct store_fixture fixture;
	struct sizes sizes = { .fixture = &fixture };
	pthread_t watcher;
	int saved = log_divert();
	int64_t kept;

	store_fixture_start_limited(&fixture, one->bytes_max);
	ck_assert_int_eq(pthread_create(&watcher, NULL, watch_sizes, &sizes), 0);
	expect_commit_large(&fixture, &dice, one->captures, one->stacks);
	__atomic_store_n(&sizes.ended, true, __ATOMIC_RELEASE);
	pthread_join(watcher, NULL);
	free(log_diverted(saved));
	/* the oldest captures are gone; no newer one is missing */
	kept = number(&fixture, "SELECT count(*) FROM capture");
	ck_assert_int_ge(kept, 1);
	ck_assert_int_lt(kept, one->captures);
	ck_assert_int_eq(number(&fixture, "SELECT max(capture_id) - min(capture_id) + 1 FROM capture"), kept);
	ck_assert_int_eq(number(&fixture, "SELECT max(triggered_at) FROM capture"),
			 TRIGGERED_AT + (one->captures - 1) * (int64_t)SECOND);
	ck_assert_int_eq(number(&fixture, "SELECT count(DISTINCT capture_id) FROM sample"), kept);
	ck_assert_msg(sizes.most <= one->bytes_max, "%" PRIu64 " bytes at its peak, may have %" PRIu64,
		      sizes.most, one->bytes_max);
	store_fixture_free(&fixture);
}
END_TEST

START_TEST(a_capture_too_large_for_the_limit_is_refused)
{
	struct dice dice = dice_new(80);
	_cleanup_capture_ struct capture *small = large_capture(&dice, 100);
	_cleanup_capture_ struct capture *huge = large_capture(&dice, 16000);
	struct store_fixture fixture;

	store_fixture_start_limited(&fixture, 4 * MIB);
	expect_commit(&fixture, small);
	ck_assert_int_eq(commit(&fixture, huge, false), -EFBIG);
	ck_assert_ptr_nonnull(strstr(store_error(fixture.store), "raise [database] max_size"));
	expect_commit(&fixture, small);
	expect_rows(&fixture, "SELECT capture_id, state FROM capture", "1|complete\n2|complete\n");
	store_fixture_free(&fixture);
}
END_TEST

/* As of a busy host: processes run the same outer functions, and part in the inner ones. */
static struct capture *busy_capture(struct dice *dice, uint32_t stacks)
{
	_cleanup_free_ struct sample *samples = calloc(stacks, sizeof(*samples));

	for (uint32_t i = 0; i < stacks; i++) {
		samples[i] = sample_make(1 + i % 40, TRIGGERED, 6, 40, 0);
		for (int j = 0; j < 6; j++)
			samples[i].kernel_frames[j] = (int32_t)(j < 4 ? dice_below(dice, 60) : (uint32_t)j);
		for (int j = 0; j < 40; j++)
			samples[i].user_frames[j] =
				100 * (i % 40) + (j < 4 ? dice_below(dice, 60) : (uint32_t)j);
	}
	return capture_make(samples, stacks);
}

static int64_t used_bytes(const struct store_fixture *fixture)
{
	return STORE_PAGE_BYTES * number(fixture,
					 "SELECT page_count - freelist_count FROM pragma_page_count, "
					 "pragma_freelist_count");
}

static struct capture *(*const made[])(struct dice *, uint32_t) = { large_capture, busy_capture };

START_TEST(the_estimate_is_that_of_the_size)
{
	struct dice dice = dice_new(83);
	_cleanup_capture_ struct capture *first = large_capture(&dice, 1),
					 *capture = made[_i / 2](&dice, _i % 2 ? 3000 : 300);
	struct store_fixture fixture;
	struct resolved resolved;
	int64_t before, took, estimated;

	store_fixture_start_limited(&fixture, 256 * MIB);
	expect_commit(&fixture, first); /* what each table and rule takes but once */
	before = used_bytes(&fixture);
	resolve_by_hand(capture, false, "", &resolved);
	estimated = (int64_t)store_capture_bytes(capture, &resolved);
	expect_commit_resolved(&fixture, capture, &resolved);
	took = used_bytes(&fixture) - before;
	ck_assert_msg(estimated >= took && 2 * estimated <= 5 * took,
		      "%" PRId64 " bytes are estimated as %" PRId64, took, estimated);
	resolved_free(&resolved);
	store_fixture_free(&fixture);
}
END_TEST

/* With less than a third of the database that the limit allows, five eighths of it. */
START_TEST(a_busy_capture_is_kept_by_the_least_limit)
{
	struct dice dice = dice_new(84);
	_cleanup_capture_ struct capture *capture = busy_capture(&dice, 1600);
	struct store_fixture fixture;
	int64_t before;

	store_fixture_start_limited(&fixture, 4 * MIB);
	before = used_bytes(&fixture);
	expect_commit(&fixture, capture);
	ck_assert_int_le(used_bytes(&fixture) - before, 4 * (int64_t)MIB / 8 * 5 / 3);
	store_fixture_free(&fixture);
}
END_TEST

START_TEST(a_smaller_limit_takes_effect_at_once)
{
	struct dice dice = dice_new(81);
	struct store_fixture fixture;
	int saved = log_divert();

	store_fixture_start_limited(&fixture, 32 * MIB);
	expect_commit_large(&fixture, &dice, 32, 1000);
	store_fixture_close(&fixture);
	ck_assert_uint_gt(file_bytes(fixture.path), 5 * MIB);
	store_fixture_open(&fixture, 5 * MIB);
	free(log_diverted(saved));
	store_fixture_close(&fixture);
	ck_assert_uint_le(file_bytes(fixture.path) + file_bytes(fixture.wal), 5 * MIB);
	ck_assert_int_gt(number(&fixture, "SELECT count(*) FROM capture"), 0);
	ck_assert_int_eq(number(&fixture, "SELECT max(capture_id) FROM capture"), 32);
	store_fixture_free(&fixture);
}
END_TEST

/* A daemon must be able to start when its database has no free page. */
START_TEST(a_full_database_begins_another_run)
{
	uint64_t values[COUNTERS] = { 0 };
	struct dice dice = dice_new(82);
	struct store_fixture fixture;
	int saved = log_divert(), result = 0;

	store_fixture_start_limited(&fixture, 4 * MIB);
	expect_commit_large(&fixture, &dice, 3, 200);
	for (int i = 0; i < 100000 && !result; i++)
		result = store_add_counters(fixture.store, counter_names, values, COUNTERS);
	ck_assert_int_eq(result, -ENOSPC);
	for (int run = 0; run < 100; run++) { /* each run adds rows for its rules */
		store_fixture_close(&fixture);
		store_fixture_open(&fixture, 4 * MIB);
		begin_run(&fixture);
	}
	free(log_diverted(saved));
	store_fixture_free(&fixture);
}
END_TEST

/* ---- locks and readers ---- */

struct give_up {
	struct store_fixture *fixture;
	uint64_t after_ns;
};

static void *give_up_later(void *user)
{
	const struct give_up *later = user;
	struct timespec pause = clock_timespec(later->after_ns);

	nanosleep(&pause, NULL);
	atomic_store(&later->fixture->give_up_ns, clock_monotonic_ns());
	return NULL;
}

#define TOTALS                                                                                               \
	"SELECT (SELECT count(*) FROM capture), (SELECT count(*) FROM sample), (SELECT count(*) FROM frame)"

/* Another thread ends the wait (0), or give_up_ns is set before it begins (1). */
START_TEST(the_wait_for_a_lock_ends_at_give_up_ns)
{
	struct dice dice = dice_new(90);
	_cleanup_capture_ struct capture *capture = large_capture(&dice, 50);
	struct store_fixture fixture;
	struct give_up later = { &fixture, 300000000 };
	_cleanup_free_ char *before = NULL;
	sqlite3 *other;
	pthread_t thread;
	uint64_t began_ns, waited_ns;

	store_fixture_start(&fixture);
	expect_commit(&fixture, capture);
	before = rows(&fixture, TOTALS);
	other = reader_open(&fixture);
	free(rows_in(other, "BEGIN IMMEDIATE; UPDATE run SET version = version"));
	began_ns = clock_monotonic_ns();
	if (_i)
		atomic_store(&fixture.give_up_ns, began_ns + later.after_ns);
	else
		ck_assert_int_eq(pthread_create(&thread, NULL, give_up_later, &later), 0);
	ck_assert_int_eq(commit(&fixture, capture, false), -EBUSY);
	ck_assert_ptr_nonnull(strstr(store_error(fixture.store), "locked"));
	waited_ns = clock_monotonic_ns() - began_ns;
	ck_assert_uint_ge(waited_ns, later.after_ns - 1000000);
	ck_assert_uint_lt(waited_ns, 5 * SECOND);
	if (!_i)
		pthread_join(thread, NULL);
	free(rows_in(other, "ROLLBACK"));
	sqlite3_close(other);
	expect_rows(&fixture, TOTALS, before);
	expect_commit(&fixture, capture);
	expect_count(&fixture, "capture", 2);
	store_fixture_free(&fixture);
}
END_TEST

static void *unlock_later(void *user)
{
	const struct timespec pause = { .tv_nsec = 300000000 };

	nanosleep(&pause, NULL);
	free(rows_in(user, "ROLLBACK"));
	return NULL;
}

START_TEST(a_commit_waits_for_a_lock_that_is_released)
{
	_cleanup_capture_ struct capture *capture = capture_of_stack(1, 1, 1);
	struct store_fixture fixture;
	pthread_t thread;
	sqlite3 *other;

	store_fixture_start(&fixture);
	other = reader_open(&fixture);
	free(rows_in(other, "BEGIN IMMEDIATE"));
	ck_assert_int_eq(pthread_create(&thread, NULL, unlock_later, other), 0);
	expect_commit(&fixture, capture);
	pthread_join(thread, NULL);
	sqlite3_close(other);
	expect_count(&fixture, "capture", 1);
	store_fixture_free(&fixture);
}
END_TEST

/*
 * A long transaction of a reader keeps the write-ahead log from being reset. Captures are stored until the log
 * has its largest size, then refused without a wait, and stored again after the transaction.
 */
START_TEST(a_long_read_limits_the_log)
{
	struct dice dice = dice_new(91);
	struct store_fixture fixture;
	sqlite3 *reader;
	int refused = 0, stored = 0;
	uint64_t most = 0;

	store_fixture_start_limited(&fixture, 16 * MIB);
	reader = reader_open(&fixture);
	free(rows_in(reader, "BEGIN; SELECT count(*) FROM capture"));
	for (int i = 0; i < 100 && refused < 3; i++) {
		struct capture *capture = large_capture(&dice, 300);
		uint64_t began_ns = clock_monotonic_ns();
		int result = commit(&fixture, capture, false);

		ck_assert_msg(result == 0 || result == -EBUSY, "%d: %s", result, store_error(fixture.store));
		ck_assert_uint_lt(clock_monotonic_ns() - began_ns, 5 * SECOND * patience());
		refused += result < 0;
		stored += !result;
		ck_assert(!refused || result < 0);
		if (file_bytes(fixture.wal) > most)
			most = file_bytes(fixture.wal);
		if (refused == 3) {
			_cleanup_free_ char *seen = rows_in(reader, "SELECT count(*) FROM capture");

			ck_assert_str_eq(seen, "0\n");
			free(rows_in(reader, "COMMIT"));
			expect_commit(&fixture, capture);
		}
		capture_free(capture);
	}
	ck_assert_int_eq(refused, 3);
	ck_assert_int_gt(stored, 3);
	ck_assert_uint_le(most,
			  4 * MIB + 2 * MIB); /* the size at which a commit is refused, and one capture */
	expect_count(&fixture, "capture", stored + 1);
	ck_assert_uint_eq(file_bytes(fixture.wal), 0);
	sqlite3_close(reader);
	store_fixture_free(&fixture);
}
END_TEST

/* A thread that opens, reads and closes the database while captures are written. */
struct reading {
	const struct store_fixture *fixture;
	bool ended;
	int looks, incomplete;
};

static void *read_all_the_time(void *user)
{
	struct reading *reading = user;

	while (!__atomic_load_n(&reading->ended, __ATOMIC_ACQUIRE)) {
		sqlite3 *db;

		if (sqlite3_open_v2(reading->fixture->path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK) {
			char *text;

			sqlite3_busy_timeout(db, 5000);
			text = rows_in(
				db, "SELECT count(*) FROM capture c WHERE state <> 'complete' OR "
				    "(SELECT sum(samples) FROM sample s WHERE s.capture_id = c.capture_id) "
				    "<> 100 OR "
				    "(SELECT count(*) FROM loss l WHERE l.capture_id = c.capture_id) <> 27");
			reading->incomplete += strcmp(text, "0\n") != 0;
			reading->looks++;
			free(text);
		}
		sqlite3_close(db);
	}
	return NULL;
}

START_TEST(readers_see_whole_captures)
{
	struct dice dice = dice_new(92);
	struct store_fixture fixture;
	struct reading reading = { .fixture = &fixture };
	pthread_t thread;
	int saved = log_divert();

	_Static_assert(LOSS_REASONS == 27, "the reader's query counts them");
	store_fixture_start_limited(&fixture, 8 * MIB);
	ck_assert_int_eq(pthread_create(&thread, NULL, read_all_the_time, &reading), 0);
	for (int i = 0; i < 100; i++) {
		struct capture *capture = large_capture(&dice, 100);
		const struct timespec pause = { .tv_nsec = 20000000 };
		int result, tries = 0;

		/* the worker thread tries again, too, when a reader keeps the log from being reset */
		while ((result = commit(&fixture, capture, false)) == -EBUSY && tries++ < 200)
			nanosleep(&pause, NULL);
		ck_assert_msg(!result, "%s", store_error(fixture.store));
		capture_free(capture);
	}
	__atomic_store_n(&reading.ended, true, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	free(log_diverted(saved));
	ck_assert_int_gt(reading.looks, 3);
	ck_assert_int_eq(reading.incomplete, 0);
	store_fixture_free(&fixture);
}
END_TEST

SUITE(store_limit)
{
	Suite *suite = suite_create("store_limit");
	TCase *limit = tcase_create("limit");
	TCase *size = tcase_create("size");
	TCase *locks = tcase_create("locks");
	TCase *readers = tcase_create("readers");

	tcase_set_tags(limit, "slow"); /* too slow for an emulated CPU */
	/* the last case is the largest, and takes under a sanitizer as long as all other tests together */
	tcase_add_loop_test(limit, the_files_never_outgrow_the_limit, 0,
			    (int)ARRAY_SIZE(cap_cases) - SANITIZED);
	tcase_add_test(limit, a_capture_too_large_for_the_limit_is_refused);
	tcase_add_test(limit, a_smaller_limit_takes_effect_at_once);
	tcase_add_test(limit, a_full_database_begins_another_run);
	suite_add_tcase(suite, limit);
	tcase_add_loop_test(size, the_estimate_is_that_of_the_size, 0, 2 * ARRAY_SIZE(made));
	tcase_add_test(size, a_busy_capture_is_kept_by_the_least_limit);
	suite_add_tcase(suite, size);
	tcase_add_loop_test(locks, the_wait_for_a_lock_ends_at_give_up_ns, 0, 2);
	tcase_add_test(locks, a_commit_waits_for_a_lock_that_is_released);
	suite_add_tcase(suite, locks);
	tcase_set_tags(readers, "slow");
	tcase_add_test(readers, a_long_read_limits_the_log);
	tcase_add_test(readers, readers_see_whole_captures);
	suite_add_tcase(suite, readers);
	return suite;
}
