/* SPDX-License-Identifier: GPL-2.0-only */
/* numbers.h compares running sums, and orders them. */
#ifndef BOURDON_COMMON_BASE_NUMBERS_H
#define BOURDON_COMMON_BASE_NUMBERS_H

#include <stdint.h>

/* The growth of a running sum; 0 if it shrank. */
static inline uint64_t growth(uint64_t after, uint64_t before)
{
	return after > before ? after - before : 0;
}

/* For qsort(3): less than 0, 0, or more. `COMPARE(a, b) ?: COMPARE(c, d)`: where a and b are the same, by c and d. */
#define COMPARE(left, right) (((left) > (right)) - ((left) < (right)))

/* The same: numbers of type uint64_t, the largest first. */
static inline int compare_falling(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return COMPARE(right, left);
}

#endif
