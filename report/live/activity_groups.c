/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/live/activity_groups.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/base/numbers.h"

#include <string.h>

/* A number of threads of a group that changes at a step. */
struct change {
	uint32_t group, step;
	int64_t by;
	bool begins_row, is_bound;
};

struct activity_sums {
	uint32_t gaps_room;
	int64_t ended_ns; /* where the last minute ended; 0: there is none */
	/* the minute at hand */
	struct stored_minute minute;
	uint32_t first, end;                     /* its steps in the span */
	uint32_t taken[ACTIVITY_STEPS_MOST + 1]; /* looks before each step */
	struct change *changes;
	uint32_t changes_count, changes_room;
};

/*
 * The shortest cells that are easy to read and not too many. A cell of two intervals has a look of its own also where a minute
 * began some ms earlier or later than it should.
 */
static int64_t choose_cell(int64_t span_ns, int64_t interval_ns)
{
	static const int64_t seconds[] = { 1,   2,   5,    10,   15,   30,    60,    120,   300,
					   600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400 };
	int64_t cell_ns = 0;

	for (size_t i = 0; i < ARRAY_SIZE(seconds); i++) {
		cell_ns = seconds[i] * (int64_t)CLOCK_SECOND_NS;
		if ((span_ns - 1) / THREAD_CELLS < cell_ns && cell_ns / 2 >= interval_ns)
			return cell_ns;
	}
	while ((span_ns - 1) / THREAD_CELLS >= cell_ns)
		cell_ns *= 2;
	return cell_ns;
}

int activity_groups_begin(struct activity_groups *groups, const struct activity_span *span,
			  int64_t interval_ns)
{
	int64_t span_ns = span->until_ns - span->from_ns, cell_ns = choose_cell(span_ns, interval_ns);

	*groups = (struct activity_groups){
		.span = *span,
		.cell_ns = cell_ns,
		.threads.cells_count = (uint32_t)((span_ns - 1) / cell_ns + 1),
		.sums = calloc(1, sizeof(*groups->sums)),
	};
	return groups->sums ? 0 : -ENOMEM;
}

/* ---- minutes ---- */

/* The first step of the minute at or after that time, if it has one; else the number of its steps. */
static uint32_t step_at(const struct stored_minute *minute, int64_t at_ns)
{
	int64_t steps;

	if (at_ns <= minute->at_ns)
		return 0;
	steps = (at_ns - minute->at_ns - 1) / minute->interval_ns + 1;
	return steps < minute->steps ? (uint32_t)steps : minute->steps;
}

/* Counts the looks before each step. Returns false if the steps that were missed are not among those of the minute. */
static bool count_taken(struct activity_sums *sums)
{
	const struct step_list *missed = sums->minute.missed;
	uint32_t step = 0, looks = 0;

	for (uint32_t i = 0; missed && i < missed->count; i++) {
		const struct stored_step *range = &missed->steps[i];

		if (range->step < step || range->step > sums->minute.steps ||
		    range->number > sums->minute.steps - range->step)
			return false;
		while (step < range->step)
			sums->taken[step++] = looks++;
		while (step < range->step + range->number)
			sums->taken[step++] = looks;
	}
	while (step < sums->minute.steps)
		sums->taken[step++] = looks++;
	sums->taken[step] = looks;
	return true;
}

static uint32_t looks_between(const struct activity_sums *sums, uint32_t first, uint32_t end)
{
	return sums->taken[end] - sums->taken[first];
}

static uint32_t cell_of(const struct activity_groups *groups, uint32_t step)
{
	const struct stored_minute *minute = &groups->sums->minute;

	return (uint32_t)((minute->at_ns + step * minute->interval_ns - groups->span.from_ns) /
			  groups->cell_ns);
}

/* The step of the minute that begins a cell later than that one; not beyond `end`. */
static uint32_t end_of_cell(const struct activity_groups *groups, uint32_t cell, uint32_t end)
{
	uint32_t step =
		step_at(&groups->sums->minute, groups->span.from_ns + (int64_t)(cell + 1) * groups->cell_ns);

	return step < end ? step : end;
}

/* A time without a look between two minutes; as far as it is in the span. */
static void note_gap(struct activity_groups *groups, int64_t at_ns)
{
	struct activity_sums *sums = groups->sums;
	struct activity_gap gap = { sums->ended_ns > groups->span.from_ns ? sums->ended_ns
									  : groups->span.from_ns,
				    at_ns < groups->span.until_ns ? at_ns : groups->span.until_ns };

	groups->all_gaps++;
	groups->all_gaps_ns += gap.until_ns - gap.from_ns;
	/* without memory for it, it is among those that are not told one by one */
	if (groups->gaps_count < ACTIVITY_GAPS_MOST &&
	    !array_make_room(groups->gaps, groups->gaps_count, sums->gaps_room, 1U))
		groups->gaps[groups->gaps_count++] = gap;
}

static void note_interval(struct activity_groups *groups, int64_t interval_ns)
{
	if (!groups->interval_most_ns || interval_ns < groups->interval_least_ns)
		groups->interval_least_ns = interval_ns;
	if (interval_ns > groups->interval_most_ns)
		groups->interval_most_ns = interval_ns;
}

bool activity_groups_begin_minute(struct activity_groups *groups, const struct stored_minute *minute)
{
	struct activity_sums *sums = groups->sums;
	int64_t ends_ns = minute->at_ns + minute->steps * minute->interval_ns;

	sums->minute = *minute;
	sums->changes_count = 0;
	if (!count_taken(sums))
		return false;
	if (sums->ended_ns && minute->at_ns - sums->ended_ns >= minute->interval_ns)
		note_gap(groups, minute->at_ns);
	else if (sums->ended_ns - minute->at_ns >= minute->interval_ns)
		groups->overlaps++;
	sums->ended_ns = ends_ns > sums->ended_ns ? ends_ns : sums->ended_ns;
	note_interval(groups, minute->interval_ns);
	sums->first = step_at(minute, groups->span.from_ns);
	sums->end = step_at(minute, groups->span.until_ns);
	groups->steps += sums->end - sums->first;
	groups->threads.looks += looks_between(sums, sums->first, sums->end);
	for (uint32_t step = sums->first, end; step < sums->end; step = end) {
		uint32_t cell = cell_of(groups, step);

		end = end_of_cell(groups, cell, sums->end);
		groups->threads.cell_looks[cell] += looks_between(sums, step, end);
	}
	return true;
}

bool activity_groups_minute_is_whole(const struct activity_groups *groups)
{
	return !groups->sums->first && groups->sums->end == groups->sums->minute.steps;
}

/* ---- rows ---- */

/* Adds threads that were there from one step to another, as far as these are in the span. Returns their sum over the looks. */
static double add_run(struct activity_groups *groups, uint32_t group, uint32_t first, uint32_t end,
		      double threads)
{
	struct activity_sums *sums = groups->sums;
	double all = 0;

	first = first > sums->first ? first : sums->first;
	end = end < sums->end ? end : sums->end;
	for (uint32_t until; first < end; first = until) {
		uint32_t cell = cell_of(groups, first);
		double sum;

		until = end_of_cell(groups, cell, end);
		sum = threads * looks_between(sums, first, until);
		all += sum;
		if (group != THREAD_NO_GROUP)
			groups->threads.groups[group].cells[cell] += sum;
	}
	return all;
}

static int add_change(struct activity_sums *sums, const struct change *change)
{
	if (array_make_room(sums->changes, sums->changes_count, sums->changes_room, 1U))
		return -ENOMEM;
	sums->changes[sums->changes_count++] = *change;
	return 0;
}

/* The step at which the number of the times at that position ends. */
static uint32_t end_of(const struct activity_sums *sums, const struct step_list *times, uint32_t position)
{
	return position + 1 < times->count ? times->steps[position + 1].step : sums->minute.steps;
}

/* Times that do not add up to the row's sum are no times of this row. */
static bool has_times(const struct activity_sums *sums, const struct stored_activity *row)
{
	int64_t threads = 0;

	if (!row->times)
		return false;
	for (uint32_t i = 0; i < row->times->count; i++)
		threads += (int64_t)row->times->steps[i].number *
			   looks_between(sums, row->times->steps[i].step, end_of(sums, row->times, i));
	return threads == row->threads;
}

static int add_timed(struct activity_groups *groups, const struct stored_activity *row, double *ret_threads)
{
	struct change change = { .group = row->kind.place.group, .begins_row = true };
	struct activity_sums *sums = groups->sums;
	int64_t before = 0;
	int result = 0;

	*ret_threads = 0;
	for (uint32_t i = 0; i < row->times->count && !result; i++) {
		const struct stored_step *step = &row->times->steps[i];

		*ret_threads +=
			add_run(groups, change.group, step->step, end_of(sums, row->times, i), step->number);
		change.step = step->step;
		change.by = step->number - before;
		before = step->number;
		if (change.group != THREAD_NO_GROUP)
			result = add_change(sums, &change);
		change.begins_row = false;
	}
	return result;
}

/* Of a row whose times are not known, each look of the minute has the average, and at most `most` threads. */
static int add_untimed(struct activity_groups *groups, const struct stored_activity *row, double *ret_threads)
{
	const struct change change = {
		.group = row->kind.place.group, .by = row->most, .begins_row = true, .is_bound = true
	};
	struct activity_sums *sums = groups->sums;
	uint32_t looks = looks_between(sums, 0, sums->minute.steps);

	*ret_threads = add_run(groups, change.group, 0, sums->minute.steps,
			       looks ? (double)row->threads / looks : 0);
	return change.group == THREAD_NO_GROUP ? 0 : add_change(sums, &change);
}

int activity_groups_add(struct activity_groups *groups, const struct stored_activity *row)
{
	double threads = (double)row->threads;
	int result = 0;

	if (row->kind.place.group == THREAD_NO_GROUP && activity_groups_minute_is_whole(groups))
		; /* its sum is enough */
	else if (has_times(groups->sums, row))
		result = add_timed(groups, row, &threads);
	else
		result = add_untimed(groups, row, &threads);
	thread_groups_add(&groups->threads, &row->kind.place, threads);
	if (row->kind.place.matches && row->kind.is_rest)
		groups->rest += threads;
	return result;
}

/* ---- the most at one look ---- */

static int compare_changes(const void *a, const void *b)
{
	const struct change *left = a, *right = b;

	return COMPARE(left->group, right->group) ?: COMPARE(left->step, right->step);
}

/* Whether a look in the span was taken from that step on, before the other one. */
static bool has_look(const struct activity_sums *sums, uint32_t step, uint32_t end)
{
	step = step > sums->first ? step : sums->first;
	end = end < sums->end ? end : sums->end;
	return step < end && looks_between(sums, step, end);
}

/* Follows the changes of a group, which begin at `i`. Returns where the next group's begin. */
static uint32_t follow_group(struct activity_groups *groups, uint32_t i)
{
	const struct activity_sums *sums = groups->sums;
	const struct change *changes = sums->changes;
	uint32_t id = changes[i].group, rows = 0, count = sums->changes_count;
	struct thread_group *group = &groups->threads.groups[id];
	int64_t threads = 0, most = 0;
	bool is_bound = false;

	for (; i < count && changes[i].group == id; i++) {
		bool is_last = i + 1 == count || changes[i + 1].group != id;

		threads += changes[i].by;
		rows += changes[i].begins_row;
		is_bound = is_bound || changes[i].is_bound;
		if (threads > most &&
		    has_look(sums, changes[i].step, is_last ? sums->minute.steps : changes[i + 1].step))
			most = threads;
	}
	/* what the one row of a whole minute calls its most is it */
	is_bound = is_bound && (rows > 1 || !activity_groups_minute_is_whole(groups));
	if ((double)most > group->most) {
		group->most = (double)most;
		group->is_bound = is_bound;
	} else if ((double)most >= group->most && !is_bound) {
		group->is_bound = false;
	}
	return i;
}

void activity_groups_end_minute(struct activity_groups *groups)
{
	struct activity_sums *sums = groups->sums;

	if (sums->changes_count)
		qsort(sums->changes, sums->changes_count, sizeof(sums->changes[0]), compare_changes);
	for (uint32_t i = 0; i < sums->changes_count;)
		i = follow_group(groups, i);
}

/* ---- the end ---- */

void activity_groups_finish(struct activity_groups *groups, const struct thread_view *view)
{
	groups->rest /= groups->threads.looks ? (double)groups->threads.looks : 1;
	thread_groups_finish(&groups->threads, view);
}

void activity_groups_free(struct activity_groups *groups)
{
	struct activity_sums *sums = groups->sums;

	thread_groups_free(&groups->threads);
	free(groups->gaps);
	if (sums)
		free(sums->changes);
	free(sums);
	*groups = (struct activity_groups){ 0 };
}
