/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * answer.h owns the first ten lines of why: what was short, who suffered, who caused it, where in the code, since when,
 * whether it still is, how certain that is, and what to do. All is from the database alone. The verdict is bourdond's.
 */
#ifndef BOURDON_REPORT_ANSWER_H
#define BOURDON_REPORT_ANSWER_H

#include "report/answer_facts.h"
#include "report/layout.h"
#include "report/rows.h"

/*
 * Answers about report->capture_id. Returns 0; -ENOMEM; or -EIO after a query that failed. Free it in any case, before the
 * profile.
 */
int answer_find(struct report *report, struct profile *profile, struct answer *answer);
void answer_free(struct answer *answer);
#define _cleanup_answer_ _cleanup_(answer_free)

void answer_print(const struct layout *layout, const struct answer *answer);

/* As one row, for JSON. Returns 0 or -ENOMEM; the caller frees the rows. */
int answer_rows(const struct answer *answer, struct rows *ret_rows);

#endif
