/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * diff_rows.h owns the sums of a change: a row for each function and each stack, with the time that both sides have in it, and the
 * units of time that the test compares. diff_change.c calls it, and diff_test.c reads what it has added up.
 */
#ifndef BOURDON_REPORT_DIFF_DIFF_ROWS_H
#define BOURDON_REPORT_DIFF_DIFF_ROWS_H

#include "common/base/hash_index.h"
#include "report/diff/diff_samples.h"
#include "report/diff/significance.h"
#include "report/model/rows.h"

#include <stdbool.h>
#include <stdint.h>

/* A change whose P is below this is no chance. Of all rows together: no such row in 99 of 100 pairs that do not differ. */
#define DIFF_LEVEL 0.01

/* Of a function, a stack, or all samples. */
struct diff_row {
	uint32_t function;             /* of a function's row */
	uint32_t comm, stack;          /* of a stack's: one of those that the row stands for */
	int64_t samples[DIFF_SIDES];   /* or intervals off CPU that ended */
	int64_t weight_ns[DIFF_SIDES]; /* time of all threads */
	double ns_per_s[DIFF_SIDES];
	double percent[DIFF_SIDES]; /* of all samples of the side; negative: it has none */
	double p, share_p; /* that chance changes the rate, or the share, as much; negative: not judged */
	bool is_changed;   /* one of them is below DIFF_LEVEL and, of waiting, the change is not tiny */
	/* of a stack's row: the stack with most time of each side; PROFILE_NONE: none */
	uint32_t largest[DIFF_SIDES];
};

struct diff_change {
	struct diff_row all;
	struct diff_row *functions, *stacks; /* the changed ones first, then by how much the rate changed */
	uint32_t functions_count, stacks_count;
	uint32_t functions_changed, stacks_changed;
	double span_s[DIFF_SIDES];  /* that was recorded */
	uint32_t units[DIFF_SIDES]; /* of time, for the test; each `unit_s` seconds long */
	uint32_t unit_s;
	uint32_t tested; /* functions and stacks whose numbers are large enough to tell anything */
	struct significance_test test;
};

/* What diff_change_find() has while it adds up. */
struct diff_building {
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

/* Fills the rows of the change, its spans and its units. Returns 0 or -ENOMEM. */
int diff_rows_add_up(struct diff_building *building);

/* How many functions of `path` the stack's samples count for: all, or the leaf. */
uint32_t diff_rows_counted_functions(const struct diff_building *building, const struct diff_stack *stack);

/* Whether it is the first time that this function is met for the mark, which is not 0. */
bool diff_rows_is_first(const struct diff_building *building, uint32_t function, uint32_t mark);

/* The unit of a sample; PROFILE_NONE: it is in none. A hostile database has any second. */
uint32_t diff_rows_unit_of(const struct diff_building *building, const struct diff_sample *sample);

/* The time of both sides. */
static inline int64_t diff_row_weight_ns(const struct diff_row *row)
{
	return add_saturated(row->weight_ns[DIFF_A], row->weight_ns[DIFF_B]);
}

#endif
