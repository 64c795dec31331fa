/* SPDX-License-Identifier: GPL-2.0-only */
/* perf-script: text as 'perf script' prints it, for the many tools that read that. */
#include "common/base/cleanup.h"
#include "report/export/export.h"
#include "report/export/export_lanes.h"
#include "report/model/rows.h"
#include "report/text/format.h"

#include <inttypes.h>
#include <string.h>

#define NS_PER_MS INT64_C(1000000)

struct perf_script {
	struct export *export;
	const char **comms;   /* of each thread, as they stand in a line */
	const char **names;   /* of each frame; NULL: in no stack */
	const char **modules; /* of each module */
	uint32_t *order;      /* of all events, by time */
	struct lanes lanes;
};

static void perf_script_free(struct perf_script *script)
{
	free(script->comms);
	free(script->names);
	free(script->modules);
	free(script->order);
	lanes_free(&script->lanes);
}

#define _cleanup_perf_script_ _cleanup_(perf_script_free)

/*
 * Readers find the fields of a line by blanks and digits, and the module between the last parentheses. Returns a text of the
 * profile; NULL without memory.
 */
static const char *keep_line(struct profile *profile, const char *text, const char *unsafe)
{
	size_t bytes = 4 * strlen(text) + 1;
	_cleanup_free_ char *plain = malloc(bytes);

	return plain ? export_keep_safe(profile, format_folded(text, plain, bytes), unsafe) : NULL;
}

/* Readers skip a function that begins with a parenthesis; perf prints no empty name. */
static const char *keep_function(struct profile *profile, const char *function)
{
	_cleanup_free_ char *text = NULL;
	const char *rest = *function == '(' ? function + 1 : function;

	if (!*function)
		return "[unknown]";
	if (asprintf(&text, "%s%s", *function == '(' ? "\\x28" : "", rest) < 0)
		return NULL;
	return keep_line(profile, text, "");
}

/* As perf names them: [kernel.kallsyms], and [NAME] for a module of the kernel. */
static const char *keep_module(struct profile *profile, const struct profile_module *module)
{
	_cleanup_free_ char *text = NULL;
	const char *path = module->path;

	if (!strcmp(module->kind, "kernel"))
		return "[kernel.kallsyms]";
	if (strcmp(module->kind, "module") != 0 || *path == '[')
		return keep_line(profile, path, "()");
	return asprintf(&text, "[%s]", path) < 0 ? NULL : keep_line(profile, text, "()");
}

static int make_names(struct perf_script *script)
{
	struct profile *profile = script->export->profile;

	script->comms = calloc(profile->threads_count + 1UL, sizeof(*script->comms));
	script->names = calloc(profile->frames_count + 1UL, sizeof(*script->names));
	script->modules = calloc(profile->modules_count + 1UL, sizeof(*script->modules));
	if (!script->comms || !script->names || !script->modules)
		return -ENOMEM;
	for (uint32_t i = 0; i < profile->threads_count; i++) {
		const char *name = profile_text(profile, profile->threads[i].name);

		/* a line begins with it */
		script->comms[i] = keep_line(profile, *name && *name != ' ' && *name != '#' ? name : "?", "");
		if (!script->comms[i])
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < profile->modules_count; i++) {
		script->modules[i] = keep_module(profile, &profile->modules[i]);
		if (!script->modules[i])
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < profile->frames_count; i++) {
		if (profile->frames[i].module == PROFILE_NONE)
			continue;
		script->names[i] = keep_function(profile, profile_text(profile, profile->frames[i].function));
		if (!script->names[i])
			return -ENOMEM;
	}
	return 0;
}

/* perf stamps an interval off CPU when it ends. */
static int64_t stamp_of(const struct lane_event *event)
{
	return event->end_ms;
}

static int compare_stamps(const void *a, const void *b, void *user)
{
	const struct lanes *lanes = user;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	return compare_numbers(stamp_of(&lanes->events[left]), stamp_of(&lanes->events[right]))
		       ?: compare_numbers(left, right);
}

static int order_events(struct perf_script *script)
{
	struct lanes *lanes = &script->lanes;

	script->order = calloc(lanes->events_count + 1UL, sizeof(*script->order));
	if (!script->order)
		return -ENOMEM;
	for (uint32_t i = 0; i < lanes->events_count; i++)
		script->order[i] = i;
	if (lanes->events_count)
		qsort_r(script->order, lanes->events_count, sizeof(*script->order), compare_stamps, lanes);
	return 0;
}

static void write_frame(const struct perf_script *script, const struct profile_frame *frame)
{
	FILE *out = script->export->out;

	fprintf(out, "\t%16" PRIx64 " %s", (uint64_t)frame->offset,
		script->names[frame - script->export->profile->frames]);
	if (frame->is_resolved && !frame->inlined)
		fprintf(out, "+0x%" PRIx64, (uint64_t)frame->function_offset);
	fprintf(out, " (%s)\n", frame->inlined ? "inlined" : script->modules[frame->module]);
}

static void write_event(const struct perf_script *script, const struct lane_event *event)
{
	const struct profile *profile = script->export->profile;
	const struct profile_sample *sample = &profile->samples[event->sample];
	const struct profile_thread *thread = &profile->threads[sample->thread];
	const struct profile_frame *frame;
	struct profile_walk walk = profile_walk_of(profile, &profile->stacks[sample->stack]);
	int64_t at_us = script->export->capture.triggered_at / 1000 + 1000 * stamp_of(event);
	bool is_off = sample->kind == profile->off_cpu;
	FILE *out = script->export->out;

	if (at_us < 0)
		at_us = 0;
	fprintf(out, "%-15s %" PRId64 "/%" PRId64, script->comms[sample->thread],
		profile->processes[thread->process].tgid, thread->tid);
	if (event->cpu >= 0)
		fprintf(out, " [%03d]", event->cpu);
	fprintf(out, " %" PRId64 ".%06" PRId64 ": %10" PRId64 " %s:\n", at_us / 1000000, at_us % 1000000,
		is_off ? (event->end_ms - event->begin_ms) * NS_PER_MS : script->export->capture.period_ns,
		is_off ? "offcpu-time" : "cpu-clock");
	while ((frame = profile_walk_next(&walk)))
		write_frame(script, frame);
	fputc('\n', out);
}

static void write_header(const struct export *export)
{
	const struct export_capture *capture = &export->capture;

	fprintf(export->out,
		"# ========\n# bourdon %s: %s\n# hostname : %s\n# os release : %s\n# nrcpus online : %" PRId64
		"\n# ========\n#\n",
		capture->version, capture->title, capture->hostname, capture->kernel, capture->cpus);
}

int export_perf_script(struct export *export)
{
	_cleanup_perf_script_ struct perf_script script = { .export = export };
	int result = make_names(&script);

	if (!result)
		result = lanes_make(export->profile, &script.lanes);
	if (!result)
		result = order_events(&script);
	if (result < 0)
		return result;
	write_header(export);
	for (uint32_t i = 0; i < script.lanes.events_count; i++) {
		const struct lane_event *event = &script.lanes.events[script.order[i]];

		for (uint32_t j = 0; j < event->count; j++)
			write_event(&script, event);
	}
	return 0;
}
