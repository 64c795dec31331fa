/* SPDX-License-Identifier: GPL-2.0-only */
/* export_options.h owns what 'bourdon export' is asked for: the format, and which samples. */
#ifndef BOURDON_REPORT_EXPORT_OPTIONS_H
#define BOURDON_REPORT_EXPORT_OPTIONS_H

#include "report/sample_options.h"

#include <stdbool.h>

struct export;

/* As on the command line; NULL: not given. */
struct export_words {
	const char *format;
	struct sample_words samples;
};

struct export_format {
	const char *name;
	int (*write)(struct export *export); /* as those of report/export.h */
	bool counts_alike; /* its readers add up samples and intervals alike: it has one kind, on CPU unless --kind says else */
};

struct export_options {
	const struct export_format *format;
	struct sample_options samples;
};

/* The format of that name, or NULL. */
const struct export_format *export_format_find(const char *name);

/* Writes the names of all formats, with commas between them. Returns `into`. */
char *export_format_list(char *into, unsigned int into_bytes);

/* Reads the words, which outlive the options. Returns OPTIONS_RUN; or EXIT_USAGE, and the mistake was logged. */
int export_options_read(const struct export_words *words, struct export_options *ret_options);

#endif
