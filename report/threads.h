/* SPDX-License-Identifier: GPL-2.0-only */
/* threads.h is the command line of `bourdon threads`. */
#ifndef BOURDON_REPORT_THREADS_H
#define BOURDON_REPORT_THREADS_H

/* What was given, or NULL. */
struct threads_words {
	const char *once, *csv, *hz, *match, *columns;
};

/* Looks at the words' values. Returns OPTIONS_RUN; or EXIT_USAGE, and the mistake was logged. */
int threads_words_check(const struct threads_words *words);

#endif
