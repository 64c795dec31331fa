/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/diff/diff_change.h"

#include "common/base/numbers.h"
#include "report/diff/diff_test.h"

#include <stdlib.h>
#include <string.h>

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
	return COMPARE(left->stack, right->stack);
}

/* Removes rows without time, and sorts the others. */
static void finish_rows(const struct diff_building *building, struct diff_row *rows, uint32_t *count,
			uint32_t *ret_changed)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < *count; i++) {
		if (!rows[i].samples[DIFF_A] && !rows[i].samples[DIFF_B] && !diff_row_weight_ns(&rows[i]))
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
	struct diff_building building = {
		.samples = samples, .change = &change, .off_cpu = off_cpu, .by_total = by_total
	};
	int result = diff_rows_add_up(&building);

	if (!result)
		result = diff_test(&building);
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
