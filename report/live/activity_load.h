/* SPDX-License-Identifier: GPL-2.0-only */
/* activity_load.h reads what all threads did in a span of time from a database that may be hostile, in groups. */
#ifndef BOURDON_REPORT_LIVE_ACTIVITY_LOAD_H
#define BOURDON_REPORT_LIVE_ACTIVITY_LOAD_H

#include "report/live/activity_groups.h"
#include "report/model/database.h"

/* Stores from the first look to the end of the last minute. Returns 0; -ENODATA: there is no activity; or -EIO, and that was logged. */
int activity_extent(struct database *database, struct activity_span *ret_span);

/*
 * Groups the activity of that span as the view wants it. The groups' span is the part of it that minutes reach; what is in
 * the view of seconds is not used. Returns 0; -ENODATA: no minute is in the span; -E2BIG: too many groups; -ENOMEM; or
 * -EIO, and that was logged. The caller frees the groups.
 */
int activity_load(struct database *database, const struct thread_view *view, const struct activity_span *span,
		  struct activity_groups *ret_groups);

#endif
