/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/context/subcommand.h"

#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "report/model/query.h"
#include "report/text/time_text.h"

#include <stdlib.h>
#include <string.h>

/* ---- words ---- */

int subcommand_read_id(const char *word, int64_t *ret_id)
{
	unsigned long long number;

	if (options_number(word, 0, INT64_MAX, &number) < 0)
		return log_failed(EXIT_USAGE, "'%s' is not a capture's ID: 'bourdon list' shows them", word);
	*ret_id = (int64_t)number;
	return OPTIONS_RUN;
}

int subcommand_read_time(const char *option, const char *word, int64_t now_ns, int64_t *ret_ns)
{
	if (!time_text_read(word, now_ns, ret_ns))
		return OPTIONS_RUN;
	return log_failed(
		EXIT_USAGE,
		"%s '%s' is no time: give how long ago, such as 90min or 7d, or a time such as 2026-11-25T14:03:00Z",
		option, word);
}

static int read_limit(struct report *report, const struct subcommand *subcommand,
		      const struct shared_words *words)
{
	unsigned long long number;

	report->limit = words->json || words->csv ? -1 : subcommand->limit; /* for scripts: all rows */
	if (!words->limit)
		return OPTIONS_RUN;
	if (options_number(words->limit, 1, INT64_MAX, &number) < 0)
		return log_failed(EXIT_USAGE, "--limit '%s' is not a number of rows: give 1 or more",
				  words->limit);
	report->limit = (int64_t)number;
	return OPTIONS_RUN;
}

static int read_operands(struct report *report, const struct subcommand *subcommand)
{
	int count = report->operands_count;

	if (count < subcommand->operands_least)
		return log_failed(EXIT_USAGE, "'%s' needs %s: see 'bourdon %s --help'", subcommand->name,
				  count ? "a FILE" : "a file to write", subcommand->name);
	if (count > (subcommand->takes_id ? 1 : subcommand->operands_most))
		return log_failed(EXIT_USAGE, "unexpected argument '%s' after '%s': see 'bourdon %s --help'",
				  report->operands[count - 1], subcommand->name, subcommand->name);
	report->capture_id = -1;
	return subcommand->takes_id && count ? subcommand_read_id(report->operands[0], &report->capture_id)
					     : OPTIONS_RUN;
}

static const char *from_environment(const char *name, const char *otherwise)
{
	const char *value = getenv(name);

	return value && *value ? value : otherwise;
}

/* `values` has commas and the word "or" between them. */
static bool is_one_of(const char *word, const char *values)
{
	for (size_t bytes; *values; values += bytes) {
		values += strspn(values, ", ");
		bytes = strcspn(values, ", ");
		if (strlen(word) == bytes && !memcmp(word, values, bytes))
			return strcmp(word, "or") != 0;
	}
	return false;
}

/* ---- options ---- */

const struct command_option *subcommand_option(const struct subcommand *subcommand, const char *argument)
{
	const char *name = argument + (argument[1] == '-' ? 2 : 1);
	size_t bytes = strcspn(name, "=");

	for (size_t i = 0; i < subcommand->options_count; i++)
		if (strlen(subcommand->options[i].name) == bytes &&
		    !memcmp(subcommand->options[i].name, name, bytes))
			return &subcommand->options[i];
	return NULL;
}

/* Where the subcommand has the word of this option, of itself or of an alias. */
static const char **place_of_word(const struct subcommand *subcommand, const struct command_option *option,
				  void *words)
{
	if (option->stands_for)
		option = subcommand_option(subcommand->alias_of, option->stands_for);
	return (const char **)((char *)words + option->at);
}

/* Gives the options of an alias's subcommand the words that those of the alias, and the alias itself, stand for. */
static void give_words(const struct subcommand *alias, void *words)
{
	for (size_t i = 0; i < alias->options_count; i++) {
		const struct command_option *option = &alias->options[i];
		const char **word = place_of_word(alias, option, words);

		if (option->stands_for && *word)
			*word = strchr(option->stands_for, '=') + 1;
	}
	for (size_t i = 0; i < ARRAY_SIZE(alias->always) && alias->always[i]; i++) {
		const struct command_option *option = subcommand_option(alias->alias_of, alias->always[i]);

		*place_of_word(alias, option, words) = strchr(alias->always[i], '=') + 1;
	}
}

static int check_values(const struct subcommand *subcommand, void *words)
{
	for (size_t i = 0; i < subcommand->options_count; i++) {
		const struct command_option *option = &subcommand->options[i];
		const char *word = *place_of_word(subcommand, option, words);

		if (!word || !option->values || is_one_of(word, option->values))
			continue;
		return log_failed(EXIT_USAGE, "--%s '%s' is unknown: expected %s", option->name, word,
				  option->values);
	}
	return OPTIONS_RUN;
}

/* Reads the options alone. */
static int parse_options(const struct subcommand *subcommand, int count, char **arguments, void *words,
			 int *ret_operands)
{
	_cleanup_free_ struct option_spec *options = calloc(subcommand->options_count, sizeof(*options));
	const struct shared_words *shared = words;
	char usage[64];
	const struct command_spec command = { .program = "bourdon",
					      .usage = usage,
					      .about = subcommand->about,
					      .example = subcommand->example,
					      .options = options,
					      .options_count = subcommand->options_count };

	if (!options)
		return log_failed(EXIT_FAILED, "out of memory");
	for (size_t i = 0; i < subcommand->options_count; i++) {
		const struct command_option *option = &subcommand->options[i];

		options[i] = (struct option_spec){ option->name, option->argument, option->help,
						   place_of_word(subcommand, option, words) };
	}
	snprintf(usage, sizeof(usage), "%s [OPTION...]%s%s", subcommand->name,
		 *subcommand->operands ? " " : "", subcommand->operands);
	return options_parse_list(&command, count, arguments, ret_operands, shared->list);
}

int subcommand_run(struct report *report, const struct subcommand *subcommand, int count, char **arguments)
{
	report->alias = subcommand->alias_of ? subcommand : NULL;
	return (subcommand->alias_of ? subcommand->alias_of : subcommand)->main(report, count, arguments);
}

int subcommand_parse(struct report *report, const struct subcommand *subcommand, int count, char **arguments,
		     void *words)
{
	const struct shared_words *shared = words;
	int status;

	if (report->alias)
		subcommand = report->alias;
	status = parse_options(subcommand, count, arguments, words, &report->operands_count);
	if (status == OPTIONS_RUN)
		status = check_values(subcommand, words);
	if (status != OPTIONS_RUN)
		return status;
	if (report->alias)
		give_words(report->alias, words);
	report->operands = arguments + 1;
	report->json = shared->json;
	report->layout = layout_of(report->out, false);
	report->database->path = shared->db ? shared->db : from_environment("BOURDON_DB", DATABASE_DEFAULT);
	report->run_dir = shared->run_dir ? shared->run_dir
					  : from_environment("BOURDON_RUN_DIR", RUN_DIRECTORY_DEFAULT);
	status = read_limit(report, subcommand, shared);
	return status == OPTIONS_RUN ? read_operands(report, subcommand) : status;
}

/* ---- the database ---- */

int subcommand_open(struct report *report)
{
	return database_open(report->database->path, report->database) < 0 ? EXIT_FAILED : OPTIONS_RUN;
}

int subcommand_open_capture(struct report *report)
{
	int status = subcommand_open(report);

	return status == OPTIONS_RUN ? subcommand_choose(report, report->capture_id, &report->capture_id)
				     : status;
}

static bool has_captures(struct database *database)
{
	_cleanup_query_ struct query query =
		query_begin(database, "SELECT 1 FROM capture WHERE trigger_mode <> 'baseline' LIMIT 1", 0, 0);

	return query_next(&query);
}

int subcommand_choose(struct report *report, int64_t wanted, int64_t *ret_capture_id)
{
	struct database *database = report->database;
	_cleanup_query_ struct query query = query_begin(
		database,
		wanted < 0 ? "SELECT capture_id FROM capture WHERE state = 'complete' AND "
			     "trigger_mode <> 'baseline' ORDER BY triggered_at DESC, capture_id DESC LIMIT 1"
			   : "SELECT capture_id FROM capture WHERE capture_id = ?1",
		wanted, 0);

	if (query_next(&query)) {
		*ret_capture_id = query_number(&query, "capture_id");
		return OPTIONS_RUN;
	}
	if (database->failed)
		return EXIT_FAILED;
	if (!has_captures(database))
		log_error(
			"no capture in '%s' yet: bourdond stores one when a rule fires; 'bourdon status' shows the rules",
			database->path);
	else if (wanted < 0)
		log_error("no complete capture in '%s' yet: name one of 'bourdon list' by its ID",
			  database->path);
	else
		log_error("no capture %lld in '%s': 'bourdon list' shows all captures", (long long)wanted,
			  database->path);
	return EXIT_FAILED;
}
