/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/diff/diff_test.h"

#include "common/base/cleanup.h"
#include "common/base/numbers.h"
#include "report/diff/significance.h"

#include <string.h>

#define MS_PER_NS 1e-6

/* Functions, and stacks, that are judged, those with most time. The others are too rare to matter. */
#define TESTED_MOST 2048U
/* Fewer samples of both sides than these tell nothing. The number does not depend on which side has them. */
#define SAMPLES_LEAST 5
/* Off CPU: the same in time. */
#define WAITED_LEAST_NS 5000000

/*
 * Values of the test, in ms a second: of all; of each tested row the rate; then, of each, what its share departs from that of
 * both sides together.
 */
struct matrix {
	struct diff_row **rows; /* tested */
	uint32_t count;
	uint32_t *of_function, *of_stack; /* the value of each row; PROFILE_NONE: it is not tested */
	uint32_t values_count, units;
	double *values, *floors, *p;
};

static void matrix_free(struct matrix *matrix)
{
	free(matrix->rows);
	free(matrix->of_function);
	free(matrix->of_stack);
	free(matrix->values);
	free(matrix->floors);
	free(matrix->p);
}

#define _cleanup_matrix_ _cleanup_(matrix_free)

static bool is_testable(const struct diff_building *building, const struct diff_row *row)
{
	return building->off_cpu ? diff_row_weight_ns(row) >= WAITED_LEAST_NS
				 : add_saturated(row->samples[DIFF_A], row->samples[DIFF_B]) >= SAMPLES_LEAST;
}

static int most_first(const void *a, const void *b)
{
	const struct diff_row *left = *(struct diff_row *const *)a, *right = *(struct diff_row *const *)b;
	return compare_numbers(diff_row_weight_ns(right), diff_row_weight_ns(left)) ?: COMPARE(left, right);
}

/* Chooses rows to be tested, and numbers their values from 1 + matrix->count on. */
static void choose_rows(const struct diff_building *building, struct matrix *matrix, struct diff_row *rows,
			uint32_t count, uint32_t *of_row)
{
	struct diff_row **chosen = matrix->rows + matrix->count;
	uint32_t chosen_count = 0;

	for (uint32_t i = 0; i < count; i++) {
		of_row[i] = PROFILE_NONE;
		if (is_testable(building, &rows[i]))
			chosen[chosen_count++] = &rows[i];
	}
	qsort(chosen, chosen_count, sizeof(struct diff_row *), most_first);
	if (chosen_count > TESTED_MOST)
		chosen_count = TESTED_MOST;
	for (uint32_t i = 0; i < chosen_count; i++)
		of_row[chosen[i] - rows] = 1 + matrix->count + i;
	matrix->count += chosen_count;
}

static int make_matrix(const struct diff_building *building, struct matrix *matrix)
{
	struct diff_change *change = building->change;
	uint32_t functions = change->functions_count, stacks = change->stacks_count;

	matrix->rows = calloc((size_t)functions + stacks + 1, sizeof(struct diff_row *));
	matrix->of_function = calloc(functions + 1UL, sizeof(*matrix->of_function));
	matrix->of_stack = calloc(stacks + 1UL, sizeof(*matrix->of_stack));
	if (!matrix->rows || !matrix->of_function || !matrix->of_stack)
		return -ENOMEM;
	choose_rows(building, matrix, change->functions, functions, matrix->of_function);
	choose_rows(building, matrix, change->stacks, stacks, matrix->of_stack);
	matrix->values_count = 1 + 2 * matrix->count;
	matrix->units = change->units[DIFF_A] + change->units[DIFF_B];
	matrix->values = calloc((size_t)matrix->units * matrix->values_count + 1, sizeof(*matrix->values));
	matrix->floors = calloc(matrix->values_count + 1UL, sizeof(*matrix->floors));
	matrix->p = calloc(matrix->values_count + 1UL, sizeof(*matrix->p));
	return matrix->values && matrix->floors && matrix->p ? 0 : -ENOMEM;
}

static void fill_rates(const struct diff_building *building, struct matrix *matrix)
{
	const struct diff_samples *samples = building->samples;

	memset(building->seen, 0, samples->functions_count * sizeof(*building->seen));
	for (uint32_t i = 0; i < samples->samples_count; i++) {
		const struct diff_sample *sample = &samples->samples[i];
		const struct diff_stack *stack = &samples->stacks[sample->stack];
		uint32_t unit = diff_rows_unit_of(building, sample),
			 of_stack = matrix->of_stack[building->row_of_sample[i]];
		double ms = (double)sample->weight_ns * MS_PER_NS / building->change->unit_s, *values;

		if (unit == PROFILE_NONE)
			continue;
		values = matrix->values + (size_t)unit * matrix->values_count;
		values[0] += ms;
		if (of_stack != PROFILE_NONE)
			values[of_stack] += ms;
		for (uint32_t k = 0; k < diff_rows_counted_functions(building, stack); k++) {
			uint32_t function = samples->path[stack->first + k];

			if (diff_rows_is_first(building, function, i + 1) &&
			    matrix->of_function[function] != PROFILE_NONE)
				values[matrix->of_function[function]] += ms;
		}
	}
}

/*
 * The departure of a share: time of the row less the share that it has in both recordings, times all time of the unit. So a
 * unit in which little ran counts little.
 */
static void fill_shares(struct matrix *matrix)
{
	double all = 0;

	for (uint32_t unit = 0; unit < matrix->units; unit++)
		all += matrix->values[(size_t)unit * matrix->values_count];
	for (uint32_t i = 1; i <= matrix->count && all > 0; i++) {
		double of_row = 0;

		for (uint32_t unit = 0; unit < matrix->units; unit++)
			of_row += matrix->values[(size_t)unit * matrix->values_count + i];
		for (uint32_t unit = 0; unit < matrix->units; unit++) {
			double *values = matrix->values + (size_t)unit * matrix->values_count;

			values[matrix->count + i] = values[i] - of_row / all * values[0];
		}
	}
}

/* Of a clock that samples by chance, a number of samples varies by its root at least. */
static double clock_floor(const struct diff_building *building, double mean_ms)
{
	double period_ms = 0;

	for (uint32_t i = 0; i < building->samples->captures_count; i++) {
		double ms = 1000.0 / (double)building->samples->captures[i].hz;

		period_ms = ms > period_ms ? ms : period_ms;
	}
	return mean_ms * period_ms / building->change->unit_s;
}

/* A wait is exact, but nothing waits as exactly again: a percent, and a millisecond. */
static double wait_floor(double mean_ms)
{
	return (0.01 * mean_ms + 1) * (0.01 * mean_ms + 1);
}

static void fill_floors(const struct diff_building *building, struct matrix *matrix)
{
	double all = 0;

	for (uint32_t i = 0; i <= matrix->count; i++) {
		double mean = 0, share;

		for (uint32_t unit = 0; unit < matrix->units; unit++)
			mean += matrix->values[(size_t)unit * matrix->values_count + i] / matrix->units;
		matrix->floors[i] = building->off_cpu ? wait_floor(mean) : clock_floor(building, mean);
		if (!i)
			all = mean;
		share = all > 0 ? mean / all : 0;
		if (i)
			matrix->floors[matrix->count + i] =
				building->off_cpu ? matrix->floors[i]
						  : matrix->floors[i] * (share < 1 ? 1 - share : 0);
	}
}

/* Waits are measured so exactly that a difference may be certain and still nothing: less than a percent, or a millisecond. */
static bool is_large(const struct diff_building *building, const struct diff_row *row)
{
	double a = row->ns_per_s[DIFF_A], b = row->ns_per_s[DIFF_B], change = b > a ? b - a : a - b;

	return !building->off_cpu || change * MS_PER_NS > 1 + 0.01 * MS_PER_NS * (a > b ? a : b);
}

static void judge_row(const struct diff_building *building, struct diff_row *row, const double *p,
		      const double *share_p)
{
	row->p = p ? *p : -1;
	row->share_p = share_p ? *share_p : -1;
	row->is_changed = is_large(building, row) &&
			  ((p && *p < DIFF_LEVEL) || (share_p && *share_p < DIFF_LEVEL));
}

static void judge_rows(const struct diff_building *building, const struct matrix *matrix,
		       struct diff_row *rows, uint32_t count, const uint32_t *of_row)
{
	for (uint32_t i = 0; i < count; i++) {
		bool tested = of_row[i] != PROFILE_NONE;

		judge_row(building, &rows[i], tested ? &matrix->p[of_row[i]] : NULL,
			  tested ? &matrix->p[matrix->count + of_row[i]] : NULL);
	}
}

int diff_test(struct diff_building *building)
{
	struct diff_change *change = building->change;
	_cleanup_matrix_ struct matrix matrix = { 0 };
	struct significance data;
	int result = make_matrix(building, &matrix);

	if (result < 0)
		return result;
	fill_rates(building, &matrix);
	fill_shares(&matrix);
	fill_floors(building, &matrix);
	data = (struct significance){ matrix.values, matrix.floors, matrix.values_count,
				      change->units[DIFF_A], change->units[DIFF_B] };
	result = significance_find(&data, matrix.p, &change->test);
	if (result < 0)
		return result;
	change->tested = matrix.count;
	judge_row(building, &change->all, &matrix.p[0], NULL);
	judge_rows(building, &matrix, change->functions, change->functions_count, matrix.of_function);
	judge_rows(building, &matrix, change->stacks, change->stacks_count, matrix.of_stack);
	return 0;
}
