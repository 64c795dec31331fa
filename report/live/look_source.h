/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * look_source.h is what the screen and the tables want of those that look at threads: the iterator `threads` (threads_source.h),
 * and bourdond's samples (live_source.h).
 */
#ifndef BOURDON_REPORT_LIVE_LOOK_SOURCE_H
#define BOURDON_REPORT_LIVE_LOOK_SOURCE_H

#include "report/live/threads_text.h"

struct look_source {
	int fd; /* readable when take() may have something more, after it had nothing */

	/* Takes the next look, which may be of a whole second. Returns 1; 0: it is not there yet; or -errno. */
	int (*take)(void *user, struct thread_lines *ret_lines);

	/*
	 * The kernel stack of a thread now: functions, innermost first, with ';' between; "-" if it has none, or root's policy
	 * shows none. The caller frees it. NULL if it is not known, or the thread has ended. NULL instead of the function:
	 * lines have stacks.
	 */
	char *(*stack)(void *user, const char *tid);

	/* Logs why take() failed: not while ncurses has the terminal. */
	void (*explain)(void *user, int error);

	void *user;
};

/* Waits for the next look. 0 or -errno. */
int look_source_wait(const struct look_source *source, struct thread_lines *ret_lines);

#endif
