/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/diff/diff_rows.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "report/model/rows.h"

#include <string.h>

#define SECOND_NS 1000000000L

/* Longer recordings have longer units. */
#define UNITS_MOST 96U

/* ---- rows ---- */

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
	const struct diff_building *building;
	const struct diff_sample *sample;
};

static bool is_row(const void *user, uint32_t position)
{
	const struct wanted_row *wanted = user;
	const struct diff_row *row = &wanted->building->change->stacks[position];

	return row->comm == wanted->sample->comm &&
	       is_same_path(wanted->building->samples, row->stack, wanted->sample->stack);
}

static int find_row(struct diff_building *building, const struct diff_sample *sample, uint32_t *ret_row)
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

static void add_to_row(struct diff_row *row, enum diff_side side, const struct diff_sample *sample)
{
	row->samples[side] = add_saturated(row->samples[side], sample->samples);
	row->weight_ns[side] = add_saturated(row->weight_ns[side], sample->weight_ns);
}

uint32_t diff_rows_counted_functions(const struct diff_building *building, const struct diff_stack *stack)
{
	return building->by_total || !stack->count ? stack->count : 1;
}

bool diff_rows_is_first(const struct diff_building *building, uint32_t function, uint32_t mark)
{
	bool first = building->seen[function] != mark;

	building->seen[function] = mark;
	return first;
}

static int add_samples(struct diff_building *building)
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

		add_to_row(&change->all, side, sample);
		result = find_row(building, sample, &building->row_of_sample[i]);
		if (result < 0)
			break;
		add_to_row(&change->stacks[building->row_of_sample[i]], side, sample);
		for (uint32_t k = 0; k < diff_rows_counted_functions(building, stack); k++) {
			uint32_t function = samples->path[stack->first + k];

			if (diff_rows_is_first(building, function, i + 1))
				add_to_row(&change->functions[function], side, sample);
		}
	}
	return result;
}

/* Notes which stack of each row has most time, to be looked up by its hash. */
static int find_largest(struct diff_building *building)
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
static int cut_units(struct diff_building *building)
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

uint32_t diff_rows_unit_of(const struct diff_building *building, const struct diff_sample *sample)
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

static void find_all_rates(const struct diff_building *building)
{
	struct diff_change *change = building->change;

	find_rates(change, &change->all);
	for (uint32_t i = 0; i < change->functions_count; i++)
		find_rates(change, &change->functions[i]);
	for (uint32_t i = 0; i < change->stacks_count; i++)
		find_rates(change, &change->stacks[i]);
}

int diff_rows_add_up(struct diff_building *building)
{
	int result = add_samples(building);

	if (!result)
		result = find_largest(building);
	if (!result)
		result = cut_units(building);
	if (!result)
		find_all_rates(building);
	return result;
}
