/* SPDX-License-Identifier: GPL-2.0-only */
/* list_options.h reads the options of `bourdon list`: which captures. */
#ifndef BOURDON_REPORT_LIST_OPTIONS_H
#define BOURDON_REPORT_LIST_OPTIONS_H

#include <stdint.h>

/* What was given, or NULL. */
struct list_words {
	const char *rule, *since, *resource, *unit, *all, *baseline;
};

enum list_which { LIST_CAPTURES, LIST_BASELINES, LIST_ALL };

struct list_options {
	enum list_which which;
	const char *rule, *unit; /* globs; NULL: any */
	const char *resource;    /* NULL: any */
	int64_t since_at;        /* Unix ns; INT64_MIN: any time */
};

/* Times are relative to `now_ns`. Returns OPTIONS_RUN and fills *ret_options; or EXIT_USAGE, and the mistake was logged. */
int list_options_read(const struct list_words *words, int64_t now_ns, struct list_options *ret_options);

#endif
