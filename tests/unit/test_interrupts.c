/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that the time in interrupts is summed over CPUs, that a capture has the growth within its span, the longest
 * first, that hard interrupts beyond the limit are one row, and that what was not read gives no rows.
 */
#include "consumer/capture/interrupt_time.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <string.h>

static void put(struct interrupts *interrupts, uint32_t kind, uint32_t number, uint64_t count, uint64_t ns)
{
	const struct interrupt_key key = { kind, number };
	/* of two CPUs */
	const struct interrupt_sums sums[] = { { count / 2, ns / 2 }, { count - count / 2, ns - ns / 2 } };

	interrupts->are_known = true;
	ck_assert_int_eq(interrupts_add(interrupts, &key, sums, 2), 0);
}

static void expect_row(const struct interrupt *row, const char *kind, const char *name, uint32_t number,
		       uint64_t count, uint64_t ns)
{
	ck_assert_str_eq(interrupt_kind(row), kind);
	ck_assert_pstr_eq(interrupt_name(row), name);
	ck_assert_uint_eq(row->key.number, number);
	ck_assert_uint_eq(row->sums.count, count);
	ck_assert_uint_eq(row->sums.ns, ns);
}

START_TEST(a_capture_has_what_grew_in_its_span)
{
	struct interrupts before = { 0 }, after = { 0 };
	struct interrupt_time time;

	put(&before, INTERRUPT_SOFT, 3, 100, 1000);
	put(&before, INTERRUPT_SOFT, 1, 7, 70);
	put(&before, INTERRUPT_HARD, 36, 5, 50);
	put(&after, INTERRUPT_HARD, 36, 15, 251);
	put(&after, INTERRUPT_SOFT, 1, 7, 70); /* none in the span */
	put(&after, INTERRUPT_TIMER, 0, 9, 90);
	put(&after, INTERRUPT_SOFT, 3, 103, 4001);
	put(&after, INTERRUPT_HARD, 3, 1, 0); /* the first of this number */
	put(&after, INTERRUPT_SOFT, 200, 1, 30);
	strcpy(after.each[0].name, "virtio1-req.0");
	ck_assert_int_eq(interrupt_time_make(&before, &after, &time), 0);
	ck_assert_uint_eq(time.count, 5);
	expect_row(&time.rows[0], "softirq", "NET_RX", 3, 3, 3001);
	expect_row(&time.rows[1], "irq", "virtio1-req.0", 36, 10, 201);
	expect_row(&time.rows[2], "irq", "local timer", 0, 9, 90);
	expect_row(&time.rows[3], "softirq", NULL, 200, 1, 30);
	expect_row(&time.rows[4], "irq", NULL, 3, 1, 0);
	ck_assert_uint_eq(time.soft_ns, 3031);
	ck_assert_uint_eq(time.hard_ns, 291);
	ck_assert_uint_eq(time.rest.sums.count, 0);
	interrupt_time_free(&time);
	interrupts_free(&before);
	interrupts_free(&after);
}
END_TEST

START_TEST(hard_interrupts_beyond_the_limit_are_one_row)
{
	struct interrupts before = { .are_known = true }, after = { 0 };
	struct interrupt_time time;

	for (uint32_t number = 0; number < INTERRUPT_ROWS_MAX + 20; number++)
		put(&after, INTERRUPT_HARD, number, 2, 1000 + number);
	put(&after, INTERRUPT_SOFT, 9, 1, 1); /* a vector always has its row */
	ck_assert_int_eq(interrupt_time_make(&before, &after, &time), 0);
	ck_assert_uint_eq(time.count, INTERRUPT_ROWS_MAX + 1);
	ck_assert_uint_eq(time.rows[0].key.number, INTERRUPT_ROWS_MAX + 19);
	expect_row(&time.rows[INTERRUPT_ROWS_MAX], "softirq", "RCU", 9, 1, 1);
	/* numbers 0 to 19 */
	ck_assert_uint_eq(time.rest.sums.count, 40);
	ck_assert_uint_eq(time.rest.sums.ns, 20 * 1000 + 190);
	interrupt_time_free(&time);
	interrupts_free(&after);
}
END_TEST

/* The sums since the load are not those of the span. */
START_TEST(what_was_not_read_gives_no_rows)
{
	struct interrupts known = { 0 }, unknown = { 0 };
	struct interrupt_time time;

	put(&known, INTERRUPT_SOFT, 3, 100, 1000);
	ck_assert_int_eq(interrupt_time_make(&unknown, &known, &time), 0);
	ck_assert_uint_eq(time.count, 0);
	ck_assert_int_eq(interrupt_time_make(&known, &unknown, &time), 0);
	ck_assert_uint_eq(time.count, 0);
	ck_assert_int_lt(interrupts_read(&known, -1, -1), 0);
	ck_assert(!known.are_known && !known.count);
}
END_TEST

START_TEST(a_copy_is_whole)
{
	struct interrupts from = { 0 }, copy;

	ck_assert_int_eq(interrupts_copy(&from, &copy), 0);
	ck_assert(!copy.are_known);
	for (uint32_t vector = 0; vector < 10; vector++)
		put(&from, INTERRUPT_SOFT, vector, vector, 2 * vector);
	ck_assert_int_eq(interrupts_copy(&from, &copy), 0);
	ck_assert(copy.are_known);
	ck_assert_uint_eq(copy.count, 10);
	ck_assert_uint_eq(interrupts_find(&copy, &(struct interrupt_key){ INTERRUPT_SOFT, 9 })->sums.ns, 18);
	ck_assert_ptr_null(interrupts_find(&copy, &(struct interrupt_key){ INTERRUPT_HARD, 9 }));
	interrupts_free(&from);
	interrupts_free(&copy);
}
END_TEST

SUITE(interrupts)
{
	Suite *suite = suite_create("interrupts");
	TCase *tests = tcase_create("interrupts");

	tcase_add_test(tests, a_capture_has_what_grew_in_its_span);
	tcase_add_test(tests, hard_interrupts_beyond_the_limit_are_one_row);
	tcase_add_test(tests, what_was_not_read_gives_no_rows);
	tcase_add_test(tests, a_copy_is_whole);
	suite_add_tcase(suite, tests);
	return suite;
}
