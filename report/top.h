/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * top.h owns the functions that took the CPU in one capture: subcommand top shows nothing else, why shows
 * the first of them.
 */
#ifndef BOURDON_REPORT_TOP_H
#define BOURDON_REPORT_TOP_H

#include "report/query.h"

#include <stdio.h>

/* ?1 is the capture, ?2 the most rows. The columns of view hot_function. */
extern const char top_sql[];

/*
 * The same for a person: the first ?2 functions by their own samples, and then (by_total is 1) by all samples of
 * their stacks. Addresses without a name count as one function of their module (resolved is 0).
 */
extern const char top_leaders_sql[];

/* Shows the row that a query of leaders stands on, and all behind it. */
void top_print(FILE *out, struct query *query);

#endif
