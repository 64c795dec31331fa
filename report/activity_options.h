/* SPDX-License-Identifier: GPL-2.0-only */
/* activity_options.h reads the options of `bourdon activity`. */
#ifndef BOURDON_REPORT_ACTIVITY_OPTIONS_H
#define BOURDON_REPORT_ACTIVITY_OPTIONS_H

#include "report/activity_groups.h"

#include <stdbool.h>
#include <stdint.h>

/* What was given, or NULL. */
struct activity_words {
	const char *since, *until, *group_by, *columns, *match, *all, *csv;
};

struct activity_options {
	struct thread_view view;
	struct activity_span span; /* never empty */
	bool csv;
};

/* Times are relative to `now_ns`. Returns OPTIONS_RUN and fills *ret_options; or EXIT_USAGE, and the mistake was logged. */
int activity_options_read(const struct activity_words *words, int64_t now_ns,
			  struct activity_options *ret_options);

#endif
