/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * subcommand.h owns what the subcommands of bourdon share: the form of their tables, the options that several of them take, and
 * how the database is opened and a capture in it is chosen. A subcommand is a file with its table, a struct of the words that its
 * options are given, and NAME_main(). An alias is a table alone, in alias.c. report/command.c finds the subcommand that a command
 * line names.
 *
 * Room: what each subcommand is given. Subcommands call it, and command.c; it reads options and the
 * environment, drops root before the database is opened, and makes the file of -o.
 */
#ifndef BOURDON_REPORT_CONTEXT_SUBCOMMAND_H
#define BOURDON_REPORT_CONTEXT_SUBCOMMAND_H

#include "common/protocol/pins.h"
#include "common/system/options.h"
#include "report/context/report.h"

#include <limits.h>
#include <stddef.h>

/* A table is constant, so an option says where its word goes by the offset in the subcommand's struct of words. */
struct command_option {
	const char *name, *argument, *help; /* as of struct option_spec */
	size_t at;
	const char *values; /* the only ones that there are: "cpu, io or irq"; NULL: it may have any */
	const char *
		stands_for; /* of a switch of an alias: "--kind=offcpu", as its subcommand takes it; else NULL */
};

/* The help and the values of an option that has one of a few words. */
#define ONE_OF(text, words) .help = text words, .values = words

/* Each struct of words begins with this one. A word that was not given is NULL. */
struct shared_words {
	const char *db, *json, *csv, *limit, *run_dir, *output;
	struct option_list *list; /* of an option that may be given several times; NULL: there is none */
};

/* The rest of a table's row for an option that several subcommands take. */
#define SHARED(name) .at = offsetof(struct shared_words, name)
#define DB_HELP "the database (default $BOURDON_DB, or " DATABASE_DEFAULT ")"
#define DB_UNREAD_HELP "accepted as by all subcommands, and not read"
#define JSON_HELP "print JSON, for scripts"
#define RUN_DIR_HELP                                                                                         \
	"where bourdon-load's manifest is (default $BOURDON_RUN_DIR, or " RUN_DIRECTORY_DEFAULT ")"
#define OUTPUT_HELP "write this file (default, or -: standard output, if it is no terminal)"

struct subcommand {
	const char *name;     /* one word, or two */
	const char *operands; /* what follows the options, for the usage; "": nothing */
	const char *help;     /* one line */
	const char *about;    /* a paragraph */
	const char *example;
	const struct command_option *options;
	size_t options_count;
	/* Returns OPTIONS_RUN after it has run, and `report` says how it went; else the exit status, and the reason was logged. */
	int (*main)(struct report *report, int count, char **arguments);
	const struct subcommand *alias_of; /* that runs, instead of main(); NULL: this is no alias */
	const char *always[2]; /* of an alias: options that its subcommand gets each time, as above */
	bool takes_id;         /* one operand, which may be left out: a capture's ID, or an incident's */
	int operands_least, operands_most; /* of one that takes others */
	int limit;                         /* rows in text output without --limit */
};

/* Defines a subcommand with the NAME_main() and the table `options` of its file. */
#define SUBCOMMAND(NAME, name_, operands_, help_, about_, example_, ...)                                     \
	const struct subcommand NAME##_subcommand = { .name = name_,                                         \
						      .operands = operands_,                                 \
						      .help = help_,                                         \
						      .about = about_,                                       \
						      .example = example_,                                   \
						      .options = options,                                    \
						      .options_count = ARRAY_SIZE(options),                  \
						      .main = NAME##_main,                                   \
						      __VA_ARGS__ }

extern const struct subcommand activity_subcommand, capture_subcommand, db_check_subcommand,
	db_compact_subcommand, db_copy_subcommand, db_merge_subcommand, diff_subcommand, doctor_subcommand,
	export_subcommand, flame_subcommand, folded_subcommand, latency_subcommand, list_subcommand,
	page_subcommand, show_subcommand, status_subcommand, symbolize_subcommand, threads_subcommand,
	top_subcommand, why_subcommand;

/* The option of this subcommand that an argument such as "--limit=3" gives; NULL: it has none. */
const struct command_option *subcommand_option(const struct subcommand *subcommand, const char *argument);

/* All of these return OPTIONS_RUN; or the exit status, and the reason was logged or --help was printed. */

/* Runs main() of the subcommand, or of the one that it is an alias of. */
int subcommand_run(struct report *report, const struct subcommand *subcommand, int count, char **arguments);

/*
 * Reads the arguments by the subcommand's table, or that of the alias by which it was called, into `words`, and into the report what subcommands share. Without --db and
 * --run-dir, BOURDON_DB and BOURDON_RUN_DIR are read.
 */
int subcommand_parse(struct report *report, const struct subcommand *subcommand, int count, char **arguments,
		     void *words);

/* Opens the database, to be read. */
int subcommand_open(struct report *report);

/* Opens it, and chooses the capture that was asked for. */
int subcommand_open_capture(struct report *report);

/* Finds a capture in the open database: the one of this ID; if it is negative, the newest complete one. */
int subcommand_choose(struct report *report, int64_t wanted, int64_t *ret_capture_id);

/* Reads a word that is a capture's ID. */
int subcommand_read_id(const char *word, int64_t *ret_id);

/* Reads a word that is a time, which may be relative to `now_ns`: Unix ns. */
int subcommand_read_time(const char *option, const char *word, int64_t now_ns, int64_t *ret_ns);

#endif
