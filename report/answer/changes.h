/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * changes.h owns what changed since the rule's last baseline, or without one since its capture before: programs and
 * libraries (build ids), restarts, limits, the kernel, the rule.
 */
#ifndef BOURDON_REPORT_ANSWER_CHANGES_H
#define BOURDON_REPORT_ANSWER_CHANGES_H

#include "report/answer/answer.h"
#include "report/model/query.h"
#include "report/text/layout.h"

/*
 * A row for each change, and one of what `what` is NULL if there is none, but a capture to compare with. Returns 0; -ENOMEM; or
 * -EIO after a query that failed.
 */
int changes_rows(struct answer *answer, struct rows *ret_rows);

void changes_print(const struct layout *layout, struct query *query);

#endif
