/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * significance.h owns the question which of many values differ between two recordings by more than chance. It assumes no
 * distribution: it asks how often a difference as large comes about if the units of time of both recordings are mixed
 * anew (a permutation test), for all values at once.
 *
 * - A unit is a piece of time, with all values in it: threads and CPUs that do the same at once do not count as many.
 * - The statistic of a value is Welch's t (Biometrika 34, 1947), so that a recording that varies more than the other
 *   does not mislead (Chung and Romano, Annals of Statistics 41, 2013).
 * - Each P is adjusted for all values by the step-down maxT procedure of Westfall and Young (Resampling-Based Multiple Testing,
 *   1993): if nothing differs, the chance that any P is below x is at most x, however the values depend on each other.
 */
#ifndef BOURDON_REPORT_DIFF_SIGNIFICANCE_H
#define BOURDON_REPORT_DIFF_SIGNIFICANCE_H

#include <stdbool.h>
#include <stdint.h>

struct significance {
	const double *values; /* all values of the first unit, then those of the next */
	const double *
		floors; /* of each value: the least variance that it is taken to have among units; not negative */
	uint32_t values_count;
	uint32_t a_units, b_units; /* the units of A are first */
};

/* How it was found. */
struct significance_test {
	uint64_t mixtures;  /* that were looked at, the observed one among them */
	bool is_exhaustive; /* all that there are */
	double least;       /* the smallest P that so many units can have */
};

/*
 * Stores the adjusted P of each value: 1 if there are fewer than two units of A or B. The same data give the same
 * results. Returns 0 or -ENOMEM.
 */
int significance_find(const struct significance *data, double *ret_p, struct significance_test *ret_test);

/* The smallest P that so many units can have. */
double significance_least(uint32_t a_units, uint32_t b_units);

#endif
