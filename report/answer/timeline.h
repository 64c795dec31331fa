/* SPDX-License-Identifier: GPL-2.0-only */
/* timeline.h owns the time that the targets ran beside the time that they waited, second by second. */
#ifndef BOURDON_REPORT_ANSWER_TIMELINE_H
#define BOURDON_REPORT_ANSWER_TIMELINE_H

#include "report/model/profile.h"
#include "report/model/query.h"
#include "report/text/layout.h"

/* A row for each second that has samples. `resource` NULL: waiting for whatever. Returns 0 or -ENOMEM. */
int timeline_rows(const struct profile *profile, const char *resource, struct rows *ret_rows);

void timeline_print(const struct layout *layout, struct query *query);

#endif
