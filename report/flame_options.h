/* SPDX-License-Identifier: GPL-2.0-only */
/* flame_options.h reads the options of `bourdon flame`. */
#ifndef BOURDON_REPORT_FLAME_OPTIONS_H
#define BOURDON_REPORT_FLAME_OPTIONS_H

#include <stdbool.h>

/* What was given, or NULL. */
struct flame_words {
	const char *role, *kind, *stall, *icicle;
};

enum flame_role { FLAME_TARGETS, FLAME_OTHERS, FLAME_ALL };

struct flame_options {
	enum flame_role role;
	bool off_cpu;
	const char *stall; /* off CPU: what the threads waited for; NULL: anything */
	bool icicle;       /* the outermost functions are at the top */
};

/* Returns OPTIONS_RUN and fills *ret_options; or EXIT_USAGE, and the mistake was logged. */
int flame_options_read(const struct flame_words *words, struct flame_options *ret_options);

#endif
