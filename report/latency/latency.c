/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * latency: the histograms of one capture: how long what waited, by metric and label, during the capture and before it; or with --live
 * as they are now. docs/LATENCY.md says what each measures.
 */
#include "common/abi/latency.h"
#include "common/base/cleanup.h"
#include "common/system/log.h"
#include "common/text/escape.h"
#include "report/context/subcommand.h"
#include "report/latency/latency_choice.h"
#include "report/latency/latency_json.h"
#include "report/latency/latency_live.h"
#include "report/latency/latency_text.h"
#include "report/model/profile.h"
#include "report/model/query.h"
#include "report/text/format.h"
#include "report/text/time_text.h"
#include "report/text/wrap.h"

#include <inttypes.h>
#include <string.h>

struct latency_words {
	struct shared_words shared;
	const char *metric, *span, *label, *by, *no_color, *live, *once;
};

#define WORD(name) .at = offsetof(struct latency_words, name)

static const struct command_option options[] = {
	{ "db", "FILE", DB_HELP, SHARED(db) },
	{ "json", NULL, JSON_HELP, SHARED(json) },
	{ "limit", "N", "print at most N labels of a metric (8; JSON: all)", SHARED(limit) },
	{ "metric", "LIST", "these metrics, or all of a group: block,runqueue,lock", WORD(metric) },
	{ "label", "LABEL", "labels that this glob names: '*db.service'", WORD(label) },
	{ "span", "SPAN", ONE_OF("of the time ", "before or during"), WORD(span) },
	{ "by", "WHICH", ONE_OF("order labels by ", "time or growth"), WORD(by) },
	{ "live", NULL, "what is measured now, without a capture, every 5 s", WORD(live) },
	{ "once", NULL, "live: print one interval, and end", WORD(once) },
	{ "no-color", NULL, "no colour; nor with NO_COLOR set", WORD(no_color) },
};

/* ---- what was asked for ---- */

static bool is_metric(const char *name, size_t bytes)
{
	for (uint32_t i = 0; i < METRICS; i++)
		if (latency_is_of(latency_metric_names[i], name, bytes))
			return true;
	return false;
}

/* Logs all names in one line. */
static void refuse_metric(const char *name, size_t bytes)
{
	char all[256] = "";
	size_t used = 0;

	for (uint32_t i = 0; i < METRICS && used < sizeof(all); i++)
		used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s", i ? ", " : "",
					 latency_metric_names[i]);
	log_error("'%.*s' is no metric: the metrics are %s", (int)bytes, name, all);
}

/* `latency` alone is of a capture, and `latency --live` of none. */
static int check_live(const struct report *report, const struct latency_words *words)
{
	if (!words->live && words->once)
		log_error("'latency' takes --once with --live alone: see 'bourdon latency --help'");
	else if (words->live && report->operands_count)
		log_error("'latency --live' takes no ID: it is of no capture");
	else if (words->live && words->span)
		log_error("'latency --live' takes no --span: an interval has the one before it beside it");
	else
		return OPTIONS_RUN;
	return EXIT_USAGE;
}

/* Returns OPTIONS_RUN; or EXIT_USAGE, and the mistake was logged. */
static int read_choice(const struct report *report, const struct latency_words *words,
		       struct latency_choice *ret_choice)
{
	for (const char *name = words->metric; name; name = strchr(name, ',')) {
		name += *name == ',';
		if (!is_metric(name, strcspn(name, ","))) {
			refuse_metric(name, strcspn(name, ","));
			return EXIT_USAGE;
		}
	}
	*ret_choice = (struct latency_choice){
		.metrics = words->metric,
		.label = words->label,
		.span = words->span && !strcmp(words->span, "before") ? LATENCY_BEFORE
			: words->span || words->live || !report->json ? LATENCY_DURING
								      : LATENCY_SPANS,
		.is_live = words->live,
		.by_growth = words->by && !strcmp(words->by, "growth"),
		.limit = report->limit,
	};
	return OPTIONS_RUN;
}

/* ---- output ---- */

static void print_absent(const struct report *report)
{
	char text[FORMAT_BYTES];

	snprintf(
		text, sizeof(text),
		"capture %" PRId64
		" has no latencies: no group of them was on; a rule with 'probes = block, lock' has those groups measured",
		report->capture_id);
	print_wrapped_on(&report->layout, text, 0);
}

/* "capture 12 of rule web, 2026-11-25T14:03:00Z" */
static void print_head(const struct report *report)
{
	_cleanup_query_ struct query query =
		query_begin(report->database, "SELECT rule, triggered_at FROM capture WHERE capture_id = ?1",
			    report->capture_id, 0);
	char text[FORMAT_BYTES], rule[FORMAT_BYTES / 4], time[TIME_TEXT_BYTES];
	bool has_rule = query_next(&query) && !query_is_null(&query, "rule");

	snprintf(text, sizeof(text), "capture %" PRId64 "%s%s, %s", report->capture_id,
		 has_rule ? " of rule " : "",
		 has_rule ? escape_terminal(query_text(&query, "rule"), rule, sizeof(rule)) : "",
		 time_text_write(query_number(&query, "triggered_at"), time));
	print_wrapped_on(&report->layout, text, 0);
}

static int print_latencies(const struct report *report, const struct latency_choice *choice,
			   const struct latencies *latencies)
{
	if (report->database->failed)
		return 0;
	if (!latencies->metrics_count) {
		print_absent(report);
		return 0;
	}
	print_head(report);
	return latency_print(&report->layout, report->database, choice, choice->metrics || choice->label,
			     latencies);
}

static void show_capture(struct report *report, const struct latency_choice *choice)
{
	_cleanup_latencies_ struct latencies latencies = { 0 };
	int result = latencies_load(report->database, report->capture_id, &latencies);

	if (!result && report->json) {
		fprintf(report->out, "{\"capture\": %" PRId64 ", \"metrics\": ", report->capture_id);
		result = latency_write_json(report->out, choice, &latencies);
		fputs("}\n", report->out);
	} else if (!result) {
		result = print_latencies(report, choice, &latencies);
	}
	if (result < 0)
		profile_fail(report->database, result);
}

static int latency_main(struct report *report, int count, char **arguments)
{
	struct latency_words words = { 0 };
	struct latency_live_choice live = { 0 };
	int status = subcommand_parse(report, &latency_subcommand, count, arguments, &words);

	if (status == OPTIONS_RUN)
		status = check_live(report, &words);
	if (status == OPTIONS_RUN)
		status = read_choice(report, &words, &live.choice);
	if (status == OPTIONS_RUN && !words.live)
		status = subcommand_open_capture(report);
	if (status != OPTIONS_RUN)
		return status;
	live.once = words.once;
	live.no_color = words.no_color;
	report->layout = layout_of(report->out, words.no_color);
	if (words.live)
		latency_live_show(report, &live);
	else
		show_capture(report, &live.choice);
	return status;
}

SUBCOMMAND(
	latency, "latency", "[ID]", "show how long what waited: percentiles and histograms",
	"Shows the histograms of capture ID: waits for a CPU, for disks, locks and memory, by unit, device or\n"
	"lock; p50 to p99.9, the longest, and p99 before the capture. Bars are of the first label of each metric,\n"
	"with --metric or --label of each that is listed. Without ID: the newest complete capture.\n"
	"With --live: what is measured now; bourdond switches it on meanwhile. A screen, with ? for help; or as\n"
	"text or JSON, interval by interval.",
	"bourdon latency --live --metric block", .takes_id = true, .limit = 8);
