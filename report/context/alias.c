/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * alias.c owns the subcommands that are others with some of their options: what each says of itself, the options that it takes, and
 * those that it stands for.
 */
#include "common/base/cleanup.h"
#include "report/context/subcommand.h"

static const struct command_option folded_options[] = {
	{ "db", "FILE", DB_HELP, SHARED(db) },
	{ "off-cpu", NULL, "waiting alone, in microseconds", .stands_for = "--kind=offcpu" },
};

static const struct command_option show_options[] = {
	{ "db", "FILE", DB_HELP, SHARED(db) },
	{ "json", NULL, JSON_HELP, SHARED(json) },
};

const struct subcommand folded_subcommand = {
	.name = "folded",
	.operands = "[ID]",
	.help = "print one line per stack, for flame graph tools",
	.about =
		"Prints one line per stack of capture ID, with its samples on CPU, as flamegraph.pl reads it.\n"
		"Debian's package libdevel-nytprof-perl contains flamegraph.pl. Without ID: the newest complete\n"
		"capture.",
	.example = "bourdon folded | /usr/share/perl5/Devel/NYTProf/flamegraph.pl > why.svg",
	.options = folded_options,
	.options_count = ARRAY_SIZE(folded_options),
	.takes_id = true,
	.alias_of = &export_subcommand,
	.always = { "--format=folded", "--role=target" },
};

const struct subcommand show_subcommand = {
	.name = "show",
	.operands = "[ID]",
	.help = "show what the database has of one capture, as it is",
	.about =
		"Shows the facts of capture ID: its row, its rule and run, how many rows belong to it, its losses.\n"
		"Without ID: the newest complete capture.",
	.example = "bourdon show 12",
	.options = show_options,
	.options_count = ARRAY_SIZE(show_options),
	.takes_id = true,
	.alias_of = &why_subcommand,
	.always = { "--section=stored" },
};
