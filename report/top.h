/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * top.h owns the lists of functions by CPU time. `top` prints nothing else; `why` prints the first rows.
 */
#ifndef BOURDON_REPORT_TOP_H
#define BOURDON_REPORT_TOP_H

#include "report/query.h"

#include <stdio.h>

/* ?1 is the capture, ?2 the limit. The columns are those of view hot_function. */
extern const char top_sql[];

/*
 * For text output: the first ?2 functions by samples of their own; then, with by_total = 1, the first ?2 by
 * samples in them and their callees. All unresolved addresses of a module are one function, with resolved =
 * 0.
 */
extern const char top_leaders_sql[];

/* Prints the rows of top_leaders_sql; the query stands on the first one. */
void top_print(FILE *out, struct query *query);

#endif
