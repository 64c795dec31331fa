/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * chrome: JSON of trace events, which ui.perfetto.dev and chrome://tracing open. A thread's row shows its samples and its
 * intervals off CPU; counters show pressure, and how many threads were in which state.
 */
#include "common/base/cleanup.h"
#include "report/export/export.h"
#include "report/export/export_lanes.h"
#include "report/export/folded.h"
#include "report/model/query.h"
#include "report/text/json.h"

#include <inttypes.h>
#include <string.h>

/* The process to which belongs what is of no process: beyond the largest pid that Linux gives. */
#define OWN_PID 4194305

struct chrome {
	struct export *export;
	struct folded_names names;
	struct lanes lanes;
	const char *separator;
};

static void chrome_free(struct chrome *chrome)
{
	folded_names_free(&chrome->names);
	lanes_free(&chrome->lanes);
}

#define _cleanup_chrome_ _cleanup_(chrome_free)

/* Trace events count in us. */
static int64_t us_of(const struct chrome *chrome, int64_t ms)
{
	return chrome->export->capture.triggered_at / 1000 + 1000 * ms;
}

/* Begins an event: the caller ends it. */
static FILE *begin_event(struct chrome *chrome, const char *phase, int64_t pid, int64_t tid)
{
	FILE *out = chrome->export->out;

	fprintf(out, "%s{\"ph\":\"%s\",\"pid\":%" PRId64 ",\"tid\":%" PRId64, chrome->separator, phase, pid,
		tid);
	chrome->separator = ",\n";
	return out;
}

/* `kind` is process_name, thread_name or process_labels. */
static void add_name(struct chrome *chrome, const char *kind, int64_t pid, int64_t tid, const char *name)
{
	FILE *out = begin_event(chrome, "M", pid, tid);

	fprintf(out, ",\"name\":\"%s\",\"args\":{\"%s\":", kind,
		strcmp(kind, "process_labels") ? "name" : "labels");
	json_string(out, name);
	fputs("}}", out);
}

/* ---- samples and intervals ---- */

/*
 * A slice ends before the next one of its thread begins, because slices of a thread must not overlap. That of a sample is as long as
 * the CPU time for which it stands, in whole ms, as all times are.
 */
static int add_slice(struct chrome *chrome, const struct lane *lane, const struct lane_event *event,
		     const struct lane_event *next)
{
	const struct export_capture *capture = &chrome->export->capture;
	const struct profile *profile = chrome->export->profile;
	const struct profile_sample *sample = &profile->samples[event->sample];
	const char *stall = profile_text(profile, sample->stall);
	bool is_off = sample->kind == profile->off_cpu;
	int64_t begin_ms = event->begin_ms < capture->from_ms ? capture->from_ms : event->begin_ms;
	int64_t next_ms = !next                               ? INT64_MAX / 2000
			  : next->begin_ms < capture->from_ms ? capture->from_ms
							      : next->begin_ms;
	int64_t us = 1000 * (is_off ? event->end_ms - begin_ms : capture->period_ns / 1000000);
	FILE *out = begin_event(chrome, "X", profile->processes[lane->process].tgid, lane->tid);
	int result;

	if (us > 1000 * (next_ms - begin_ms))
		us = 1000 * (next_ms - begin_ms);
	fprintf(out, ",\"ts\":%" PRId64 ",\"dur\":%" PRId64 ",\"cat\":\"%s\",\"name\":\"",
		us_of(chrome, begin_ms), us < 0 ? 0 : us, is_off ? "off-cpu" : "on-cpu");
	if (is_off) {
		json_part(out, export_wait_name(stall));
		fputs(": ", out);
	}
	json_part(out, export_leaf(profile, sample));
	fputs("\",\"args\":{\"stall\":", out);
	json_string(out, stall);
	if (event->count > 1)
		fprintf(out, ",\"samples\":%" PRIu32, event->count);
	if (event->cpu >= 0)
		fprintf(out, ",\"cpu\":%d", event->cpu);
	if (begin_ms != event->begin_ms)
		fprintf(out, ",\"began_before_ms\":%" PRId64, begin_ms - event->begin_ms);
	fputs(",\"stack\":\"", out);
	result = folded_names_write(&chrome->names, profile, &profile->stacks[sample->stack], json_part,
				    json_part, out);
	fputs("\"}}", out);
	return result;
}

static int add_lane(struct chrome *chrome, const struct lane *lane)
{
	const struct profile *profile = chrome->export->profile;
	const struct lane_event *events = chrome->lanes.events + lane->first;
	int result = 0;

	if (!lane->count)
		return 0;
	add_name(chrome, "process_name", profile->processes[lane->process].tgid, 0,
		 export_comm(profile, lane->process));
	add_name(chrome, "process_labels", profile->processes[lane->process].tgid, 0,
		 profile_text(profile, lane->role));
	add_name(chrome, "thread_name", profile->processes[lane->process].tgid, lane->tid,
		 profile_text(profile, lane->name));
	for (uint32_t i = 0; i < lane->count && !result; i++)
		result = add_slice(chrome, lane, &events[i], i + 1 < lane->count ? &events[i + 1] : NULL);
	return result;
}

/* ---- counters and moments ---- */

/* Of each reading but the last: the share of the time until the next one that was stalled. */
static void add_pressure(struct chrome *chrome)
{
	_cleanup_query_ struct query query = query_begin(
		chrome->export->database,
		"SELECT at, scope, resource, 100000.0 * (some_next - some_us) / (next - at) AS some, "
		"100000.0 * (full_next - full_us) / (next - at) AS \"full\" FROM (SELECT at, scope, resource, some_us, full_us, "
		"lead(at) OVER same AS next, lead(some_us) OVER same AS some_next, lead(full_us) OVER same AS full_next "
		"FROM pressure WHERE capture_id = ?1 WINDOW same AS (PARTITION BY scope, resource ORDER BY at)) "
		"WHERE next > at ORDER BY scope, resource, at",
		chrome->export->capture.capture_id, 0);

	while (query_next(&query)) {
		FILE *out = begin_event(chrome, "C", OWN_PID, 0);

		fprintf(out, ",\"ts\":%" PRId64 ",\"name\":\"PSI ", query_number(&query, "at") / 1000);
		json_part(out, query_text(&query, "resource"));
		fputs(" of ", out);
		json_part(out, query_text(&query, "scope"));
		fprintf(out, "\",\"args\":{\"some %%\":%.3f", query_real(&query, "some"));
		if (!query_is_null(&query, "full"))
			fprintf(out, ",\"full %%\":%.3f", query_real(&query, "full"));
		fputs("}}", out);
	}
}

/* How many threads of targets were in each state, on average of a second's looks. */
static void add_states(struct chrome *chrome)
{
	_cleanup_query_ struct query query = query_begin(
		chrome->export->database,
		"SELECT l.second, s.state, ifnull(sum(iif(t.seconds > 1, 1.0, 1.0 * t.samples / nullif(l.looks, 0))), 0.0) AS threads "
		"FROM (SELECT second, looks FROM thread_look WHERE capture_id = ?1) l CROSS JOIN "
		"(SELECT DISTINCT state FROM thread_state WHERE capture_id = ?1 AND role = 'target') s LEFT JOIN "
		"(SELECT state, second, seconds, samples FROM thread_state WHERE capture_id = ?1 AND role = 'target') t "
		"ON t.state = s.state AND l.second >= t.second AND l.second < t.second + t.seconds "
		"GROUP BY s.state, l.second ORDER BY s.state, l.second",
		chrome->export->capture.capture_id, 0);

	while (query_next(&query)) {
		int64_t second = query_number(&query, "second");
		FILE *out;

		if (second < -INT32_MAX || second > INT32_MAX)
			continue; /* damaged */
		out = begin_event(chrome, "C", OWN_PID, 0);
		fprintf(out, ",\"ts\":%" PRId64 ",\"name\":\"target threads in state ",
			us_of(chrome, 1000 * second));
		json_part(out, query_text(&query, "state"));
		fprintf(out, "\",\"args\":{\"threads\":%.3f}}", query_real(&query, "threads"));
	}
}

/* Begins a moment of the whole trace: the caller ends its arguments and the event. */
static FILE *begin_moment(struct chrome *chrome, int64_t at, const char *name)
{
	FILE *out = begin_event(chrome, "i", OWN_PID, 0);

	fprintf(out, ",\"s\":\"g\",\"ts\":%" PRId64 ",\"name\":", at / 1000);
	json_string(out, name);
	fputs(",\"args\":{", out);
	return out;
}

static void add_trigger(struct chrome *chrome)
{
	const struct export_capture *capture = &chrome->export->capture;
	FILE *out = begin_moment(chrome, capture->triggered_at, *capture->fired ? "trigger" : "request");

	fputs("\"capture\":", out);
	json_string(out, capture->title);
	fputs(",\"verdict\":", out);
	json_string(out, capture->verdict);
	fputs("}}", out);
}

static void add_kills(struct chrome *chrome)
{
	_cleanup_query_ struct query query = query_begin(
		chrome->export->database,
		"SELECT at, how, ifnull(comm, '?') AS comm, tgid, ifnull(by_comm, '?') AS by_comm, processes FROM killed "
		"WHERE capture_id = ?1 ORDER BY at",
		chrome->export->capture.capture_id, 0);

	while (query_next(&query)) {
		FILE *out = begin_moment(chrome, query_number(&query, "at"), "kill");

		fputs("\"how\":", out);
		json_string(out, query_text(&query, "how"));
		fputs(",\"victim\":", out);
		json_string(out, query_text(&query, "comm"));
		fputs(",\"by\":", out);
		json_string(out, query_text(&query, "by_comm"));
		fprintf(out, ",\"tgid\":%" PRId64 ",\"processes\":%" PRId64 "}}",
			query_number(&query, "tgid"), query_number(&query, "processes"));
	}
}

int export_chrome(struct export *export)
{
	_cleanup_chrome_ struct chrome chrome = { .export = export, .separator = "\n" };
	int result = folded_names_make(export->profile, &chrome.names);

	if (!result)
		result = lanes_make(export->profile, &chrome.lanes);
	if (result < 0)
		return result;
	fputs("{\"displayTimeUnit\":\"ms\",\"otherData\":{\"title\":", export->out);
	json_string(export->out, export->capture.title);
	fputs(",\"host\":", export->out);
	json_string(export->out, export->capture.hostname);
	fputs("},\n\"traceEvents\":[", export->out);
	add_name(&chrome, "process_name", OWN_PID, 0, export->capture.title);
	add_trigger(&chrome);
	add_kills(&chrome);
	add_pressure(&chrome);
	add_states(&chrome);
	for (uint32_t i = 0; i < chrome.lanes.count && !result; i++)
		result = add_lane(&chrome, &chrome.lanes.lanes[i]);
	fputs("\n]}\n", export->out);
	return export->database->failed ? -EIO : result;
}
