/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perfetto: the trace that ui.perfetto.dev opens, in protocol buffers: a row of packets, each of which is written for itself. The
 * packets of a sequence share what they refer to by an iid, and the source of their samples. Samples on CPU are one sequence and
 * waiting is another, so that each has flame graphs and rows of its own. An iid is a position in the profile, from 1.
 */
#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "report/export/export.h"
#include "report/export/export_lanes.h"
#include "report/model/query.h"

#include <perfetto.pb-c.h>
#include <string.h>

/* Numbers of Perfetto's. */
#define REALTIME 1    /* the clock of Unix time */
#define NANOSECONDS 1 /* the unit of weights */
#define STATE_CLEARED 1
#define STATE_NEEDED 2
enum event_type { SLICE_BEGIN = 1, SLICE_END, INSTANT, COUNTER };

/* Tracks and their events are of the second one: a slice refers to a stack of waiting. */
enum sequence { ON_CPU, OFF_CPU, SEQUENCES };

static const struct {
	const char *source, *weight; /* as they stand in titles of the UI */
} sequences[SEQUENCES] = { { "on CPU", "CPU time" }, { "off CPU", "time off CPU" } };

/* uuids of tracks: the capture's; the first one of counters, of processes, and of threads. */
#define CAPTURE_TRACK 1ULL
#define COUNTER_TRACKS 2ULL
#define PROCESS_TRACKS (1ULL << 32)
#define THREAD_TRACKS (1ULL << 33)

#define FACTS_MOST 5

/* What was written of the profile, by position. */
struct written {
	bool *modules, *functions, *frames, *stacks;
};

struct perfetto {
	ProtobufCBuffer buffer; /* protobuf-c writes here; first, because perfetto_append() casts */
	struct export *export;
	struct export_functions functions;
	struct lanes lanes;
	bool *has_samples; /* of each lane */
	struct written written[SEQUENCES];
	uint64_t *path; /* of the stack at hand: iids of frames */
	uint32_t path_room;
};

static int perfetto_begin(struct perfetto *perfetto)
{
	const struct profile *profile = perfetto->export->profile;
	int result = export_functions_find(profile, &perfetto->functions);

	if (!result)
		result = lanes_make(profile, &perfetto->lanes);
	if (result < 0)
		return result;
	perfetto->has_samples = calloc(perfetto->lanes.count + 1UL, sizeof(bool));
	for (int i = 0; i < SEQUENCES; i++) {
		struct written *written = &perfetto->written[i];

		written->modules = calloc(profile->modules_count + 1UL, sizeof(bool));
		written->functions = calloc(perfetto->functions.count + 1UL, sizeof(bool));
		written->frames = calloc(profile->frames_count + 1UL, sizeof(bool));
		written->stacks = calloc(profile->stacks_count + 1UL, sizeof(bool));
		if (!written->modules || !written->functions || !written->frames || !written->stacks)
			return -ENOMEM;
	}
	return perfetto->has_samples ? 0 : -ENOMEM;
}

static void perfetto_free(struct perfetto *perfetto)
{
	export_functions_free(&perfetto->functions);
	lanes_free(&perfetto->lanes);
	free(perfetto->has_samples);
	for (int i = 0; i < SEQUENCES; i++) {
		free(perfetto->written[i].modules);
		free(perfetto->written[i].functions);
		free(perfetto->written[i].frames);
		free(perfetto->written[i].stacks);
	}
	free(perfetto->path);
}

#define _cleanup_perfetto_ _cleanup_(perfetto_free)

/* ---- packets ---- */

static void perfetto_append(ProtobufCBuffer *buffer, size_t bytes, const uint8_t *data)
{
	fwrite(data, 1, bytes, ((struct perfetto *)buffer)->export->out);
}

static void write_packet(struct perfetto *perfetto, enum sequence sequence, Perfetto__TracePacket *packet)
{
	Perfetto__Trace part = PERFETTO__TRACE__INIT;

	packet->trusted_packet_sequence_id = sequence + 1;
	if (!packet->sequence_flags)
		packet->sequence_flags = STATE_NEEDED;
	HAVE_ONE(part, packet, packet);
	perfetto__trace__pack_to_buffer(&part, &perfetto->buffer);
}

/* A damaged row may have any time. */
static uint64_t timestamp_of(int64_t at)
{
	return at < 0 ? 0 : (uint64_t)at;
}

/* What is older than the capture begins with it. */
static uint64_t timestamp_of_ms(const struct perfetto *perfetto, int64_t ms)
{
	const struct export_capture *capture = &perfetto->export->capture;

	return timestamp_of(add_saturated(capture->triggered_at,
					  1000000 * (ms < capture->from_ms ? capture->from_ms : ms)));
}

static void begin_sequence(struct perfetto *perfetto, enum sequence sequence)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__ClockSnapshot snapshot = PERFETTO__CLOCK_SNAPSHOT__INIT;
	Perfetto__Clock clock = PERFETTO__CLOCK__INIT, *clocks = &clock;
	Perfetto__TracePacketDefaults defaults = PERFETTO__TRACE_PACKET_DEFAULTS__INIT;
	Perfetto__StackSampleDefaults samples = PERFETTO__STACK_SAMPLE_DEFAULTS__INIT;
	Perfetto__WeightDescriptor weight = PERFETTO__WEIGHT_DESCRIPTOR__INIT;

	clock.clock_id = REALTIME;
	clock.timestamp = timestamp_of(perfetto->export->capture.triggered_at);
	HAVE_ONE(snapshot, clocks, clocks);
	snapshot.primary_trace_clock = REALTIME;
	if (sequence == ON_CPU)
		packet.clock_snapshot = &snapshot;        /* of the whole trace */
	weight.name = (char *)sequences[sequence].weight; /* protobuf-c changes no text, here and below */
	weight.unit = NANOSECONDS;
	samples.source = (char *)sequences[sequence].source;
	samples.primary_descriptor = &weight;
	defaults.timestamp_clock_id = REALTIME;
	defaults.stack_sample_defaults = &samples;
	packet.trace_packet_defaults = &defaults;
	packet.sequence_flags = STATE_CLEARED;
	write_packet(perfetto, sequence, &packet);
}

/* ---- stacks ---- */

/* Whether it has not been written; it will be. */
static bool is_new(bool *written, uint32_t position)
{
	bool was_written = written[position];

	written[position] = true;
	return !was_written;
}

static void write_interned(struct perfetto *perfetto, enum sequence sequence, Perfetto__InternedData *data)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	packet.interned_data = data;
	write_packet(perfetto, sequence, &packet);
}

static Perfetto__InternedString interned_string(uint64_t iid, const char *text)
{
	Perfetto__InternedString string = PERFETTO__INTERNED_STRING__INIT;

	string.iid = iid;
	string.str = (ProtobufCBinaryData){ strlen(text), (uint8_t *)text };
	return string;
}

/* With its module and its function, if they are new. */
static void write_frame(struct perfetto *perfetto, enum sequence sequence, uint32_t position)
{
	const struct profile *profile = perfetto->export->profile;
	const struct profile_frame *there = &profile->frames[position];
	const uint32_t number = perfetto->functions.of_frame[position];
	const struct export_function *function = &perfetto->functions.functions[number];
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__InternedString path, name, file, *paths = &path, *names = &name, *files = &file;
	Perfetto__Mapping mapping = PERFETTO__MAPPING__INIT, *mappings = &mapping;
	Perfetto__Frame frame = PERFETTO__FRAME__INIT, *frames = &frame;

	frame.iid = position + 1UL;
	frame.mapping_id = mapping.iid = there->module + 1UL;
	frame.function_name_id = number + 1UL;
	frame.rel_pc = (uint64_t)there->offset;
	if (function->file)
		frame.source_path_iid = frame.function_name_id;
	if (there->has_line && there->line > 0)
		frame.line_number = (uint32_t)there->line;
	HAVE_ONE(data, frames, frames);
	if (is_new(perfetto->written[sequence].modules, there->module)) {
		path = interned_string(mapping.iid, profile->modules[there->module].path);
		HAVE_ONE(data, mapping_paths, paths);
		HAVE_ONE(mapping, path_string_ids, path.iid);
		HAVE_ONE(data, mappings, mappings);
	}
	if (is_new(perfetto->written[sequence].functions, number)) {
		name = interned_string(frame.function_name_id, profile_text(profile, function->name));
		HAVE_ONE(data, function_names, names);
	}
	if (data.n_function_names && function->file) {
		file = interned_string(frame.source_path_iid, function->file);
		HAVE_ONE(data, source_paths, files);
	}
	write_interned(perfetto, sequence, &data);
}

/* A frame for stacks without frames, which flame graphs would leave out. Its iids are behind all others. */
static void write_no_frame(struct perfetto *perfetto, enum sequence sequence)
{
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__InternedString name = interned_string(perfetto->functions.count + 1UL, "no stack"),
				 *names = &name;
	Perfetto__Frame frame = PERFETTO__FRAME__INIT, *frames = &frame;

	frame.iid = perfetto->export->profile->frames_count + 1UL;
	frame.function_name_id = name.iid;
	HAVE_ONE(data, function_names, names);
	HAVE_ONE(data, frames, frames);
	write_interned(perfetto, sequence, &data);
}

static int write_stack(struct perfetto *perfetto, enum sequence sequence, uint32_t position)
{
	const struct profile *profile = perfetto->export->profile;
	struct profile_walk walk = profile_walk_of(profile, &profile->stacks[position]);
	Perfetto__InternedData data = PERFETTO__INTERNED_DATA__INIT;
	Perfetto__Callstack stack = PERFETTO__CALLSTACK__INIT, *stacks = &stack;
	uint64_t no_frame = profile->frames_count + 1UL;
	const struct profile_frame *there;
	uint32_t depth = 0;

	while ((there = profile_walk_next(&walk))) {
		uint32_t frame = (uint32_t)(there - profile->frames);

		if (array_make_room(perfetto->path, depth, perfetto->path_room, 1U))
			return -ENOMEM;
		if (is_new(perfetto->written[sequence].frames, frame))
			write_frame(perfetto, sequence, frame);
		perfetto->path[depth++] = frame + 1UL;
	}
	for (uint32_t i = 0; i < depth / 2; i++) { /* the outermost frame is first */
		uint64_t inner = perfetto->path[i];

		perfetto->path[i] = perfetto->path[depth - 1 - i];
		perfetto->path[depth - 1 - i] = inner;
	}
	stack.iid = position + 1UL;
	stack.n_frame_ids = depth ? depth : 1;
	stack.frame_ids = depth ? perfetto->path : &no_frame;
	HAVE_ONE(data, callstacks, stacks);
	write_interned(perfetto, sequence, &data);
	return 0;
}

static enum sequence sequence_of(const struct perfetto *perfetto, const struct profile_sample *sample)
{
	return sample->kind == perfetto->export->profile->off_cpu ? OFF_CPU : ON_CPU;
}

static int write_stacks(struct perfetto *perfetto)
{
	const struct profile *profile = perfetto->export->profile;
	int result = 0;

	for (uint32_t i = 0; i < profile->samples_count && !result; i++) {
		const struct profile_sample *sample = &profile->samples[i];
		enum sequence sequence = sequence_of(perfetto, sample);

		perfetto->has_samples[perfetto->lanes.of_thread[sample->thread]] = true;
		if (is_new(perfetto->written[sequence].stacks, sample->stack))
			result = write_stack(perfetto, sequence, sample->stack);
	}
	return result;
}

/* ---- tracks and events ---- */

static void write_track(struct perfetto *perfetto, uint64_t uuid, Perfetto__TrackDescriptor *track)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	track->uuid = uuid;
	packet.track_descriptor = track;
	write_packet(perfetto, OFF_CPU, &packet);
}

/* The process of the lane, if it is its first one that has samples, and the thread. */
static void write_thread(struct perfetto *perfetto, const struct lane *lane, bool is_first)
{
	const struct profile *profile = perfetto->export->profile;
	Perfetto__TrackDescriptor process_track = PERFETTO__TRACK_DESCRIPTOR__INIT,
				  thread_track = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__ProcessDescriptor process = PERFETTO__PROCESS_DESCRIPTOR__INIT;
	Perfetto__ThreadDescriptor thread = PERFETTO__THREAD_DESCRIPTOR__INIT;
	char *role = (char *)profile_text(profile, lane->role);

	thread.pid = process.pid = (int32_t)profile->processes[lane->process].tgid;
	thread.tid = (int32_t)lane->tid;
	thread.thread_name = (char *)profile_text(profile, lane->name);
	thread_track.thread = &thread;
	process.process_name = (char *)export_comm(profile, lane->process);
	HAVE_ONE(process, process_labels, role);
	process_track.process = &process;
	if (is_first)
		write_track(perfetto, PROCESS_TRACKS + lane->process, &process_track);
	write_track(perfetto, THREAD_TRACKS + (uint64_t)(lane - perfetto->lanes.lanes), &thread_track);
}

/* An event of a track, with facts that the UI shows beside it. */
struct event {
	Perfetto__TrackEvent event;
	Perfetto__DebugAnnotation facts[FACTS_MOST], *at[FACTS_MOST];
};

static void event_begin(struct event *event, uint64_t track, enum event_type type, const char *name)
{
	event->event = (Perfetto__TrackEvent)PERFETTO__TRACK_EVENT__INIT;
	event->event.track_uuid = track;
	event->event.type = type;
	event->event.name = (char *)name;
	event->event.debug_annotations = event->at;
}

/* A fact with a text, or if that is NULL with a number. */
static void event_add(struct event *event, const char *name, const char *text, int64_t number)
{
	Perfetto__DebugAnnotation *fact = &event->facts[event->event.n_debug_annotations];

	*fact = (Perfetto__DebugAnnotation)PERFETTO__DEBUG_ANNOTATION__INIT;
	fact->name = (char *)name;
	if (text) {
		fact->value_case = PERFETTO__DEBUG_ANNOTATION__VALUE_STRING_VALUE;
		fact->string_value = (char *)text;
	} else {
		fact->value_case = PERFETTO__DEBUG_ANNOTATION__VALUE_INT_VALUE;
		fact->int_value = number;
	}
	event->at[event->event.n_debug_annotations++] = fact;
}

static void event_write(struct perfetto *perfetto, struct event *event, uint64_t timestamp)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;

	packet.timestamp = timestamp;
	packet.track_event = &event->event;
	write_packet(perfetto, OFF_CPU, &packet);
}

/* ---- samples and intervals ---- */

static void write_sample(struct perfetto *perfetto, const struct profile_sample *sample, int64_t ms,
			 int32_t cpu, int64_t weight_ns)
{
	const struct profile *profile = perfetto->export->profile;
	const struct profile_thread *thread = &profile->threads[sample->thread];
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__StackSample stack = PERFETTO__STACK_SAMPLE__INIT;
	Perfetto__TaskContext task = PERFETTO__TASK_CONTEXT__INIT;
	Perfetto__ExecutionContext execution = PERFETTO__EXECUTION_CONTEXT__INIT;

	task.pid = (uint32_t)profile->processes[thread->process].tgid;
	task.tid = (uint32_t)thread->tid;
	execution.cpu_field_case = PERFETTO__EXECUTION_CONTEXT__CPU_FIELD_CPU;
	execution.cpu = (uint32_t)cpu;
	stack.task_context = &task;
	stack.execution_context = cpu < 0 ? NULL : &execution;
	stack.callstack_iid = sample->stack + 1UL;
	stack.primary_weight = (uint64_t)weight_ns;
	packet.timestamp = timestamp_of_ms(perfetto, ms);
	packet.stack_sample = &stack;
	write_packet(perfetto, sequence_of(perfetto, sample), &packet);
}

/* Of an interval off CPU. It ends when the thread's next one begins, because slices of a track must not overlap. */
struct slice {
	uint64_t track;
	int64_t end_ms;
	bool is_open;
};

static void slice_end(struct perfetto *perfetto, struct slice *slice, int64_t most_ms)
{
	struct event event;

	if (!slice->is_open)
		return;
	event_begin(&event, slice->track, SLICE_END, "");
	event_write(perfetto, &event,
		    timestamp_of_ms(perfetto, slice->end_ms < most_ms ? slice->end_ms : most_ms));
	slice->is_open = false;
}

static void slice_begin(struct perfetto *perfetto, struct slice *slice, const struct lane_event *interval)
{
	const struct profile *profile = perfetto->export->profile;
	const struct profile_sample *sample = &profile->samples[interval->sample];
	int64_t older_ms = perfetto->export->capture.from_ms - interval->begin_ms;
	struct event event;

	slice_end(perfetto, slice, interval->begin_ms);
	event_begin(&event, slice->track, SLICE_BEGIN,
		    export_wait_name(profile_text(profile, sample->stall)));
	event.event.callstack_iid = sample->stack + 1UL;
	event_add(&event, "function", export_leaf(profile, sample), 0);
	if (interval->count > 1)
		event_add(&event, "intervals", NULL, interval->count);
	if (interval->cpu >= 0)
		event_add(&event, "cpu", NULL, interval->cpu);
	if (older_ms > 0)
		event_add(&event, "began_before_ms", NULL, older_ms);
	event_write(perfetto, &event, timestamp_of_ms(perfetto, interval->begin_ms));
	slice->end_ms = interval->end_ms;
	slice->is_open = true;
}

/* An interval is a slice, and a sample at its end. */
static void write_lane(struct perfetto *perfetto, const struct lane *lane)
{
	struct slice slice = { .track = THREAD_TRACKS + (uint64_t)(lane - perfetto->lanes.lanes) };

	for (uint32_t i = 0; i < lane->count; i++) {
		const struct lane_event *event = &perfetto->lanes.events[lane->first + i];
		const struct profile_sample *sample = &perfetto->export->profile->samples[event->sample];
		int64_t ns = event->count * perfetto->export->capture.period_ns;

		if (sequence_of(perfetto, sample) == OFF_CPU) {
			slice_begin(perfetto, &slice, event);
			ns = event->ns;
		}
		for (uint32_t left = event->count; left; left--) {
			write_sample(perfetto, sample, event->end_ms, event->cpu, ns / left);
			ns -= ns / left;
		}
	}
	slice_end(perfetto, &slice, INT64_MAX);
}

static void write_samples(struct perfetto *perfetto)
{
	const struct profile *profile = perfetto->export->profile;
	uint32_t process = PROFILE_NONE;

	for (uint32_t i = 0; i < perfetto->lanes.count; i++)
		if (perfetto->has_samples[i]) {
			const struct lane *lane = &perfetto->lanes.lanes[i];

			write_thread(perfetto, lane, lane->process != process);
			process = lane->process;
			write_lane(perfetto, lane);
		}
	/* waiting in a second in which no interval ended */
	for (uint32_t i = 0; i < profile->samples_count; i++) {
		const struct profile_sample *sample = &profile->samples[i];

		if (sample->kind == profile->off_cpu && sample->samples <= 0 && sample->weight_ns > 0)
			write_sample(perfetto, sample, lanes_second_ms(sample), -1, sample->weight_ns);
	}
}

/* ---- the capture itself ---- */

static void write_capture(struct perfetto *perfetto)
{
	const struct export_capture *capture = &perfetto->export->capture;
	Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
	struct event event;

	track.name = (char *)capture->title;
	write_track(perfetto, CAPTURE_TRACK, &track);
	event_begin(&event, CAPTURE_TRACK, SLICE_BEGIN, "capture");
	event_add(&event, "verdict", capture->verdict, 0);
	event_write(perfetto, &event, timestamp_of(capture->began_at));
	event_begin(&event, CAPTURE_TRACK, INSTANT, *capture->fired ? "trigger" : "request");
	event_write(perfetto, &event, timestamp_of(capture->triggered_at));
	event_begin(&event, CAPTURE_TRACK, SLICE_END, "");
	event_write(perfetto, &event, timestamp_of(capture->ended_at));
}

static int write_kills(struct perfetto *perfetto)
{
	_cleanup_query_ struct query query = query_begin(
		perfetto->export->database,
		"SELECT at, how, ifnull(comm, '?') AS comm, tgid, ifnull(by_comm, '?') AS by_comm, processes FROM killed "
		"WHERE capture_id = ?1 ORDER BY at",
		perfetto->export->capture.capture_id, 0);

	while (query_next(&query)) {
		const char *how = export_keep_column(perfetto->export->profile, &query, "how"),
			   *victim = export_keep_column(perfetto->export->profile, &query, "comm"),
			   *by = export_keep_column(perfetto->export->profile, &query, "by_comm");
		struct event event;

		if (!how || !victim || !by)
			return -ENOMEM;
		event_begin(&event, CAPTURE_TRACK, INSTANT, "kill");
		event_add(&event, "how", how, 0);
		event_add(&event, "victim", victim, 0);
		event_add(&event, "by", by, 0);
		event_add(&event, "tgid", NULL, query_number(&query, "tgid"));
		event_add(&event, "processes", NULL, query_number(&query, "processes"));
		event_write(perfetto, &event, timestamp_of(query_number(&query, "at")));
	}
	return 0;
}

/*
 * Pressure, of each reading but the last: the share of the time until the next one that was stalled. Threads of targets in each
 * state: how many, on average of a second's looks.
 */
static const char counters_sql[] =
	"WITH reading AS (SELECT 'PSI ' || resource || ' of ' || scope || ': ' AS name, at, some_us, full_us, "
	"lead(at) OVER same AS next, lead(some_us) OVER same AS some_next, lead(full_us) OVER same AS full_next "
	"FROM pressure WHERE capture_id = ?1 WINDOW same AS (PARTITION BY scope, resource ORDER BY at)), "
	"threads AS (SELECT 'target threads in state ' || s.state AS name, l.second AS second, "
	"ifnull(sum(iif(t.seconds > 1, 1.0, 1.0 * t.samples / nullif(l.looks, 0))), 0.0) AS value "
	"FROM (SELECT second, looks FROM thread_look WHERE capture_id = ?1) l CROSS JOIN "
	"(SELECT DISTINCT state FROM thread_state WHERE capture_id = ?1 AND role = 'target') s LEFT JOIN "
	"(SELECT state, second, seconds, samples FROM thread_state WHERE capture_id = ?1 AND role = 'target') t "
	"ON t.state = s.state AND l.second >= t.second AND l.second < t.second + t.seconds GROUP BY s.state, l.second) "
	"SELECT dense_rank() OVER (ORDER BY name) AS track, * FROM "
	"(SELECT name || 'some' AS name, '%' AS unit, at, 100000.0 * (some_next - some_us) / (next - at) AS value "
	"FROM reading WHERE next > at UNION ALL "
	"SELECT name || 'full', '%', at, 100000.0 * (full_next - full_us) / (next - at) FROM reading "
	"WHERE next > at AND full_us IS NOT NULL UNION ALL "
	"SELECT name, '', ?2 + 1000000000 * second, value FROM threads WHERE second BETWEEN -2147483647 AND 2147483647) ORDER BY track, at";

static int write_counters(struct perfetto *perfetto)
{
	const struct export_capture *capture = &perfetto->export->capture;
	_cleanup_query_ struct query query = query_begin(perfetto->export->database, counters_sql,
							 capture->capture_id, capture->triggered_at);
	uint64_t before = 0;

	while (query_next(&query)) {
		uint64_t uuid = COUNTER_TRACKS + (uint64_t)query_number(&query, "track");
		Perfetto__TrackDescriptor track = PERFETTO__TRACK_DESCRIPTOR__INIT;
		Perfetto__CounterDescriptor counter = PERFETTO__COUNTER_DESCRIPTOR__INIT;
		struct event event;

		if (uuid != before) {
			track.name = (char *)export_keep_column(perfetto->export->profile, &query, "name");
			if (!track.name)
				return -ENOMEM;
			track.parent_uuid = CAPTURE_TRACK;
			counter.unit_name = (char *)query_text(&query, "unit");
			track.counter = &counter;
			write_track(perfetto, uuid, &track);
		}
		before = uuid;
		event_begin(&event, uuid, COUNTER, "");
		event.event.counter_value_field_case =
			PERFETTO__TRACK_EVENT__COUNTER_VALUE_FIELD_DOUBLE_COUNTER_VALUE;
		event.event.double_counter_value = query_real(&query, "value");
		event_write(perfetto, &event, timestamp_of(query_number(&query, "at")));
	}
	return 0;
}

int export_perfetto(struct export *export)
{
	_cleanup_perfetto_ struct perfetto perfetto = { .buffer = { .append = perfetto_append },
							.export = export };
	int result = perfetto_begin(&perfetto);

	if (result < 0)
		return result;
	for (enum sequence i = 0; i < SEQUENCES; i++) {
		begin_sequence(&perfetto, i);
		write_no_frame(&perfetto, i);
	}
	write_capture(&perfetto);
	result = write_kills(&perfetto);
	if (!result)
		result = write_counters(&perfetto);
	if (!result)
		result = write_stacks(&perfetto);
	if (!result)
		write_samples(&perfetto);
	return export->database->failed ? -EIO : result;
}
