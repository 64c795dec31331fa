/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows that the test of significance has the P that can be counted by hand, or by another program of the same definition;
 * that recordings of one load, however its samples cluster, are told apart no more often than it says; and that it finds a
 * function that was planted.
 */
#include "common/base/cleanup.h"
#include "report/diff/significance.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VALUES_MAX 80
#define UNITS_MAX 64

struct recordings {
	double values[UNITS_MAX * VALUES_MAX], floors[VALUES_MAX], p[VALUES_MAX];
	struct significance data;
	struct significance_test test;
};

static void find(struct recordings *recordings, uint32_t values, uint32_t a_units, uint32_t b_units)
{
	recordings->data =
		(struct significance){ recordings->values, recordings->floors, values, a_units, b_units };
	ck_assert_int_eq(significance_find(&recordings->data, recordings->p, &recordings->test), 0);
}

#define near(left, right) ck_assert_double_eq_tol(left, right, 1e-12)

struct known {
	uint32_t a_units, b_units;
	double values[12];
	double p;
};

/* Of as many units, a separation and its mirror image are as extreme. */
static const struct known known[] = {
	{ 3, 3, { 1, 2, 3, 10, 11, 12 }, 2 / 20.0 },
	{ 5, 5, { 0, 0, 0, 0, 0, 9, 8, 9, 10, 9 }, 2 / 252.0 },
	{ 4, 6, { 0, 0, 0, 0, 10, 11, 12, 13, 14, 15 }, 1 / 210.0 },
	{ 6, 4, { 10, 11, 12, 13, 14, 15, 0, 0, 0, 0 }, 1 / 210.0 },
	{ 5, 5, { 7, 7, 7, 7, 7, 7, 7, 7, 7, 7 }, 1 },
	{ 2, 2, { 0, 0, 5, 5 }, 2 / 6.0 },
	{ 1, 5, { 0, 9, 9, 9, 9, 9 }, 1 }, /* of one unit nobody knows how it varies */
};

START_TEST(known_answers)
{
	const struct known *one = &known[_i];
	struct recordings recordings = { 0 };

	memcpy(recordings.values, one->values, sizeof(one->values));
	find(&recordings, 1, one->a_units, one->b_units);
	near(recordings.p[0], one->p);
	ck_assert(recordings.test.least <= one->p);
	if (one->a_units > 1)
		ck_assert(recordings.test.is_exhaustive);
}
END_TEST

START_TEST(the_least_p_is_that_of_all_mixtures)
{
	near(significance_least(3, 3), 2 / 20.0);
	near(significance_least(4, 6), 1 / 210.0);
	near(significance_least(6, 4), 1 / 210.0);
	near(significance_least(1, 60), 1);
	near(significance_least(60, 60), 1e-4); /* drawn */
}
END_TEST

/* Equal values are one value; one that never changes takes nothing from the others. */
START_TEST(values_that_agree_cost_nothing)
{
	struct recordings recordings = { 0 };

	for (uint32_t unit = 0; unit < 10; unit++) {
		recordings.values[unit * 3] = recordings.values[unit * 3 + 1] = unit < 5 ? unit % 2
											 : 8 + unit % 3;
		recordings.values[unit * 3 + 2] = 4;
	}
	find(&recordings, 3, 5, 5);
	near(recordings.p[0], 2 / 252.0);
	near(recordings.p[1], 2 / 252.0);
	near(recordings.p[2], 1);
}
END_TEST

/* A value that varies less than can be measured does not look as if it varied more than the others. */
START_TEST(a_floor_keeps_small_differences_back)
{
	struct recordings recordings = { 0 };

	for (uint32_t unit = 0; unit < 10; unit++) {
		recordings.values[unit * 2] = 100 + (unit >= 5) * 0.5;
		recordings.values[unit * 2 + 1] = unit % 2 ? 9 : 0; /* 2 of 5 units against 3 of 5 */
	}
	find(&recordings, 2, 5, 5);
	near(recordings.p[0], 4 / 252.0); /* the other value, too, is 0 and 9 alone in two mixtures */
	recordings.floors[0] = 25;
	find(&recordings, 2, 5, 5);
	near(recordings.p[0], 1);
	near(recordings.p[1], 1);
}
END_TEST

/* ---- another program of the same definition ---- */

static double welch(const struct recordings *recordings, uint32_t value, uint32_t values, uint32_t units,
		    uint32_t chosen)
{
	double count[2] = { 0 }, mean[2] = { 0 }, variance[2] = { 0 }, error, least;

	for (uint32_t unit = 0; unit < units; unit++) {
		count[chosen >> unit & 1]++;
		mean[chosen >> unit & 1] += recordings->values[unit * values + value];
	}
	mean[0] /= count[0];
	mean[1] /= count[1];
	for (uint32_t unit = 0; unit < units; unit++) {
		double from = recordings->values[unit * values + value] - mean[chosen >> unit & 1];

		variance[chosen >> unit & 1] += from * from;
	}
	error = variance[0] / (count[0] - 1) / count[0] + variance[1] / (count[1] - 1) / count[1];
	least = recordings->floors[value] * (1 / count[0] + 1 / count[1]);
	error = fmax(error, least);
	return error > 0 ? fabs(mean[0] - mean[1]) / sqrt(error) : mean[0] == mean[1] ? 0 : INFINITY;
}

/* Westfall and Young's procedure as their book has it (algorithm 4.1), by bit sets. */
static void find_slowly(const struct recordings *recordings, uint32_t values, uint32_t a_units,
			uint32_t units, double *ret_p)
{
	uint32_t order[VALUES_MAX], mixtures = 0, actual = (1U << a_units) - 1;
	double observed[VALUES_MAX], counts[VALUES_MAX] = { 0 };

	for (uint32_t i = 0; i < values; i++) {
		uint32_t at = i;

		observed[i] = welch(recordings, i, values, units, actual);
		for (; at && observed[order[at - 1]] < observed[i]; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
	for (uint32_t chosen = 0; chosen < 1U << units; chosen++) {
		if ((uint32_t)__builtin_popcount(chosen) != a_units)
			continue;
		mixtures++;
		for (uint32_t i = 0; i < values; i++) {
			double largest = 0;

			for (uint32_t k = i; k < values; k++)
				largest = fmax(largest, welch(recordings, order[k], values, units, chosen));
			counts[i] += largest + 1e-7 >= observed[order[i]] * (1 - 1e-9);
		}
	}
	for (uint32_t i = 0; i < values; i++)
		ret_p[order[i]] = fmax(counts[i] / mixtures, i ? ret_p[order[i - 1]] : 0);
}

START_TEST(another_program_agrees)
{
	struct dice dice = dice_new(500 + (uint64_t)_i);
	uint32_t values = 1 + dice_below(&dice, 8), a_units = 2 + dice_below(&dice, 4),
		 b_units = 2 + dice_below(&dice, 5);
	struct recordings recordings = { 0 };
	double slow[VALUES_MAX];

	for (uint32_t i = 0; i < values; i++) {
		recordings.floors[i] = dice_below(&dice, 2) ? 0 : dice_below(&dice, 20) / 10.0;
		for (uint32_t unit = 0; unit < a_units + b_units; unit++)
			recordings.values[unit * values + i] =
				dice_below(&dice, 20) + (unit < a_units && i % 3 == 0 ? 12 : 0) + i / 7.0;
	}
	find(&recordings, values, a_units, b_units);
	find_slowly(&recordings, values, a_units, a_units + b_units, slow);
	for (uint32_t i = 0; i < values; i++)
		ck_assert_double_eq_tol(recordings.p[i], slow[i], 1e-9);
}
END_TEST

/* ---- recordings of a load ---- */

/* How many functions, and samples a second of each: a few large ones, many small ones. */
#define FUNCTIONS 40
#define SECONDS_A 10

struct load {
	double clustered; /* each second all functions of a program are more or less, by up to this share */
	double planted;   /* samples a second of function 0 in B */
	uint32_t b_seconds;
};

/* Value 0 to 39 are functions themselves, 40 to 79 the callers of the first 1 to 40 of them. */
static void record(struct dice *dice, const struct load *load, struct recordings *recordings)
{
	uint32_t units = SECONDS_A + load->b_seconds;

	for (uint32_t unit = 0; unit < units; unit++) {
		double *values = recordings->values + (size_t)unit * 2 * FUNCTIONS, sum = 0, programs[4];

		for (uint32_t i = 0; i < 4; i++)
			programs[i] = 1 + load->clustered * (2 * dice_uniform(dice) - 1);
		for (uint32_t i = 0; i < FUNCTIONS; i++) {
			double mean = 30.0 / (1 + i) * programs[i % 4];

			if (!i)
				mean = unit < SECONDS_A ? 0 : load->planted;
			sum += values[i] = dice_poisson(dice, mean);
			values[FUNCTIONS + i] = sum;
		}
	}
	for (uint32_t i = 0; i < 2 * FUNCTIONS; i++) {
		double mean = 0;

		for (uint32_t unit = 0; unit < units; unit++)
			mean += recordings->values[(size_t)unit * 2 * FUNCTIONS + i] / units;
		recordings->floors[i] = mean;
	}
	find(recordings, 2 * FUNCTIONS, SECONDS_A, load->b_seconds);
}

static double least_p(const struct recordings *recordings)
{
	double least = 1;

	for (uint32_t i = 0; i < 2 * FUNCTIONS; i++)
		least = fmin(least, recordings->p[i]);
	return least;
}

/* Whether the usual test of two counts, which takes samples for independent, claims that a function differs. */
static bool counts_differ(const struct recordings *recordings, const struct load *load)
{
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		double a = 0, b = 0, b_share = load->b_seconds / (double)(SECONDS_A + load->b_seconds), z;

		for (uint32_t unit = 0; unit < SECONDS_A + load->b_seconds; unit++)
			*(unit < SECONDS_A ? &a : &b) += recordings->values[(size_t)unit * 2 * FUNCTIONS + i];
		z = (b - (a + b) * b_share) / sqrt((a + b) * b_share * (1 - b_share) + 1e-9);
		if (erfc(fabs(z) / M_SQRT2) * FUNCTIONS < 0.05) /* Bonferroni's correction */
			return true;
	}
	return false;
}

#define REPETITIONS 60

static const struct load loads[] = { { 0, 0, 10 }, { 0, 0, 5 }, { 0.9, 0, 10 }, { 0.9, 0, 5 } };

/*
 * At 5 %, 3 of 60 are expected to claim anything; more than 11 come about once in 15,000 runs. Where samples cluster, the usual
 * test of counts, at 5 % also, claims something 38 to 42 times of 100: fewer than 8 of 60 come once in 100,000 runs.
 */
START_TEST(one_load_is_no_difference)
{
	const struct load *load = &loads[_i];
	struct dice dice = dice_new(600 + (uint64_t)_i);
	struct recordings *recordings = calloc(1, sizeof(*recordings));
	int claims = 0, sure_claims = 0, by_counts = 0;

	ck_assert_ptr_nonnull(recordings);
	for (int i = 0; i < REPETITIONS; i++) {
		record(&dice, load, recordings);
		claims += least_p(recordings) < 0.05;
		sure_claims += least_p(recordings) < 0.01;
		by_counts += counts_differ(recordings, load);
	}
	ck_assert_msg(claims <= 11, "%d of %d recordings of one load differ", claims, REPETITIONS);
	ck_assert_msg(sure_claims <= 5, "%d of %d recordings of one load differ at 1 %%", sure_claims,
		      REPETITIONS);
	if (load->clustered > 0)
		ck_assert_msg(by_counts > REPETITIONS / 8, "only %d of %d by counts", by_counts, REPETITIONS);
	free(recordings);
}
END_TEST

/* A fifth of a CPU at 47 samples a second, in a load that clusters: the planted function has the least P. */
START_TEST(a_planted_function_is_found)
{
	const struct load load = { 0.5, 9.4, _i ? 5 : 10 };
	struct dice dice = dice_new(700 + (uint64_t)_i);
	struct recordings *recordings = calloc(1, sizeof(*recordings));
	int found = 0, first = 0;

	ck_assert_ptr_nonnull(recordings);
	for (int i = 0; i < REPETITIONS; i++) {
		record(&dice, &load, recordings);
		found += recordings->p[0] < 0.01;
		first += recordings->p[0] <= least_p(recordings);
	}
	/* of 10 units and 5 it is found 97 times of 100: fewer than 50 of 60 come once in 600,000 runs */
	ck_assert_msg(found >= REPETITIONS * 5 / 6, "found %d of %d times", found, REPETITIONS);
	ck_assert_msg(first >= REPETITIONS * 90 / 100, "first %d of %d times", first, REPETITIONS);
	free(recordings);
}
END_TEST

/* Drawn mixtures: enough units for a P that is small, the same at each look. */
START_TEST(drawn_mixtures_are_the_same_each_time)
{
	struct recordings recordings = { 0 }, again;

	for (uint32_t unit = 0; unit < 40; unit++)
		for (uint32_t i = 0; i < 3; i++)
			recordings.values[unit * 3 + i] =
				(unit * 7 + i * 3) % 11 + (i == 1 && unit >= 20 ? 9 : 0);
	find(&recordings, 3, 20, 20);
	again = recordings;
	find(&again, 3, 20, 20);
	ck_assert(!recordings.test.is_exhaustive);
	ck_assert_uint_eq(recordings.test.mixtures, 10000);
	near(recordings.p[1], 1e-4);
	ck_assert_double_gt(recordings.p[0], 0.05);
	ck_assert_double_gt(recordings.p[2], 0.05);
	for (uint32_t i = 0; i < 3; i++)
		near(recordings.p[i], again.p[i]);
}
END_TEST

SUITE(significance)
{
	Suite *suite = suite_create("significance");
	TCase *exact = tcase_create("exact"), *simulated = tcase_create("simulated");

	tcase_add_loop_test(exact, known_answers, 0, ARRAY_SIZE(known));
	tcase_add_test(exact, the_least_p_is_that_of_all_mixtures);
	tcase_add_test(exact, values_that_agree_cost_nothing);
	tcase_add_test(exact, a_floor_keeps_small_differences_back);
	tcase_add_loop_test(exact, another_program_agrees, 0, 40);
	tcase_add_test(exact, drawn_mixtures_are_the_same_each_time);
	suite_add_tcase(suite, exact);
	tcase_add_loop_test(simulated, one_load_is_no_difference, 0, ARRAY_SIZE(loads));
	tcase_add_loop_test(simulated, a_planted_function_is_found, 0, 2);
	suite_add_tcase(suite, simulated);
	return suite;
}
