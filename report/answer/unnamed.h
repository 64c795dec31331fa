/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * unnamed.h owns in which files programs ran whose functions have no names, and where their symbols are to be had.
 */
#ifndef BOURDON_REPORT_ANSWER_UNNAMED_H
#define BOURDON_REPORT_ANSWER_UNNAMED_H

#include "report/model/profile.h"
#include "report/model/query.h"
#include "report/model/rows.h"
#include "report/text/layout.h"

/*
 * One row for each file whose functions without a name were innermost in user space, on CPU or off; none if that was so in one of
 * a hundred samples or less. At most `limit` rows, those with most samples. Returns 0 or
 * -ENOMEM; the caller frees the rows; the profile outlives them and keeps their texts.
 */
int unnamed_rows(struct profile *profile, uint32_t limit, struct rows *ret_rows);

/* The query stands on the first row. */
void unnamed_print(const struct layout *layout, struct query *query);

#endif
