/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/command.h"

#include "common/cleanup.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/options.h"
#include "common/pins.h"
#include "consumer/symbols/debug_files.h"
#include "report/capture_options.h"
#include "report/query.h"
#include "report/report.h"

#include <errno.h>
#include <string.h>

#define TAKES_ID 1U
#define TAKES_JSON 2U
#define TAKES_LIMIT 4U
#define TAKES_RUN_DIR 8U
#define OPENS_ITSELF 16U /* the database may be missing, or is opened to be written */
#define TAKES_DEBUG_DIR 32U
#define TAKES_OUT 64U
#define TAKES_IDS 128U
#define TAKES_FILES 256U
#define TAKES_NO_DB 512U
#define TAKES_INCIDENT 1024U
#define TAKES_REQUEST 2048U /* the options of capture */
#define TAKES_OFF_CPU 4096U
#define TAKES_THREADS 8192U   /* the options of threads */
#define TAKES_LIVE 16384U     /* --live, and with it the same options */
#define TAKES_ACTIVITY 32768U /* the options of activity */
#define TAKES_EXPORT 65536U   /* the format of export */
#define TAKES_OUTPUT 131072U  /* -o */
#define TAKES_AGAINST 262144U
#define TAKES_FLAME 524288U     /* the options of flame */
#define TAKES_SAMPLES 1048576U  /* --kind, --stall, --role */
#define TAKES_SECTIONS 2097152U /* --full and --section */
#define TAKES_DIFF 4194304U     /* two captures, and the options of diff */
#define TAKES_FILTER 8388608U   /* the options of list */
#define TAKES_BY 16777216U

/* 'bourdon db --help' describes the subcommands whose names begin so, 'bourdon --help' only names this group. */
#define GROUP "db"

struct subcommand {
	const char *name; /* one word, or two */
	const char *help; /* one line */
	const char *about;
	const char *example;
	unsigned int takes;
	int limit; /* rows in text output without --limit */
	void (*run)(struct report *report);
};

static const struct subcommand subcommands[] = {
	{ "list", "list the captures, newest first",
	  "Lists the captures, newest first: rule, pressure, samples, and the largest share that was lost.\n"
	  "Baselines, which bourdond takes of calm rules, are listed with --all or --baseline.",
	  "bourdon list --rule web --since 7d --resource cpu", TAKES_JSON | TAKES_LIMIT | TAKES_FILTER, 50,
	  list_run },
	{ "show", "show what the database has of one capture, as it is",
	  "Shows the facts of capture ID: its row, its rule and run, how many rows belong to it, its losses.\n"
	  "Without ID: the newest complete capture.",
	  "bourdon show 12", TAKES_ID | TAKES_JSON, 0, show_run },
	{ "why", "answer: what was short, for whom, by whom, where, and what to do about it",
	  "Answers about capture ID in 14 lines at most: what was short, who waited, for whom, where in the code,\n"
	  "since when, whether it goes on, how certain that is, the command that changes it or tells more, and whether\n"
	  "it is usual. --full and --section show the evidence.\n"
	  "Without ID: the newest complete capture. With --incident, ID is an incident's.",
	  "bourdon why 12 --section stacks,groups", TAKES_ID | TAKES_JSON | TAKES_INCIDENT | TAKES_SECTIONS,
	  0, why_run },
	{ "top", "list the functions that used most CPU time",
	  "Lists the functions of capture ID with most samples on CPU: SELF is the share of samples in the\n"
	  "function itself, TOTAL the share in it and its callees. Without ID: the newest complete capture.\n"
	  "With --live: what is on the CPUs now, without a capture. CPUS is how many CPUs a group used. A screen,\n"
	  "with ? for help; or with --once, --json or --csv a table of one second.",
	  "bourdon top --live --match 'unit=nginx.service' --columns function,module",
	  TAKES_ID | TAKES_JSON | TAKES_LIMIT | TAKES_LIVE | TAKES_BY, 30, top_run },
	{ "diff", "list the functions and stacks that changed between two captures",
	  "Lists the functions and stacks that took more or less time in B than in A: in ms of all threads a second,\n"
	  "and their shares, each with P, the chance that two recordings of one load differ as much. A and B are IDs;\n"
	  "ID:before and ID:after are the parts of a capture before and after its trigger. 'baseline' compares\n"
	  "capture B from its trigger on with the rule's last baselines. Without B: the newest complete capture.",
	  "bourdon diff baseline 12", TAKES_DIFF | TAKES_SAMPLES | TAKES_JSON | TAKES_LIMIT | TAKES_BY, 30,
	  diff_run },
	{ "folded", "print one line per stack, for flame graph tools",
	  "Prints one line per stack of capture ID, with its samples on CPU, as flamegraph.pl reads it.\n"
	  "Debian's package libdevel-nytprof-perl contains flamegraph.pl. Without ID: the newest complete\n"
	  "capture.",
	  "bourdon folded | /usr/share/perl5/Devel/NYTProf/flamegraph.pl > why.svg", TAKES_ID | TAKES_OFF_CPU,
	  0, folded_run },
	{ "export", "write a capture in a format that another program reads",
	  "Writes capture ID in a format of another program: firefox (profiler.firefox.com), pprof, perf-script,\n"
	  "speedscope, chrome (ui.perfetto.dev), folded, csv or json. docs/EXPORTS.md says how to open each, and\n"
	  "what it cannot hold. --kind, --stall and --role choose samples. Without ID: the newest complete capture.",
	  "bourdon export 12 --format firefox -o 12.json",
	  TAKES_ID | TAKES_EXPORT | TAKES_OUTPUT | TAKES_SAMPLES, 0, export_run },
	{ "flame", "draw the stacks as a flame graph, one SVG file",
	  "Draws the stacks of capture ID as a flame graph: one SVG file without script, for a ticket. Each frame\n"
	  "has a title: function, file, share. Without options: what the targets did on CPU.\n"
	  "Without ID: the newest complete capture.",
	  "bourdon flame 12 --kind offcpu --stall io -o waiting.svg",
	  TAKES_ID | TAKES_OUTPUT | TAKES_FLAME | TAKES_SAMPLES, 0, flame_run },
	{ "report", "write a page to look at a capture in a browser, one HTML file",
	  "Writes a page about capture ID: one HTML file that loads nothing, to open in a browser or to attach to\n"
	  "a ticket. It has what why says, pressure and samples over time, flame graphs, and tables. Select a span\n"
	  "of time, and all of it is about that span. Without ID: the newest complete capture.",
	  "bourdon report 12 --against 7 -o capture-12.html", TAKES_ID | TAKES_OUTPUT | TAKES_AGAINST, 0,
	  page_run },
	{ "capture", "capture some processes now, for as long as --for says",
	  "Records processes now, without waiting for pressure, and stores a capture. Name them by --pid, by --comm\n"
	  "and --unit or --cgroup, or by --all. Root's policy decides who may be recorded. Ctrl-C ends it early\n"
	  "and keeps the result. Members of bourdond's group may ask. --who and --end are about those under way.",
	  "bourdon capture --pid 4711 --for 30s --format folded | flamegraph.pl > now.svg",
	  TAKES_REQUEST | TAKES_OFF_CPU | TAKES_JSON | OPENS_ITSELF, 0, capture_run },
	{ "threads", "show what all threads do now: a live screen, or --once",
	  "Shows what all threads of the machine do, in groups: AVERAGE is how many threads were in a group at a\n"
	  "look. A screen, with ? for help; or with --once, --json or --csv a table of one second. Members of the\n"
	  "group bourdon-read may ask. Without a word on the state: threads that run, are queued, or are in D.",
	  "bourdon threads --once --match 'state=D unit=*.service' --columns function,unit",
	  TAKES_JSON | TAKES_LIMIT | TAKES_RUN_DIR | TAKES_THREADS | TAKES_NO_DB | OPENS_ITSELF, 30,
	  threads_run },
	{ "activity", "show what all threads did over hours and days, in groups",
	  "Shows what all threads of the machine did, as bourdond saw it at its looks, in groups: AVERAGE is how\n"
	  "many threads were in a group at a look, MOST the most at one look. bourdond looks if bourdon.conf has an\n"
	  "interval below [activity]. Without --all or a word on the state: threads that ran, were queued, or in D.",
	  "bourdon activity --since 8h --match 'unit=*.service' --group-by state,syscall,unit",
	  TAKES_JSON | TAKES_LIMIT | TAKES_ACTIVITY, 30, activity_run },
	{ "symbolize", "name frames that have no name, from programs and debug files",
	  "Writes names into the database for frames that have none, from programs and debug files with the\n"
	  "same build IDs. A confined child process reads these files.",
	  "bourdon --db copy.db symbolize --debug-dir /srv/debug", TAKES_DEBUG_DIR | OPENS_ITSELF, 0,
	  symbolize_run },
	{ "status", "show what bourdond is doing, and its problems",
	  "Shows what the running bourdond reports: problems and remedies, rules, watches, captures under way,\n"
	  "unwind tables, counters. Without a running bourdond: its last run. Exit status 1: it is not running.",
	  "bourdon status --json", TAKES_JSON | OPENS_ITSELF, 0, status_run },
	{ "doctor", "check this machine and the installation",
	  "Checks the kernel and its settings, what bourdon-load left, the confinement of bourdond, and the\n"
	  "database. Exit status 1: a check failed.",
	  "bourdon doctor", TAKES_JSON | TAKES_RUN_DIR | OPENS_ITSELF, 0, doctor_run },
	{ "db check", "check that the database is intact",
	  "Checks the database, and changes nothing: its pages, its references between tables, each stack and\n"
	  "its hash, each sample, each view. Exit status 1: it is damaged, or cannot be read.",
	  "bourdon --db copy.db db check", OPENS_ITSELF, 0, db_check_run },
	{ "db compact", "give unused space back to the file system",
	  "Removes what no capture refers to, and gives unused space back to the file system. The daemon may\n"
	  "run meanwhile. The file system needs room for two more copies of the database.",
	  "bourdon db compact", OPENS_ITSELF, 0, db_compact_run },
	{ "db copy", "copy the database, or single captures, to a new file",
	  "Writes a consistent copy of the database to OUT, one file, while the daemon runs; with IDs a\n"
	  "database of these captures alone. OUT must not exist. A copy by cp lacks what is in the log.",
	  "bourdon db copy /tmp/for-support.db 12 15", TAKES_OUT | TAKES_IDS | OPENS_ITSELF, 0, db_copy_run },
	{ "db merge", "add the captures of other databases to a database",
	  "Adds all captures of each FILE to OUT, which is created if it does not exist. What OUT already has\n"
	  "is not added again. A capture whose ID is in use gets the next free one; capture.recorded_as has\n"
	  "the ID that it had where it was recorded.",
	  "bourdon db merge fleet.db host-a.db host-b.db",
	  TAKES_OUT | TAKES_FILES | TAKES_NO_DB | OPENS_ITSELF, 0, db_merge_run },
};

/* Finds the subcommand of the first word, or of the first two. `second` may be NULL. */
static const struct subcommand *find_subcommand(const char *first, const char *second)
{
	char name[32];

	if (strcmp(first, GROUP) != 0)
		second = NULL;
	snprintf(name, sizeof(name), "%s%s%s", first, second ? " " : "", second ? second : "");
	for (size_t i = 0; i < ARRAY_SIZE(subcommands); i++)
		if (!strcmp(subcommands[i].name, name))
			return &subcommands[i];
	return NULL;
}

static bool is_in_group(const struct subcommand *subcommand)
{
	return strchr(subcommand->name, ' ');
}

static int words_of(const struct subcommand *subcommand)
{
	return is_in_group(subcommand) ? 2 : 1;
}

/* What follows the subcommand's name on the command line. */
static const char *operands_of(const struct subcommand *subcommand)
{
	if (subcommand->takes & TAKES_OUT)
		return subcommand->takes & TAKES_IDS ? " OUT [ID...]" : " OUT FILE...";
	if (subcommand->takes & TAKES_DIFF)
		return " A|baseline [B]";
	return subcommand->takes & TAKES_ID ? " [ID]" : "";
}

/* The text of 'bourdon --help' before the options, from the table of subcommands. */
static void describe_all(char *into, size_t into_bytes)
{
	size_t used = (size_t)snprintf(
		into, into_bytes,
		"Explains the captures of bourdond. ID is the number of a capture in 'bourdon list'.\n");

	for (size_t i = 0; i < ARRAY_SIZE(subcommands) && used < into_bytes; i++)
		if (!is_in_group(&subcommands[i]))
			used += (size_t)snprintf(into + used, into_bytes - used, "\n  %-10s%-5s%s",
						 subcommands[i].name,
						 subcommands[i].takes & TAKES_ID     ? "[ID]"
						 : subcommands[i].takes & TAKES_DIFF ? "A B"
										     : "",
						 subcommands[i].help);
	if (used < into_bytes)
		snprintf(into + used, into_bytes - used, "\n  %-15s%s", GROUP " ...",
			 "check, compact, copy and merge databases: 'bourdon " GROUP " --help'");
}

/* The same of 'bourdon db --help'. */
static void describe_group(char *into, size_t into_bytes)
{
	size_t used = (size_t)snprintf(into, into_bytes, "Works on databases as a whole.\n");

	for (size_t i = 0; i < ARRAY_SIZE(subcommands) && used < into_bytes; i++)
		if (is_in_group(&subcommands[i])) {
			char synopsis[64];

			snprintf(synopsis, sizeof(synopsis), "%s%s", subcommands[i].name,
				 operands_of(&subcommands[i]));
			used += (size_t)snprintf(into + used, into_bytes - used, "\n  %-23s%s", synopsis,
						 subcommands[i].help);
		}
}

/* Logs a mistake in the words before the subcommand's name is known. Returns EXIT_USAGE. */
static int refuse_words(int words, char **word)
{
	if (!words)
		log_error("no subcommand: see 'bourdon --help'");
	else if (strcmp(word[0], GROUP) != 0)
		log_error("unknown subcommand '%s': see 'bourdon --help'", word[0]);
	else if (words == 1)
		log_error("no subcommand after '" GROUP "': see 'bourdon " GROUP " --help'");
	else
		log_error("unknown subcommand '" GROUP " %s': see 'bourdon " GROUP " --help'", word[1]);
	return EXIT_USAGE;
}

/* Returns OPTIONS_RUN; or EXIT_USAGE, and the mistake was logged. */
static int read_id(const char *word, int64_t *ret_id)
{
	unsigned long long number;

	if (options_number(word, 0, INT64_MAX, &number) < 0) {
		log_error("'%s' is not a capture's ID: 'bourdon list' shows them", word);
		return EXIT_USAGE;
	}
	*ret_id = (int64_t)number;
	return OPTIONS_RUN;
}

/* Reads what follows the subcommand's name. Returns OPTIONS_RUN; or EXIT_USAGE, and the mistake was logged. */
static int parse_operands(const struct subcommand *subcommand, int count, char **operands,
			  struct request *request)
{
	int least = subcommand->takes & TAKES_FILES ? 2 : subcommand->takes & TAKES_OUT ? 1 : 0;
	int most = subcommand->takes & TAKES_DIFF ? 2 : subcommand->takes & TAKES_ID ? 1 : least;
	bool has_more = subcommand->takes & (TAKES_IDS | TAKES_FILES);
	int64_t id;

	request->operands = operands;
	request->operands_count = count;
	if (count < least) {
		log_error("'%s' needs %s: see 'bourdon %s --help'", subcommand->name,
			  count ? "a FILE" : "a file to write", subcommand->name);
		return EXIT_USAGE;
	}
	if (!has_more && count > most) {
		log_error("unexpected argument '%s' after '%s': see 'bourdon %s --help'", operands[count - 1],
			  subcommand->name, subcommand->name);
		return EXIT_USAGE;
	}
	if (subcommand->takes & TAKES_ID && count)
		return read_id(operands[0], &request->capture_id);
	for (int i = least; i < count && subcommand->takes & TAKES_IDS; i++)
		if (read_id(operands[i], &id) != OPTIONS_RUN)
			return EXIT_USAGE;
	return OPTIONS_RUN;
}

/* An option, and which subcommands take it: those that have this flag; 0: all that read the database. */
struct command_option {
	unsigned int takes;
	struct option_spec spec;
};

static bool takes_option(const struct subcommand *subcommand, const struct command_option *option)
{
	return option->takes ? subcommand->takes & option->takes : !(subcommand->takes & TAKES_NO_DB);
}

/* Returns OPTIONS_RUN; or EXIT_USAGE, if an option was given that the subcommand does not take, and that was logged. */
static int refuse_options(const struct subcommand *subcommand, const struct command_option *options,
			  size_t options_count)
{
	for (size_t i = 0; i < options_count; i++) {
		if (!*options[i].spec.value || takes_option(subcommand, &options[i]))
			continue;
		log_error("'%s' takes no %s%s: see 'bourdon %s --help'", subcommand->name,
			  option_dashes(options[i].spec.name), options[i].spec.name, subcommand->name);
		return EXIT_USAGE;
	}
	return OPTIONS_RUN;
}

/* Reads what options say that the subcommand takes. Returns OPTIONS_RUN; or EXIT_USAGE, and the mistake was logged. */
static int read_values(const char *limit, const struct capture_words *ask,
		       const struct threads_words *threads, const struct activity_words *activity,
		       const struct export_words *export, const struct flame_words *flame,
		       struct request *request)
{
	const struct subcommand *subcommand = request->subcommand;
	unsigned long long number;

	request->limit = request->json || threads->csv ? -1 : subcommand->limit; /* for scripts: all rows */
	if (limit) {
		if (options_number(limit, 1, INT64_MAX, &number) < 0) {
			log_error("--limit '%s' is not a number of rows: give 1 or more", limit);
			return EXIT_USAGE;
		}
		request->limit = (int64_t)number;
	}
	if (subcommand->takes & TAKES_EXPORT)
		return export_options_read(export, &request->export);
	if (subcommand->takes & TAKES_REQUEST &&
	    capture_options_read(ask, &request->ask, &request->under_way) != OPTIONS_RUN)
		return EXIT_USAGE;
	if (subcommand->takes & (TAKES_THREADS | TAKES_LIVE))
		return threads_options_read(threads, request->json, &request->threads);
	if (subcommand->takes & TAKES_ACTIVITY)
		return activity_options_read(activity, clock_wall_ns(), &request->activity);
	if (subcommand->takes & TAKES_FLAME)
		return flame_options_read(flame, &request->flame);
	return OPTIONS_RUN;
}

/* The same of list, top and diff. */
static int read_comparing_values(const struct list_words *list, const struct diff_words *diff,
				 struct request *request)
{
	const struct subcommand *subcommand = request->subcommand;
	bool by_total;

	if (subcommand->takes & TAKES_FILTER)
		return list_options_read(list, clock_wall_ns(), &request->list);
	if (subcommand->takes & TAKES_DIFF)
		return diff_options_read(diff, request->operands, request->operands_count, &request->diff);
	if (!(subcommand->takes & TAKES_BY) || !diff->by)
		return OPTIONS_RUN;
	if (diff_options_by(diff->by, &by_total) != OPTIONS_RUN)
		return EXIT_USAGE;
	request->top_by = by_total ? TOP_BY_TOTAL : TOP_BY_SELF;
	return OPTIONS_RUN;
}

/* `top` alone is of a capture, and `top --live` of none. Returns OPTIONS_RUN or EXIT_USAGE. */
static int check_live(const struct request *request, const struct threads_words *threads)
{
	bool has_more = threads->once || threads->csv || threads->match || threads->columns;

	if (!(request->subcommand->takes & TAKES_LIVE))
		return OPTIONS_RUN;
	if (!threads->live && has_more)
		log_error(
			"'top' takes --once, --csv, --match and --columns with --live alone: see 'bourdon top --help'");
	else if (threads->live && request->operands_count)
		log_error("'top --live' takes no ID: it is of no capture");
	else if (threads->live && request->top_by != TOP_BY_BOTH)
		log_error("'top --live' takes no --by: it lists functions by themselves");
	else
		return OPTIONS_RUN;
	return EXIT_USAGE;
}

/* Returns OPTIONS_RUN; EXIT_DONE, after the names of the sections; or EXIT_USAGE, and the mistake was logged. */
static int check_sections(const struct request *request)
{
	if (request->sections && !strcmp(request->sections, "help")) {
		why_list_sections(stdout);
		return EXIT_DONE;
	}
	if (request->of_incident && (request->full || request->sections))
		log_error("'why --incident' takes neither --full nor --section: it has all that there is");
	else if (request->full && request->sections)
		log_error("--full shows every section, and --section some: give one of them");
	else if (!request->sections || why_has_sections(request->sections))
		return OPTIONS_RUN;
	return EXIT_USAGE;
}

/* What --help is asked for. */
struct help_subject {
	const struct subcommand *subcommand; /* NULL: of none */
	bool is_group;
	bool is_general; /* of the program as a whole */
};

/* Neither, if --help was not given, or without a subcommand. */
static struct help_subject find_help_subject(const struct command_spec *command, int count, char **arguments)
{
	struct help_subject subject = { 0 };
	const char *words[2] = { 0 };
	size_t words_count = 0;
	bool asked = false;

	for (int i = 1; i < count; i++) {
		asked = asked || !strcmp(arguments[i], "--help") || !strcmp(arguments[i], "-h");
		if (arguments[i][0] != '-' && words_count < ARRAY_SIZE(words))
			words[words_count++] = arguments[i];
		for (size_t k = 0; k < command->options_count; k++)
			if (!strncmp(arguments[i], "--", 2) &&
			    !strcmp(arguments[i] + 2, command->options[k].name))
				i += command->options[k].argument != NULL;
	}
	subject.is_general = asked && !words_count;
	if (!asked || !words_count)
		return subject;
	subject.subcommand = find_subcommand(words[0], words[1]);
	subject.is_group = !subject.subcommand && !strcmp(words[0], GROUP);
	return subject;
}

int command_parse(int count, char **arguments, struct request *ret_request)
{
	const char *path = NULL, *json = NULL, *limit = NULL, *run_dir = NULL, *debug_dir = NULL,
		   *incident = NULL, *pid = NULL, *full = NULL, *sections = NULL, *no_color = NULL;
	struct capture_words ask = { 0 };
	struct option_list pids = { "pid", ask.pids, ARRAY_SIZE(ask.pids), 0 };
	struct threads_words threads = { 0 };
	struct activity_words activity = { 0 };
	struct export_words export = { 0 };
	struct flame_words flame = { 0 };
	struct sample_words samples = { 0 };
	const char *output = NULL, *against = NULL;
	struct list_words list = { 0 };
	struct diff_words diff = { 0 };
	const struct command_option options[] = {
		{ 0, { "db", "FILE", "the database (default " DATABASE_DEFAULT ")", &path } },
		{ TAKES_JSON, { "json", NULL, "print JSON, for scripts", &json } },
		{ TAKES_INCIDENT, { "incident", NULL, "why: explain a whole incident", &incident } },
		{ TAKES_SECTIONS, { "full", NULL, "why: everything", &full } },
		{ TAKES_SECTIONS,
		  { "section", "LIST", "why: these parts alone; 'help' lists them", &sections } },
		{ TAKES_SECTIONS, { "no-color", NULL, "why: no colour; nor with NO_COLOR set", &no_color } },
		{ TAKES_LIMIT,
		  { "limit", "N", "print at most N rows (list: 50, others: 30; JSON and CSV: all)",
		    &limit } },
		{ TAKES_RUN_DIR,
		  { "run-dir", "DIR",
		    "doctor, threads: where bourdon-load's manifest is (default " RUN_DIRECTORY_DEFAULT ")",
		    &run_dir } },
		{ TAKES_DEBUG_DIR,
		  { "debug-dir", "DIR",
		    "symbolize: where programs and debug files are (default " DEBUG_ROOT ")", &debug_dir } },
		{ TAKES_OFF_CPU,
		  { "off-cpu", NULL, "waiting alone; folded: in microseconds", &ask.off_cpu } },
		{ TAKES_OUTPUT,
		  { "o", "FILE", "write this file (default, or -: standard output, if it is no terminal)",
		    &output } },
		{ TAKES_AGAINST, { "against", "ID", "compare with this capture", &against } },
		{ TAKES_FLAME, { "icicle", NULL, "the outermost functions at the top", &flame.icicle } },
		{ TAKES_REQUEST, { "pid", "N", "this process; may be given 16 times", &pid } },
		{ TAKES_REQUEST,
		  { "comm", "PATTERN", "processes of this name; web-* is every name that begins so",
		    &ask.comm } },
		{ TAKES_REQUEST | TAKES_FILTER,
		  { "unit", "UNIT",
		    "processes of this unit of systemd, such as nginx.service; list: captures with such targets",
		    &ask.unit } },
		{ TAKES_REQUEST,
		  { "cgroup", "PATH", "processes of this cgroup and those below it", &ask.cgroup } },
		{ TAKES_REQUEST | TAKES_ACTIVITY | TAKES_FILTER | TAKES_DIFF,
		  { "all", NULL,
		    "every process; activity: threads in every state; list: baselines, too; diff: also what may be chance",
		    &ask.all } },
		{ TAKES_FILTER, { "baseline", NULL, "baselines alone", &list.baseline } },
		{ TAKES_FILTER,
		  { "rule", "RULE", "captures of this rule, or of those that a glob names", &list.rule } },
		{ TAKES_FILTER,
		  { "resource", "RESOURCE", "captures of pressure on cpu, memory, io or irq",
		    &list.resource } },
		{ TAKES_BY,
		  { "by", "WHICH",
		    "self: functions themselves; total: with their callees, a recursive one counted once",
		    &diff.by } },
		{ TAKES_DIFF, { "base", "FILE", "A, or the baselines, are in this database", &diff.base } },
		{ TAKES_REQUEST, { "for", "TIME", "how long to record: 1s to 1h", &ask.duration } },
		{ TAKES_REQUEST,
		  { "before", "TIME", "and what the rings hold of this time before (default 0s)",
		    &ask.before } },
		{ TAKES_REQUEST,
		  { "on-cpu", NULL, "samples on CPU alone (default: on CPU and waiting)", &ask.on_cpu } },
		{ TAKES_REQUEST,
		  { "who", NULL, "list the captures on demand under way: root all, others theirs",
		    &ask.who } },
		{ TAKES_REQUEST,
		  { "end", "ID", "end this one early, and keep it: root any, others theirs", &ask.end } },
		{ TAKES_REQUEST, { "note", "TEXT", "keep this text with the capture", &ask.note } },
		{ TAKES_REQUEST | TAKES_EXPORT,
		  { "format", "FORMAT",
		    "capture: print the result: folded, why, json or top; export: the format to write",
		    &ask.format } },
		{ TAKES_SAMPLES,
		  { "kind", "KIND",
		    "oncpu or offcpu alone (diff, flame, folded, perf-script: oncpu; other formats: both)",
		    &samples.kind } },
		{ TAKES_SAMPLES,
		  { "stall", "STALL", "waiting for this alone: cpu, memory, io, or none of them",
		    &samples.stall } },
		{ TAKES_SAMPLES,
		  { "role", "ROLE",
		    "of target, other or kernel alone (diff, flame: target, or all; export: all)",
		    &samples.role } },
		{ TAKES_LIVE, { "live", NULL, "what is on the CPUs now, without a capture", &threads.live } },
		{ TAKES_THREADS | TAKES_LIVE,
		  { "once", NULL, "print the table of one second, and end", &threads.once } },
		{ TAKES_THREADS | TAKES_LIVE | TAKES_ACTIVITY,
		  { "csv", NULL, "print CSV; of threads and live second by second, as JSON", &threads.csv } },
		{ TAKES_THREADS, { "hz", "N", "looks a second, 1 to 100 (10)", &threads.hz } },
		{ TAKES_ACTIVITY | TAKES_FILTER,
		  { "since", "TIME",
		    "from so long ago on, or from a time such as 2026-11-25T14:03:00Z; activity: before --until (1h)",
		    &activity.since } },
		{ TAKES_ACTIVITY,
		  { "until", "TIME", "the end: so long ago, or a time (now)", &activity.until } },
		{ TAKES_THREADS | TAKES_LIVE | TAKES_ACTIVITY,
		  { "match", "WORDS",
		    "only threads that match: COLUMN=GLOB, COLUMN!=GLOB, or GLOB of any column",
		    &threads.match } },
		{ TAKES_ACTIVITY,
		  { "group-by", "LIST",
		    "any of state,syscall,comm,unit,cgroup,container,function,kernel,uid; --columns is the same",
		    &activity.group_by } },
		{ TAKES_THREADS | TAKES_LIVE | TAKES_ACTIVITY,
		  { "columns", "LIST",
		    "group by these: comm,process,unit,cgroup,function,uid,tgid,tid; threads: and state,syscall,fd,futex; live: and module; activity: as --group-by",
		    &threads.columns } },
	};
	struct option_spec chosen[ARRAY_SIZE(options)];
	char about[2048], usage[64];
	struct command_spec command = {
		.program = "bourdon",
		.usage = "[OPTION...] SUBCOMMAND [ID]",
		.about = about,
		.example = "bourdon why        ('bourdon SUBCOMMAND --help' explains a subcommand)",
		.options = chosen,
		.options_count = ARRAY_SIZE(options),
	};
	struct help_subject help;
	const struct subcommand *subcommand;
	struct request request;
	char **word = arguments + 1;
	int words, status;

	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		chosen[i] = options[i].spec;
	help = find_help_subject(&command, count, arguments);
	describe_all(about, sizeof(about));
	if (help.is_group) {
		describe_group(about, sizeof(about));
		command.usage = "[OPTION...] " GROUP " SUBCOMMAND";
		command.example = "bourdon db copy /tmp/copy.db";
		command.options_count = 1;
	} else if (help.is_general) {
		/* those of single subcommands would not fit the screen */
		command.options_count = 0;
		for (size_t i = 0; i < ARRAY_SIZE(options); i++)
			if (!(options[i].takes & ~(TAKES_JSON | TAKES_LIMIT)))
				chosen[command.options_count++] = options[i].spec;
	} else if (help.subcommand) {
		snprintf(usage, sizeof(usage), "%s [OPTION...]%s", help.subcommand->name,
			 operands_of(help.subcommand));
		command.usage = usage;
		command.about = help.subcommand->about;
		command.example = help.subcommand->example;
		command.options_count = 0;
		for (size_t i = 0; i < ARRAY_SIZE(options); i++)
			if (takes_option(help.subcommand, &options[i]))
				chosen[command.options_count++] = options[i].spec;
	}
	status = options_parse_list(&command, count, arguments, &words, &pids);
	if (status != OPTIONS_RUN)
		return status;
	ask.pids_count = pids.count;
	subcommand = words ? find_subcommand(word[0], words > 1 ? word[1] : NULL) : NULL;
	if (!subcommand)
		return refuse_words(words, word);
	status = refuse_options(subcommand, options, ARRAY_SIZE(options));
	if (status != OPTIONS_RUN)
		return status;
	request = (struct request){ .subcommand = subcommand,
				    .path = path ? path : DATABASE_DEFAULT,
				    .run_dir = run_dir ? run_dir : RUN_DIRECTORY_DEFAULT,
				    .debug_dir = debug_dir ? debug_dir : DEBUG_ROOT,
				    .capture_id = -1,
				    .against_id = -1,
				    .of_incident = incident != NULL,
				    .json = json != NULL,
				    .full = full != NULL,
				    .sections = sections,
				    .no_color = no_color != NULL,
				    .off_cpu = ask.off_cpu != NULL,
				    .format = ask.format,
				    .output = output && strcmp(output, "-") != 0 ? output : NULL };
	if (json && subcommand->takes & TAKES_REQUEST && !ask.format)
		request.format = ask.format = "json";
	activity.columns = threads.columns;
	activity.match = threads.match;
	activity.all = ask.all;
	activity.csv = threads.csv;
	diff.all = list.all = ask.all;
	list.unit = ask.unit;
	list.since = activity.since;
	export.format = ask.format;
	export.samples = flame.samples = diff.samples = samples;
	status = read_values(limit, &ask, &threads, &activity, &export, &flame, &request);
	if (status == OPTIONS_RUN && against)
		status = read_id(against, &request.against_id);
	if (status == OPTIONS_RUN)
		status = parse_operands(subcommand, words - words_of(subcommand), word + words_of(subcommand),
					&request);
	if (status == OPTIONS_RUN)
		status = read_comparing_values(&list, &diff, &request);
	if (status == OPTIONS_RUN)
		status = check_live(&request, &threads);
	if (status == OPTIONS_RUN)
		status = check_sections(&request);
	if (status == OPTIONS_RUN)
		*ret_request = request;
	return status;
}

static bool has_captures(struct database *database)
{
	_cleanup_query_ struct query query =
		query_begin(database, "SELECT 1 FROM capture WHERE trigger_mode <> 'baseline' LIMIT 1", 0, 0);

	return query_next(&query);
}

/* Finds the capture that was asked for. Returns 0; or -ENOENT, and the reason was logged. */
static int choose_capture(struct database *database, int64_t wanted, int64_t *ret_capture_id)
{
	_cleanup_query_ struct query query = query_begin(
		database,
		wanted < 0 ? "SELECT capture_id FROM capture WHERE state = 'complete' AND "
			     "trigger_mode <> 'baseline' ORDER BY triggered_at DESC, capture_id DESC LIMIT 1"
			   : "SELECT capture_id FROM capture WHERE capture_id = ?1",
		wanted, 0);

	if (query_next(&query)) {
		*ret_capture_id = query_number(&query, "capture_id");
		return 0;
	}
	if (database->failed)
		return -EIO;
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
	return -ENOENT;
}

/* The same of an incident. */
static int choose_incident(struct database *database, int64_t wanted, int64_t *ret_incident_id)
{
	_cleanup_query_ struct query query =
		query_begin(database,
			    wanted < 0 ? "SELECT incident_id FROM capture WHERE incident_id IS NOT NULL "
					 "ORDER BY triggered_at DESC, capture_id DESC LIMIT 1"
				       : "SELECT incident_id FROM incident_summary WHERE incident_id = ?1",
			    wanted, 0);

	if (query_next(&query)) {
		*ret_incident_id = query_number(&query, "incident_id");
		return 0;
	}
	if (database->failed)
		return -EIO;
	if (wanted < 0)
		log_error("no incident in '%s': 'bourdon list' shows the captures", database->path);
	else
		log_error("no incident %lld in '%s': 'bourdon list' shows the incident of each capture",
			  (long long)wanted, database->path);
	return -ENOENT;
}

/* Finds what the ID on the command line means. Returns 0; or -errno, and the reason was logged. */
static int choose(const struct request *request, struct report *report)
{
	if (request->against_id >= 0 &&
	    choose_capture(report->database, request->against_id, &report->against_id) < 0)
		return -ENOENT;
	return request->of_incident
		       ? choose_incident(report->database, request->capture_id, &report->incident_id)
		       : choose_capture(report->database, request->capture_id, &report->capture_id);
}

int command_run(const struct request *request, FILE *out)
{
	_cleanup_database_ struct database database = { .path = request->path };
	bool is_live = request->threads.view.is_live; /* of no capture */
	struct report report = {
		.database = &database,
		.run_dir = request->run_dir,
		.debug_dir = request->debug_dir,
		.out = out,
		.layout = layout_of(out, request->no_color),
		.full = request->full,
		.sections = request->sections,
		.operands = request->operands,
		.operands_count = request->operands_count,
		.limit = request->limit,
		.json = request->json,
		.off_cpu = request->off_cpu,
		.ask = &request->ask,
		.under_way = &request->under_way,
		.format = request->format,
		.threads = &request->threads,
		.activity = &request->activity,
		.export = &request->export,
		.output = request->output,
		.flame = &request->flame,
		.diff = &request->diff,
		.list = &request->list,
		.top_by = request->top_by,
	};

	if (!is_live && !(request->subcommand->takes & OPENS_ITSELF) &&
	    database_open(request->path, &database) < 0)
		return EXIT_FAILED;
	if (!is_live && request->subcommand->takes & TAKES_ID && choose(request, &report) < 0)
		return EXIT_FAILED;
	(is_live ? threads_run : request->subcommand->run)(&report);
	if (fflush(out) || ferror(out)) {
		log_error("cannot write the report: %s%s", strerror(errno),
			  errno == ENOSPC || errno == EDQUOT
				  ? "; make room, or write it to another file system"
				  : "");
		return EXIT_FAILED;
	}
	return database.failed || report.unwell ? EXIT_FAILED : EXIT_DONE;
}
