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

/* Shows the row that the query stands on, and all behind it. */
void top_print(FILE *out, struct query *query);

#endif
