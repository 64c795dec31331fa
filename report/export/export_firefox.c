/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * firefox: JSON in the format that Gecko, Firefox's engine, writes, version 31. The Firefox Profiler converts it to what it needs
 * itself, whose format changes more often.
 */
#include "common/base/cleanup.h"
#include "report/export/export.h"
#include "report/export/export_lanes.h"
#include "report/export/firefox_tables.h"
#include "report/model/id_index.h"
#include "report/model/query.h"
#include "report/model/rows.h"
#include "report/text/json.h"

#include <inttypes.h>
#include <string.h>

#define FORMAT_VERSION 31
#define BIN_MS 100 /* of the counters of CPU time */
#define BINS_MOST 65536

static const char categories_json[] =
	"[{\"name\":\"Other\",\"color\":\"grey\",\"subcategories\":[\"Other\"]},"
	"{\"name\":\"User\",\"color\":\"yellow\",\"subcategories\":[\"Other\"]},"
	"{\"name\":\"Kernel\",\"color\":\"orange\",\"subcategories\":[\"Other\"]},"
	"{\"name\":\"JIT\",\"color\":\"green\",\"subcategories\":[\"Other\"]},"
	"{\"name\":\"Stall\",\"color\":\"red\",\"subcategories\":[\"Other\"]},"
	"{\"name\":\"Waiting\",\"color\":\"blue\",\"subcategories\":[\"Other\"]}]";

#define FIELD(key, label, format)                                                                            \
	"{\"key\":\"" key "\",\"label\":\"" label "\",\"format\":\"" format "\",\"searchable\":true}"
#define SHOWN "\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"]"

static const char marker_schema_json[] =
	"[{\"name\":\"OffCpu\",\"tooltipLabel\":\"{marker.name}\",\"tableLabel\":\"{marker.data.function}\",\"chartLabel\":"
	"\"{marker.data.function}\"," SHOWN
	",\"data\":[" FIELD("stall", "PSI class", "string") "," FIELD("function", "In", "string") "," FIELD("cpu", "CPU where it ran again", "integer") "," FIELD(
		"beganBefore", "Began before the capture",
		"duration") "]},"
			    "{\"name\":\"Trigger\",\"tooltipLabel\":\"{marker.name}\",\"tableLabel\":\"{marker.data.capture}\"," SHOWN
			    ",\"data\":[" FIELD("capture", "Capture", "string") "," FIELD(
				    "verdict", "Verdict",
				    "string") "]},"
					      "{\"name\":\"Kill\",\"tooltipLabel\":\"{marker.name}\",\"tableLabel\":\"{marker.data.victim} by {marker.data.by}\"," SHOWN
					      ",\"data\":[" FIELD("how", "How", "string") "," FIELD("victim", "Victim", "string") "," FIELD(
						      "victimPid", "Process",
						      "integer") "," FIELD("unit", "Unit",
									   "string") "," FIELD("by", "By",
											       "string") "," FIELD("processes",
														   "Processes",
														   "integer") "]}]";

static const char marker_columns[] =
	"\"schema\":{\"name\":0,\"startTime\":1,\"endTime\":2,\"phase\":3,\"category\":4,\"data\":5}";

struct firefox {
	struct export *export;
	struct firefox_tables tables; /* of the thread at hand */
	struct lanes lanes;
	struct id_index tgids; /* of the processes that were written */
};

static void firefox_free(struct firefox *firefox)
{
	firefox_tables_free(&firefox->tables);
	lanes_free(&firefox->lanes);
	id_index_free(&firefox->tgids);
}

#define _cleanup_firefox_ _cleanup_(firefox_free)

/* ---- samples and markers ---- */

/* From the capture's begin, where the profile's time begins. */
static int64_t ms_of(const struct firefox *firefox, int64_t ms)
{
	return ms < firefox->export->capture.from_ms ? 0 : ms - firefox->export->capture.from_ms;
}

static int write_samples(struct firefox *firefox, const struct lane *lane)
{
	const struct profile *profile = firefox->export->profile;
	const char *separator = "";
	FILE *out = firefox->export->out;
	uint32_t stack;
	int result = 0;

	fputs("\"samples\":{\"schema\":{\"stack\":0,\"time\":1,\"eventDelay\":2,\"threadCPUDelta\":3},\"data\":[",
	      out);
	for (uint32_t i = lane->first; i < lane->first + lane->count && !result; i++) {
		const struct lane_event *event = &firefox->lanes.events[i];

		if (profile->samples[event->sample].kind != profile->on_cpu)
			continue;
		result = firefox_tables_stack(&firefox->tables, &profile->samples[event->sample], &stack);
		for (uint32_t j = 0; j < event->count && !result; j++, separator = ",") {
			fprintf(out, "%s[", separator);
			json_number(out, stack != PROFILE_NONE, stack);
			fprintf(out, ",%" PRId64 ",0,%" PRId64 "]", ms_of(firefox, event->begin_ms),
				firefox->export->capture.period_ns);
		}
	}
	fputs("]},\n", out);
	return result;
}

/* The id of a thread or its process, which the reader takes for unique: of a program that its process executed later it has the process's id, too. */
static void write_id(const struct firefox *firefox, int64_t id, int64_t process_id, bool is_unique)
{
	fprintf(firefox->export->out, is_unique ? "%" PRId64 : "\"%" PRId64 ".%" PRId64 "\"", id, process_id);
}

struct lane_ids {
	const struct lane *lane;
	const struct profile_process *process;
	bool are_unique;
};

/* What the marker's stack is: a profile of one sample. */
static void write_marker_stack(const struct firefox *firefox, const struct lane_ids *ids, uint32_t stack,
			       int64_t ms)
{
	FILE *out = firefox->export->out;

	fputs(",\"stack\":{\"name\":\"SyncProfile\",\"registerTime\":null,\"unregisterTime\":null,\"processType\":\"default\",\"tid\":",
	      out);
	write_id(firefox, ids->lane->tid, ids->process->process_id, ids->are_unique);
	fputs(",\"pid\":", out);
	write_id(firefox, ids->process->tgid, ids->process->process_id, ids->are_unique);
	fprintf(out,
		",\"markers\":{%s,\"data\":[]},\"samples\":{\"schema\":{\"stack\":0,\"time\":1,\"eventDelay\":2},\"data\":[[%" PRIu32
		",%" PRId64 ",0]]}}",
		marker_columns, stack, ms);
}

static int write_wait(struct firefox *firefox, const struct lane_ids *ids, const struct lane_event *event,
		      const char *separator)
{
	const struct profile *profile = firefox->export->profile;
	const struct profile_sample *sample = &profile->samples[event->sample];
	const char *stall = profile_text(profile, sample->stall);
	int64_t begin_ms = ms_of(firefox, event->begin_ms), end_ms = ms_of(firefox, event->end_ms);
	int64_t before_ms = firefox->export->capture.from_ms - event->begin_ms;
	FILE *out = firefox->export->out;
	uint32_t name, stack;
	int result = firefox_tables_stack(&firefox->tables, sample, &stack);

	if (!result)
		result = firefox_tables_wait_name(&firefox->tables, sample->stall, &name);
	for (uint32_t j = 0; j < event->count && !result; j++, separator = ",\n") {
		fprintf(out, "%s[%" PRIu32 ",%" PRId64 ",%" PRId64 ",1,%d,{\"type\":\"OffCpu\",\"stall\":",
			separator, name, begin_ms, end_ms,
			strcmp(stall, "none") ? FIREFOX_STALL : FIREFOX_WAIT);
		json_string(out, stall);
		fputs(",\"function\":", out);
		json_string(out, export_leaf(profile, sample));
		if (event->cpu >= 0)
			fprintf(out, ",\"cpu\":%d", event->cpu);
		if (before_ms > 0)
			fprintf(out, ",\"beganBefore\":%" PRId64, before_ms);
		if (stack != PROFILE_NONE)
			write_marker_stack(firefox, ids, stack, begin_ms);
		fputs("}]", out);
	}
	return result;
}

static int write_markers(struct firefox *firefox, const struct lane_ids *ids)
{
	const struct profile *profile = firefox->export->profile;
	const struct lane *lane = ids->lane;
	const char *separator = "";
	FILE *out = firefox->export->out;
	int result = 0;

	fprintf(out, "\"markers\":{%s,\"data\":[", marker_columns);
	for (uint32_t i = lane->first; i < lane->first + lane->count && !result; i++) {
		const struct lane_event *event = &firefox->lanes.events[i];

		if (profile->samples[event->sample].kind != profile->off_cpu)
			continue;
		result = write_wait(firefox, ids, event, separator);
		separator = ",\n";
	}
	fputs("]}", out);
	return result;
}

/* The reader takes a thread of this name for the first one of its process, and shows the process's name. */
#define MAIN_THREAD "GeckoMain"

static int write_thread(struct firefox *firefox, const struct lane_ids *ids)
{
	const struct profile *profile = firefox->export->profile;
	const struct lane *lane = ids->lane;
	FILE *out = firefox->export->out;
	int result;

	fputs(",\n{\"name\":", out);
	json_string(out, lane->is_main ? MAIN_THREAD : profile_text(profile, lane->name));
	fputs(",\"processName\":", out);
	json_string(out, export_comm(profile, lane->process));
	fputs(",\"processType\":\"default\",\"registerTime\":0,\"unregisterTime\":null,\"tid\":", out);
	write_id(firefox, lane->tid, ids->process->process_id, ids->are_unique);
	fputs(",\"pid\":", out);
	write_id(firefox, ids->process->tgid, ids->process->process_id, ids->are_unique);
	fputs(",\n", out);
	firefox->tables.lane = (uint32_t)(lane - firefox->lanes.lanes);
	result = write_samples(firefox, lane);
	if (!result)
		result = write_markers(firefox, ids);
	firefox_tables_write(&firefox->tables, out);
	return result;
}

static int write_threads(struct firefox *firefox)
{
	const struct profile *profile = firefox->export->profile;
	uint32_t process = PROFILE_NONE;
	struct lane_ids ids = { 0 };
	int result = 0;

	for (uint32_t i = 0; i < firefox->lanes.count && !result; i++) {
		ids.lane = &firefox->lanes.lanes[i];
		if (!ids.lane->count)
			continue;
		if (ids.lane->process != process) {
			process = ids.lane->process;
			ids.process = &profile->processes[process];
			ids.are_unique = id_index_find(&firefox->tgids, ids.process->tgid) == HASH_INDEX_NONE;
			if (ids.are_unique)
				result = id_index_add(&firefox->tgids, ids.process->tgid);
		}
		if (!result)
			result = write_thread(firefox, &ids);
	}
	return result;
}

/* ---- the capture itself ---- */

static int64_t capture_ms(const struct firefox *firefox, int64_t at)
{
	return ms_of(firefox, export_ms(&firefox->export->capture, at));
}

static void write_text(FILE *out, const char *key, const char *text)
{
	fprintf(out, ",\"%s\":", key);
	json_string(out, text);
}

static void write_kills(struct firefox *firefox, uint32_t name)
{
	_cleanup_query_ struct query query = query_begin(
		firefox->export->database,
		"SELECT at, how, ifnull(comm, '?') AS comm, tgid, ifnull(unit, '') AS unit, ifnull(by_comm, '?') AS by_comm, processes "
		"FROM killed WHERE capture_id = ?1 ORDER BY at",
		firefox->export->capture.capture_id, 0);
	FILE *out = firefox->export->out;

	while (query_next(&query)) {
		fprintf(out, ",\n[%" PRIu32 ",%" PRId64 ",null,0,%d,{\"type\":\"Kill\"", name,
			capture_ms(firefox, query_number(&query, "at")), FIREFOX_STALL);
		write_text(out, "how", query_text(&query, "how"));
		write_text(out, "victim", query_text(&query, "comm"));
		write_text(out, "unit", query_text(&query, "unit"));
		write_text(out, "by", query_text(&query, "by_comm"));
		fprintf(out, ",\"victimPid\":%" PRId64 ",\"processes\":%" PRId64 "}]",
			query_number(&query, "tgid"), query_number(&query, "processes"));
	}
}

/* A thread of no process, for what concerns the whole capture. The reader wants one for the counters. */
static int write_own_thread(struct firefox *firefox)
{
	const struct export_capture *capture = &firefox->export->capture;
	FILE *out = firefox->export->out;
	uint32_t trigger, kill;
	int result = firefox_tables_string(&firefox->tables, *capture->fired ? "trigger" : "request", NULL,
					   &trigger);

	if (!result)
		result = firefox_tables_string(&firefox->tables, "kill", NULL, &kill);
	if (result < 0)
		return result;
	fputs("{\"name\":\"" MAIN_THREAD "\",\"processName\":", out);
	json_string(out, capture->title);
	fprintf(out,
		",\"processType\":\"default\",\"registerTime\":0,\"unregisterTime\":null,\"tid\":0,\"pid\":0,\n"
		"\"samples\":{\"schema\":{\"stack\":0,\"time\":1,\"eventDelay\":2},\"data\":[]},\n\"markers\":{%s,\"data\":["
		"[%" PRIu32 ",%" PRId64 ",null,0,%d,{\"type\":\"Trigger\"",
		marker_columns, trigger, ms_of(firefox, 0), FIREFOX_STALL);
	write_text(out, "capture", capture->title);
	write_text(out, "verdict", capture->verdict);
	fputs("}]", out);
	write_kills(firefox, kill);
	fputs("]}", out);
	firefox_tables_write(&firefox->tables, out);
	return 0;
}

/* ---- counters ---- */

/* Begins a counter: the caller writes its samples. */
static void begin_counter(const struct firefox *firefox, const char *separator, const char *category)
{
	fprintf(firefox->export->out,
		"%s{\"category\":\"%s\",\"samples\":{\"schema\":{\"time\":0,\"count\":1,\"number\":2},\"data\":[",
		separator, category);
}

/* Ends it with its name, `first` and `second`. */
static void end_counter(const struct firefox *firefox, const char *first, const char *second,
			const char *third, const char *description)
{
	FILE *out = firefox->export->out;

	fputs("]},\"name\":\"", out);
	json_part(out, first);
	json_part(out, second);
	json_part(out, third);
	fputs("\",\"description\":", out);
	json_string(out, description);
	fputc('}', out);
}

/* The ms of stall since the reading before. */
static const char *write_pressure(struct firefox *firefox, const char *separator)
{
	_cleanup_query_ struct query query = query_begin(
		firefox->export->database,
		"SELECT at, name, scope, (us - lag(us, 1, us) OVER same) / 1000.0 AS ms, lead(at) OVER same IS NULL AS is_last, "
		"lag(at) OVER same IS NULL AS is_first FROM ("
		"SELECT at, scope, 'PSI ' || resource || ' some of ' AS name, some_us AS us FROM pressure WHERE capture_id = ?1 UNION ALL "
		"SELECT at, scope, 'PSI ' || resource || ' full of ', full_us FROM pressure WHERE capture_id = ?1 AND full_us IS NOT NULL) "
		"WINDOW same AS (PARTITION BY scope, name ORDER BY at) ORDER BY scope, name, at",
		firefox->export->capture.capture_id, 0);

	while (query_next(&query)) {
		bool is_first = query_number(&query, "is_first");

		if (is_first) {
			begin_counter(firefox, separator, "PSI");
			separator = ",\n";
		}
		fprintf(firefox->export->out, "%s[%" PRId64 ",%.3f,0]", is_first ? "" : ",",
			capture_ms(firefox, query_number(&query, "at")), query_real(&query, "ms"));
		if (query_number(&query, "is_last"))
			end_counter(firefox, query_text(&query, "name"), query_text(&query, "scope"), "",
				    "ms of stall since the reading before");
	}
	return separator;
}

/* Samples on CPU by role and time: each stands for as much CPU time. */
static int write_cpu(struct firefox *firefox, const char *separator)
{
	static const char *const roles[] = { "target", "other", "kernel" };
	const struct export_capture *capture = &firefox->export->capture;
	const struct profile *profile = firefox->export->profile;
	int64_t span_ms = capture->to_ms > capture->from_ms ? capture->to_ms - capture->from_ms : 0;
	int64_t bin_ms = span_ms / BINS_MOST > BIN_MS ? span_ms / BINS_MOST + 1 : BIN_MS;
	uint32_t bins = (uint32_t)(span_ms / bin_ms) + 1;
	_cleanup_free_ int64_t *samples = calloc(bins, sizeof(*samples));
	FILE *out = firefox->export->out;

	if (!samples)
		return -ENOMEM;
	for (size_t role = 0; role < ARRAY_SIZE(roles); role++) {
		int64_t all = 0;

		memset(samples, 0, bins * sizeof(*samples));
		for (uint32_t i = 0; i < firefox->lanes.events_count; i++) {
			const struct lane_event *event = &firefox->lanes.events[i];
			const struct profile_sample *sample = &profile->samples[event->sample];
			int64_t bin = ms_of(firefox, event->begin_ms) / bin_ms;

			if (sample->kind != profile->on_cpu ||
			    strcmp(profile_text(profile, sample->role), roles[role]) != 0)
				continue;
			samples[bin < bins ? bin : bins - 1] += event->count;
			all += event->count;
		}
		if (!all)
			continue;
		begin_counter(firefox, separator, "CPU time");
		separator = ",\n";
		for (uint32_t bin = 0; bin < bins; bin++)
			fprintf(out, "%s[%" PRId64 ",%.3f,%" PRId64 "]", bin ? "," : "", bin * bin_ms,
				(double)samples[bin] * (double)capture->period_ns / 1e6, samples[bin]);
		end_counter(firefox, "CPU time: ", roles[role], "",
			    "ms of CPU time of all such threads, from samples");
	}
	return 0;
}

static int write_counters(struct firefox *firefox)
{
	FILE *out = firefox->export->out;
	int result;

	fputs(",\n\"counters\":[", out);
	result = write_cpu(firefox, write_pressure(firefox, ""));
	fputs("]", out);
	return result;
}

static void write_meta(const struct firefox *firefox)
{
	const struct export_capture *capture = &firefox->export->capture;
	FILE *out = firefox->export->out;

	fprintf(out,
		"{\"meta\":{\"version\":%d,\"startTime\":%" PRId64
		",\"shutdownTime\":null,\"profilingStartTime\":0,"
		"\"profilingEndTime\":%" PRId64
		",\"interval\":%.6f,\"stackwalk\":1,\"debug\":0,\"gcpoison\":0,\"asyncstack\":0,"
		"\"processType\":0,\"presymbolicated\":true,\"product\":",
		FORMAT_VERSION, capture->triggered_at / 1000000 + capture->from_ms,
		ms_of(firefox, capture->to_ms), (double)capture->period_ns / 1e6);
	json_string(out, capture->title);
	write_text(out, "platform", capture->hostname);
	write_text(out, "oscpu", capture->kernel);
	fprintf(out,
		",\"logicalCPUs\":%" PRId64
		",\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"},\n"
		"\"categories\":%s,\n\"markerSchema\":%s},\n\"libs\":[],\"pages\":[],\"pausedRanges\":[],\"processes\":[],\n\"threads\":[",
		capture->cpus, categories_json, marker_schema_json);
}

int export_firefox(struct export *export)
{
	_cleanup_firefox_ struct firefox firefox = { .export = export };
	int result = firefox_tables_make(export->profile, &firefox.tables);

	if (!result)
		result = lanes_make(export->profile, &firefox.lanes);
	if (result < 0)
		return result;
	write_meta(&firefox);
	result = write_own_thread(&firefox);
	if (!result)
		result = write_threads(&firefox);
	fputs("]", export->out);
	if (!result)
		result = write_counters(&firefox);
	fputs("}\n", export->out);
	return export->database->failed ? -EIO : result;
}
