/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/diff/significance.h"

#include "common/base/cleanup.h"
#include "common/base/numbers.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Up to so many mixtures all are looked at, else some that are drawn: fewer, if there are very many values. */
#define ALL_MOST 20000.0
#define DRAWN_MOST 9999U
#define DRAWN_LEAST 999U
#define WORK_MOST 800000000.0 /* additions: about half a second */

/* Of drawn mixtures. Always the same: who looks twice sees the same. */
#define SEED 0x853c49e6748fea9bU

/* Equal statistics may differ in their last bits. */
#define ROUNDING 1e-9
#define TINY 1e-15

struct mixing {
	const struct significance *data;
	double *values;         /* as in data, each less its mean */
	uint32_t chosen_count;  /* of the smaller recording */
	uint32_t units;         /* of both */
	double *sums, *squares; /* of the chosen units, of each value */
	double *all_squares;    /* of all units */
	double *statistics;     /* of the mixture at hand */
	const double *observed; /* of the recordings as they are */
	const uint32_t *order;  /* values by their observed statistic, the largest first */
	uint64_t
		*as_large; /* of each place in the order: mixtures in which it or one behind it is as large */
};

static double mixtures_of(uint32_t a_units, uint32_t b_units)
{
	uint32_t few = a_units < b_units ? a_units : b_units, all = a_units + b_units;
	double count = 1;

	for (uint32_t i = 1; i <= few; i++)
		count = count * (all - few + i) / i;
	return count;
}

double significance_least(uint32_t a_units, uint32_t b_units)
{
	double all = mixtures_of(a_units, b_units);

	if (a_units < 2 || b_units < 2)
		return 1;
	if (all > ALL_MOST)
		return 1.0 / (DRAWN_MOST + 1);
	/* with as many units of both, a mixture and its mirror image are as extreme */
	return (a_units == b_units ? 2 : 1) / all;
}

/* ---- the statistic: the square of Welch's t, which has the same order ---- */

/* What is left of a variance by rounding may be negative. */
static double variance_of(double squares, double sum, uint32_t count)
{
	double variance = (squares - sum * sum / count) / (count - 1);

	return variance > 0 ? variance : 0;
}

static void find_statistics(struct mixing *mixing, const uint32_t *chosen)
{
	uint32_t count = mixing->data->values_count, few = mixing->chosen_count, many = mixing->units - few;
	double *sums = mixing->sums, *squares = mixing->squares;

	for (uint32_t i = 0; i < count; i++)
		sums[i] = squares[i] = 0;
	for (uint32_t k = 0; k < few; k++) {
		const double *unit = mixing->values + (size_t)chosen[k] * count;

		for (uint32_t i = 0; i < count; i++) {
			sums[i] += unit[i];
			squares[i] += unit[i] * unit[i];
		}
	}
	for (uint32_t i = 0; i < count; i++) {
		/* the mean of all is 0: the others have the opposite sum */
		double difference = sums[i] / few + sums[i] / many;
		double error = variance_of(squares[i], sums[i], few) / few +
			       variance_of(mixing->all_squares[i] - squares[i], sums[i], many) / many;
		double least = mixing->data->floors[i] * (1.0 / few + 1.0 / many);

		error = error > least ? error : least;
		difference *= difference;
		mixing->statistics[i] = error > 0 ? difference / error : difference > 0 ? HUGE_VAL : 0;
	}
}

/* ---- mixtures ---- */

static void count_mixture(struct mixing *mixing, const uint32_t *chosen)
{
	double largest = 0;

	find_statistics(mixing, chosen);
	for (uint32_t i = mixing->data->values_count; i-- > 0;) {
		uint32_t at = mixing->order[i];

		if (mixing->statistics[at] > largest)
			largest = mixing->statistics[at];
		mixing->as_large[i] += largest + TINY >= mixing->observed[at] * (1 - ROUNDING);
	}
}

/* The next choice of so many of the units, in the order of their positions. Returns false after the last one. */
static bool next_choice(uint32_t *chosen, uint32_t count, uint32_t units)
{
	uint32_t at = count;

	while (at && chosen[at - 1] == units - count + at - 1)
		at--;
	if (!at)
		return false;
	chosen[at - 1]++;
	for (; at < count; at++)
		chosen[at] = chosen[at - 1] + 1;
	return true;
}

static uint64_t count_all(struct mixing *mixing, uint32_t *chosen)
{
	uint64_t mixtures = 0;

	for (uint32_t i = 0; i < mixing->chosen_count; i++)
		chosen[i] = i;
	do {
		count_mixture(mixing, chosen);
		mixtures++;
	} while (next_choice(chosen, mixing->chosen_count, mixing->units));
	return mixtures;
}

/* Xorshift64* (Vigna, ACM Transactions on Mathematical Software 42, 2016). */
static uint64_t draw(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dU;
}

/* The observed mixture counts as one of those that were drawn (Phipson and Smyth, 2010): no P is 0. */
static uint64_t count_drawn(struct mixing *mixing, uint32_t *positions)
{
	double work = (double)mixing->data->values_count * (2.0 * mixing->chosen_count + 12);
	uint64_t state = SEED,
		 drawn = work * DRAWN_MOST > WORK_MOST ? (uint64_t)(WORK_MOST / work) : DRAWN_MOST;

	drawn = drawn < DRAWN_LEAST ? DRAWN_LEAST : drawn;
	for (uint32_t i = 0; i < mixing->units; i++)
		positions[i] = i;
	for (uint64_t k = 0; k < drawn; k++) {
		for (uint32_t i = 0; i < mixing->chosen_count; i++) {
			uint32_t other = i + (uint32_t)((draw(&state) >> 32) * (mixing->units - i) >> 32);
			uint32_t position = positions[i];

			positions[i] = positions[other];
			positions[other] = position;
		}
		count_mixture(mixing, positions);
	}
	for (uint32_t i = 0; i < mixing->data->values_count; i++)
		mixing->as_large[i]++;
	return drawn + 1;
}

/* ---- all ---- */

static void center(struct mixing *mixing)
{
	const struct significance *data = mixing->data;

	for (uint32_t i = 0; i < data->values_count; i++) {
		double mean = 0;

		for (uint32_t k = 0; k < mixing->units; k++)
			mean += data->values[(size_t)k * data->values_count + i];
		mean /= mixing->units;
		for (uint32_t k = 0; k < mixing->units; k++) {
			double value = data->values[(size_t)k * data->values_count + i] - mean;

			mixing->values[(size_t)k * data->values_count + i] = value;
			mixing->all_squares[i] += value * value;
		}
	}
}

static int compare_observed(const void *a, const void *b, void *user)
{
	const double *observed = user;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return COMPARE(observed[right], observed[left]) ?: COMPARE(left, right);
}

/* A value is not judged better than one whose statistic is larger. */
static void store_p(const struct mixing *mixing, uint64_t mixtures, double *ret_p)
{
	double largest = 0;

	for (uint32_t i = 0; i < mixing->data->values_count; i++) {
		double p = (double)mixing->as_large[i] / (double)mixtures;

		largest = p > largest ? p : largest;
		ret_p[mixing->order[i]] = largest;
	}
}

int significance_find(const struct significance *data, double *ret_p, struct significance_test *ret_test)
{
	uint32_t count = data->values_count, units = data->a_units + data->b_units,
		 few = data->a_units < data->b_units ? data->a_units : data->b_units;
	_cleanup_free_ double *values = calloc((size_t)units * count + 1, sizeof(*values)),
			      *room = calloc(5 * (size_t)count + 1, sizeof(*room));
	_cleanup_free_ uint32_t *order = calloc(count + 1UL, sizeof(*order)),
				*chosen = calloc(units + 1UL, sizeof(*chosen));
	_cleanup_free_ uint64_t *as_large = calloc(count + 1UL, sizeof(*as_large));
	struct mixing mixing = { .data = data,
				 .values = values,
				 .chosen_count = few,
				 .units = units,
				 .order = order,
				 .as_large = as_large };

	if (!values || !room || !order || !chosen || !as_large)
		return -ENOMEM;
	*ret_test = (struct significance_test){ .least = significance_least(data->a_units, data->b_units) };
	for (uint32_t i = 0; i < count; i++)
		ret_p[i] = 1;
	if (few < 2 || !count)
		return 0;
	mixing.sums = room;
	mixing.squares = room + count;
	mixing.all_squares = room + 2 * (size_t)count;
	mixing.observed = room + 3 * (size_t)count;
	center(&mixing);
	/* those of the smaller recording */
	for (uint32_t i = 0; i < few; i++)
		chosen[i] = data->a_units <= data->b_units ? i : data->a_units + i;
	mixing.statistics = room + 3 * (size_t)count;
	find_statistics(&mixing, chosen);
	mixing.statistics = room + 4 * (size_t)count;
	for (uint32_t i = 0; i < count; i++)
		order[i] = i;
	qsort_r(order, count, sizeof(*order), compare_observed, room + 3 * (size_t)count);
	ret_test->is_exhaustive = mixtures_of(data->a_units, data->b_units) <= ALL_MOST;
	ret_test->mixtures = ret_test->is_exhaustive ? count_all(&mixing, chosen)
						     : count_drawn(&mixing, chosen);
	if (!ret_test->is_exhaustive)
		ret_test->least = 1.0 / (double)ret_test->mixtures;
	store_p(&mixing, ret_test->mixtures, ret_p);
	return 0;
}
