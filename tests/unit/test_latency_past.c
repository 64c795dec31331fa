/* SPDX-License-Identifier: GPL-2.0-only */
/* Shows what windows have of the epochs that ended, by owner, and which bucket has a quantile. */
#include "consumer/host/latency_past.h"
#include "tests/unit/suites.h"

static void add(struct latency_past *past, uint32_t epoch, uint32_t metric, uint64_t owner, uint64_t ns,
		uint64_t count)
{
	const struct latency_entry entry = { .owner = owner,
					     .count = count,
					     .epoch = epoch,
					     .bucket = (uint16_t)bucket_of(ns),
					     .metric = (uint8_t)metric };

	ck_assert_int_eq(latency_past_add(past, &entry), 0);
}

static struct latency_runs runs_of(const struct latency_past *past, uint64_t from, uint64_t last)
{
	struct latency_runs runs;

	ck_assert_int_eq(latency_past_runs(past, METRIC_LOCK, 1000, from, last, &runs), 0);
	return runs;
}

START_TEST(a_window_is_taken_apart_by_owner)
{
	struct latency_past past = { 0 };
	struct latency_runs runs;

	/* in any order; two slots of the same bucket are one */
	add(&past, 6, METRIC_LOCK, 8, 2000, 1);
	add(&past, 5, METRIC_LOCK, 9, 500, 4);
	add(&past, 5, METRIC_EXEC, 9, 500, 4);
	add(&past, 5, METRIC_LOCK, 8, 2000, 2);
	add(&past, 5, METRIC_LOCK, 8, 2000, 3);
	latency_past_settle(&past, 0);
	ck_assert_uint_eq(past.count, 4);
	add(&past, 7, METRIC_LOCK, 9, 900, 7);
	latency_past_settle(&past, 0);
	runs = runs_of(&past, 5, 6);
	ck_assert_uint_eq(runs.count, 2);
	ck_assert_uint_eq(runs.each[0].owner, 8);
	ck_assert_uint_eq(runs.each[0].count, 6);
	ck_assert_uint_eq(runs.each[0].above, 6);
	ck_assert(runs.each[0].is_above_last);
	ck_assert_uint_eq(runs.each[1].owner, 9);
	ck_assert_uint_eq(runs.each[1].count, 4);
	ck_assert_uint_eq(runs.each[1].above, 0);
	latency_runs_free(&runs);
	/* the last epoch has none that is long */
	runs = runs_of(&past, 5, 7);
	ck_assert(!runs.each[0].is_above_last);
	ck_assert_uint_eq(runs.each[1].count, 11);
	latency_runs_free(&runs);
	runs = runs_of(&past, 8, 9);
	ck_assert_uint_eq(runs.count, 0);
	latency_runs_free(&runs);
	latency_past_free(&past);
}
END_TEST

START_TEST(older_epochs_may_come_later)
{
	struct latency_past past = { 0 };

	add(&past, 7, METRIC_LOCK, 8, 2000, 1);
	latency_past_settle(&past, 0);
	add(&past, 8, METRIC_EXEC, 8, 2000, 1);
	add(&past, 5, METRIC_EXEC, 8, 2000, 1);
	latency_past_settle(&past, 6);
	ck_assert_uint_eq(past.count, 2);
	ck_assert_uint_eq(past.entries[0].epoch, 7);
	ck_assert_uint_eq(past.entries[1].epoch, 8);
	latency_past_free(&past);
}
END_TEST

/* A bucket that begins below the limit may have longer values: they do not count as longer. */
START_TEST(the_limit_is_within_a_bucket)
{
	struct latency_past past = { 0 };
	struct latency_runs runs;

	ck_assert_uint_lt(bucket_begins(bucket_of(1000)), 1000);
	add(&past, 5, METRIC_LOCK, 8, 1010, 3);
	add(&past, 5, METRIC_LOCK, 8, bucket_begins(bucket_of(1000) + 1), 2);
	latency_past_settle(&past, 0);
	runs = runs_of(&past, 5, 5);
	ck_assert_uint_eq(runs.each[0].count, 5);
	ck_assert_uint_eq(runs.each[0].above, 2);
	latency_runs_free(&runs);
	latency_past_free(&past);
}
END_TEST

START_TEST(old_epochs_and_those_beyond_the_bound_are_forgotten)
{
	struct latency_past past = { 0 };

	for (uint32_t epoch = 1; epoch <= 5; epoch++) {
		for (uint32_t owner = 0; owner < LATENCY_PAST_MAX / 4; owner++)
			add(&past, epoch, METRIC_LOCK, owner, 5, 1);
		latency_past_settle(&past, 0);
		ck_assert_uint_le(past.count, LATENCY_PAST_MAX);
	}
	ck_assert_uint_eq(past.count, LATENCY_PAST_MAX);
	ck_assert_uint_eq(past.entries[0].epoch, 2);
	latency_past_settle(&past, 5);
	ck_assert_uint_eq(past.count, LATENCY_PAST_MAX / 4);
	ck_assert_uint_eq(past.entries[0].epoch, 5);
	latency_past_free(&past);
}
END_TEST

/* As the view latency_percentile: the first bucket up to which there are enough. */
START_TEST(quantiles)
{
	static const struct {
		uint64_t low, high; /* how many values in bucket 10, and in bucket 20 */
		uint32_t expected[LATENCY_QUANTILES];
	} cases[] = {
		{ 1, 0, { 10, 10, 10, 10 } },    { 1, 1, { 10, 20, 20, 20 } },
		{ 9, 1, { 10, 10, 20, 20 } },    { 99, 1, { 10, 10, 10, 20 } },
		{ 999, 1, { 10, 10, 10, 10 } },  { 998, 2, { 10, 10, 10, 20 } },
		{ 989, 11, { 10, 10, 20, 20 } }, { 990, 10, { 10, 10, 10, 20 } },
		{ 0, 5, { 20, 20, 20, 20 } },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (unsigned int q = 0; q < LATENCY_QUANTILES; q++) {
			uint64_t counts[LATENCY_BUCKETS] = { [10] = cases[i].low, [20] = cases[i].high };
			enum latency_quantile quantile = (enum latency_quantile)q;

			ck_assert_uint_eq(latency_quantile_bucket(quantile, counts), cases[i].expected[q]);
			ck_assert_int_eq(latency_quantile_is_above(quantile, cases[i].high,
								   cases[i].low + cases[i].high),
					 cases[i].expected[q] == 20);
		}
}
END_TEST

START_TEST(nothing_has_no_quantile)
{
	const uint64_t counts[LATENCY_BUCKETS] = { 0 };

	ck_assert_uint_eq(latency_quantile_bucket(LATENCY_P99, counts), LATENCY_BUCKETS);
	ck_assert(!latency_quantile_is_above(LATENCY_P50, 0, 0));
}
END_TEST

SUITE(latency_past)
{
	Suite *suite = suite_create("latency_past");
	TCase *tests = tcase_create("latency_past");

	tcase_add_test(tests, a_window_is_taken_apart_by_owner);
	tcase_add_test(tests, older_epochs_may_come_later);
	tcase_add_test(tests, the_limit_is_within_a_bucket);
	tcase_add_test(tests, old_epochs_and_those_beyond_the_bound_are_forgotten);
	tcase_add_test(tests, quantiles);
	tcase_add_test(tests, nothing_has_no_quantile);
	suite_add_tcase(suite, tests);
	return suite;
}
