/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * not_whole.h owns which stacks of programs lack their outermost frames: in which file they end, why, and what to do. The words
 * for each reason are here alone.
 */
#ifndef BOURDON_REPORT_ANSWER_NOT_WHOLE_H
#define BOURDON_REPORT_ANSWER_NOT_WHOLE_H

#include "report/model/profile.h"
#include "report/model/query.h"
#include "report/model/rows.h"
#include "report/text/layout.h"

/* So much and less is not worth a section. */
#define NOT_WHOLE_PERCENT_IGNORED 1.0

/* The share of all samples with a user stack, whether on CPU or off, whose stack is not whole, in percent. */
double not_whole_percent(const struct profile *profile);

/*
 * One row for each file in which such stacks end; none, if NOT_WHOLE_PERCENT_IGNORED or less do. At most `limit` rows, those with
 * most samples. Returns 0 or -ENOMEM; the caller frees the rows, and the profile outlives them.
 */
int not_whole_rows(const struct profile *profile, uint32_t limit, struct rows *ret_rows);

/* The query stands on the first row. */
void not_whole_print(const struct layout *layout, struct query *query);

#endif
