/* SPDX-License-Identifier: GPL-2.0-only */
/* answer_json.h owns an answer as data, for scripts and the page: docs/WHY.md has the members. */
#ifndef BOURDON_REPORT_ANSWER_ANSWER_JSON_H
#define BOURDON_REPORT_ANSWER_ANSWER_JSON_H

#include "report/answer/answer.h"
#include "report/model/rows.h"

/* As one row. Returns 0 or -ENOMEM; the caller frees the rows. */
int answer_rows(struct answer *answer, struct rows *ret_rows);

#endif
