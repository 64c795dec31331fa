/* SPDX-License-Identifier: GPL-2.0-only */
/* goes_on.h owns whether a shortage goes on, as far as the database tells: it may be read a day later, and elsewhere. */
#ifndef BOURDON_REPORT_ANSWER_GOES_ON_H
#define BOURDON_REPORT_ANSWER_GOES_ON_H

#include "report/answer/answer.h"

/*
 * Stores a word: `yes`, `came back`, `went on` (as another resource), `over` or `not known`; and a line that says more. Returns 0;
 * -ENOMEM; or -EIO after a query that failed.
 */
int goes_on_find(struct answer *answer, const char **ret_word, const char **ret_text);

#endif
