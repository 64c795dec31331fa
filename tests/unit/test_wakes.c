/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that a capture adds up who ended the waits of its threads, finds the stack that follows an interval, stays
 * within its limits, and that the database says the same.
 */
#include "tests/unit/store_fixture.h"
#include "tests/unit/suites.h"

#include <string.h>

#define MS 1000000UL

/* A thread of process 10 waits for `ms`, from TRIGGERED on. */
static struct sample wait_make(uint64_t ms)
{
	struct sample sample = sample_make(10, TRIGGERED + ms * MS, 2, 3, 100);

	sample.kind = SAMPLE_OFF_CPU;
	sample.left_ns = TRIGGERED;
	sample.woken_ns = TRIGGERED + ms * MS;
	sample.weight_ns = ms * MS;
	return sample;
}

/* The wait ends by the first thread of the process. */
static void wake_by(struct sample *wait, uint32_t tgid)
{
	wait->waker = (struct waker){ .kind = WAKER_THREAD,
				      .started_ns = 1000 + tgid,
				      .cgroup_id = 7,
				      .tgid = tgid,
				      .tid = tgid,
				      .of = tgid == 666 ? SAMPLE_OF_BYSTANDER : SAMPLE_OF_TARGET,
				      .comm = "waker" };
}

/* The slot that follows `wait`. */
static struct sample stack_of_waker(const struct sample *wait)
{
	struct sample sample = sample_make(wait->waker.tgid, wait->time_ns, 1, 2, 500);

	sample.kind = SAMPLE_WAKER;
	sample.left_ns = wait->left_ns;
	sample.woken_ns = wait->woken_ns;
	return sample;
}

START_TEST(equal_waits_are_one_row)
{
	struct sample waits[] = { wait_make(5), wait_make(7), wait_make(9), wait_make(11) };
	_cleanup_capture_ struct capture *capture = NULL;
	const struct wake *rows;

	for (size_t i = 0; i < ARRAY_SIZE(waits); i++)
		wake_by(&waits[i], 11);
	waits[2].lock = 77;
	waits[3].waker.tid = 12;
	memcpy(waits[1].comm, "thread\0rest", 12); /* what is behind the NUL is no part of the name */
	capture = capture_make(waits, ARRAY_SIZE(waits));
	rows = capture->wakes.rows;
	ck_assert_uint_eq(capture->wakes.count, 3);
	ck_assert_uint_eq(rows[0].intervals, 2);
	ck_assert_uint_eq(rows[0].waited_ns, 12 * MS);
	ck_assert_uint_eq(rows[0].role, WAKE_BY_TARGET);
	ck_assert_uint_eq(rows[0].lock, 0);
	ck_assert_str_eq(rows[0].thread, "thread");
	ck_assert_str_eq(rows[0].waker, "waker");
	ck_assert_uint_eq(rows[0].waker_tid, 11);
	ck_assert_uint_eq(capture->processes[rows[0].waker_process].tgid, 11);
	ck_assert_uint_eq(rows[0].waker_stack, WAKE_UNKNOWN);
	ck_assert_uint_eq(rows[1].lock, 77);
	ck_assert_uint_eq(rows[1].waited_ns, 9 * MS);
	ck_assert_uint_eq(rows[2].waker_tid, 12);
	ck_assert_uint_eq(rows[2].waited_ns, 11 * MS);
	ck_assert_uint_eq(capture->losses[LOSS_WAKERS], 0);
}
END_TEST

static const struct {
	uint8_t kind;
	uint32_t tgid;
	enum wake_role role;
} roles[] = {
	{ WAKER_THREAD, 11, WAKE_BY_TARGET },      { WAKER_THREAD, 666, WAKE_BY_OTHER },
	{ WAKER_INTERRUPT, 0, WAKE_BY_INTERRUPT }, { WAKER_DENIED, 0, WAKE_BY_DENIED },
	{ WAKER_UNKNOWN, 0, WAKE_BY_NONE },        { 200, 0, WAKE_BY_NONE },
};

START_TEST(a_row_says_whose_thread_ended_the_wait)
{
	struct sample wait = wait_make(5);
	_cleanup_capture_ struct capture *capture = NULL;

	wake_by(&wait, roles[_i].tgid);
	wait.waker.kind = roles[_i].kind;
	capture = capture_make(&wait, 1);
	ck_assert_uint_eq(capture->wakes.count, 1);
	ck_assert_uint_eq(capture->wakes.rows[0].role, roles[_i].role);
	ck_assert_uint_eq(capture->wakes.rows[0].waker_tid, roles[_i].tgid);
	ck_assert_int_eq(capture->wakes.rows[0].waker_process != WAKE_UNKNOWN, roles[_i].tgid != 0);
}
END_TEST

START_TEST(a_wait_counts_where_it_is_within_the_capture)
{
	struct sample waits[] = { wait_make(5), wait_make(5), wait_make(5), wait_make(5) };
	_cleanup_capture_ struct capture *capture = NULL;

	/* the history begins 4 s before the trigger, and the capture ends 5 s after it */
	waits[0].left_ns = TRIGGERED - 9 * SECOND;
	waits[1].left_ns = TRIGGERED + 4 * SECOND;
	waits[1].woken_ns = waits[1].time_ns = TRIGGERED + 7 * SECOND;
	/* less than 1 ms, though the thread was away for longer */
	waits[2].woken_ns = waits[2].left_ns + MS - 1;
	/* the end before the begin */
	waits[3].left_ns = waits[3].woken_ns + 1;
	for (size_t i = 0; i < ARRAY_SIZE(waits); i++)
		waits[i].tid = (uint32_t)i + 1;
	capture = capture_make(waits, ARRAY_SIZE(waits));
	ck_assert_uint_eq(capture->wakes.count, 2);
	ck_assert_uint_eq(capture->wakes.rows[0].waited_ns, 4 * SECOND + 5 * MS);
	ck_assert_uint_eq(capture->wakes.rows[1].waited_ns, SECOND);
}
END_TEST

START_TEST(the_stack_of_a_waker_follows_its_interval)
{
	struct sample slots[] = { wait_make(5), wait_make(0), wait_make(7), wait_make(9) };
	_cleanup_capture_ struct capture *capture = NULL;
	const struct wake *rows;

	wake_by(&slots[0], 11);
	slots[0].has_waker_stack = 1;
	slots[1] = stack_of_waker(&slots[0]);
	wake_by(&slots[2], 11);
	slots[2].has_waker_stack = 1; /* but the ring has the next interval there */
	wake_by(&slots[3], 11);
	slots[3].has_waker_stack = 1; /* and here it ends */
	capture = capture_make(slots, ARRAY_SIZE(slots));
	rows = capture->wakes.rows;
	ck_assert_uint_eq(capture->wakes.count, 2);
	ck_assert_uint_eq(rows[0].waited_ns, 5 * MS);
	ck_assert_uint_ne(rows[0].waker_stack, WAKE_UNKNOWN);
	ck_assert_uint_eq(capture->stacks.stacks[rows[0].waker_stack].user_depth, 2);
	ck_assert_uint_eq(capture->stacks.stacks[rows[0].waker_stack].process, rows[0].waker_process);
	ck_assert_uint_eq(rows[1].waited_ns, 16 * MS);
	ck_assert_uint_eq(rows[1].waker_stack, WAKE_UNKNOWN);
	/* it is no sample of the waker */
	for (uint32_t i = 0; i < capture->rows_count; i++)
		ck_assert_uint_ne(capture->rows[i].process, rows[0].waker_process);
}
END_TEST

static void of_other_begin(struct sample *sample)
{
	sample->left_ns++;
}

static void of_other_end(struct sample *sample)
{
	sample->woken_ns++;
}

static void of_other_thread(struct sample *sample)
{
	sample->tid++;
}

static void of_other_process(struct sample *sample)
{
	sample->tgid++;
}

static void (*const others[])(struct sample *) = { of_other_begin, of_other_end, of_other_thread,
						   of_other_process };

START_TEST(another_stack_is_not_that_of_the_waker)
{
	struct sample slots[] = { wait_make(5), wait_make(0) };
	_cleanup_capture_ struct capture *capture = NULL;

	wake_by(&slots[0], 11);
	slots[0].has_waker_stack = 1;
	slots[1] = stack_of_waker(&slots[0]);
	others[_i](&slots[1]);
	capture = capture_make(slots, ARRAY_SIZE(slots));
	ck_assert_uint_eq(capture->wakes.count, 1);
	ck_assert_uint_eq(capture->wakes.rows[0].waker_stack, WAKE_UNKNOWN);
	ck_assert_uint_eq(capture->stacks.count, 1);
}
END_TEST

START_TEST(too_many_rows_are_a_counted_loss)
{
	const uint32_t most = 8192, count = most + 10;
	struct sample *waits = calloc(count, sizeof(*waits));
	_cleanup_capture_ struct capture *capture = NULL;

	for (uint32_t i = 0; i < count; i++) {
		waits[i] = wait_make(5);
		waits[i].lock = i + 1;
	}
	capture = capture_make(waits, count);
	ck_assert_uint_eq(capture->wakes.count, most);
	ck_assert_uint_eq(capture->losses[LOSS_WAKERS], 10);
	ck_assert_uint_eq(capture->losses[LOSS_CAPTURE_FULL], 0);
	free(waits);
}
END_TEST

START_TEST(the_views_say_who_woke_whom_and_who_held_what)
{
	struct sample slots[] = { wait_make(10), wait_make(0),  wait_make(20),
				  wait_make(30), wait_make(40), wait_make(50) };
	_cleanup_capture_ struct capture *capture = NULL;
	struct store_fixture fixture;

	wake_by(&slots[0], 11);
	slots[0].has_waker_stack = 1;
	slots[0].waker.releases = 1;
	slots[1] = stack_of_waker(&slots[0]);
	slots[2].tid = 9;
	wake_by(&slots[2], 666);
	slots[2].waker.releases = 1;
	wake_by(&slots[3], 11); /* without giving the lock free, by a signal */
	slots[0].lock = slots[2].lock = slots[3].lock = 0xfedcba9876543210;
	slots[4].waker.kind = WAKER_INTERRUPT;
	slots[4].stall = STALL_IO;
	slots[5].lock = 5; /* nobody has ended it */
	capture = capture_make(slots, ARRAY_SIZE(slots));
	store_fixture_start(&fixture);
	expect_commit(&fixture, capture);
	expect_rows(
		&fixture,
		"SELECT tid, thread, stall, lock, waker_role, waker_tgid, waker_tid, waker_comm, releases, intervals, "
		"waited_ns / 1000000, percent FROM waker WHERE capture_id = 1",
		"10|thread|none|0000000000000005|none|NULL|NULL|NULL|0|1|50|33.3\n"
		"10|thread|io|NULL|interrupt|NULL|NULL|NULL|0|1|40|26.7\n"
		"10|thread|none|fedcba9876543210|target|11|11|waker|0|1|30|20.0\n"
		"9|thread|none|fedcba9876543210|other|666|666|waker|1|1|20|13.3\n"
		"10|thread|none|fedcba9876543210|target|11|11|waker|1|1|10|6.7\n");
	expect_rows(
		&fixture,
		"SELECT count(*), count(waker_stack_id), min(function) FROM waker LEFT JOIN stack_frame s ON "
		"s.stack_id = waker_stack_id AND position = 0 LEFT JOIN frame USING(frame_id)",
		"5|1|kernel_500\n");
	expect_rows(
		&fixture,
		"SELECT lock, waited_ns / 1000000, waiters, holder_tid, holder_comm, holder_stack_id IS NOT NULL, "
		"intervals, held_ns / 1000000, held_percent FROM lock_holder WHERE capture_id = 1",
		"fedcba9876543210|60|2|NULL|NULL|0|1|30|50.0\n"
		"fedcba9876543210|60|2|666|waker|0|1|20|33.3\n"
		"fedcba9876543210|60|2|11|waker|1|1|10|16.7\n"
		"0000000000000005|50|1|NULL|NULL|0|1|50|100.0\n");
	/* a waker's process has a row, and no samples */
	expect_rows(&fixture, "SELECT group_concat(tgid) FROM process", "10,11,666\n");
	expect_rows(&fixture, "SELECT DISTINCT tgid FROM sample JOIN process USING(process_id)", "10\n");
	/* the condition reaches the table */
	expect_rows(
		&fixture,
		"SELECT count(*) > 0 FROM (SELECT 1) WHERE EXISTS (SELECT 1 FROM waker WHERE capture_id = 2) OR "
		"EXISTS (SELECT 1 FROM lock_holder WHERE capture_id = 2)",
		"0\n");
	store_fixture_free(&fixture);
}
END_TEST

SUITE(wakes)
{
	Suite *suite = suite_create("wakes");
	TCase *capture = tcase_create("capture"), *store = tcase_create("store");

	tcase_add_test(capture, equal_waits_are_one_row);
	tcase_add_loop_test(capture, a_row_says_whose_thread_ended_the_wait, 0, ARRAY_SIZE(roles));
	tcase_add_test(capture, a_wait_counts_where_it_is_within_the_capture);
	tcase_add_test(capture, the_stack_of_a_waker_follows_its_interval);
	tcase_add_loop_test(capture, another_stack_is_not_that_of_the_waker, 0, ARRAY_SIZE(others));
	tcase_add_test(capture, too_many_rows_are_a_counted_loss);
	tcase_add_test(store, the_views_say_who_woke_whom_and_who_held_what);
	suite_add_tcase(suite, capture);
	suite_add_tcase(suite, store);
	return suite;
}
