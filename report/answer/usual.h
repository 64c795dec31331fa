/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * usual.h owns whether a capture is a usual one: how often its rule fired in the week before, with the same verdict and in
 * the same code; and how it compares with the last baseline of its rule, where there is one.
 */
#ifndef BOURDON_REPORT_ANSWER_USUAL_H
#define BOURDON_REPORT_ANSWER_USUAL_H

#include "report/answer/answer.h"
#include "report/model/query.h"
#include "report/text/layout.h"

/* Of a younger database nothing is usual, and nothing is not. */
#define USUAL_REACH_NS 86400000000000LL

/* One row, or none for a capture that no rule made. Returns 0; -ENOMEM; or -EIO after a query that failed. */
int usual_rows(struct answer *answer, struct rows *ret_rows);

void usual_print(const struct layout *layout, struct query *query);

/* The first line of it. */
void usual_print_brief(const struct layout *layout, struct query *query);

/* The last baseline of the same rule and host before the capture; 0: there is none. */
int64_t usual_baseline(struct database *database, int64_t capture_id);

#endif
