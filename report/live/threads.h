/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * threads.h owns showing what threads do now, once, for scripts, or on a screen: `threads`, and `top --live` of samples on CPU;
 * and --columns and --match, by which threads are grouped and chosen.
 */
#ifndef BOURDON_REPORT_LIVE_THREADS_H
#define BOURDON_REPORT_LIVE_THREADS_H

#include "report/context/report.h"
#include "report/live/thread_history.h"

/* Of --match, in a table of options. */
#define MATCH_HELP "only threads that match: COLUMN=GLOB, COLUMN!=GLOB, or GLOB of any column"

/* A list of columns, and the option that it was given by. */
struct columns_word {
	const char *option, *text; /* no text: those that are usual */
};

/*
 * Reads by what to group, and which threads are meant (NULL: all), into the view. Returns OPTIONS_RUN; or EXIT_USAGE, and the
 * mistake was logged.
 */
int thread_view_read(const struct columns_word *columns, const char *match, enum thread_origin origin,
		     struct thread_view *view);

/* As on the command line; NULL: not given. */
struct threads_words {
	const char *once, *match, *columns;
};

struct threads_choice {
	struct thread_view view;
	unsigned int hz; /* looks a second, if it is not of samples */
	bool once, csv;
	bool is_screen; /* none of once, CSV and JSON */
};

/* Returns OPTIONS_RUN, with the usual looks a second; or EXIT_USAGE, and the mistake was logged. */
int threads_choice_read(const struct threads_words *words, enum thread_origin origin, bool csv, bool json,
			struct threads_choice *ret_choice);

/* Shows them until a second was shown, or a person ends it. */
void threads_show(struct report *report, const struct threads_choice *choice);

#endif
