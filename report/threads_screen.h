/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * threads_screen.h owns the live screen of `bourdon threads`: what is shown, and what the keys do. threads_draw.h draws it.
 */
#ifndef BOURDON_REPORT_THREADS_SCREEN_H
#define BOURDON_REPORT_THREADS_SCREEN_H

#include "report/thread_history.h"
#include "report/threads_source.h"

/*
 * Shows the threads on the terminal until a person ends it, with `hz` looks a second; `view` is what it begins with. 0; or
 * -errno, with the terminal as it was before.
 */
int threads_screen_run(struct threads_source *source, struct thread_history *history,
		       const struct thread_view *view, unsigned int hz);

#endif
