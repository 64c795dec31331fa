/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * answer_find.h owns how an answer is found: from the database alone. The verdict is that of common/verdict/; where in the code,
 * whether it goes on, and what to do is found by the modules beside (code_place.h, goes_on.h, remedy.h).
 */
#ifndef BOURDON_REPORT_ANSWER_ANSWER_FIND_H
#define BOURDON_REPORT_ANSWER_ANSWER_FIND_H

#include "report/answer/answer.h"

/*
 * Answers about report->capture_id. Returns 0; -ENOMEM; or -EIO after a query that failed. Free it in any case, before the
 * profile.
 */
int answer_find(struct report *report, struct profile *profile, struct answer *answer);

#endif
