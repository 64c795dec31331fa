/* SPDX-License-Identifier: GPL-2.0-only */
/* capture_options.h reads the options of `bourdon capture` into a request. */
#ifndef BOURDON_REPORT_CAPTURE_OPTIONS_H
#define BOURDON_REPORT_CAPTURE_OPTIONS_H

#include "common/capture_request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As on the command line; NULL: not given. */
struct capture_words {
	const char *pids[CAPTURE_PIDS_MAX];
	size_t pids_count;
	const char *comm, *unit, *cgroup, *all, *duration, *before, *on_cpu, *off_cpu, *note, *format, *who,
		*end;
};

/* What is asked about captures under way, instead of for one. */
struct capture_under_way {
	bool who;
	int64_t end_id; /* 0: none is to end */
};

/*
 * Returns OPTIONS_RUN and fills *ret_request, or *ret_under_way; or EXIT_USAGE, and the mistake was logged.
 */
int capture_options_read(const struct capture_words *words, struct capture_request *ret_request,
			 struct capture_under_way *ret_under_way);

/* Whether `bourdon capture` prints its result in this format. */
bool capture_format_is_known(const char *format);

#endif
