/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/diff/diff_change.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "report/model/rows.h"

#include <string.h>

#define SECOND_NS 1000000000L
#define MS_PER_NS 1e-6

/* Functions, and stacks, that are judged, those with most time. The others are too rare to matter. */
#define TESTED_MOST 2048U
/* Fewer samples of both sides than these tell nothing. The number does not depend on which side has them. */
#define SAMPLES_LEAST 5
/* Off CPU: the same in time. */
#define WAITED_LEAST_NS 5000000
/* Longer recordings have longer units. */
#define UNITS_MOST 96U

/* ---- rows ---- */

struct key {
	uint32_t comm, stack;
};

struct building {
	const struct diff_samples *samples;
	struct diff_change *change;
	bool off_cpu, by_total;
	uint32_t stacks_room;
	struct hash_index stacks_index;
	uint32_t *row_of_sample; /* the stack's row of each sample */
	uint32_t *seen;          /* of each function: the last stack, plus 1, that has it */
	/* the units of each capture: the first one, and the second in which it begins; none: no second is whole */
	struct {
		uint32_t first, count;
		int64_t from_s;
	} * units;
};

/* Of a stack without frames: an address of nothing, since there may be no path at all. */
static const uint32_t *path_of(const struct diff_samples *samples, const struct diff_stack *stack)
{
	static const uint32_t none = 0;

	return stack->count ? samples->path + stack->first : &none;
}

static bool is_same_path(const struct diff_samples *samples, uint32_t one, uint32_t other)
{
	const struct diff_stack *left = &samples->stacks[one], *right = &samples->stacks[other];

	return left->count == right->count &&
	       !memcmp(path_of(samples, left), path_of(samples, right), left->count * sizeof(*samples->path));
}

struct wanted_row {
	const struct building *building;
	const struct diff_sample *sample;
};

static bool is_row(const void *user, uint32_t position)
{
	const struct wanted_row *wanted = user;
	const struct diff_row *row = &wanted->building->change->stacks[position];

	return row->comm == wanted->sample->comm &&
	       is_same_path(wanted->building->samples, row->stack, wanted->sample->stack);
}

static int find_row(struct building *building, const struct diff_sample *sample, uint32_t *ret_row)
{
	const struct diff_samples *samples = building->samples;
	const struct diff_stack *stack = &samples->stacks[sample->stack];
	struct diff_change *change = building->change;
	uint32_t hash = hash_number_and_bytes(sample->comm, path_of(samples, stack),
					      stack->count * sizeof(*samples->path));
	uint32_t found = hash_index_find(&building->stacks_index, hash, is_row,
					 &(struct wanted_row){ building, sample });

	if (found == HASH_INDEX_NONE) {
		if (array_make_room(change->stacks, change->stacks_count, building->stacks_room, 1U) ||
		    hash_index_add(&building->stacks_index, hash, change->stacks_count))
			return -ENOMEM;
		found = change->stacks_count++;
		change->stacks[found] = (struct diff_row){ .comm = sample->comm,
							   .stack = sample->stack,
							   .largest = { PROFILE_NONE, PROFILE_NONE } };
	}
	*ret_row = found;
	return 0;
}

static enum diff_side side_of(const struct diff_samples *samples, const struct diff_sample *sample)
{
	return samples->captures[sample->capture].side;
}

static void add_to(struct diff_row *row, enum diff_side side, const struct diff_sample *sample)
{
	row->samples[side] = add_saturated(row->samples[side], sample->samples);
	row->weight_ns[side] = add_saturated(row->weight_ns[side], sample->weight_ns);
}

/* How many functions of `path` the stack's samples count for: all, or the leaf. */
static uint32_t counted_functions(const struct building *building, const struct diff_stack *stack)
{
	return building->by_total || !stack->count ? stack->count : 1;
}

/* Whether it is the first time that this function is met for the mark, which is not 0. */
static bool is_first(const struct building *building, uint32_t function, uint32_t mark)
{
	bool first = building->seen[function] != mark;

	building->seen[function] = mark;
	return first;
}

static int add_up(struct building *building)
{
	const struct diff_samples *samples = building->samples;
	struct diff_change *change = building->change;
	int result = 0;

	change->functions = calloc(samples->functions_count + 1UL, sizeof(*change->functions));
	building->row_of_sample = calloc(samples->samples_count + 1UL, sizeof(*building->row_of_sample));
	building->seen = calloc(samples->functions_count + 1UL, sizeof(*building->seen));
	if (!change->functions || !building->row_of_sample || !building->seen)
		return -ENOMEM;
	change->functions_count = samples->functions_count;
	for (uint32_t i = 0; i < samples->functions_count; i++)
		change->functions[i].function = i;
	for (uint32_t i = 0; i < samples->samples_count && !result; i++) {
		const struct diff_sample *sample = &samples->samples[i];
		const struct diff_stack *stack = &samples->stacks[sample->stack];
		enum diff_side side = side_of(samples, sample);

		add_to(&change->all, side, sample);
		result = find_row(building, sample, &building->row_of_sample[i]);
		if (result < 0)
			break;
		add_to(&change->stacks[building->row_of_sample[i]], side, sample);
		for (uint32_t k = 0; k < counted_functions(building, stack); k++) {
			uint32_t function = samples->path[stack->first + k];

			if (is_first(building, function, i + 1))
				add_to(&change->functions[function], side, sample);
		}
	}
	return result;
}

/* Notes which stack of each row has most time, to be looked up by its hash. */
static int find_largest(struct building *building)
{
	const struct diff_samples *samples = building->samples;
	_cleanup_free_ int64_t *weights = calloc(2UL * samples->stacks_count + 1, sizeof(*weights));

	if (!weights)
		return -ENOMEM;
	for (uint32_t i = 0; i < samples->samples_count; i++) {
		const struct diff_sample *sample = &samples->samples[i];
		int64_t *weight = &weights[2 * (size_t)sample->stack + side_of(samples, sample)];

		*weight = add_saturated(*weight, sample->weight_ns);
	}
	for (uint32_t i = 0; i < samples->samples_count; i++) {
		const struct diff_sample *sample = &samples->samples[i];
		enum diff_side side = side_of(samples, sample);
		uint32_t *largest = &building->change->stacks[building->row_of_sample[i]].largest[side];

		if (*largest == PROFILE_NONE ||
		    weights[2 * (size_t)sample->stack + side] > weights[2 * (size_t)*largest + side])
			*largest = sample->stack;
	}
	return 0;
}

/* ---- units of time ---- */

static int64_t floor_s(int64_t ns)
{
	return (ns - (ns < 0 ? SECOND_NS - 1 : 0)) / SECOND_NS;
}

/* A second counts as whole if this much of it was recorded. */
#define WHOLE_NS (SECOND_NS * 19 / 20)

/* The seconds of the capture that are whole; the first one is stored. */
static int64_t whole_seconds(const struct diff_capture *capture, int64_t *ret_from_s)
{
	int64_t from_s = floor_s(capture->from_ns + WHOLE_NS - 1),
		to_s = floor_s(capture->to_ns + SECOND_NS - WHOLE_NS);

	*ret_from_s = from_s;
	return to_s > from_s ? to_s - from_s : 0;
}

/*
 * The length of a unit: neighbouring seconds are alike, so that units of a longer recording are as long as the cube root of
 * its seconds, as for a bootstrap of blocks (Kuensch, Annals of Statistics 17, 1989; Hall, Horowitz and Jing, Biometrika 82,
 * 1995).
 */
static uint32_t unit_length(int64_t a_seconds, int64_t b_seconds)
{
	int64_t fewer = a_seconds < b_seconds ? a_seconds : b_seconds, all = a_seconds + b_seconds,
		length = 1;

	while ((length + 1) * (length + 1) * (length + 1) <= fewer)
		length++;
	if (all / length > UNITS_MOST)
		length = (all + UNITS_MOST - 1) / UNITS_MOST;
	return (uint32_t)length;
}

/* Those of A are first. */
static int cut_units(struct building *building)
{
	const struct diff_samples *samples = building->samples;
	struct diff_change *change = building->change;
	int64_t seconds[DIFF_SIDES] = { 0 }, from_s;
	uint32_t units = 0;

	building->units = calloc(samples->captures_count + 1UL, sizeof(*building->units));
	if (!building->units)
		return -ENOMEM;
	for (uint32_t i = 0; i < samples->captures_count; i++) {
		const struct diff_capture *capture = &samples->captures[i];

		seconds[capture->side] += whole_seconds(capture, &from_s);
		change->span_s[capture->side] += (double)(capture->to_ns - capture->from_ns) / SECOND_NS;
	}
	change->unit_s = unit_length(seconds[DIFF_A], seconds[DIFF_B]);
	for (enum diff_side side = DIFF_A; side < DIFF_SIDES; side++)
		for (uint32_t i = 0; i < samples->captures_count; i++) {
			const struct diff_capture *capture = &samples->captures[i];

			if (capture->side != side)
				continue;
			building->units[i].first = units;
			building->units[i].count =
				(uint32_t)(whole_seconds(capture, &building->units[i].from_s) /
					   change->unit_s);
			units += building->units[i].count;
			change->units[side] += building->units[i].count;
		}
	return 0;
}

/* The unit of a sample; PROFILE_NONE: it is in none. A hostile database has any second. */
static uint32_t unit_of(const struct building *building, const struct diff_sample *sample)
{
	int64_t from_s = building->units[sample->capture].from_s, unit_s = building->change->unit_s,
		until_s = from_s + unit_s * building->units[sample->capture].count;

	if (sample->second < from_s || sample->second >= until_s)
		return PROFILE_NONE;
	return building->units[sample->capture].first + (uint32_t)((sample->second - from_s) / unit_s);
}

/* ---- rates ---- */

static void find_rates(const struct diff_change *change, struct diff_row *row)
{
	for (enum diff_side side = DIFF_A; side < DIFF_SIDES; side++) {
		row->ns_per_s[side] =
			change->span_s[side] > 0 ? (double)row->weight_ns[side] / change->span_s[side] : 0;
		row->percent[side] = change->all.weight_ns[side] ? 100.0 * (double)row->weight_ns[side] /
									   (double)change->all.weight_ns[side]
								 : -1;
	}
}

static void find_all_rates(const struct building *building)
{
	struct diff_change *change = building->change;

	find_rates(change, &change->all);
	for (uint32_t i = 0; i < change->functions_count; i++)
		find_rates(change, &change->functions[i]);
	for (uint32_t i = 0; i < change->stacks_count; i++)
		find_rates(change, &change->stacks[i]);
}

/* ---- the test ---- */

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

static int64_t weight_of(const struct diff_row *row)
{
	return add_saturated(row->weight_ns[DIFF_A], row->weight_ns[DIFF_B]);
}

static bool is_testable(const struct building *building, const struct diff_row *row)
{
	return building->off_cpu ? weight_of(row) >= WAITED_LEAST_NS
				 : add_saturated(row->samples[DIFF_A], row->samples[DIFF_B]) >= SAMPLES_LEAST;
}

static int most_first(const void *a, const void *b)
{
	const struct diff_row *left = *(struct diff_row *const *)a, *right = *(struct diff_row *const *)b;
	int order = compare_numbers(weight_of(right), weight_of(left));

	return order ? order : (left > right) - (left < right);
}

/* Chooses rows to be tested, and numbers their values from 1 + matrix->count on. */
static void choose_rows(const struct building *building, struct matrix *matrix, struct diff_row *rows,
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

static int make_matrix(const struct building *building, struct matrix *matrix)
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

static void fill_rates(const struct building *building, struct matrix *matrix)
{
	const struct diff_samples *samples = building->samples;

	memset(building->seen, 0, samples->functions_count * sizeof(*building->seen));
	for (uint32_t i = 0; i < samples->samples_count; i++) {
		const struct diff_sample *sample = &samples->samples[i];
		const struct diff_stack *stack = &samples->stacks[sample->stack];
		uint32_t unit = unit_of(building, sample),
			 of_stack = matrix->of_stack[building->row_of_sample[i]];
		double ms = (double)sample->weight_ns * MS_PER_NS / building->change->unit_s, *values;

		if (unit == PROFILE_NONE)
			continue;
		values = matrix->values + (size_t)unit * matrix->values_count;
		values[0] += ms;
		if (of_stack != PROFILE_NONE)
			values[of_stack] += ms;
		for (uint32_t k = 0; k < counted_functions(building, stack); k++) {
			uint32_t function = samples->path[stack->first + k];

			if (is_first(building, function, i + 1) &&
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
static double clock_floor(const struct building *building, double mean_ms)
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

static void fill_floors(const struct building *building, struct matrix *matrix)
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
static bool is_large(const struct building *building, const struct diff_row *row)
{
	double a = row->ns_per_s[DIFF_A], b = row->ns_per_s[DIFF_B], change = b > a ? b - a : a - b;

	return !building->off_cpu || change * MS_PER_NS > 1 + 0.01 * MS_PER_NS * (a > b ? a : b);
}

static void judge_row(const struct building *building, struct diff_row *row, const double *p,
		      const double *share_p)
{
	row->p = p ? *p : -1;
	row->share_p = share_p ? *share_p : -1;
	row->is_changed = is_large(building, row) &&
			  ((p && *p < DIFF_LEVEL) || (share_p && *share_p < DIFF_LEVEL));
}

static void judge_rows(const struct building *building, const struct matrix *matrix, struct diff_row *rows,
		       uint32_t count, const uint32_t *of_row)
{
	for (uint32_t i = 0; i < count; i++) {
		bool tested = of_row[i] != PROFILE_NONE;

		judge_row(building, &rows[i], tested ? &matrix->p[of_row[i]] : NULL,
			  tested ? &matrix->p[matrix->count + of_row[i]] : NULL);
	}
}

static int judge(struct building *building)
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

/* ---- the result ---- */

static double change_of(const struct diff_row *row)
{
	double change = row->ns_per_s[DIFF_B] - row->ns_per_s[DIFF_A];

	return change < 0 ? -change : change;
}

static int changed_first(const void *a, const void *b, void *user)
{
	const struct diff_samples *samples = user;
	const struct diff_row *left = a, *right = b;

	if (left->is_changed != right->is_changed)
		return left->is_changed ? -1 : 1;
	if (change_of(left) != change_of(right))
		return change_of(left) > change_of(right) ? -1 : 1;
	/* of functions; stacks are in the order in which they were read */
	if (left->function != right->function)
		return strcmp(diff_text(samples, samples->functions[left->function].name),
			      diff_text(samples, samples->functions[right->function].name));
	return (left->stack > right->stack) - (left->stack < right->stack);
}

/* Removes rows without time, and sorts the others. */
static void finish_rows(const struct building *building, struct diff_row *rows, uint32_t *count,
			uint32_t *ret_changed)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < *count; i++) {
		if (!rows[i].samples[DIFF_A] && !rows[i].samples[DIFF_B] && !weight_of(&rows[i]))
			continue;
		*ret_changed += rows[i].is_changed;
		rows[kept++] = rows[i];
	}
	*count = kept;
	if (kept)
		qsort_r(rows, kept, sizeof(*rows), changed_first, (void *)building->samples);
}

int diff_change_find(const struct diff_samples *samples, bool off_cpu, bool by_total,
		     struct diff_change *ret_change)
{
	struct diff_change change = { 0 };
	struct building building = {
		.samples = samples, .change = &change, .off_cpu = off_cpu, .by_total = by_total
	};
	int result = add_up(&building);

	if (!result)
		result = find_largest(&building);
	if (!result)
		result = cut_units(&building);
	if (!result) {
		find_all_rates(&building);
		result = judge(&building);
	}
	if (!result) {
		finish_rows(&building, change.functions, &change.functions_count, &change.functions_changed);
		finish_rows(&building, change.stacks, &change.stacks_count, &change.stacks_changed);
		*ret_change = change;
	} else {
		diff_change_free(&change);
	}
	hash_index_free(&building.stacks_index);
	free(building.row_of_sample);
	free(building.seen);
	free(building.units);
	return result;
}

void diff_change_free(struct diff_change *change)
{
	free(change->functions);
	free(change->stacks);
	*change = (struct diff_change){ 0 };
}
