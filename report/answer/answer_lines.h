/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * answer_lines.h owns the first lines of why: what was short, who waited, for whom, where in the code, since when, whether it still
 * is, how certain that is, and what to do.
 */
#ifndef BOURDON_REPORT_ANSWER_ANSWER_LINES_H
#define BOURDON_REPORT_ANSWER_ANSWER_LINES_H

#include "report/answer/answer.h"

/* So many lines are on a page of 24, beside the command and the prompt, that a person reads all of them. */
#define ANSWER_LINES_MOST 14U

/* Adds the lines, once the rest is found; `still` is that of goes_on.h. Returns false without memory. */
bool answer_lines_make(struct answer *answer, const char *still);

/* Prints at most ANSWER_LINES_MOST lines, and returns how many. */
uint32_t answer_print(const struct layout *layout, const struct answer *answer);

#endif
