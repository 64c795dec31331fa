/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * thread_filter.h decides which threads are wanted, by words that a person writes: COLUMN=GLOB, COLUMN!=GLOB, or GLOB alone,
 * which any column may match. A thread has to match all of them.
 */
#ifndef BOURDON_REPORT_LIVE_THREAD_FILTER_H
#define BOURDON_REPORT_LIVE_THREAD_FILTER_H

#include "report/live/threads_text.h"

#include <stdbool.h>

#define FILTER_WORDS_MAX 16U
#define FILTER_BYTES 256U

struct thread_filter {
	char text[FILTER_BYTES]; /* as it was written */
	char words[FILTER_BYTES];
	struct filter_word {
		uint32_t column; /* THREAD_GROUPING: any */
		bool unless;
		uint32_t glob; /* where it begins in `words` */
	} parts[FILTER_WORDS_MAX];
	uint32_t count;
	bool has_state; /* a word is about the state */
};

/*
 * Reads words between blanks. 0; -E2BIG: too long, or too many words; -ENOENT: a word names a column that there is not,
 * which *ret_word then is, a part of `text`.
 */
int thread_filter_read(struct thread_filter *filter, const char *text, const char **ret_word);

/* `values` are those of the columns before THREAD_GROUPING. */
bool thread_filter_matches(const struct thread_filter *filter, const char *const *values);

/* Whether lines from there have that column. */
bool thread_column_is_known(uint32_t column, enum thread_origin origin);

/* The first column that words are about and lines from there do not have; THREAD_GROUPING: none. */
uint32_t thread_filter_unknown(const struct thread_filter *filter, enum thread_origin origin);

/* The column of that name before THREAD_GROUPING, or -ENOENT. */
int thread_column_find(const char *name, size_t bytes);

#endif
