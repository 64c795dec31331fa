/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/system/options.h"

#include "common/base/version.h"
#include "common/system/log.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_help(const struct command_spec *command)
{
	printf("Usage: %s %s\n%s\n\n", command->program, command->usage, command->about);
	for (size_t i = 0; i < command->options_count; i++) {
		const struct option_spec *option = &command->options[i];
		char left[48];

		snprintf(left, sizeof(left), "%s%s%s%s", option_dashes(option->name), option->name,
			 option->argument ? " " : "", option->argument ? option->argument : "");
		printf("  %-24s %s\n", left, option->help);
	}
	printf("  %-24s %s\n  %-24s %s\n", "--help", "print this help", "--version", "print the version");
	if (command->example)
		printf("\nExample: %s\n", command->example);
}

static const struct option_spec *find_option(const struct command_spec *command, const char *name,
					     size_t length)
{
	for (size_t i = 0; i < command->options_count; i++)
		if (strlen(command->options[i].name) == length &&
		    !memcmp(command->options[i].name, name, length))
			return &command->options[i];
	return NULL;
}

static bool says(const char *word, const char *longer, const char *shorter)
{
	return !strcmp(word, longer) || !strcmp(word, shorter);
}

/* Returns false, and logs it, if it was given too often. */
static bool add_to_list(struct option_list *list, const struct option_spec *option, const char *value)
{
	if (!list || strcmp(list->name, option->name) != 0)
		return true;
	if (list->count == list->room) {
		log_error("option --%s may be given %zu times at most", option->name, list->room);
		return false;
	}
	list->values[list->count++] = value;
	return true;
}

int options_parse_list(const struct command_spec *command, int count, char **arguments, int *ret_words,
		       struct option_list *list)
{
	int words = 0;
	bool ended = false;

	for (int i = 1; i < count; i++) {
		const struct option_spec *option;
		const char *word = arguments[i], *value;

		/* a short option is accepted if a table names it ("-o"); "-" alone is a word */
		if (ended || word[0] != '-' || !word[1]) {
			arguments[1 + words++] = arguments[i];
			continue;
		}
		if (!strcmp(word, "--")) {
			ended = true;
			continue;
		}
		if (says(word, "--help", "-h")) {
			print_help(command);
			return EXIT_DONE;
		}
		if (says(word, "--version", "-V")) {
			printf("%s %s\n", command->program, BOURDON_VERSION);
			return EXIT_DONE;
		}
		word += word[1] == '-' ? 2 : 1;
		value = strchr(word, '=');
		option = find_option(command, word, value ? (size_t)(value - word) : strlen(word));
		if (!option)
			return log_failed(EXIT_USAGE, "unknown option '%s': see '%s --help'", arguments[i],
					  command->program);
		if (!option->argument) {
			if (value)
				return log_failed(EXIT_USAGE, "option %s%s takes no argument",
						  option_dashes(option->name), option->name);
			*option->value = "yes";
			continue;
		}
		if (value)
			value++;
		else if (i + 1 < count)
			value = arguments[++i];
		if (!value || !*value)
			return log_failed(EXIT_USAGE, "option %s%s needs %s", option_dashes(option->name),
					  option->name, option->argument);
		*option->value = value;
		if (!add_to_list(list, option, value))
			return EXIT_USAGE;
	}
	*ret_words = words;
	return OPTIONS_RUN;
}

int options_parse(const struct command_spec *command, int count, char **arguments, int *ret_words)
{
	return options_parse_list(command, count, arguments, ret_words, NULL);
}

int options_number(const char *text, unsigned long long least, unsigned long long most,
		   unsigned long long *ret_number)
{
	unsigned long long number;
	char *end;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	number = strtoull(text, &end, 10);
	if (*end)
		return -EINVAL;
	if (errno || number < least || number > most)
		return -ERANGE;
	*ret_number = number;
	return 0;
}
