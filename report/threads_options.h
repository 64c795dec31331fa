/* SPDX-License-Identifier: GPL-2.0-only */
/* threads_options.h owns the options of `bourdon threads` and `bourdon top --live`. */
#ifndef BOURDON_REPORT_THREADS_OPTIONS_H
#define BOURDON_REPORT_THREADS_OPTIONS_H

#include "report/thread_history.h"

#include <stdbool.h>

/* What was given, or NULL. */
struct threads_words {
	const char *live, *once, *csv, *hz, *match, *columns;
};

struct threads_options {
	struct thread_view view;
	unsigned int hz; /* looks a second */
	bool once, csv;
	bool is_screen; /* none of once, CSV and JSON */
};

/* A list of columns, and the option that it was given by. */
struct columns_word {
	const char *option, *text; /* no text: those that are usual */
};

/*
 * Reads by what to group, and which threads are meant (NULL: all), into the view. Returns OPTIONS_RUN; or EXIT_USAGE, and the
 * mistake was logged.
 */
int threads_view_read(const struct columns_word *columns, const char *match, enum thread_origin origin,
		      struct thread_view *view);

/* Returns OPTIONS_RUN and fills *ret_options; or EXIT_USAGE, and the mistake was logged. */
int threads_options_read(const struct threads_words *words, bool json, struct threads_options *ret_options);

#endif
