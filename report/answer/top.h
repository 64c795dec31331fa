/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * top.h owns the lists of functions by CPU time. `top` prints nothing else; `why` prints the first rows.
 */
#ifndef BOURDON_REPORT_ANSWER_TOP_H
#define BOURDON_REPORT_ANSWER_TOP_H

#include "report/model/profile.h"
#include "report/model/query.h"
#include "report/text/layout.h"

/* Which lists of functions are printed. */
enum top_by { TOP_BY_BOTH, TOP_BY_SELF, TOP_BY_TOTAL };

/* Of --by, in a table of options. */
#define TOP_BY                                                                                               \
	ONE_OF("functions by themselves, or with their callees, a recursive one counted once: ",             \
	       "self or total")

/*
 * The functions with most samples on CPU, in themselves or, by_total, with their callees: `limit` of them, or all if it is
 * negative. The columns are those of view hot_function. Returns 0 or -ENOMEM; the caller frees the rows.
 */
int top_functions(const struct profile *profile, bool by_total, int64_t limit, struct rows *ret_rows);

/*
 * For text output: the first `limit` functions by samples of their own; then, with by_total = 1, the first `limit` by
 * samples in them and their callees; or one of the two lists. All unresolved addresses of a module are one function, with resolved = 0.
 * Returns 0 or -ENOMEM; the caller frees the rows, and the profile outlives them.
 */
int top_leaders(struct profile *profile, enum top_by by, int64_t limit, struct rows *ret_rows);

/* Prints the rows of top_leaders(); the query stands on the first one. */
void top_print(const struct layout *layout, struct query *query);

#endif
