/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * why: what one capture says about the pressure that caused it. First the answer (report/answer/answer_lines.h); then sections, on request.
 * Each is one query, or one pass over the capture's profile. It is printed as text, or as one member of a JSON object, so that
 * both have the same rows.
 */
#include "report/why/why.h"

#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "report/answer/answer_find.h"
#include "report/answer/answer_json.h"
#include "report/answer/answer_lines.h"
#include "report/answer/changes.h"
#include "report/answer/incident.h"
#include "report/answer/recorder_text.h"
#include "report/answer/states.h"
#include "report/answer/timeline.h"
#include "report/answer/usual.h"
#include "report/context/subcommand.h"
#include "report/text/json.h"
#include "report/why/section.h"

#include <string.h>

/* ---- sections of other modules ---- */

/* Finds the answer when it is first wanted. Returns 0, -ENOMEM or -EIO. */
static int find_answer(struct why *why)
{
	int result = why->is_answered ? 0 : answer_find(why->report, &why->profile, &why->answer);

	why->is_answered = true;
	return result;
}

static const struct section answer_section = {
	.name = "answer",
	.shows = "what was short, for whom, by whom, where, and what to do",
	.is_object = true,
	.of_answer = answer_rows,
};

static const struct section usual_section = {
	.name = "usual",
	.shows = "how often that happened in the week before, and the baseline",
	.is_object = true,
	.of_answer = usual_rows,
	.print = usual_print,
};

static const struct section changes_section = {
	.name = "changes",
	.shows = "builds, restarts and limits that are others than before",
	.joins = true,
	.of_answer = changes_rows,
	.print = changes_print,
};

static int compute_timeline(struct why *why, struct rows *ret_rows)
{
	int result = find_answer(why);

	return result ? result : timeline_rows(&why->profile, why->answer.resource, ret_rows);
}

static const struct section timeline_section = {
	.name = "timeline",
	.shows = "running beside waiting, by second",
	.compute = compute_timeline,
	.print = timeline_print,
};

static const struct section incident_section = {
	.name = "incident",
	.shows = "the incident of the capture",
	.sql = incident_remark_sql,
	.is_object = true,
	.print = incident_print_remark,
};

static int compute_states(struct why *why, struct rows *ret_rows)
{
	return states_of(&why->profile, why->report->database, why->report->capture_id, ret_rows);
}

static const struct section states_section = {
	.name = "states",
	.shows = "in which state threads were",
	.compute = compute_states,
	.print = states_print,
};

static const struct section recorder_section = {
	.name = "recorder",
	.shows = "what recording took, and how it kept pace",
	.sql = recorder_sql,
	.print = recorder_print,
};

/* ---- all sections ---- */

/* In the order in which they are printed. */
static const struct section *const sections[] = {
	&answer_section,     &usual_section,    &changes_section,   &timeline_section, &not_whole_section,
	&unnamed_section,    &capture_section,  &asked_section,     &incident_section, &pressure_section,
	&waiting_section,    &latency_section,  &machine_section,   &bytes_section,    &cgroup_bytes_section,
	&interrupts_section, &groups_section,   &killed_section,    &growth_section,   &growth_stacks_section,
	&reclaim_section,    &cgroups_section,  &processes_section, &stacks_section,   &others_section,
	&stalls_section,     &states_section,   &wakers_section,    &locks_section,    &functions_section,
	&seconds_section,    &recorder_section, &losses_section,    &stored_section,
};

static bool says_absent(const struct section *section, const struct query *query)
{
	_cleanup_query_ struct query fired = { 0 };

	if (!section->absent || query->database->failed || !section->absent_of)
		return section->absent && !query->database->failed;
	fired = query_begin(query->database, "SELECT resource FROM capture WHERE capture_id = ?1", query->id,
			    0);
	return query_next(&fired) && !strcmp(query_text(&fired, "resource"), section->absent_of);
}

static void print_text(struct why *why, const struct section *section, struct query *query)
{
	const struct layout *layout = &why->report->layout;
	const char *separator = why->has_printed && !section->joins ? "\n" : "";

	if (query_next(query)) {
		fputs(separator, layout->out);
		if (section->print)
			section->print(layout, query);
		else if (section->columns)
			section_print_table(section, layout, query);
		else
			answer_print(layout, &why->answer);
	} else if (says_absent(section, query)) {
		fprintf(layout->out, "%s%s\n", separator, section->absent);
	} else if (why->sections && !query->database->failed) {
		/* whoever asks for one by its name is told that there is nothing */
		fprintf(layout->out, "%s%s: nothing in this capture\n", separator, section->name);
	} else {
		return;
	}
	why->has_printed = true;
}

static void print_json(struct why *why, const struct section *section, struct query *query)
{
	FILE *out = why->report->out;

	fprintf(out, "%s\"%s\": ", why->has_printed ? ",\n" : "{", section->name);
	if (!section->is_object)
		json_rows(out, query, NULL);
	else
		json_next_row(out, query);
	why->has_printed = true;
}

static void run_section(struct why *why, const struct section *section)
{
	struct report *report = why->report;
	_cleanup_query_ struct query query = { 0 };
	_cleanup_rows_ struct rows rows = { 0 };
	int result = 0;

	if (section->compute || section->of_answer) {
		result = section->of_answer ? find_answer(why) : 0;
		if (!result)
			result = section->of_answer ? section->of_answer(&why->answer, &rows)
						    : section->compute(why, &rows);
		query = query_of_rows(report->database, &rows);
		query.id = report->capture_id;
	} else {
		query = query_begin(report->database, section->sql, report->capture_id, 0);
	}
	if (result < 0)
		profile_fail(report->database, result);
	else
		(report->json ? print_json : print_text)(why, section, &query);
}

/* ---- which sections ---- */

/* The name at `names`, which ends with a comma or the text; *ret_next: the one behind it, or NULL. */
static size_t next_name(const char *names, const char **ret_next)
{
	size_t length = strcspn(names, ",");

	*ret_next = names[length] ? names + length + 1 : NULL;
	return length;
}

static bool is_name(const struct section *section, const char *name, size_t length)
{
	return strlen(section->name) == length && !strncmp(section->name, name, length);
}

static bool is_wanted(const struct why *why, const struct section *section)
{
	if (!why->sections)
		return !section->print_alone;
	for (const char *name = why->sections, *next; name; name = next)
		if (is_name(section, name, next_name(name, &next)))
			return true;
	return false;
}

/* Logs all names in one line. */
static void refuse_name(const char *name, size_t length)
{
	char all[512] = "";
	size_t used = 0;

	for (size_t i = 0; i < ARRAY_SIZE(sections) && used < sizeof(all); i++)
		used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s", i ? ", " : "",
					 sections[i]->name);
	log_error("'%.*s' is no section of 'why': the sections are %s", (int)length, name, all);
}

/* NULL: there is none of this name. */
static const struct section *find_section(const char *name, size_t length)
{
	for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
		if (is_name(sections[i], name, length))
			return sections[i];
	return NULL;
}

/* Returns true; or false, and the mistake in the names was logged: one that is none, with all that there are. */
static bool has_sections(const char *names)
{
	for (const char *name = names, *next; name; name = next) {
		size_t length = next_name(name, &next);
		const struct section *section = find_section(name, length);

		if (!section) {
			refuse_name(name, length);
			return false;
		}
		if (section->print_alone && (name != names || name[length])) {
			log_error("--section %s takes no other section beside it", section->name);
			return false;
		}
	}
	return true;
}

/* What fits a page: the answer, whether it is usual, and where there is more. */
static int print_brief(struct why *why)
{
	const struct layout *layout = &why->report->layout;
	_cleanup_rows_ struct rows rows = { 0 };
	struct query usual;
	uint32_t lines;
	int result = find_answer(why);

	if (!result)
		result = usual_rows(&why->answer, &rows);
	if (result)
		return result;
	lines = answer_print(layout, &why->answer);
	usual = query_of_rows(why->report->database, &rows);
	if (lines < ANSWER_LINES_MOST && query_next(&usual)) {
		usual_print_brief(layout, &usual);
		lines++;
	}
	if (lines < ANSWER_LINES_MOST)
		fputs("--full shows all, --section NAME a part of it: '--section help' lists them\n",
		      layout->out);
	return 0;
}

void why_print(struct report *report, const char *chosen, bool is_brief)
{
	struct why why = { .report = report, .sections = chosen };
	int result;

	if (profile_load(report->database, report->capture_id, PROFILE_OF_TARGETS, &why.profile) < 0)
		return;
	if (is_brief) {
		result = print_brief(&why);
		if (result < 0)
			profile_fail(report->database, result);
	}
	for (size_t i = 0; !is_brief && i < ARRAY_SIZE(sections) && !report->database->failed; i++)
		if (is_wanted(&why, sections[i]))
			run_section(&why, sections[i]);
	if (report->json)
		fputs("}\n", report->out);
	answer_free(&why.answer);
	latencies_free(&why.latencies);
	profile_free(&why.others);
	profile_free(&why.profile);
}

/* ---- the subcommand ---- */

struct why_words {
	struct shared_words shared;
	const char *incident, *full, *section, *no_color;
};

#define WORD(name) .at = offsetof(struct why_words, name)

static const struct command_option options[] = {
	{ "db", "FILE", DB_HELP, SHARED(db) },
	{ "json", NULL, JSON_HELP, SHARED(json) },
	{ "incident", NULL, "explain a whole incident", WORD(incident) },
	{ "full", NULL, "everything", WORD(full) },
	{ "section", "LIST", "these parts alone; 'help' lists them", WORD(section) },
	{ "no-color", NULL, "no colour; nor with NO_COLOR set", WORD(no_color) },
};

/* Returns OPTIONS_RUN; EXIT_DONE, after the names of the sections; or EXIT_USAGE, and the mistake was logged. */
static int check_words(const struct why_words *words)
{
	if (words->section && !strcmp(words->section, "help")) {
		for (size_t i = 0; i < ARRAY_SIZE(sections); i++)
			printf("%-13s %s\n", sections[i]->name, sections[i]->shows);
		return EXIT_DONE;
	}
	if (words->incident && (words->full || words->section))
		log_error("'why --incident' takes neither --full nor --section: it has all that there is");
	else if (words->full && words->section)
		log_error("--full shows every section, and --section some: give one of them");
	else if (!words->section || has_sections(words->section))
		return OPTIONS_RUN;
	return EXIT_USAGE;
}

static int explain_incident(struct report *report)
{
	int64_t incident_id;
	int status = subcommand_open(report);

	if (status != OPTIONS_RUN)
		return status;
	if (!incident_choose(report->database, report->capture_id, &incident_id))
		return EXIT_FAILED;
	incident_print(report, incident_id);
	return OPTIONS_RUN;
}

static int why_main(struct report *report, int count, char **arguments)
{
	struct why_words words = { 0 };
	const struct section *alone;
	int status = subcommand_parse(report, &why_subcommand, count, arguments, &words);

	if (status == OPTIONS_RUN)
		status = check_words(&words);
	if (status != OPTIONS_RUN)
		return status;
	report->layout = layout_of(report->out, words.no_color);
	if (words.incident)
		return explain_incident(report);
	status = subcommand_open_capture(report);
	if (status != OPTIONS_RUN)
		return status;
	alone = words.section ? find_section(words.section, strlen(words.section)) : NULL;
	if (alone && alone->print_alone)
		alone->print_alone(report);
	else
		why_print(report, words.section, !words.full && !words.section && !report->json);
	return status;
}

SUBCOMMAND(
	why, "why", "[ID]", "answer: what was short, for whom, by whom, where, and what to do about it",
	"Answers about capture ID in 14 lines at most: what was short, who waited, for whom, where in the code,\n"
	"since when, whether it goes on, how certain that is, the command that changes it or tells more, and whether\n"
	"it is usual. --full and --section show the evidence.\n"
	"Without ID: the newest complete capture. With --incident, ID is an incident's.",
	"bourdon why 12 --section stacks,groups", .takes_id = true);
