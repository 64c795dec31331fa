/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/command.h"

#include "common/cleanup.h"
#include "common/log.h"
#include "common/options.h"
#include "common/pins.h"
#include "consumer/symbols/debug_files.h"
#include "report/query.h"
#include "report/report.h"

#include <string.h>

#define TAKES_ID 1U
#define TAKES_JSON 2U
#define TAKES_LIMIT 4U
#define TAKES_RUN_DIR 8U
#define OPENS_ITSELF 16U /* the database may be missing, or is opened to be written */
#define TAKES_DEBUG_DIR 32U

#define DEFAULT_PATH "/var/lib/bourdon/bourdon.db"

struct subcommand {
	const char *name;
	const char *help;
	unsigned int takes;
	int limit; /* rows in text output without --limit */
	void (*run)(struct report *report);
};

static const struct subcommand subcommands[] = {
	{ "list", "the captures, newest first", TAKES_JSON | TAKES_LIMIT, 50, list_run },
	{ "why", "why a capture was taken: processes, stacks, functions, losses", TAKES_ID | TAKES_JSON, 0,
	  why_run },
	{ "top", "the functions that took the CPU", TAKES_ID | TAKES_JSON | TAKES_LIMIT, 30, top_run },
	{ "folded", "one line a stack, for flamegraph.pl (github.com/brendangregg/FlameGraph)", TAKES_ID, 0,
	  folded_run },
	{ "symbolize", "names what had none, by the files in --debug-dir", TAKES_DEBUG_DIR | OPENS_ITSELF, 0,
	  symbolize_run },
	{ "status", "what the daemon does now, and what is wrong with it", TAKES_JSON | OPENS_ITSELF, 0,
	  status_run },
	{ "doctor", "whether this machine and this installation are well",
	  TAKES_JSON | TAKES_RUN_DIR | OPENS_ITSELF, 0, doctor_run },
};

static const struct subcommand *find_subcommand(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(subcommands); i++)
		if (!strcmp(subcommands[i].name, name))
			return &subcommands[i];
	return NULL;
}

/* The first lines of --help, from the table of subcommands. */
static void describe(char *into, size_t into_bytes)
{
	size_t used = (size_t)snprintf(into, into_bytes, "Explains what bourdond captured.\n");

	for (size_t i = 0; i < ARRAY_SIZE(subcommands) && used < into_bytes; i++)
		used += (size_t)snprintf(into + used, into_bytes - used, "\n  %-10s%-5s%s",
					 subcommands[i].name, subcommands[i].takes & TAKES_ID ? "[ID]" : "",
					 subcommands[i].help);
}

/* Fills in what depends on the subcommand. Returns OPTIONS_RUN; or EXIT_USAGE, and the mistake was logged. */
static int parse_words(int words, char **word, const char *limit, const char *run_dir, const char *debug_dir,
		       struct request *request)
{
	const struct subcommand *subcommand = words ? find_subcommand(word[0]) : NULL;
	const char *refused = NULL;
	unsigned long long number;

	if (!subcommand) {
		if (words)
			log_error("unknown subcommand '%s': see 'bourdon --help'", word[0]);
		else
			log_error("no subcommand: see 'bourdon --help'");
		return EXIT_USAGE;
	}
	if (request->json && !(subcommand->takes & TAKES_JSON))
		refused = "--json";
	if (limit && !(subcommand->takes & TAKES_LIMIT))
		refused = "--limit";
	if (run_dir && !(subcommand->takes & TAKES_RUN_DIR))
		refused = "--run-dir";
	if (debug_dir && !(subcommand->takes & TAKES_DEBUG_DIR))
		refused = "--debug-dir";
	if (refused) {
		log_error("'%s' takes no %s: see 'bourdon --help'", subcommand->name, refused);
		return EXIT_USAGE;
	}
	if (words > (subcommand->takes & TAKES_ID ? 2 : 1)) {
		log_error("'%s' has one word too many, '%s': see 'bourdon --help'", subcommand->name,
			  word[words - 1]);
		return EXIT_USAGE;
	}
	request->subcommand = subcommand;
	request->limit = request->json ? -1 : subcommand->limit; /* JSON has all rows */
	request->capture_id = -1;
	request->run_dir = run_dir ? run_dir : RUN_DIRECTORY_DEFAULT;
	request->debug_dir = debug_dir ? debug_dir : DEBUG_ROOT;
	if (limit) {
		if (options_number(limit, 1, INT64_MAX, &number) < 0) {
			log_error("--limit '%s' is not a number of rows: give 1 or more", limit);
			return EXIT_USAGE;
		}
		request->limit = (int64_t)number;
	}
	if (words == 2) {
		if (options_number(word[1], 0, INT64_MAX, &number) < 0) {
			log_error("'%s' is not a capture's ID: 'bourdon list' shows them", word[1]);
			return EXIT_USAGE;
		}
		request->capture_id = (int64_t)number;
	}
	return OPTIONS_RUN;
}

int command_parse(int count, char **arguments, struct request *ret_request)
{
	const char *path = DEFAULT_PATH, *json = NULL, *limit = NULL, *run_dir = NULL, *debug_dir = NULL;
	const struct option_spec options[] = {
		{ "db", "FILE", "the database (default " DEFAULT_PATH ")", &path },
		{ "json", NULL, "for scripts: JSON instead of text", &json },
		{ "run-dir", "DIR", "where doctor finds the manifest (default " RUN_DIRECTORY_DEFAULT ")",
		  &run_dir },
		{ "debug-dir", "DIR",
		  "where symbolize finds programs and debug files, by build id (default " DEBUG_ROOT ")",
		  &debug_dir },
		{ "limit", "N", "rows that list and top show (default 50 and 30; all with --json)", &limit },
	};
	char about[1024];
	const struct command_spec command = {
		.program = "bourdon",
		.usage = "[--db FILE] [--json] [--limit N] SUBCOMMAND [ID]",
		.about = about,
		.example = "bourdon why        (the newest complete capture; 'bourdon list' shows the IDs)",
		.options = options,
		.options_count = ARRAY_SIZE(options),
	};
	struct request request;
	int words, status;

	describe(about, sizeof(about));
	status = options_parse(&command, count, arguments, &words);
	if (status != OPTIONS_RUN)
		return status;
	request = (struct request){ .path = path, .json = json != NULL };
	status = parse_words(words, arguments + 1, limit, run_dir, debug_dir, &request);
	if (status == OPTIONS_RUN)
		*ret_request = request;
	return status;
}

static bool has_captures(struct database *database)
{
	_cleanup_query_ struct query query = query_begin(database, "SELECT 1 FROM capture LIMIT 1", 0, 0);

	return query_next(&query);
}

/* Finds the capture that was asked for. Returns 0; or -ENOENT, and the reason was logged. */
static int choose_capture(struct database *database, int64_t wanted, int64_t *ret_capture_id)
{
	_cleanup_query_ struct query query =
		query_begin(database,
			    wanted < 0 ? "SELECT capture_id FROM capture WHERE state = 'complete' "
					 "ORDER BY triggered_at DESC, capture_id DESC LIMIT 1"
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
		log_error("no complete capture in '%s' yet: name another by its ID from 'bourdon list'",
			  database->path);
	else
		log_error("no capture %lld in '%s': 'bourdon list' shows those that there are",
			  (long long)wanted, database->path);
	return -ENOENT;
}

int command_run(const struct request *request, FILE *out)
{
	_cleanup_database_ struct database database = { .path = request->path };
	struct report report = {
		.database = &database,
		.run_dir = request->run_dir,
		.debug_dir = request->debug_dir,
		.out = out,
		.limit = request->limit,
		.json = request->json,
	};

	if (!(request->subcommand->takes & OPENS_ITSELF) && database_open(request->path, &database) < 0)
		return EXIT_FAILED;
	if (request->subcommand->takes & TAKES_ID &&
	    choose_capture(&database, request->capture_id, &report.capture_id) < 0)
		return EXIT_FAILED;
	request->subcommand->run(&report);
	if (fflush(out) || ferror(out)) {
		log_error("cannot write the report: %s", strerror(errno));
		return EXIT_FAILED;
	}
	return database.failed || report.unwell ? EXIT_FAILED : EXIT_DONE;
}
