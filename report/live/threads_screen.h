/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * threads_screen.h owns the live screen of `bourdon threads` and `bourdon top --live`: what is shown, and what the keys do.
 * threads_draw.h draws it.
 */
#ifndef BOURDON_REPORT_LIVE_THREADS_SCREEN_H
#define BOURDON_REPORT_LIVE_THREADS_SCREEN_H

#include "report/live/look_source.h"
#include "report/live/thread_history.h"

/*
 * Shows the looks of the source on the terminal until a person ends it, or the source does; `view` is what it begins with. 0;
 * or -errno, with the terminal as it was before. -ECANCELED: the reason was logged.
 */
int threads_screen_run(const struct look_source *source, struct thread_history *history,
		       const struct thread_view *view);

#endif
