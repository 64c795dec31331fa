/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * diff_test.h owns the test of a change: of all functions and stacks with enough time the values in each unit, whose difference
 * between the two sides chance explains or not (significance.h). diff_rows.h adds up what is tested.
 */
#ifndef BOURDON_REPORT_DIFF_DIFF_TEST_H
#define BOURDON_REPORT_DIFF_DIFF_TEST_H

#include "report/diff/diff_rows.h"

/* Judges each row. Returns 0 or -ENOMEM. */
int diff_test(struct diff_building *building);

#endif
