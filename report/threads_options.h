/* SPDX-License-Identifier: GPL-2.0-only */
/* threads_options.h owns the options of `bourdon threads`. */
#ifndef BOURDON_REPORT_THREADS_OPTIONS_H
#define BOURDON_REPORT_THREADS_OPTIONS_H

#include "report/thread_history.h"

/* What was given, or NULL. */
struct threads_words {
	const char *once, *csv, *hz, *match, *columns;
};

/* Reads the words: what to show, and how many looks a second. Returns OPTIONS_RUN; or EXIT_USAGE, and the mistake was logged. */
int threads_options_read(const struct threads_words *words, struct thread_view *ret_view,
			 unsigned int *ret_hz);

#endif
