/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * options.h owns the command lines: one static table a binary says what an option is called, what it
 * takes, its default and its help, and parsing, --help and errors all come from it.
 */
#ifndef BOURDON_OPTIONS_H
#define BOURDON_OPTIONS_H

#include <stddef.h>

struct option_spec {
	const char *name;     /* without the dashes */
	const char *argument; /* what it takes, as help shows it; NULL: a switch */
	const char *help;     /* its default belongs in it */
	const char **value;   /* where the argument goes (not copied); a switch stores "yes" */
};

struct command_spec {
	const char *program;
	const char *usage; /* the synopsis after the name */
	const char *about; /* one line */
	const char *example;
	const struct option_spec *options;
	size_t options_count;
};

#define OPTIONS_RUN (-1)

/*
 * Parses `arguments` (argv). Options may stand anywhere; "--" ends them. Words that are no option are
 * moved, in order, to the front of `arguments` behind argv[0], and counted in *ret_words.
 * Returns OPTIONS_RUN to go on, else the exit status: --help and --version print and give EXIT_DONE, a
 * mistake logs one line and gives EXIT_USAGE.
 */
int options_parse(const struct command_spec *command, int count, char **arguments, int *ret_words);

/* Parses a whole decimal number between the limits; 0 or -EINVAL, -ERANGE. */
int options_number(const char *text, unsigned long long least, unsigned long long most,
		   unsigned long long *ret_number);

#endif
