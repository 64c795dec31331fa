/* SPDX-License-Identifier: GPL-2.0-only */
/* diff_options.h reads the words of `bourdon diff`: which two recordings, and what of them. */
#ifndef BOURDON_REPORT_DIFF_OPTIONS_H
#define BOURDON_REPORT_DIFF_OPTIONS_H

#include "report/sample_options.h"

#include <stdbool.h>
#include <stdint.h>

/* What was given, or NULL. */
struct diff_words {
	struct sample_words samples;
	const char *base, *by, *all;
};

enum diff_part { DIFF_ALL, DIFF_BEFORE, DIFF_AFTER }; /* of its trigger */

/* A side of the comparison. */
struct diff_operand {
	bool is_baseline;   /* the baselines of the other side's rule, before it; no capture is named */
	int64_t capture_id; /* negative: the newest complete capture */
	enum diff_part part;
};

/* Whose samples: bits. */
#define DIFF_TARGETS 1U
#define DIFF_OTHERS 2U
#define DIFF_KERNEL 4U

struct diff_options {
	struct diff_operand a, b;
	const char *base; /* the database of A; NULL: that of B */
	unsigned int roles;
	bool off_cpu;
	const char *stall; /* off CPU: of this resource, or none; NULL: of every stall class */
	bool by_total;     /* functions with their callees; else themselves */
	bool all;          /* text: also what may be chance */
};

/* Returns OPTIONS_RUN and fills *ret_options; or EXIT_USAGE, and the mistake was logged. */
int diff_options_read(const struct diff_words *words, char **operands, int operands_count,
		      struct diff_options *ret_options);

/* Reads --by: `self`, which is the default, or `total`. Returns as diff_options_read(). */
int diff_options_by(const char *by, bool *ret_by_total);

#endif
