/* SPDX-License-Identifier: GPL-2.0-only */
/* activity_output.h prints groups of activity: as text, JSON or CSV. */
#ifndef BOURDON_REPORT_LIVE_ACTIVITY_OUTPUT_H
#define BOURDON_REPORT_LIVE_ACTIVITY_OUTPUT_H

#include "report/live/activity_groups.h"

#include <stdint.h>
#include <stdio.h>

/* `limit` rows at most; negative: all. `width`: characters of a line. `asked`: the span that was asked for. */
void activity_print_text(FILE *out, const struct thread_view *view, const struct activity_groups *groups,
			 int64_t limit, const struct activity_span *asked, int width);

void activity_print_json(FILE *out, const struct thread_view *view, const struct activity_groups *groups,
			 int64_t limit);

/* RFC 4180. Of the times without a look it says nothing: `looks` beside `steps` tells that there are some. */
void activity_print_csv(FILE *out, const struct thread_view *view, const struct activity_groups *groups,
			int64_t limit);

#endif
