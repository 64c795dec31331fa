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

static const char *shown(const struct status_line *line, const char *key, char *into, size_t bytes)
{
	const char *value = status_line_get(line, key);

	return escape_terminal(*value ? value : "-", into, bytes);
}

static const char *duration(const struct status_line *line, const char *key, double to_ns, char *into,
			    size_t bytes)
{
	return format_duration(strtod(status_line_get(line, key), NULL) * to_ns, "", into, bytes);
}

/* "1 rule", "3 rules": the value of `key` and its noun. */
static const char *counted(const struct status_line *line, const char *key, const char *one, const char *many,
			   char *into, size_t bytes)
{
	char number[32];

	snprintf(into, bytes, "%s %s", shown(line, key, number, sizeof(number)),
		 strcmp(status_line_get(line, key), "1") ? many : one);
	return into;
}

static void print_daemon(FILE *out, const struct status_line *line)
{
	char a[64], b[64], c[64], d[64], text[2048];

	fprintf(out, "bourdond %s, process %s, up %s\n", shown(line, "version", a, sizeof(a)),
		shown(line, "pid", b, sizeof(b)), duration(line, "uptime_ns", 1, c, sizeof(c)));
	fprintf(out, "%s, %s, %s, %s under way\n", counted(line, "rules", "rule", "rules", a, sizeof(a)),
		counted(line, "targets", "target", "targets", b, sizeof(b)),
		counted(line, "watches", "watch", "watches", c, sizeof(c)),
		counted(line, "captures_under_way", "capture", "captures", d, sizeof(d)));
	fprintf(out, "configuration: reloaded %s, reload refused %s\n",
		counted(line, "reloads", "time", "times", a, sizeof(a)),
		counted(line, "reloads_refused", "time", "times", b, sizeof(b)));
	/* a daemon of an older version says nothing of them */
	if (strtoull(status_line_get(line, "baseline_ns"), NULL, 10))
		fprintf(out, "baselines: of each rule that is calm every %s; %s, %s\n",
			duration(line, "baseline_ns", 1, a, sizeof(a)),
			counted(line, "baselines", "was written", "were written", b, sizeof(b)),
			counted(line, "baselines_lost", "was lost", "were lost", c, sizeof(c)));
	fprintf(out,
		"confinement: Landlock version %s; action on a forbidden system call: %s; locked memory: %s\n",
		shown(line, "landlock_abi", a, sizeof(a)), shown(line, "seccomp", b, sizeof(b)),
		shown(line, "locked_memory", c, sizeof(c)));
	if (*status_line_get(line, "metrics_file"))
		fprintf(out, "metrics: %s, every %s\n", shown(line, "metrics_file", text, sizeof(text)),
			duration(line, "metrics_ns", 1, a, sizeof(a)));
	if (*status_line_get(line, "policy"))
		fprintf(out, "policy of root: %s\n", shown(line, "policy", text, sizeof(text)));
}

/* A daemon of an older version has no such line. */
static void print_own(FILE *out, const struct status_line *line)
{
	char a[64], b[64], c[64], d[64];

	fprintf(out, "  CPU time %s, of that the draining thread %s; memory %s\n",
		duration(line, "cpu_ns", 1, a, sizeof(a)), duration(line, "draining_cpu_ns", 1, b, sizeof(b)),
		format_size(strtod(status_line_get(line, "resident_bytes"), NULL), c, sizeof(c)));
	if (*status_line_get(line, "unit_cpu_ns"))
		fprintf(out, "  with its symbolizers: CPU time %s, memory %s\n",
			duration(line, "unit_cpu_ns", 1, a, sizeof(a)),
			format_size(strtod(status_line_get(line, "unit_bytes"), NULL), b, sizeof(b)));
	fprintf(out,
		"  intervals off CPU beyond the budget counted with later ones for %s, and were lost for %s\n",
		duration(line, "offcpu_joined_ns", 1, c, sizeof(c)),
		duration(line, "offcpu_over_ns", 1, d, sizeof(d)));
}

static void print_queue(FILE *out, const struct status_line *line)
{
	char name[32], depth[24], most[24], room[24], lag[32], lag_most[32];
	bool has_lag = *status_line_get(line, "lag_ns");

	fprintf(out, "  %-8s %8s %8s %8s %10s %10s\n", shown(line, "name", name, sizeof(name)),
		shown(line, "depth", depth, sizeof(depth)), shown(line, "depth_most", most, sizeof(most)),
		shown(line, "room", room, sizeof(room)),
		has_lag ? duration(line, "lag_ns", 1, lag, sizeof(lag)) : "-",
		has_lag ? duration(line, "lag_most_ns", 1, lag_most, sizeof(lag_most)) : "-");
}

static void print_latencies(FILE *out, const struct status_line *line)
{
	char on[128], offered[128];

	fprintf(out, "  on: %s; measured if wanted: %s\n", shown(line, "on", on, sizeof(on)),
		shown(line, "offered", offered, sizeof(offered)));
}

/* Of those of which something is missing. */
static void print_latency(FILE *out, const struct status_line *line)
{
	char metric[32], events[48], lost[24], unpaired[24], absurd[24];

	if (!strtoull(status_line_get(line, "lost"), NULL, 10) &&
	    !strtoull(status_line_get(line, "unpaired"), NULL, 10) &&
	    !strtoull(status_line_get(line, "absurd"), NULL, 10))
		return;
	fprintf(out, "  %s: %s within minutes, %s of them lost; %s unpaired, %s absurd\n",
		shown(line, "metric", metric, sizeof(metric)),
		counted(line, "events", "event", "events", events, sizeof(events)),
		shown(line, "lost", lost, sizeof(lost)), shown(line, "unpaired", unpaired, sizeof(unpaired)),
		shown(line, "absurd", absurd, sizeof(absurd)));
}

static void print_programs(FILE *out, const struct status_line *line)
{
	char a[48], b[48];

	fprintf(out, "  %s; the kernel left out %s\n",
		counted(line, "count", "program", "programs", a, sizeof(a)),
		counted(line, "missed", "run", "runs", b, sizeof(b)));
	if (!strcmp(status_line_get(line, "counted"), "1"))
		fprintf(out, "  %-32s %14s %12s %10s %8s\n", "PROGRAM", "RUNS", "TIME", "A RUN", "MISSED");
	else
		fputs("  their time is not counted: " PROGRAM_TIME_REMEDY "\n", out);
}

/* Of those that ran. */
static void print_program(FILE *out, const struct status_line *line)
{
	char name[48], runs[24], missed[24], time[32], mean[32];
	double count = strtod(status_line_get(line, "runs"), NULL);

	if (count > 0)
		fprintf(out, "  %-32s %14s %12s %10s %8s\n", shown(line, "name", name, sizeof(name)),
			shown(line, "runs", runs, sizeof(runs)),
			duration(line, "run_ns", 1, time, sizeof(time)),
			duration(line, "run_ns", 1 / count, mean, sizeof(mean)),
			shown(line, "missed", missed, sizeof(missed)));
}

static void print_mistake(FILE *out, const struct status_line *line)
{
	char text[2048], more[24];

	if (*status_line_get(line, "more"))
		fprintf(out, "  and %s more: see bourdond's log\n", shown(line, "more", more, sizeof(more)));
	else
		fprintf(out, "  not in force: %s\n", shown(line, "text", text, sizeof(text)));
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

static void print_rule(FILE *out, const struct status_line *line)
{
	char id[16], name[80], comm[64], kind[16], cgroup[96], unit[96], triggers[300], watches[16],
		text[300];

	fprintf(out, "%5s  %-20s %-16s %-6s %7s  %s%s%s%s%s\n", shown(line, "id", id, sizeof(id)),
		shown(line, "name", name, sizeof(name)), shown(line, "comm", comm, sizeof(comm)),
		shown(line, "watch", kind, sizeof(kind)), shown(line, "watches", watches, sizeof(watches)),
		with_durations(shown(line, "triggers", triggers, sizeof(triggers)), text, sizeof(text)),
		*status_line_get(line, "cgroup") ? " in " : "",
		*status_line_get(line, "cgroup") ? shown(line, "cgroup", cgroup, sizeof(cgroup)) : "",
		*status_line_get(line, "unit") ? " of " : "",
		*status_line_get(line, "unit") ? shown(line, "unit", unit, sizeof(unit)) : "");
	if (strtoul(status_line_get(line, "cgroups_unwatched"), NULL, 10))
		fprintf(out, "%7s%s not watched\n", "",
			counted(line, "cgroups_unwatched", "cgroup", "cgroups", text, sizeof(text)));
}

static void print_watch(FILE *out, const struct status_line *line)
{
	char rule[80], resource[17], kind[9], what[40], stall[32], window[32], mode[16], state[16], fired[24],
		suppressed[24], cgroup[300], reason[512];

	bool is_latency = *status_line_get(line, "latency"),
	     is_kill = !is_latency && !*status_line_get(line, "resource");

	if (is_latency)
		shown(line, "latency", what, sizeof(what));
	else
		snprintf(what, sizeof(what), "%s.%s", shown(line, "resource", resource, sizeof(resource)),
			 shown(line, "kind", kind, sizeof(kind)));
	fprintf(out, "%-20s %-12s %8s/%-6s %-8s %-9s %6s %10s  %s\n", shown(line, "rule", rule, sizeof(rule)),
		is_kill ? "on_kill" : what,
		is_kill      ? "-"
		: is_latency ? duration(line, "limit_ns", 1, stall, sizeof(stall))
			     : duration(line, "stall_us", 1000, stall, sizeof(stall)),
		is_kill ? "-" : duration(line, "window_us", 1000, window, sizeof(window)),
		shown(line, "trigger_mode", mode, sizeof(mode)), shown(line, "state", state, sizeof(state)),
		shown(line, "fired", fired, sizeof(fired)),
		shown(line, "suppressed", suppressed, sizeof(suppressed)),
		*status_line_get(line, "cgroup") ? shown(line, "cgroup", cgroup, sizeof(cgroup))
						 : "(whole system)");
	if (*status_line_get(line, "reason"))
		fprintf(out, "%4s%s: %s\n", "", shown(line, "trigger_mode", mode, sizeof(mode)),
			shown(line, "reason", reason, sizeof(reason)));
}

static void print_capture(FILE *out, const struct status_line *line)
{
	char rule[120], stacks[48];
	bool asked = *status_line_get(line, "asked_by");

	fprintf(out, "  %s %s, %s so far\n", asked ? "asked for by" : "rule",
		shown(line, asked ? "asked_by" : "rule", rule, sizeof(rule)),
		counted(line, "stacks", "stack", "stacks", stacks, sizeof(stacks)));
}

static void print_unwind(FILE *out, const struct status_line *line)
{
	char processes[48], modules[48], without[24], rows[48], bytes[24], most[24];

	fprintf(out, "  %s; %s with a table, %s without; %s, which take %s of %s bytes\n",
		counted(line, "processes", "process", "processes", processes, sizeof(processes)),
		counted(line, "modules", "file", "files", modules, sizeof(modules)),
		shown(line, "modules_without", without, sizeof(without)),
		counted(line, "rows", "row", "rows", rows, sizeof(rows)),
		shown(line, "bytes", bytes, sizeof(bytes)), shown(line, "bytes_max", most, sizeof(most)));
	if (*status_line_get(line, "kept"))
		fprintf(out,
			"  %s, %s bytes, in tables.db of the state directory; %s taken from there since the start\n",
			counted(line, "kept", "kept table", "kept tables", modules, sizeof(modules)),
			shown(line, "kept_bytes", bytes, sizeof(bytes)),
			shown(line, "loaded", most, sizeof(most)));
	if (*status_line_get(line, "named"))
		fprintf(out, "  names of %s, %s bytes, in the same file\n",
			counted(line, "named", "file", "files", modules, sizeof(modules)),
			shown(line, "named_bytes", bytes, sizeof(bytes)));
}

/* The file and why it has none; since when; what to do. */
static void print_without_table(FILE *out, const struct status_line *line)
{
	char path[2 * 1024], text[512], remedy[512], since[32], retry[32];

	if (*status_line_get(line, "more")) {
		fprintf(out, "  and %s more\n", shown(line, "more", text, sizeof(text)));
		return;
	}
	fprintf(out, "  %s: %s\n    for %s; ", shown(line, "path", path, sizeof(path)),
		shown(line, "text", text, sizeof(text)), duration(line, "since_ns", 1, since, sizeof(since)));
	if (!*status_line_get(line, "retry_ns"))
		fputs("not tried again until the file changes", out);
	else if (!strcmp(status_line_get(line, "retry_ns"), "0"))
		fputs("tried again when a program needs it", out);
	else
		fprintf(out, "tried again in %s", duration(line, "retry_ns", 1, retry, sizeof(retry)));
	fprintf(out, "\n    remedy: %s\n", shown(line, "remedy", remedy, sizeof(remedy)));
}

static void print_cgroups(FILE *out, const struct status_line *line)
{
	char paths[48], too_long[24], bytes[24], most[24], forgotten[24];

	fprintf(out, "  %s, which take %s of %s bytes; %s too long; %s forgotten for lack of room\n",
		counted(line, "paths", "path", "paths", paths, sizeof(paths)),
		shown(line, "bytes", bytes, sizeof(bytes)), shown(line, "bytes_max", most, sizeof(most)),
		shown(line, "too_long", too_long, sizeof(too_long)),
		shown(line, "forgotten", forgotten, sizeof(forgotten)));
}

static void print_counter(FILE *out, const struct status_line *line)
{
	char name[64], value[24];

	if (strcmp(status_line_get(line, "value"), "0"))
		fprintf(out, "%20s  %s\n", shown(line, "value", value, sizeof(value)),
			shown(line, "name", name, sizeof(name)));
}

static void print_problem(FILE *out, const struct status_line *line)
{
	char problem[1024], remedy[256];

	fprintf(out, "  %s\n    remedy: %s\n", shown(line, "problem", problem, sizeof(problem)),
		shown(line, "remedy", remedy, sizeof(remedy)));
}

static const struct {
	const char *kind, *title; /* no title: the line names itself */
	void (*print)(FILE *out, const struct status_line *line);
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
	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
		bool first = true;

		for (size_t i = 0; i < lines->count; i++) {
			if (strcmp(lines->lines[i].kind, kinds[k].kind))
				continue;
			if (first && kinds[k].title)
				fputs(kinds[k].title, out);
			first = false;
			kinds[k].print(out, &lines->lines[i]);
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
