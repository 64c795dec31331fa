/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * options.h parses command lines. Each program has one static table with its options, their arguments,
 * defaults and help; parsing, --help and error messages all use it.
 */
#ifndef BOURDON_COMMON_SYSTEM_OPTIONS_H
#define BOURDON_COMMON_SYSTEM_OPTIONS_H

#include <stddef.h>

struct option_spec {
	const char *name;     /* without the dashes */
	const char *argument; /* its argument as shown in help; NULL: a switch */
	const char *help;     /* includes the default */
	const char **value;   /* where the argument is stored (not copied); a switch stores "yes" */
};

struct command_spec {
	const char *program;
	const char *usage; /* synopsis after the program's name */
	const char *about; /* one line */
	const char *example;
	const struct option_spec *options;
	size_t options_count;
};

#define OPTIONS_RUN (-1)

/* What stands before the name on a command line. */
static inline const char *option_dashes(const char *name)
{
	return name[1] ? "--" : "-";
}

/*
 * Parses `arguments` (argv). Options may stand anywhere; "--" ends them. Words that are not options are
 * moved, in order, to the front of `arguments` after argv[0], and counted in *ret_words. Returns OPTIONS_RUN
 * to go on, otherwise the exit status: EXIT_DONE after --help and --version, EXIT_USAGE after an error, which
 * it has logged.
 */
int options_parse(const struct command_spec *command, int count, char **arguments, int *ret_words);

/* An option that may be given several times: each argument is stored in turn, beside the last one in its `value`. */
struct option_list {
	const char *name; /* in the table of the command */
	const char **values;
	size_t room, count;
};

/* As options_parse(). More arguments than there is room for are an error. */
int options_parse_list(const struct command_spec *command, int count, char **arguments, int *ret_words,
		       struct option_list *list);

/* Parses a whole decimal number between the limits. Returns 0, -EINVAL or -ERANGE. */
int options_number(const char *text, unsigned long long least, unsigned long long most,
		   unsigned long long *ret_number);

#endif
