/* SPDX-License-Identifier: GPL-2.0-only */
/* doctor: checks whether this machine can run bourdon, and whether the installation works. */
#include "common/base/cleanup.h"
#include "common/base/clock.h"
#include "common/kernel/requirements.h"
#include "common/protocol/grant_counters.h"
#include "common/system/findings.h"
#include "common/system/log.h"
#include "report/context/subcommand.h"
#include "report/daemon/daemon_status.h"
#include "report/health/confinement.h"
#include "report/health/loaded.h"
#include "report/health/pressure_check.h"
#include "report/model/query.h"
#include "report/text/format.h"

#include <inttypes.h>
#include <libgen.h>
#include <string.h>
#include <sys/stat.h>

static void check_database(struct database *database, struct findings *findings)
{
	static const char name[] = "database";
	struct stat at = { 0 };

	if (stat(database->path, &at)) {
		findings_add(findings, errno == EACCES ? GRADE_UNKNOWN : GRADE_FAILED, name,
			     errno == EACCES ? "become a member of its group"
					     : "start bourdond, or name another file with --db",
			     "%s: %s", database->path, strerror(errno));
	} else if (database_open(database->path, database) < 0) {
		database->failed = true;
		findings_add(findings, GRADE_FAILED, name, "", "%s",
			     *database->problem ? database->problem : "root cannot become its owner");
	} else if (at.st_mode & (S_IROTH | S_IWOTH)) {
		findings_add(findings, GRADE_WARNING, name, "chmod 0640",
			     "%s: mode %04o: every user can read or write it", database->path,
			     (unsigned int)at.st_mode & 07777);
	} else {
		findings_ok(findings, name, "%s, %.1f MiB", database->path, (double)at.st_size / (1 << 20));
	}
}

static void check_captures(struct database *database, struct findings *findings)
{
	static const char name[] = "last capture";
	_cleanup_query_ struct query query = query_begin(
		database,
		"SELECT capture_id, state, rule, triggered_at FROM capture WHERE trigger_mode <> 'baseline' "
		"ORDER BY triggered_at DESC, capture_id DESC LIMIT 1",
		0, 0);
	char rule[64], ago[FORMAT_BYTES];
	long long capture_id;

	if (!query_next(&query)) {
		if (!database->failed)
			findings_ok(findings, name, "none yet: no rule has fired");
		return;
	}
	capture_id = query_number(&query, "capture_id");
	snprintf(rule, sizeof(rule), "%s", query_text(&query, "rule"));
	format_duration((double)(clock_wall_ns() - query_number(&query, "triggered_at")), " ", ago,
			sizeof(ago));
	if (!strcmp(query_text(&query, "state"), "interrupted"))
		findings_add(findings, GRADE_WARNING, name, "see bourdond's log of that time",
			     "capture %lld of rule %s, %s ago: interrupted", capture_id, rule, ago);
	else
		findings_ok(findings, name, "capture %lld of rule %s, %s ago: %s", capture_id, rule, ago,
			    query_text(&query, "state"));
}

#define LOSS_PERCENT_TOLERATED 1.0

/* The losses of the newest complete capture. */
static void check_quality(struct database *database, struct findings *findings)
{
	static const char name[] = "capture losses";
	_cleanup_query_ struct query query = query_begin(
		database,
		"SELECT capture_id, reason, percent FROM data_quality WHERE capture_id = "
		"(SELECT capture_id FROM capture WHERE state = 'complete' AND trigger_mode <> 'baseline' "
		"ORDER BY triggered_at DESC, capture_id DESC LIMIT 1) ORDER BY percent DESC LIMIT 1",
		0, 0);
	double percent;

	if (!query_next(&query))
		return;
	percent = query_real(&query, "percent");
	if (percent >= LOSS_PERCENT_TOLERATED)
		findings_add(findings, GRADE_WARNING, name, "'bourdon why' lists them",
			     "capture %lld: %s, %.1f %%", (long long)query_number(&query, "capture_id"),
			     query_text(&query, "reason"), percent);
	else
		findings_ok(findings, name, "capture %lld: each below %.0f %%",
			    (long long)query_number(&query, "capture_id"), LOSS_PERCENT_TOLERATED);
}

/*
 * The count of files that the helper opened since boot. A helper that was started without counters gives no
 * finding.
 */
static void check_grants(struct findings *findings)
{
	static const char name[] = "grants";
	uint64_t counted[GRANT_COUNTERS];
	int result = grant_counters_read(GRANT_COUNTERS_DEFAULT, counted);

	if (result == -EACCES)
		findings_add(findings, GRADE_UNKNOWN, name, "become a member of its group", "%s: %s",
			     GRANT_COUNTERS_DEFAULT, strerror(-result));
	else if (!result)
		findings_ok(findings, name,
			    "bourdon-grant opened %" PRIu64 " files and refused %" PRIu64
			    " requests, and %" PRIu64 " more that were over its limit a second",
			    counted[GRANT_COUNTER_GRANTED], counted[GRANT_COUNTER_REFUSED],
			    counted[GRANT_COUNTER_LATER]);
}

/* A failed query is a finding, too. */
static void check_captures_and_quality(struct database *database, struct findings *findings)
{
	if (!database->sqlite)
		return;
	check_captures(database, findings);
	check_quality(database, findings);
	if (database->failed)
		findings_add(findings, GRADE_FAILED, "captures", "", "%s", database->problem);
}

/* A refused reload keeps the previous configuration in force. */
static void check_configuration(const struct status_line *daemon, struct findings *findings)
{
	static const char name[] = "configuration";

	if (*status_line_get(daemon, "reload_mistake"))
		findings_add(
			findings, GRADE_WARNING, name,
			"correct the file: bourdond then reads it by itself; 'bourdon status' shows every mistake",
			"reload refused; keeping the previous configuration: %s",
			status_line_get(daemon, "reload_mistake"));
	else
		findings_ok(findings, name, "in force: %s %s", status_line_get(daemon, "rules"),
			    strcmp(status_line_get(daemon, "rules"), "1") ? "rules" : "rule");
}

/* Cgroups that a rule does not watch have no captures. */
static void check_watches(const struct status_line *daemon, struct findings *findings)
{
	static const char name[] = "watches";
	const char *watches = status_line_get(daemon, "watches"),
		   *unwatched = status_line_get(daemon, "cgroups_unwatched");

	if (!*unwatched)
		return; /* a daemon of another version */
	if (strcmp(unwatched, "0") != 0)
		findings_add(findings, GRADE_WARNING, name,
			     "'bourdon status' names the rules and the limit; narrow the rules, or raise it",
			     "%s of at most %s; %s cgroups with targets are not watched", watches,
			     status_line_get(daemon, "watches_max"), unwatched);
	else
		findings_ok(findings, name, "%s of at most %s", watches,
			    status_line_get(daemon, "watches_max"));
}

/* What the daemon says of itself. */
static void check_daemon(const struct database *database, struct findings *findings)
{
	_cleanup_(daemon_status_free) struct daemon_status status = { 0 };
	int result = daemon_status_ask(database->path, &status);
	const struct status_line *daemon;

	if (result == -ENOENT || result == -ECONNREFUSED)
		return; /* no daemon is running: another finding says so */
	daemon = result < 0 ? NULL : daemon_status_find(&status, "daemon");
	if (daemon) {
		check_configuration(daemon, findings);
		check_watches(daemon, findings);
	} else {
		findings_add(findings, GRADE_UNKNOWN, "configuration",
			     result == -EACCES ? "become a member of its group" : "",
			     "cannot ask bourdond: %s",
			     result == -EACCES ? strerror(EACCES) : daemon_status_explain(result));
	}
}

static const struct command_option options[] = { { "db", "FILE", DB_HELP, SHARED(db) },
						 { "json", NULL, JSON_HELP, SHARED(json) },
						 { "run-dir", "DIR", RUN_DIR_HELP, SHARED(run_dir) } };

static int doctor_main(struct report *report, int count, char **arguments)
{
	struct shared_words words = { 0 };
	_cleanup_free_ char *path = NULL;
	struct findings findings = { 0 };
	struct machine machine;
	int status = subcommand_parse(report, &doctor_subcommand, count, arguments, &words);

	if (status != OPTIONS_RUN)
		return status;
	path = strdup(report->database->path);
	if (!path || machine_open(&machine) < 0)
		return EXIT_FAILED;
	requirements_check(&machine, true, &findings);
	pressure_check(&findings);
	loaded_check(&machine, report->run_dir, &findings);
	confinement_check(&machine, dirname(path), &findings);
	check_grants(&findings);
	report->database->quiet = true;
	check_database(report->database, &findings);
	check_captures_and_quality(report->database, &findings);
	check_daemon(report->database, &findings);
	machine_close(&machine);
	report->unwell = findings_worst(&findings) == GRADE_FAILED;
	if (report->json)
		findings_print_json(&findings, report->out);
	else
		findings_print(&findings, report->out);
	return status;
}

SUBCOMMAND(
	doctor, "doctor", "", "check this machine and the installation",
	"Checks the kernel and its settings, what bourdon-load left, the confinement of bourdond, and the\n"
	"database. Exit status 1: a check failed.",
	"bourdon doctor");
