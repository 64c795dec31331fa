/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/capture/blame_kept.h"

#include "common/base/cleanup.h"
#include "common/base/optional_text.h"

#define PARTS_A_THOUSAND 1000U

static int compare_numbers(uint64_t one, uint64_t other)
{
	return one < other ? -1 : one > other;
}

/* Rows of the same party are next to each other. */
static int compare_parties(const void *a, const void *b)
{
	const struct blame_row *one = a, *other = b;
	int result = compare_numbers(one->victim, other->victim);

	if (!result)
		result = compare_numbers(one->wait, other->wait);
	if (!result)
		result = compare_numbers(one->role, other->role);
	if (!result)
		result = optional_text_compare(one->program, other->program);
	if (!result)
		result = optional_text_compare(one->place.unit, other->place.unit);
	if (!result && !one->place.unit)
		result = optional_text_compare(one->place.cgroup, other->place.cgroup);
	if (!result)
		result = optional_text_compare(one->where, other->where);
	return result ? result : compare_numbers(one->then, other->then);
}

static int compare_sizes(const void *a, const void *b)
{
	const struct blame_row *one = a, *other = b;
	int result = compare_numbers(one->victim, other->victim);

	if (!result)
		result = compare_numbers(one->wait, other->wait);
	if (!result)
		result = compare_numbers(other->ns, one->ns);
	return result ? result : compare_parties(one, other);
}

static void merge_equal(struct blame_rows *rows)
{
	uint32_t kept = 0;

	qsort(rows->rows, rows->count, sizeof(*rows->rows), compare_parties);
	for (uint32_t i = 0; i < rows->count; i++)
		if (kept && !compare_parties(&rows->rows[kept - 1], &rows->rows[i]))
			rows->rows[kept - 1].ns += rows->rows[i].ns;
		else if (rows->rows[i].ns)
			rows->rows[kept++] = rows->rows[i];
	rows->count = kept;
}

static uint64_t waited_ns(const struct victim_row *victim)
{
	uint64_t sum = 0;

	for (uint32_t i = ACCOUNT_MEMORY; i < ACCOUNT_SLEEP; i++)
		sum += victim->ns[i];
	return sum;
}

static int compare_waited(const void *a, const void *b, void *user)
{
	const struct victim_row *victims = user;
	uint64_t one = waited_ns(&victims[*(const uint32_t *)a]),
		 other = waited_ns(&victims[*(const uint32_t *)b]);

	return compare_numbers(other, one);
}

/* Whether the row keeps its party: one of the first of its wait, and no small one. */
static bool is_kept(const struct blame_rows *rows, const struct blame_row *row, uint32_t number,
		    uint32_t most)
{
	return !row->program || row->role == ROLE_OWN ||
	       (number < most && row->ns >= rows->victims[row->victim].ns[row->wait] / PARTS_A_THOUSAND);
}

/* Takes the parties from rows that are not kept: equal ones become one, whose processes are added. */
static int forget_small(struct blame_rows *rows)
{
	_cleanup_free_ uint32_t *order = calloc(rows->victims_count + 1UL, sizeof(*order));
	_cleanup_free_ uint32_t *most = calloc(rows->victims_count + 1UL, sizeof(*most));
	_cleanup_free_ uint32_t *counts = calloc(rows->victims_count + 1UL, sizeof(*counts));
	uint32_t all = 0, number = 0;

	if (!order || !most || !counts)
		return -ENOMEM;
	qsort(rows->rows, rows->count, sizeof(*rows->rows), compare_sizes);
	for (uint32_t i = 0; i < rows->count; i++)
		counts[rows->rows[i].victim]++;
	for (uint32_t i = 0; i < rows->victims_count; i++)
		order[i] = i;
	qsort_r(order, rows->victims_count, sizeof(*order), compare_waited, rows->victims);
	for (uint32_t i = 0; i < rows->victims_count; i++) {
		uint32_t victim = order[i];

		all += counts[victim] < BLAME_PARTIES_MAX ? counts[victim] : BLAME_PARTIES_MAX;
		most[victim] = all <= BLAME_ROWS_MAX ? BLAME_PARTIES_MAX : 0;
	}
	for (uint32_t i = 0; i < rows->count; i++) {
		struct blame_row *row = &rows->rows[i];

		number = i && row[-1].victim == row->victim && row[-1].wait == row->wait ? number + 1 : 0;
		if (is_kept(rows, row, number, most[row->victim]))
			continue;
		row->program = NULL;
		row->place = (struct account_place){ 0 };
		row->then = ACCOUNTS;
	}
	return 0;
}

int blame_keep(struct blame_rows *rows)
{
	int result;

	if (!rows->count)
		return 0;
	merge_equal(rows);
	result = forget_small(rows);
	if (result < 0)
		return result;
	merge_equal(rows);
	qsort(rows->rows, rows->count, sizeof(*rows->rows), compare_sizes);
	return 0;
}
