/* SPDX-License-Identifier: GPL-2.0-only */
/* sample_options.h owns --kind, --stall and --role: which samples of a capture a subcommand is about. */
#ifndef BOURDON_REPORT_SAMPLE_OPTIONS_H
#define BOURDON_REPORT_SAMPLE_OPTIONS_H

#include "report/profile.h"

#include <stdbool.h>

/* As on the command line; NULL: not given. */
struct sample_words {
	const char *kind, *stall, *role;
};

struct sample_options {
	bool on_cpu, off_cpu; /* both unless --kind was given */
	const char *stall;    /* a resource, one of PSI's classes, or none; NULL: any */
	const char *role;     /* target, other or kernel; NULL: any, or --role all */
};

/* Reads the words, which outlive the options. Returns OPTIONS_RUN; or EXIT_USAGE, and the mistake was logged. */
int sample_options_read(const struct sample_words *words, struct sample_options *ret_options);

/*
 * The same for a report that adds samples up: it is of one kind, on CPU unless the words say else, and of targets unless they
 * say else. A stall is of waiting, which is recorded of targets alone.
 */
int sample_options_read_one_kind(const struct sample_words *words, struct sample_options *ret_options);

/* Whether the options want this sample. A resource wants all classes that it is a part of: `io` also memory+io. */
bool sample_is_wanted(const struct profile *profile, const struct profile_sample *sample,
		      const struct sample_options *options);

#endif
