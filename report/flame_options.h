/* SPDX-License-Identifier: GPL-2.0-only */
/* flame_options.h reads the options of `bourdon flame`. */
#ifndef BOURDON_REPORT_FLAME_OPTIONS_H
#define BOURDON_REPORT_FLAME_OPTIONS_H

#include "report/sample_options.h"

#include <stdbool.h>

/* What was given, or NULL. */
struct flame_words {
	struct sample_words samples;
	const char *icicle;
};

struct flame_options {
	struct sample_options samples; /* of one kind */
	bool icicle;                   /* the outermost functions are at the top */
};

/* Returns OPTIONS_RUN and fills *ret_options; or EXIT_USAGE, and the mistake was logged. */
int flame_options_read(const struct flame_words *words, struct flame_options *ret_options);

#endif
