/* SPDX-License-Identifier: GPL-2.0-only */
/* sample_choice.h owns --kind, --stall and --role: which samples of a capture a subcommand is about. */
#ifndef BOURDON_REPORT_MODEL_SAMPLE_CHOICE_H
#define BOURDON_REPORT_MODEL_SAMPLE_CHOICE_H

#include "report/model/profile.h"

#include <stdbool.h>
#include <stddef.h>

/* As on the command line; NULL: not given. */
struct sample_words {
	const char *kind, *stall, *role;
};

/* The rows in a table of options: `words` is the member of this type in the struct of `type`. */
#define OPTIONS_OF_SAMPLES(type, words, kind_default, role_default)                                          \
	{ "kind", "KIND",                                                                                    \
	  ONE_OF("samples of this kind alone (default " kind_default "): ",                                  \
		 "oncpu, offcpu, on-cpu or off-cpu"),                                                        \
	  .at = offsetof(type, words.kind) },                                                                \
		{ "stall", "STALL",                                                                          \
		  ONE_OF("waiting for this alone: ", "cpu, memory, io, memory+io, memory+cpu or none"),      \
		  .at = offsetof(type, words.stall) },                                                       \
	{                                                                                                    \
		"role", "ROLE",                                                                              \
			ONE_OF("samples of these alone (default " role_default "): ",                        \
			       "target, other, kernel or all"),                                              \
			.at = offsetof(type, words.role)                                                     \
	}

struct sample_choice {
	bool on_cpu, off_cpu; /* both unless --kind was given */
	const char *stall;    /* a resource, one of PSI's classes, or none; NULL: any */
	const char *role;     /* target, other or kernel; NULL: any, or --role all */
};

/* Reads the words, which outlive the choice, and whose values have been checked. */
struct sample_choice sample_choice_of(const struct sample_words *words);

/*
 * The same for a report that adds samples up: it is of one kind, on CPU unless the words say else, and of targets unless they
 * say else. A stall is of waiting, which is recorded of targets alone. Returns
 * OPTIONS_RUN; or EXIT_USAGE, and the mistake was logged.
 */
int sample_choice_read_one_kind(const struct sample_words *words, struct sample_choice *ret_choice);

/* Whether the choice wants this sample. A resource wants all classes that it is a part of: `io` also memory+io. */
bool sample_is_wanted(const struct profile *profile, const struct profile_sample *sample,
		      const struct sample_choice *choice);

#endif
