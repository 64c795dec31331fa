/* SPDX-License-Identifier: GPL-2.0-only */
/* Tests of Perfetto's format, unpacked by protobuf-c: samples and their stacks, slices, names, counters, the capture itself. */
#include "common/base/cleanup.h"
#include "common/text/escape.h"
#include "tests/unit/command_fixture.h"
#include "tests/unit/export_fixture.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <check.h>
#include <perfetto.pb-c.h>
#include <string.h>

#define BYTES_MOST (1UL << 20)
#define PERIOD_NS 21276595
#define TRIGGERED_NS 1790000100000000000LL
#define BEGAN_NS 1790000098000000000ULL

/* Sequences, as the format's file numbers them; types of events. */
enum { ON_CPU = 1, OFF_CPU = 2 };
enum { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER = 4 };

static struct export_fixture fixture;
static Perfetto__Trace *trace;

static void set_up(void)
{
	export_fixture_make(&fixture);
}

static void tear_down(void)
{
	if (trace)
		perfetto__trace__free_unpacked(trace, NULL);
	trace = NULL;
	export_fixture_free(&fixture);
}

static void make(const char *options)
{
	_cleanup_free_ char *path = path_join(fixture.directory, "trace");
	_cleanup_free_ uint8_t *bytes = malloc(BYTES_MOST);
	FILE *file;
	size_t count;

	expect_command("", "--db %s export 1 --format perfetto -o %s %s", fixture.path, path, options);
	file = fopen(path, "re");
	ck_assert(file && bytes);
	count = fread(bytes, 1, BYTES_MOST, file);
	fclose(file);
	trace = perfetto__trace__unpack(NULL, count, bytes);
	ck_assert_ptr_nonnull(trace);
}

/* Goes through the packets that have such a member; `i` is theirs. */
#define FOR_EACH(i, member)                                                                                  \
	for (size_t i = 0; (i) < trace->n_packet; (i)++)                                                     \
		if (trace->packet[i]->member)

/* Finds the element with this iid that its sequence wrote before packet `before`. */
#define INTERNED(before, list, wanted)                                                                       \
	({                                                                                                   \
		__typeof__(*trace->packet[0]->interned_data->list) found_ = NULL;                            \
		FOR_EACH(at_, interned_data)                                                                 \
		for (size_t k_ = 0; k_ < trace->packet[at_]->interned_data->n_##list; k_++)                  \
			if (at_ < (before) &&                                                                \
			    trace->packet[at_]->interned_data->list[k_]->iid == (wanted) &&                  \
			    trace->packet[at_]->trusted_packet_sequence_id ==                                \
				    trace->packet[before]->trusted_packet_sequence_id) {                     \
				ck_assert_ptr_null(found_);                                                  \
				found_ = trace->packet[at_]->interned_data->list[k_];                        \
			}                                                                                    \
		ck_assert_ptr_nonnull(found_);                                                               \
		found_;                                                                                      \
	})

static void expect_string(const Perfetto__InternedString *string, const char *text)
{
	ck_assert_uint_eq(string->str.len, strlen(text));
	ck_assert_mem_eq(string->str.data, text, strlen(text));
}

/* The functions of a packet's stack as in a folded line, without the marks of the kernel. */
static void stack_write(size_t packet, uint64_t iid, char *line, size_t bytes)
{
	const Perfetto__Callstack *stack = INTERNED(packet, callstacks, iid);
	FILE *out = fmemopen(line, bytes, "w");

	for (size_t i = 0; i < stack->n_frame_ids; i++) {
		const Perfetto__Frame *frame = INTERNED(packet, frames, stack->frame_ids[i]);
		const Perfetto__InternedString *name =
			INTERNED(packet, function_names, frame->function_name_id);

		fprintf(out, "%s%.*s", i ? ";" : "", (int)name->str.len, (const char *)name->str.data);
		if (frame->mapping_id)
			INTERNED(packet, mappings, frame->mapping_id);
		if (frame->source_path_iid)
			INTERNED(packet, source_paths, frame->source_path_iid);
	}
	fclose(out);
}

static int64_t count_of(uint32_t sequence, const char *stack, uint64_t *ret_weight)
{
	int64_t count = 0;

	*ret_weight = 0;
	FOR_EACH(i, stack_sample)
	{
		char line[256];

		if (trace->packet[i]->trusted_packet_sequence_id != sequence)
			continue;
		stack_write(i, trace->packet[i]->stack_sample->callstack_iid, line, sizeof(line));
		if (stack && strcmp(line, stack) != 0)
			continue;
		count++;
		*ret_weight += trace->packet[i]->stack_sample->primary_weight;
	}
	return count;
}

START_TEST(samples_have_the_stacks_and_the_time_of_the_database)
{
	static const struct {
		uint32_t sequence;
		const char *stack;
		int64_t count;
		uint64_t weight;
	} expected[] = {
		{ ON_CPU, NULL, 34, 34ULL * PERIOD_NS },
		{ ON_CPU, "main;outer;inner", 27, 27ULL * PERIOD_NS },
		{ ON_CPU, "main;outer;inner;Jit::run", 3, 3ULL * PERIOD_NS },
		{ ON_CPU, "no stack", 1, PERIOD_NS },
		/* five intervals, and a row without one: as long as they waited, to the ns */
		{ OFF_CPU, NULL, 6, 700000000 },
		{ OFF_CPU, "main;inner;schedule", 5, 660000000 },
		{ OFF_CPU, "schedule;ext4_read", 1, 40000000 },
	};

	make("");
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++) {
		uint64_t weight;

		ck_assert_int_eq(count_of(expected[i].sequence, expected[i].stack, &weight),
				 expected[i].count);
		ck_assert_uint_eq(weight, expected[i].weight);
	}
}
END_TEST

START_TEST(a_sequence_begins_with_its_clock_and_its_source)
{
	bool is_begun[OFF_CPU + 1] = { false };

	make("");
	ck_assert_uint_eq(trace->packet[0]->clock_snapshot->primary_trace_clock, 1);
	ck_assert_uint_eq(trace->packet[0]->clock_snapshot->clocks[0]->clock_id, 1);
	ck_assert_uint_eq(trace->packet[0]->clock_snapshot->clocks[0]->timestamp, TRIGGERED_NS);
	for (size_t i = 0; i < trace->n_packet; i++) {
		const Perfetto__TracePacket *packet = trace->packet[i];
		uint32_t sequence = packet->trusted_packet_sequence_id;

		ck_assert(sequence == ON_CPU || sequence == OFF_CPU);
		ck_assert_uint_eq(packet->sequence_flags, is_begun[sequence] ? 2 : 1);
		if (!is_begun[sequence]) {
			ck_assert_uint_eq(packet->trace_packet_defaults->timestamp_clock_id, 1);
			ck_assert_str_eq(packet->trace_packet_defaults->stack_sample_defaults->source,
					 sequence == ON_CPU ? "on CPU" : "off CPU");
		}
		is_begun[sequence] = true;
		if (packet->stack_sample || (packet->track_event && packet->track_event->track_uuid != 1))
			ck_assert_uint_ge(packet->timestamp, BEGAN_NS);
	}
}
END_TEST

START_TEST(a_frame_has_its_module_and_its_line)
{
	make("--role other");
	FOR_EACH(i, stack_sample)
	{
		const Perfetto__StackSample *sample = trace->packet[i]->stack_sample;
		const Perfetto__Callstack *stack = INTERNED(i, callstacks, sample->callstack_iid);
		const Perfetto__Frame *leaf = INTERNED(i, frames, stack->frame_ids[2]);
		const Perfetto__Mapping *mapping;

		ck_assert_uint_eq(sample->task_context->pid, 5000);
		ck_assert_uint_eq(sample->task_context->tid, 5000);
		ck_assert_uint_eq(sample->execution_context->cpu, 1);
		ck_assert_int_eq(sample->execution_context->cpu_field_case,
				 PERFETTO__EXECUTION_CONTEXT__CPU_FIELD_CPU);
		ck_assert_uint_eq(leaf->rel_pc, 200);
		ck_assert_uint_eq(leaf->line_number, 9);
		expect_string(INTERNED(i, source_paths, leaf->source_path_iid), "/src/i.c");
		mapping = INTERNED(i, mappings, leaf->mapping_id);
		expect_string(INTERNED(i, mapping_paths, mapping->path_string_ids[0]), "/usr/bin/web");
	}
	/* of other processes there is nothing, no name either */
	FOR_EACH(i, track_descriptor)
	ck_assert(!trace->packet[i]->track_descriptor->process ||
		  trace->packet[i]->track_descriptor->process->pid == 5000);
	FOR_EACH(i, interned_data)
	for (size_t k = 0; k < trace->packet[i]->interned_data->n_mapping_paths; k++)
		expect_string(trace->packet[i]->interned_data->mapping_paths[k], "/usr/bin/web");
}
END_TEST

/* The track of a thread. */
static const Perfetto__TrackDescriptor *track_of(int64_t tid, const char *name)
{
	FOR_EACH(i, track_descriptor)
	{
		const Perfetto__TrackDescriptor *track = trace->packet[i]->track_descriptor;

		if (track->thread && track->thread->tid == tid && !strcmp(track->thread->thread_name, name))
			return track;
	}
	ck_abort_msg("no thread %lld, %s", (long long)tid, name);
	return NULL;
}

START_TEST(an_interval_is_a_slice_of_its_thread)
{
	static const struct {
		int64_t begin_ms, end_ms;
		const char *name;
	} expected[] = { { 900, 1020, "io stall" },
			 { 1030, 1060, "io stall" },
			 { 2005, 2008, "queued for a CPU" } };
	uint64_t uuid;
	size_t begins = 0, ends = 0, slices = 0;

	make("");
	uuid = track_of(4243, "worker")->uuid;
	ck_assert_int_eq(track_of(4243, "worker")->thread->pid, 4242);
	FOR_EACH(i, track_event)
	{
		const Perfetto__TrackEvent *event = trace->packet[i]->track_event;
		int64_t ms = ((int64_t)trace->packet[i]->timestamp - TRIGGERED_NS) / 1000000;

		slices += event->type == SLICE_BEGIN && event->track_uuid != 1;
		if (event->track_uuid != uuid)
			continue;
		if (event->type == SLICE_BEGIN) {
			char line[64];

			ck_assert_str_eq(event->name, expected[begins].name);
			ck_assert_int_eq(ms, expected[begins].begin_ms);
			stack_write(i, event->callstack_iid, line, sizeof(line));
			ck_assert_str_eq(line, "main;inner;schedule");
			ck_assert_str_eq(event->debug_annotations[0]->string_value, "schedule");
			begins++;
		} else {
			ck_assert_int_eq(event->type, SLICE_END);
			ck_assert_int_eq(ms, expected[ends++].end_ms);
			ck_assert_uint_eq(begins, ends);
		}
	}
	ck_assert_uint_eq(begins, ARRAY_SIZE(expected));
	ck_assert_int_eq((int64_t)slices,
			 export_fixture_number(&fixture,
					       "SELECT sum(samples) FROM all_sample WHERE kind = 'off-cpu'"));
}
END_TEST

START_TEST(a_slice_ends_before_the_next_one_begins)
{
	uint64_t uuid, open = 0, end = 0;
	bool is_old = false;

	export_fixture_run(
		&fixture,
		"UPDATE sample_row SET times = '100,900,0],[300,400,1' WHERE stack_id = 3 AND samples = 2");
	make("");
	uuid = track_of(4242, "web")->uuid;
	FOR_EACH(i, track_event)
	{
		const Perfetto__TrackEvent *event = trace->packet[i]->track_event;

		if (event->type == SLICE_BEGIN && event->track_uuid != 1) {
			ck_assert(!open &&
				  (!end || event->track_uuid != uuid || trace->packet[i]->timestamp >= end));
			open = trace->packet[i]->timestamp;
		} else if (event->type == SLICE_END && event->track_uuid != 1) {
			ck_assert(open && trace->packet[i]->timestamp >= open);
			end = trace->packet[i]->timestamp;
			open = 0;
		}
		/* an interval that is older than the capture begins with it, and says so */
		if (event->track_uuid == uuid && event->n_debug_annotations == 3 &&
		    !strcmp(event->debug_annotations[2]->name, "began_before_ms")) {
			is_old = true;
			ck_assert_int_eq(event->debug_annotations[2]->int_value, 7000);
			ck_assert_uint_eq(trace->packet[i]->timestamp, BEGAN_NS);
		}
	}
	ck_assert(is_old && !open);
}
END_TEST

START_TEST(the_capture_has_its_moments_and_counters)
{
	static const struct {
		const char *name;
		double values[2];
	} counters[] = {
		{ "PSI io of system: full", { 10, 0 } },
		{ "PSI io of system: some", { 40, 30 } },
		{ "target threads in state D", { 0, 1 } },
		/* two threads were in S at each look of second 0, one of them in second 1 */
		{ "target threads in state S", { 2, 1 } },
	};
	static const char *const moments[] = { "capture", "trigger", "", "kill", "kill" };
	size_t moment = 0, value = 0, track = 0;

	make("--kind oncpu");
	FOR_EACH(i, track_descriptor)
	if (trace->packet[i]->track_descriptor->counter) {
		ck_assert_str_eq(trace->packet[i]->track_descriptor->name, counters[track].name);
		ck_assert_str_eq(trace->packet[i]->track_descriptor->counter->unit_name,
				 track < 2 ? "%" : "");
		ck_assert_uint_eq(trace->packet[i]->track_descriptor->parent_uuid, 1);
		track++;
	}
	FOR_EACH(i, track_event)
	{
		const Perfetto__TrackEvent *event = trace->packet[i]->track_event;

		if (event->type == COUNTER) {
			ck_assert_double_eq_tol(event->double_counter_value,
						counters[value / 2].values[value % 2], 1e-9);
			value++;
		} else {
			ck_assert_uint_eq(event->track_uuid, 1);
			ck_assert_str_eq(event->name, moments[moment++]);
		}
	}
	ck_assert_uint_eq(track, ARRAY_SIZE(counters));
	ck_assert_uint_eq(value, 2 * ARRAY_SIZE(counters));
	ck_assert_uint_eq(moment, ARRAY_SIZE(moments));
}
END_TEST

/* Goes through all bytes and strings of a message. */
static void check_texts(const ProtobufCMessage *message)
{
	for (unsigned int i = 0; i < message->descriptor->n_fields; i++) {
		const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
		const void *member = (const char *)message + field->offset;
		bool is_list = field->label == PROTOBUF_C_LABEL_REPEATED;
		size_t count = is_list ? *(const size_t *)((const char *)message + field->quantifier_offset)
				       : 1;
		_cleanup_free_ char *copy = NULL;
		const char *text = NULL;

		if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF &&
		    *(const uint32_t *)((const char *)message + field->quantifier_offset) != field->id)
			continue;
		for (size_t k = 0; field->type == PROTOBUF_C_TYPE_MESSAGE && k < count; k++) {
			const ProtobufCMessage *part = is_list ? (*(ProtobufCMessage ***)member)[k]
							       : *(ProtobufCMessage **)member;

			if (part)
				check_texts(part);
		}
		if (field->type == PROTOBUF_C_TYPE_BYTES)
			text = copy = strndup((const char *)((const ProtobufCBinaryData *)member)->data,
					      ((const ProtobufCBinaryData *)member)->len);
		else if (field->type == PROTOBUF_C_TYPE_STRING && count)
			text = is_list ? **(char ***)member : *(char **)member;
		while (text && *text) {
			unsigned int code = 0, length = escape_utf8(text, &code);

			ck_assert_msg(length && !escape_is_deceptive(code), "U+%04x in %s", code,
				      field->name);
			text += length;
		}
	}
}

START_TEST(hostile_names_are_plain_text)
{
	uint64_t weight;

	export_fixture_make_hostile(&fixture);
	make("");
	check_texts(&trace->base);
	ck_assert_int_eq(count_of(ON_CPU, NULL, &weight), 34);
}
END_TEST

SUITE(export_perfetto)
{
	Suite *suite = suite_create("export_perfetto");
	TCase *tests = tcase_create("export_perfetto");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, samples_have_the_stacks_and_the_time_of_the_database);
	tcase_add_test(tests, a_sequence_begins_with_its_clock_and_its_source);
	tcase_add_test(tests, a_frame_has_its_module_and_its_line);
	tcase_add_test(tests, an_interval_is_a_slice_of_its_thread);
	tcase_add_test(tests, a_slice_ends_before_the_next_one_begins);
	tcase_add_test(tests, the_capture_has_its_moments_and_counters);
	tcase_add_test(tests, hostile_names_are_plain_text);
	suite_add_tcase(suite, tests);
	return suite;
}
