/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/command.h"

#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "report/context/subcommand.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* 'bourdon db --help' describes the subcommands whose names begin so, 'bourdon --help' only names this group. */
#define GROUP "db"

static const struct subcommand help_subcommand;

static const struct subcommand *const subcommands[] = {
	&list_subcommand,     &show_subcommand,       &why_subcommand,     &top_subcommand,
	&latency_subcommand,  &diff_subcommand,       &folded_subcommand,  &export_subcommand,
	&flame_subcommand,    &page_subcommand,       &capture_subcommand, &threads_subcommand,
	&activity_subcommand, &symbolize_subcommand,  &status_subcommand,  &doctor_subcommand,
	&db_check_subcommand, &db_compact_subcommand, &db_copy_subcommand, &db_merge_subcommand,
	&help_subcommand,
};

/* Finds the subcommand of the first word, or of the first two. Either may be NULL. */
static const struct subcommand *find_subcommand(const char *first, const char *second)
{
	char name[32];

	if (!first)
		return NULL;
	if (strcmp(first, GROUP) != 0)
		second = NULL;
	snprintf(name, sizeof(name), "%s%s%s", first, second ? " " : "", second ? second : "");
	for (size_t i = 0; i < ARRAY_SIZE(subcommands); i++)
		if (!strcmp(subcommands[i]->name, name))
			return subcommands[i];
	return NULL;
}

static bool is_in_group(const struct subcommand *subcommand)
{
	return strchr(subcommand->name, ' ');
}

/* subcommand_option() of any subcommand. All options of one name have an argument, or none has. */
static const struct command_option *find_any_option(const char *argument)
{
	const struct command_option *option = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(subcommands) && !option; i++)
		option = subcommand_option(subcommands[i], argument);
	return option;
}

/* ---- what the command line has ---- */

/* Options may stand before the words that name the subcommand. */
struct command_line {
	int words[2]; /* positions of the first two words; 0: there is none */
	int unknown;  /* of an option that no subcommand has, before `asked`; 0: there is none */
	int asked;    /* of --help or --version; 0: there is none */
	int foreign;  /* of an option that the subcommand does not have */
};

static bool asks_question(const char *argument)
{
	return !strcmp(argument, "--help") || !strcmp(argument, "-h") || !strcmp(argument, "--version") ||
	       !strcmp(argument, "-V");
}

/* `subcommand` is NULL as long as it is not known. */
static struct command_line read_line(int count, char **arguments, const struct subcommand *subcommand)
{
	struct command_line line = { 0 };
	bool ended = false;

	for (int i = 1; i < count; i++) {
		const char *argument = arguments[i];
		const struct command_option *option;

		if (ended || argument[0] != '-' || !argument[1]) {
			if (!line.words[0] || !line.words[1])
				line.words[line.words[0] ? 1 : 0] = i;
			continue;
		}
		ended = !strcmp(argument, "--");
		if (ended)
			continue;
		option = find_any_option(argument);
		if (asks_question(argument))
			line.asked = line.asked ? line.asked : i;
		else if (!option && !line.asked && !line.unknown)
			line.unknown = i;
		else if (option && subcommand && !line.foreign && !subcommand_option(subcommand, argument))
			line.foreign = i;
		i += option && option->argument && !strchr(argument, '=');
	}
	return line;
}

/* ---- help ---- */

/* The text of 'bourdon --help' before the options; or that of 'bourdon db --help'. */
static void describe_subcommands(bool group, char *into, size_t into_bytes)
{
	FILE *out = fmemopen(into, into_bytes, "w");

	if (!out)
		return;
	fputs(group ? "Works on databases as a whole.\n"
		    : "Explains the captures of bourdond. ID is the number of a capture in 'bourdon list'.\n",
	      out);
	for (size_t i = 0; i < ARRAY_SIZE(subcommands); i++) {
		const char *operands = subcommands[i]->operands;

		/* the example names `help` */
		if (is_in_group(subcommands[i]) == group && subcommands[i] != &help_subcommand)
			fprintf(out, group ? "\n  %-11s%-12s%s" : "\n  %-10s%-5s%s", subcommands[i]->name,
				!group && strlen(operands) > 4 ? "..." : operands, subcommands[i]->help);
	}
	if (!group)
		fprintf(out, "\n  %-15s%s", GROUP " ...",
			"check, compact, copy and merge databases: 'bourdon " GROUP " --help'");
	fclose(out);
}

/* Logs a mistake in the words that should name a subcommand. Returns EXIT_USAGE. */
static int refuse_words(const char *first, const char *second)
{
	if (!first)
		log_error("no subcommand: see 'bourdon --help'");
	else if (strcmp(first, GROUP) != 0)
		log_error("unknown subcommand '%s': see 'bourdon --help'", first);
	else if (!second)
		log_error("no subcommand after '" GROUP "': see 'bourdon " GROUP " --help'");
	else
		log_error("unknown subcommand '" GROUP " %s': see 'bourdon " GROUP " --help'", second);
	return EXIT_USAGE;
}

/*
 * Prints the help, or the version, that `asked` asks for: of the subcommand that the words name, of the group, or of bourdon.
 * Returns the exit status.
 */
static int answer_question(struct report *report, const char *first, const char *second, char *asked)
{
	const struct subcommand *subcommand = find_subcommand(first, second);
	char *arguments[] = { (char[]){ "bourdon" }, asked, NULL };
	const char *db, *json;
	const struct option_spec shown[] = {
		{ "db", "FILE", DB_HELP, &db },
		{ "json", NULL, JSON_HELP, &json },
	};
	char about[2048] = "";
	struct command_spec command = {
		.program = "bourdon",
		.usage = "[OPTION...] SUBCOMMAND [ID]",
		.about = about,
		.example = "bourdon why        ('bourdon help SUBCOMMAND' explains a subcommand)",
		.options = shown,
		.options_count = ARRAY_SIZE(shown),
	};
	int words;

	if (subcommand)
		return subcommand_run(report, subcommand, 2, arguments);
	if (first && strcmp(first, GROUP) != 0)
		return refuse_words(first, second);
	describe_subcommands(first, about, sizeof(about));
	if (first) {
		command.usage = "[OPTION...] " GROUP " SUBCOMMAND";
		command.example = "bourdon db copy /tmp/copy.db";
		command.options_count = 1;
	}
	return options_parse(&command, 2, arguments, &words);
}

static const struct command_option options[] = { { "db", "FILE", DB_UNREAD_HELP, SHARED(db) } };

static int help_main(struct report *report, int count, char **arguments)
{
	struct shared_words words = { 0 };
	int status = subcommand_parse(report, &help_subcommand, count, arguments, &words);
	const char *first = report->operands_count > 0 ? report->operands[0] : NULL,
		   *second = report->operands_count > 1 ? report->operands[1] : NULL;

	return status == OPTIONS_RUN ? answer_question(report, first, second, (char[]){ "--help" }) : status;
}

static SUBCOMMAND(
	help, "help", "[SUBCOMMAND]", "explain a subcommand",
	"Explains a subcommand and its options, as 'bourdon SUBCOMMAND --help' does; without one, lists all.",
	"bourdon help why", .operands_most = 2);

/* ---- running ---- */

/* Removes the words of the subcommand's name. */
static int remove_name(const struct command_line *line, const struct subcommand *subcommand, int count,
		       char **arguments)
{
	for (int which = is_in_group(subcommand) ? 1 : 0; which >= 0; which--, count--)
		memmove(&arguments[line->words[which]], &arguments[line->words[which] + 1],
			(size_t)(count - 1 - line->words[which]) * sizeof(*arguments));
	return count;
}

static int run_line(struct report *report, int count, char **arguments)
{
	struct command_line line = read_line(count, arguments, NULL);
	const char *first = line.words[0] ? arguments[line.words[0]] : NULL,
		   *second = line.words[1] ? arguments[line.words[1]] : NULL;
	const struct subcommand *subcommand = find_subcommand(first, second);

	if (line.unknown)
		return log_failed(EXIT_USAGE, "unknown option '%s': see 'bourdon --help'",
				  arguments[line.unknown]);
	if (line.asked)
		return answer_question(report, first, second, arguments[line.asked]);
	if (!subcommand)
		return refuse_words(first, second);
	line = read_line(count, arguments, subcommand);
	if (line.foreign)
		return log_failed(EXIT_USAGE, "'%s' takes no %.*s: see 'bourdon %s --help'", subcommand->name,
				  (int)strcspn(arguments[line.foreign], "="), arguments[line.foreign],
				  subcommand->name);
	return subcommand_run(report, subcommand, remove_name(&line, subcommand, count, arguments),
			      arguments);
}

/* The exit status of a subcommand that has run. */
static int finish_report(struct report *report)
{
	bool is_whole = !report->database->failed && !report->unwell;

	if (report->output.file && !report->is_child)
		return is_whole && output_file_finish(&report->output) >= 0 ? EXIT_DONE : EXIT_FAILED;
	if (fflush(report->out) || ferror(report->out))
		return log_failed(EXIT_FAILED, "cannot write the report: %s%s", strerror(errno),
				  errno == ENOSPC || errno == EDQUOT
					  ? "; make room, or write it to another file system"
					  : "");
	return is_whole ? EXIT_DONE : EXIT_FAILED;
}

int command_main(int count, char **arguments, FILE *out)
{
	_cleanup_database_ struct database database = { 0 };
	struct report report = { .database = &database, .out = out };
	int status = run_line(&report, count, arguments);

	if (status == OPTIONS_RUN)
		status = finish_report(&report);
	if (report.is_child)
		_exit(status);
	output_file_end(&report.output);
	return status;
}
