/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * status: what the daemon reports over its control socket; without a daemon, what the database has of the
 * last run.
 */
#include "common/base/cleanup.h"
#include "common/protocol/start_command.h"
#include "common/system/log.h"
#include "common/text/escape.h"
#include "common/text/plural.h"
#include "report/answer/recorder_text.h"
#include "report/context/subcommand.h"
#include "report/daemon/daemon_status.h"
#include "report/daemon/status_json.h"
#include "report/model/owner.h"
#include "report/text/format.h"
#include "report/text/json.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- text ---- */

#define VALUE_BYTES 2048U /* that are shown of one value */

/* A line of the status, with room for the values of it that were shown last. */
struct shown_line {
	const struct status_line *line;
	unsigned int count;
	char values[2 * STATUS_FIELDS_MAX][VALUE_BYTES];
};

static const char *value_of(const struct shown_line *line, const char *key)
{
	return status_line_get(line->line, key);
}

static bool has(const struct shown_line *line, const char *key)
{
	return *value_of(line, key);
}

static double number_of(const struct shown_line *line, const char *key)
{
	return strtod(value_of(line, key), NULL);
}

static char *room_for_value(struct shown_line *line)
{
	return line->values[line->count++ % ARRAY_SIZE(line->values)];
}

static const char *shown(struct shown_line *line, const char *key)
{
	const char *value = value_of(line, key);

	return escape_terminal(*value ? value : "-", room_for_value(line), VALUE_BYTES);
}

static const char *duration(struct shown_line *line, const char *key, double to_ns)
{
	return format_duration(number_of(line, key) * to_ns, "", room_for_value(line), VALUE_BYTES);
}

static const char *size(struct shown_line *line, const char *key)
{
	return format_size(number_of(line, key), room_for_value(line), VALUE_BYTES);
}

/* "1 rule", "3 rules": the value of `key` and its noun. */
static const char *counted(struct shown_line *line, const char *key, const char *one, const char *many)
{
	const char *number = shown(line, key);
	char *text = room_for_value(line);

	snprintf(text, VALUE_BYTES, "%s %s", number, strcmp(value_of(line, key), "1") ? many : one);
	return text;
}

static void print_daemon(FILE *out, struct shown_line *line)
{
	fprintf(out, "bourdond %s, process %s, up %s\n", shown(line, "version"), shown(line, "pid"),
		duration(line, "uptime_ns", 1));
	fprintf(out, "%s, %s, %s, %s under way\n", counted(line, "rules", "rule", "rules"),
		counted(line, "targets", "target", "targets"), counted(line, "watches", "watch", "watches"),
		counted(line, "captures_under_way", "capture", "captures"));
	fprintf(out, "configuration: reloaded %s, reload refused %s\n",
		counted(line, "reloads", "time", "times"), counted(line, "reloads_refused", "time", "times"));
	/* a daemon of an older version says nothing of them */
	if (number_of(line, "baseline_ns") > 0)
		fprintf(out, "baselines: of each rule that is calm every %s; %s, %s\n",
			duration(line, "baseline_ns", 1),
			counted(line, "baselines", "was written", "were written"),
			counted(line, "baselines_lost", "was lost", "were lost"));
	fprintf(out,
		"confinement: Landlock version %s; action on a forbidden system call: %s; locked memory: %s\n",
		shown(line, "landlock_abi"), shown(line, "seccomp"), shown(line, "locked_memory"));
	if (has(line, "metrics_file"))
		fprintf(out, "metrics: %s, every %s\n", shown(line, "metrics_file"),
			duration(line, "metrics_ns", 1));
	if (has(line, "policy"))
		fprintf(out, "policy of root: %s\n", shown(line, "policy"));
}

/* A daemon of an older version has no such line. */
static void print_own(FILE *out, struct shown_line *line)
{
	fprintf(out, "  CPU time %s, of that the draining thread %s; memory %s\n",
		duration(line, "cpu_ns", 1), duration(line, "draining_cpu_ns", 1),
		size(line, "resident_bytes"));
	if (has(line, "unit_cpu_ns"))
		fprintf(out, "  with its symbolizers: CPU time %s, memory %s\n",
			duration(line, "unit_cpu_ns", 1), size(line, "unit_bytes"));
	fprintf(out,
		"  intervals off CPU beyond the budget counted with later ones for %s, and were lost for %s\n",
		duration(line, "offcpu_joined_ns", 1), duration(line, "offcpu_over_ns", 1));
}

static void print_queue(FILE *out, struct shown_line *line)
{
	bool has_lag = has(line, "lag_ns");

	fprintf(out, "  %-8s %8s %8s %8s %10s %10s\n", shown(line, "name"), shown(line, "depth"),
		shown(line, "depth_most"), shown(line, "room"), has_lag ? duration(line, "lag_ns", 1) : "-",
		has_lag ? duration(line, "lag_most_ns", 1) : "-");
}

static void print_latencies(FILE *out, struct shown_line *line)
{
	fprintf(out, "  on: %s; measured if wanted: %s\n", shown(line, "on"), shown(line, "offered"));
}

/* Of those of which something is missing. */
static void print_latency(FILE *out, struct shown_line *line)
{
	if (number_of(line, "lost") <= 0 && number_of(line, "unpaired") <= 0 &&
	    number_of(line, "absurd") <= 0)
		return;
	fprintf(out, "  %s: %s within minutes, %s of them lost; %s unpaired, %s absurd\n",
		shown(line, "metric"), counted(line, "events", "event", "events"), shown(line, "lost"),
		shown(line, "unpaired"), shown(line, "absurd"));
}

static void print_programs(FILE *out, struct shown_line *line)
{
	fprintf(out, "  %s; the kernel left out %s\n", counted(line, "count", "program", "programs"),
		counted(line, "missed", "run", "runs"));
	if (!strcmp(value_of(line, "counted"), "1"))
		fprintf(out, "  %-32s %14s %12s %10s %8s\n", "PROGRAM", "RUNS", "TIME", "A RUN", "MISSED");
	else
		fputs("  their time is not counted: " PROGRAM_TIME_REMEDY "\n", out);
}

/* Of those that ran. */
static void print_program(FILE *out, struct shown_line *line)
{
	double count = number_of(line, "runs");

	if (count > 0)
		fprintf(out, "  %-32s %14s %12s %10s %8s\n", shown(line, "name"), shown(line, "runs"),
			duration(line, "run_ns", 1), duration(line, "run_ns", 1 / count),
			shown(line, "missed"));
}

static void print_mistake(FILE *out, struct shown_line *line)
{
	if (has(line, "more"))
		fprintf(out, "  and %s more: see bourdond's log\n", shown(line, "more"));
	else
		fprintf(out, "  not in force: %s\n", shown(line, "text"));
}

/* Copies `text` with each number of microseconds as a duration: "cpu.some=800ms/2s" for "cpu.some=800000us/2000000us". */
static const char *with_durations(const char *text, char *into, size_t into_bytes)
{
	size_t used = 0;

	*into = '\0';
	while (*text && used + 1 < into_bytes) {
		char *end, duration[32] = { *text };
		double us = isdigit((unsigned char)*text) ? strtod(text, &end) : 0;

		if (isdigit((unsigned char)*text) && !strncmp(end, "us", 2)) {
			format_duration(us * 1000, "", duration, sizeof(duration));
			text = end + 2;
		} else {
			text++;
		}
		used += (size_t)snprintf(into + used, into_bytes - used, "%s", duration);
	}
	return into;
}

static void print_rule(FILE *out, struct shown_line *line)
{
	fprintf(out, "%5s  %-20s %-16s %-6s %7s  %s%s%s%s%s\n", shown(line, "id"), shown(line, "name"),
		shown(line, "comm"), shown(line, "watch"), shown(line, "watches"),
		with_durations(shown(line, "triggers"), room_for_value(line), VALUE_BYTES),
		has(line, "cgroup") ? " in " : "", has(line, "cgroup") ? shown(line, "cgroup") : "",
		has(line, "unit") ? " of " : "", has(line, "unit") ? shown(line, "unit") : "");
	if (number_of(line, "cgroups_unwatched") > 0)
		fprintf(out, "%7s%s not watched\n", "",
			counted(line, "cgroups_unwatched", "cgroup", "cgroups"));
}

static void print_watch(FILE *out, struct shown_line *line)
{
	bool is_latency = has(line, "latency"), is_kill = !is_latency && !has(line, "resource");
	const char *what = shown(line, is_latency ? "latency" : "resource");
	char stalled[VALUE_BYTES];

	if (!is_latency)
		snprintf(stalled, sizeof(stalled), "%s.%s", what, shown(line, "kind"));
	fprintf(out, "%-20s %-12s %8s/%-6s %-8s %-9s %6s %10s  %s\n", shown(line, "rule"),
		is_kill      ? "on_kill"
		: is_latency ? what
			     : stalled,
		is_kill      ? "-"
		: is_latency ? duration(line, "limit_ns", 1)
			     : duration(line, "stall_us", 1000),
		is_kill ? "-" : duration(line, "window_us", 1000), shown(line, "trigger_mode"),
		shown(line, "state"), shown(line, "fired"), shown(line, "suppressed"),
		has(line, "cgroup") ? shown(line, "cgroup") : "(whole system)");
	if (has(line, "reason"))
		fprintf(out, "%4s%s: %s\n", "", shown(line, "trigger_mode"), shown(line, "reason"));
}

static void print_capture(FILE *out, struct shown_line *line)
{
	bool asked = has(line, "asked_by");

	fprintf(out, "  %s %s, %s so far\n", asked ? "asked for by" : "rule",
		shown(line, asked ? "asked_by" : "rule"), counted(line, "stacks", "stack", "stacks"));
}

static void print_unwind(FILE *out, struct shown_line *line)
{
	fprintf(out, "  %s; %s with a table, %s without; %s, which take %s of %s bytes\n",
		counted(line, "processes", "process", "processes"), counted(line, "modules", "file", "files"),
		shown(line, "modules_without"), counted(line, "rows", "row", "rows"), shown(line, "bytes"),
		shown(line, "bytes_max"));
	if (has(line, "kept"))
		fprintf(out,
			"  %s, %s bytes, in tables.db of the state directory; %s taken from there since the start\n",
			counted(line, "kept", "kept table", "kept tables"), shown(line, "kept_bytes"),
			shown(line, "loaded"));
	if (has(line, "named"))
		fprintf(out, "  names of %s, %s bytes, in the same file\n",
			counted(line, "named", "file", "files"), shown(line, "named_bytes"));
}

/* The file and why it has none; since when; what to do. */
static void print_without_table(FILE *out, struct shown_line *line)
{
	if (has(line, "more")) {
		fprintf(out, "  and %s more\n", shown(line, "more"));
		return;
	}
	fprintf(out, "  %s: %s\n    for %s; ", shown(line, "path"), shown(line, "text"),
		duration(line, "since_ns", 1));
	if (!has(line, "retry_ns"))
		fputs("not tried again until the file changes", out);
	else if (!strcmp(value_of(line, "retry_ns"), "0"))
		fputs("tried again when a program needs it", out);
	else
		fprintf(out, "tried again in %s", duration(line, "retry_ns", 1));
	fprintf(out, "\n    remedy: %s\n", shown(line, "remedy"));
}

static void print_cgroups(FILE *out, struct shown_line *line)
{
	fprintf(out, "  %s, which take %s of %s bytes; %s too long; %s forgotten for lack of room\n",
		counted(line, "paths", "path", "paths"), shown(line, "bytes"), shown(line, "bytes_max"),
		shown(line, "too_long"), shown(line, "forgotten"));
}

static void print_counter(FILE *out, struct shown_line *line)
{
	if (strcmp(value_of(line, "value"), "0"))
		fprintf(out, "%20s  %s\n", shown(line, "value"), shown(line, "name"));
}

static void print_problem(FILE *out, struct shown_line *line)
{
	fprintf(out, "  %s\n    remedy: %s\n", shown(line, "problem"), shown(line, "remedy"));
}

static const struct {
	const char *kind, *title; /* no title: the line names itself */
	void (*print)(FILE *out, struct shown_line *line);
} kinds[] = {
	{ "daemon", NULL, print_daemon },
	{ "mistake", NULL, print_mistake },
	{ "problem", "\nproblems\n", print_problem },
	{ "rule", "\n   ID  RULE                 COMM             SCOPE  WATCHES  TRIGGERS\n", print_rule },
	{ "watch",
	  "\nRULE                 PRESSURE        STALL/WINDOW MODE     STATE      FIRED SUPPRESSED  CGROUP\n",
	  print_watch },
	{ "capture", "\ncaptures under way\n", print_capture },
	{ "own", "\nbourdond itself\n", print_own },
	{ "queue", "\nQUEUE       DEPTH     MOST     ROOM        LAG       MOST\n", print_queue },
	{ "latencies", "\nlatencies\n", print_latencies },
	{ "latency", NULL, print_latency },
	{ "programs", "\nin-kernel programs\n", print_programs },
	{ "program", NULL, print_program },
	{ "unwind", "\nunwind tables\n", print_unwind },
	{ "without_table", "\nfiles without an unwind table: their frames are unwound by frame pointers\n",
	  print_without_table },
	{ "cgroups", "\ncgroups\n", print_cgroups },
	{ "counter", "\ncounters that are not zero\n", print_counter },
};

static void print_text(FILE *out, const struct daemon_status *lines)
{
	struct shown_line line = { 0 };

	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
		bool first = true;

		for (size_t i = 0; i < lines->count; i++) {
			if (strcmp(lines->lines[i].kind, kinds[k].kind))
				continue;
			if (first && kinds[k].title)
				fputs(kinds[k].title, out);
			first = false;
			line.line = &lines->lines[i];
			kinds[k].print(out, &line);
		}
	}
}

/* ---- without a daemon ---- */

static const char last_run_sql[] =
	"SELECT run_id, version, strftime('%Y-%m-%dT%H:%M:%SZ', started_at / 1000000000, 'unixepoch') AS "
	"started, "
	"strftime('%Y-%m-%dT%H:%M:%SZ', ended_at / 1000000000, 'unixepoch') AS ended, "
	"(SELECT count(*) FROM capture c WHERE c.run_id = r.run_id AND c.trigger_mode <> 'baseline') AS captures FROM run r "
	"ORDER BY run_id "
	"DESC LIMIT 1";
static const char last_counters_sql[] =
	"SELECT name, value FROM counter WHERE run_id = ?1 AND at = (SELECT max(at) FROM counter c2 "
	"WHERE c2.run_id = ?1 AND c2.name = counter.name) ORDER BY name";

/* Says how to start the daemon, and what the database has of its last run. */
static void report_last_run(struct report *report)
{
	_cleanup_query_ struct query run = { 0 };
	FILE *out = report->out;
	char text[64], ended[64], path[1024];
	bool ran = false;

	if (report->database->sqlite) {
		run = query_begin(report->database, last_run_sql, 0, 0);
		ran = query_next(&run);
	}
	if (report->json) {
		static const struct json_nested counters = { "counters", last_counters_sql };

		fputs("{\"running\": false, \"last_run\": ", out);
		if (ran)
			json_row(out, &run, &counters);
		else
			fputs("null", out);
		fputs("}\n", out);
		return;
	}
	fprintf(out, "no bourdond is running for %s: start it with '%s'\n",
		escape_terminal(report->database->path, path, sizeof(path)), start_command());
	if (ran)
		fprintf(out, "its last run began %s and ended %s, with %lld %s\n",
			escape_terminal(query_text(&run, "started"), text, sizeof(text)),
			query_is_null(&run, "ended")
				? "at an unknown time"
				: escape_terminal(query_text(&run, "ended"), ended, sizeof(ended)),
			(long long)query_number(&run, "captures"),
			plural((uint64_t)query_number(&run, "captures"), "capture", "captures"));
	else if (!report->database->failed)
		fprintf(out, "%s\n",
			report->database->sqlite ? "the database records no earlier run"
						 : "there is no database yet: bourdond creates it");
}

/* A database that does not exist is not an error. */
static void report_without_daemon(struct report *report)
{
	bool exists = !access(report->database->path, F_OK) || errno != ENOENT;

	report->unwell = true;
	if (exists && database_open(report->database->path, report->database) < 0)
		report->database->failed = true;
	report_last_run(report);
}

static const struct command_option options[] = { { "db", "FILE", DB_HELP, SHARED(db) },
						 { "json", NULL, JSON_HELP, SHARED(json) } };

static int status_main(struct report *report, int count, char **arguments)
{
	struct shared_words words = { 0 };
	_cleanup_(daemon_status_free) struct daemon_status answer = { 0 };
	_cleanup_free_ char *real = NULL;
	int result;
	int status = subcommand_parse(report, &status_subcommand, count, arguments, &words);

	if (status != OPTIONS_RUN)
		return status;
	/*
	 * Root becomes the database's owner, whom the daemon answers. Without a database there may still be a
	 * daemon.
	 */
	if (owner_become_of(report->database->path, &real) == -EPERM)
		return EXIT_FAILED;
	result = daemon_status_ask(report->database->path, &answer);
	if (result == -ENOENT || result == -ECONNREFUSED) {
		report_without_daemon(report);
	} else if (result < 0) {
		log_error("cannot get the status from the bourdond of '%s': %s", report->database->path,
			  daemon_status_explain(result));
		report->unwell = true;
	} else {
		(report->json ? status_print_json : print_text)(report->out, &answer);
	}
	return status;
}

SUBCOMMAND(
	status, "status", "", "show what bourdond is doing, and its problems",
	"Shows what the running bourdond reports: problems and remedies, rules, watches, captures under way,\n"
	"unwind tables, counters. Without a running bourdond: its last run. Exit status 1: it is not running.",
	"bourdon status --json");
