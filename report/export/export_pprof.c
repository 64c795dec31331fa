/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pprof: protocol buffers, compressed. A message may be written in parts, which add up when they stand one behind the other: so each
 * element of the profile is written as a part, and the whole is never in memory.
 */
#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/base/hash_index.h"
#include "report/export/export.h"
#include "report/export/gzip_stream.h"
#include "report/model/rows.h"

#include <pprof.pb-c.h>
#include <string.h>

/* The values of each sample. */
enum value_type_of { SAMPLES, CPU_NS, INTERVALS, OFF_CPU_NS, VALUES };

static const struct {
	const char *type, *unit;
} value_types[VALUES] = {
	[SAMPLES] = { "samples", "count" },
	[CPU_NS] = { "cpu", "nanoseconds" },
	[INTERVALS] = { "intervals", "count" },
	[OFF_CPU_NS] = { "offcpu", "nanoseconds" },
};

#define LABELS_MOST 7
#define PAGE_BYTES 4096ULL
#define OFFSET_BITS 48 /* of an address that a mapping can have */

/* A place in the code: frames at one address, the innermost inlined function first. */
struct location {
	uint32_t inner, outer; /* frames */
};

struct module_facts {
	uint64_t start, end; /* addresses that stand for the offsets in the module */
	bool has_unresolved, has_files, has_lines, has_inlined;
};

struct pprof {
	ProtobufCBuffer buffer; /* protobuf-c writes here; first, because pprof_append() casts */
	struct gzip_stream stream;
	struct export *export;
	int result; /* 0, or the first failure: then nothing more is written */
	struct export_functions functions;
	struct module_facts *modules;
	int64_t *of_text; /* the string of each text of the profile; 0: not written */
	uint32_t of_text_room;
	int64_t strings_count;
	struct location *locations;
	uint32_t locations_count, locations_room;
	struct hash_index locations_index;
	uint64_t *path; /* of the sample at hand: ids of locations, leaf first */
	uint32_t path_room;
	Pprof__Line *lines; /* of the location at hand */
	Pprof__Line **lines_at;
	uint32_t lines_room, lines_at_room;
};

static void pprof_free(struct pprof *pprof)
{
	gzip_stream_end(&pprof->stream);
	export_functions_free(&pprof->functions);
	free(pprof->modules);
	free(pprof->of_text);
	free(pprof->locations);
	hash_index_free(&pprof->locations_index);
	free(pprof->path);
	free(pprof->lines);
	free(pprof->lines_at);
}

#define _cleanup_pprof_ _cleanup_(pprof_free)

static void pprof_append(ProtobufCBuffer *buffer, size_t bytes, const uint8_t *data)
{
	gzip_stream_write(&((struct pprof *)buffer)->stream, data, bytes);
}

static void write_part(struct pprof *pprof, const Pprof__Profile *part)
{
	if (!pprof->result)
		pprof__profile__pack_to_buffer(part, &pprof->buffer);
}

/* ---- strings ---- */

/* Adds a string to the table. */
static void write_string(struct pprof *pprof, const char *text)
{
	char *string = (char *)text; /* protobuf-c does not change it */
	Pprof__Profile part = PPROF__PROFILE__INIT;

	HAVE_ONE(part, string_table, string);
	write_part(pprof, &part);
	pprof->strings_count++;
}

/* The position of a string in the table, to which it is added if it is new. */
static int64_t string_of(struct pprof *pprof, const char *text)
{
	uint32_t position, before = pprof->of_text_room;

	if (!pprof->result)
		pprof->result = profile_intern(pprof->export->profile, text, &position);
	if (!pprof->result && position >= before)
		pprof->result =
			array_make_room(pprof->of_text, before, pprof->of_text_room, position - before + 1U);
	if (pprof->result)
		return 0;
	if (position >= before)
		memset(pprof->of_text + before, 0, (pprof->of_text_room - before) * sizeof(*pprof->of_text));
	if (!pprof->of_text[position] && *text) {
		pprof->of_text[position] = pprof->strings_count;
		write_string(pprof, text);
	}
	return pprof->of_text[position];
}

/* ---- the head ---- */

static void write_type(struct pprof *pprof, enum value_type_of of, bool is_period)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__ValueType value = PPROF__VALUE_TYPE__INIT, *values = &value;

	value.type = string_of(pprof, value_types[of].type);
	value.unit = string_of(pprof, value_types[of].unit);
	if (is_period) {
		part.period_type = &value;
		part.period = pprof->export->capture.period_ns;
	} else {
		HAVE_ONE(part, sample_type, values);
	}
	write_part(pprof, &part);
}

static void write_comment(struct pprof *pprof, const char *key, const char *text)
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	_cleanup_free_ char *comment = NULL;
	int64_t string;

	if (!*text)
		return;
	if (asprintf(&comment, "%s%s", key, text) < 0) {
		pprof->result = -ENOMEM;
		return;
	}
	string = string_of(pprof, comment);
	HAVE_ONE(part, comment, string);
	write_part(pprof, &part);
}

static void write_head(struct pprof *pprof)
{
	const struct export_capture *capture = &pprof->export->capture;
	Pprof__Profile part = PPROF__PROFILE__INIT;

	write_string(pprof, ""); /* the table begins with it */
	for (enum value_type_of of = 0; of < VALUES; of++)
		write_type(pprof, of, false);
	write_type(pprof, CPU_NS, true);
	part.default_sample_type =
		string_of(pprof, value_types[pprof->export->samples->on_cpu ? CPU_NS : OFF_CPU_NS].type);
	part.time_nanos = capture->began_at;
	if (__builtin_sub_overflow(capture->ended_at, capture->began_at, &part.duration_nanos))
		part.duration_nanos = 0; /* a damaged row */
	write_part(pprof, &part);
	write_comment(pprof, "bourdon ", capture->title);
	write_comment(pprof, "verdict: ", capture->verdict);
	write_comment(pprof, "note: ", capture->note);
}

/* ---- modules and functions ---- */

/* Gives each module a range of addresses as long as the offsets that occur. */
static int find_modules(struct pprof *pprof)
{
	const struct profile *profile = pprof->export->profile;
	uint64_t start = PAGE_BYTES;

	pprof->modules = calloc(profile->modules_count + 1UL, sizeof(*pprof->modules));
	if (!pprof->modules)
		return -ENOMEM;
	for (uint32_t i = 0; i < profile->frames_count; i++) {
		const struct profile_frame *frame = &profile->frames[i];
		struct module_facts *module;

		if (frame->module == PROFILE_NONE)
			continue;
		module = &pprof->modules[frame->module];
		if (!((uint64_t)frame->offset >> OFFSET_BITS) && (uint64_t)frame->offset >= module->end)
			module->end = (uint64_t)frame->offset + 1;
		module->has_unresolved = module->has_unresolved || !frame->is_resolved;
		module->has_files = module->has_files || frame->file;
		module->has_lines = module->has_lines || frame->has_line;
		module->has_inlined = module->has_inlined || frame->inlined;
	}
	for (uint32_t i = 0; i < profile->modules_count; i++) {
		struct module_facts *module = &pprof->modules[i];
		uint64_t bytes = (module->end + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;

		if (start >> 63)
			start = PAGE_BYTES; /* more modules of all addresses than a capture has: ranges overlap */
		module->start = start;
		module->end = start + bytes;
		start = module->end + PAGE_BYTES;
	}
	return 0;
}

static void write_modules(struct pprof *pprof)
{
	const struct profile *profile = pprof->export->profile;

	if (!pprof->result)
		pprof->result = find_modules(pprof);
	for (uint32_t i = 0; i < profile->modules_count && !pprof->result; i++) {
		const struct module_facts *facts = &pprof->modules[i];
		Pprof__Profile part = PPROF__PROFILE__INIT;
		Pprof__Mapping mapping = PPROF__MAPPING__INIT, *mappings = &mapping;
		const char *build_id = profile->modules[i].build_id;

		mapping.id = i + 1UL;
		mapping.memory_start = facts->start;
		mapping.memory_limit = facts->end;
		mapping.has_functions = !facts->has_unresolved;
		mapping.has_filenames = facts->has_files;
		mapping.has_line_numbers = facts->has_lines;
		mapping.has_inline_frames = facts->has_inlined;
		mapping.filename = string_of(pprof, profile->modules[i].path);
		mapping.build_id = string_of(pprof, build_id ? build_id : "");
		HAVE_ONE(part, mapping, mappings);
		write_part(pprof, &part);
	}
}

static void write_functions(struct pprof *pprof)
{
	for (uint32_t i = 0; i < pprof->functions.count && !pprof->result; i++) {
		const struct export_function *there = &pprof->functions.functions[i];
		Pprof__Profile part = PPROF__PROFILE__INIT;
		Pprof__Function function = PPROF__FUNCTION__INIT, *functions = &function;

		function.id = i + 1UL;
		function.name = string_of(pprof, profile_text(pprof->export->profile, there->name));
		function.system_name = function.name;
		function.filename = string_of(pprof, there->file ? there->file : "");
		HAVE_ONE(part, function, functions);
		write_part(pprof, &part);
	}
}

/* ---- locations ---- */

struct wanted_location {
	const struct pprof *pprof;
	struct location location;
};

static bool is_location(const void *user, uint32_t position)
{
	const struct wanted_location *wanted = user;
	const struct location *there = &wanted->pprof->locations[position];

	return there->inner == wanted->location.inner && there->outer == wanted->location.outer;
}

/* Writes a location of these frames, the innermost first. */
static void write_location(struct pprof *pprof, uint64_t id, const uint32_t *frames, uint32_t count)
{
	const struct profile *profile = pprof->export->profile;
	const struct profile_frame *outer = &profile->frames[frames[count - 1]];
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__Location location = PPROF__LOCATION__INIT, *locations = &location;

	if (array_make_room(pprof->lines, 0U, pprof->lines_room, count) ||
	    array_make_room(pprof->lines_at, 0U, pprof->lines_at_room, count)) {
		pprof->result = -ENOMEM;
		return;
	}
	for (uint32_t i = 0; i < count; i++) {
		const struct profile_frame *frame = &profile->frames[frames[i]];

		pprof->lines[i] = (Pprof__Line)PPROF__LINE__INIT;
		pprof->lines[i].function_id = pprof->functions.of_frame[frames[i]] + 1UL;
		pprof->lines[i].line = frame->has_line ? frame->line : 0;
		pprof->lines_at[i] = &pprof->lines[i];
	}
	location.id = id;
	location.mapping_id = outer->module + 1UL;
	if (!((uint64_t)outer->offset >> OFFSET_BITS))
		location.address = pprof->modules[outer->module].start + (uint64_t)outer->offset;
	location.n_line = count;
	location.line = pprof->lines_at;
	HAVE_ONE(part, location, locations);
	write_part(pprof, &part);
}

/* The id of a location, which is written if it is new. */
static uint64_t location_of(struct pprof *pprof, const uint32_t *frames, uint32_t count)
{
	struct wanted_location wanted = { pprof, { frames[0], frames[count - 1] } };
	uint32_t hash = hash_number_and_bytes((uint64_t)frames[0] << 32 | frames[count - 1], NULL, 0);
	uint32_t found = hash_index_find(&pprof->locations_index, hash, is_location, &wanted);

	if (found == HASH_INDEX_NONE) {
		if (array_make_room(pprof->locations, pprof->locations_count, pprof->locations_room, 1U) ||
		    hash_index_add(&pprof->locations_index, hash, pprof->locations_count)) {
			pprof->result = -ENOMEM;
			return 0;
		}
		found = pprof->locations_count++;
		pprof->locations[found] = wanted.location;
		write_location(pprof, found + 1UL, frames, count);
	}
	return found + 1UL;
}

#define INLINED_MOST 64U /* functions in each other at one address; more are another location */

/* Whether `outer`, the next frame of a stack, is the function into which `inner` was inlined. */
static bool is_inlined_into(const struct profile_frame *inner, const struct profile_frame *outer)
{
	return inner->inlined > 0 && outer->module == inner->module && outer->offset == inner->offset &&
	       outer->inlined == inner->inlined - 1;
}

/* Fills the path with the locations of a stack. Returns their number. */
static uint32_t find_path(struct pprof *pprof, const struct profile_stack *stack)
{
	const struct profile *profile = pprof->export->profile;
	struct profile_walk walk = profile_walk_of(profile, stack);
	const struct profile_frame *frame = profile_walk_next(&walk);
	uint32_t frames[INLINED_MOST], depth = 0;

	while (frame && !pprof->result) {
		const struct profile_frame *inner;
		uint32_t count = 0;

		do {
			frames[count++] = (uint32_t)(frame - profile->frames);
			inner = frame;
			frame = profile_walk_next(&walk);
		} while (frame && count < INLINED_MOST && is_inlined_into(inner, frame));
		pprof->result = array_make_room(pprof->path, depth, pprof->path_room, 1U);
		if (!pprof->result)
			pprof->path[depth++] = location_of(pprof, frames, count);
	}
	return depth;
}

/* ---- samples ---- */

struct labels {
	Pprof__Label labels[LABELS_MOST], *at[LABELS_MOST];
	uint32_t count;
};

/* A label with a text, or if that is NULL with a number. */
static void add_label(struct pprof *pprof, struct labels *labels, const char *key, const char *text,
		      int64_t number)
{
	Pprof__Label *label = &labels->labels[labels->count];

	*label = (Pprof__Label)PPROF__LABEL__INIT;
	label->key = string_of(pprof, key);
	label->str = text ? string_of(pprof, text) : 0;
	label->num = text ? 0 : number;
	labels->at[labels->count++] = label;
}

static void add_labels(struct pprof *pprof, const struct profile_sample *sample, struct labels *labels)
{
	const struct profile *profile = pprof->export->profile;
	const struct profile_thread *thread = &profile->threads[sample->thread];
	const struct profile_process *process = &profile->processes[thread->process];

	add_label(pprof, labels, "comm", export_comm(profile, thread->process), 0);
	add_label(pprof, labels, "tgid", NULL, process->tgid);
	add_label(pprof, labels, "thread", profile_text(profile, thread->name), 0);
	add_label(pprof, labels, "tid", NULL, thread->tid);
	add_label(pprof, labels, "role", profile_text(profile, sample->role), 0);
	add_label(pprof, labels, "stall", profile_text(profile, sample->stall), 0);
	if (process->unit)
		add_label(pprof, labels, "unit", process->unit, 0);
}

static void write_sample(struct pprof *pprof, const struct profile_sample *sample, int64_t values[VALUES])
{
	Pprof__Profile part = PPROF__PROFILE__INIT;
	Pprof__Sample written = PPROF__SAMPLE__INIT, *samples = &written;
	struct labels labels = { .count = 0 };

	written.n_location_id = find_path(pprof, &pprof->export->profile->stacks[sample->stack]);
	add_labels(pprof, sample, &labels);
	written.location_id = pprof->path;
	written.n_value = VALUES;
	written.value = values;
	written.n_label = labels.count;
	written.label = labels.at;
	HAVE_ONE(part, sample, samples);
	write_part(pprof, &part);
}

/* The format has no time axis: rows that differ by their second, which follow each other, are one. */
static void write_samples(struct pprof *pprof)
{
	const struct profile *profile = pprof->export->profile;

	for (uint32_t i = 0; i < profile->samples_count && !pprof->result;) {
		const struct profile_sample *first = &profile->samples[i];
		bool is_off = first->kind == profile->off_cpu;
		int64_t values[VALUES] = { 0 };
		int64_t *count = &values[is_off ? INTERVALS : SAMPLES],
			*ns = &values[is_off ? OFF_CPU_NS : CPU_NS];

		for (; i < profile->samples_count && profile_samples_are_alike(first, &profile->samples[i]);
		     i++) {
			*count = add_saturated(*count, profile->samples[i].samples);
			*ns = add_saturated(*ns, profile->samples[i].weight_ns);
		}
		write_sample(pprof, first, values);
	}
}

int export_pprof(struct export *export)
{
	_cleanup_pprof_ struct pprof pprof = { .buffer = { .append = pprof_append }, .export = export };

	pprof.result = export_functions_find(export->profile, &pprof.functions);
	if (!pprof.result)
		pprof.result = gzip_stream_begin(&pprof.stream, export->out);
	write_head(&pprof);
	write_modules(&pprof);
	write_functions(&pprof);
	write_samples(&pprof);
	if (!pprof.result)
		gzip_stream_finish(&pprof.stream);
	return pprof.result;
}
