/* SPDX-License-Identifier: GPL-2.0-only */
/* folded: one line per stack, in the format that flame graph tools read; 'bourdon folded' is an alias of it. */
#include "report/export/folded.h"
#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/base/numbers.h"
#include "report/export/export.h"
#include "report/model/rows.h"
#include "report/text/format.h"

#include <string.h>

/* The lines of the largest capture that bourdond writes take less, unless all its stacks are of full depth. */
#define LINES_BYTES_MOST (256UL << 20)

struct line {
	size_t text; /* position in `texts` */
	int64_t samples;
};

struct lines {
	const struct profile *profile;
	struct folded_names names;
	char *texts; /* each with its terminator */
	size_t texts_used, texts_room;
	struct line *lines;
	uint32_t count, room;
};

void folded_names_free(struct folded_names *names)
{
	free(names->functions);
	free(names->comms);
	free(names->path);
	*names = (struct folded_names){ 0 };
}

static void lines_free(struct lines *lines)
{
	folded_names_free(&lines->names);
	free(lines->texts);
	free(lines->lines);
}

#define _cleanup_lines_ _cleanup_(lines_free)

/* A semicolon within a name would begin another function. Returns a text of the profile; NULL without memory. */
static const char *fold_name(struct profile *profile, const char *name, const char *suffix)
{
	size_t bytes = 4 * strlen(name) + strlen(suffix) + 1; /* \xHH */
	_cleanup_free_ char *plain = strdup(name), *folded = malloc(bytes);

	if (!plain || !folded)
		return NULL;
	for (char *at = strchr(plain, ';'); at; at = strchr(at, ';'))
		*at = ':';
	format_folded(plain, folded, bytes);
	strcat(folded, suffix);
	return profile_keep(profile, folded);
}

static int fold_names(struct profile *profile, struct folded_names *names)
{
	names->functions = calloc(profile->frames_count + 1UL, sizeof(*names->functions));
	names->comms = calloc(profile->processes_count + 1UL, sizeof(*names->comms));
	if (!names->functions || !names->comms)
		return -ENOMEM;
	for (uint32_t i = 0; i < profile->frames_count; i++) {
		const struct profile_frame *frame = &profile->frames[i];

		if (frame->module == PROFILE_NONE)
			continue; /* in no stack */
		names->functions[i] = fold_name(profile, profile_text(profile, frame->function),
						profile->modules[frame->module].is_kernel ? "_[k]" : "");
		if (!names->functions[i])
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < profile->processes_count; i++) {
		const struct profile_process *process = &profile->processes[i];

		names->comms[i] =
			process->is_known ? fold_name(profile, profile_text(profile, process->comm), "") : "";
		if (!names->comms[i])
			return -ENOMEM;
	}
	return 0;
}

int folded_names_make(struct profile *profile, struct folded_names *ret_names)
{
	struct folded_names names = { 0 };
	int result = fold_names(profile, &names);

	if (result < 0)
		folded_names_free(&names);
	else
		*ret_names = names;
	return result;
}

int folded_names_write(struct folded_names *names, const struct profile *profile,
		       const struct profile_stack *stack, void (*write_first)(FILE *out, const char *text),
		       void (*write_part)(FILE *out, const char *text), FILE *out)
{
	struct profile_walk walk = profile_walk_of(profile, stack);
	const struct profile_frame *frame;
	uint32_t depth = 0, all;

	while ((frame = profile_walk_next(&walk))) {
		if (array_make_room(names->path, depth, names->path_room, 1U))
			return -ENOMEM;
		names->path[depth++] = names->functions[frame - profile->frames];
	}
	for (all = depth; depth--;) {
		(depth + 1 == all ? write_first : write_part)(out, names->path[depth]);
		if (depth)
			fputc(';', out);
	}
	return 0;
}

/* Makes room for `bytes` more, of which at most half stay free. */
static int make_room(struct lines *lines, size_t bytes)
{
	size_t room = lines->texts_room ? lines->texts_room : 65536;
	char *texts;

	while (room - lines->texts_used < bytes)
		room *= 2;
	if (room == lines->texts_room)
		return 0;
	if (room > LINES_BYTES_MOST)
		return -E2BIG;
	texts = realloc(lines->texts, room);
	if (!texts)
		return -ENOMEM;
	lines->texts = texts;
	lines->texts_room = room;
	return 0;
}

/* Writes the line of a stack from its end, because the leaf, which a walk finds first, is last. */
static int add_line(struct lines *lines, uint32_t process, const struct profile_stack *stack, int64_t samples)
{
	const struct profile *profile = lines->profile;
	struct profile_walk walk = profile_walk_of(profile, stack);
	const struct profile_frame *frame;
	size_t bytes = strlen(lines->names.comms[process]), length;
	char *at;
	int result;

	while ((frame = profile_walk_next(&walk)))
		bytes += 1 + strlen(lines->names.functions[frame - profile->frames]);
	result = make_room(lines, bytes + 1);
	if (!result)
		result = array_make_room(lines->lines, lines->count, lines->room, 1U);
	if (result < 0)
		return result;
	lines->lines[lines->count++] = (struct line){ lines->texts_used, samples };
	at = lines->texts + lines->texts_used + bytes;
	*at = '\0';
	lines->texts_used += bytes + 1;
	walk = profile_walk_of(profile, stack);
	while ((frame = profile_walk_next(&walk))) {
		length = strlen(lines->names.functions[frame - profile->frames]);
		at -= length;
		memcpy(at, lines->names.functions[frame - profile->frames], length);
		*--at = ';';
	}
	length = strlen(lines->names.comms[process]);
	memcpy(at - length, lines->names.comms[process], length);
	return 0;
}

/* A process with one of its stacks on CPU. */
struct pair {
	uint32_t stack, process;
	int64_t samples; /* or ns */
};

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *left = a, *right = b;

	return COMPARE(left->stack, right->stack) ?: COMPARE(left->process, right->process);
}

/* Samples on CPU; or the microseconds of intervals off CPU, as offcputime (bcc) counts them. */
static int add_lines(struct lines *lines, bool off_cpu)
{
	const struct profile *profile = lines->profile;
	uint32_t kind = off_cpu ? profile->off_cpu : profile->on_cpu;
	_cleanup_free_ struct pair *pairs = calloc(profile->samples_count + 1UL, sizeof(*pairs));
	uint32_t count = 0;
	int result = pairs ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < profile->samples_count && !result; i++) {
		const struct profile_sample *sample = &profile->samples[i];

		if (sample->kind == kind && profile_process_of(profile, sample)->is_known)
			pairs[count++] = (struct pair){ sample->stack,
							profile->threads[sample->thread].process,
							off_cpu ? sample->weight_ns : sample->samples };
	}
	if (!result)
		qsort(pairs, count, sizeof(*pairs), compare_pairs);
	for (uint32_t i = 0; i < count && !result;) {
		const struct pair *pair = &pairs[i];
		int64_t samples = 0;

		for (; i < count && !compare_pairs(pair, &pairs[i]); i++)
			samples = add_saturated(samples, pairs[i].samples);
		result = add_line(lines, pair->process, &profile->stacks[pair->stack],
				  off_cpu ? samples / 1000 : samples);
	}
	return result;
}

static int compare_lines(const void *a, const void *b, void *user)
{
	const struct lines *lines = user;
	const struct line *left = a, *right = b;

	return strcmp(lines->texts + left->text, lines->texts + right->text);
}

int folded_write(struct profile *profile, bool off_cpu, FILE *out)
{
	_cleanup_lines_ struct lines lines = { .profile = profile };
	int result = folded_names_make(profile, &lines.names);

	if (!result)
		result = add_lines(&lines, off_cpu);
	if (result < 0)
		return result;
	if (lines.count)
		qsort_r(lines.lines, lines.count, sizeof(*lines.lines), compare_lines, &lines);
	/* lines that became equal by escaping are added up */
	for (uint32_t i = 0; i < lines.count;) {
		const struct line *line = &lines.lines[i];
		int64_t samples = 0;

		for (; i < lines.count && !compare_lines(line, &lines.lines[i], &lines); i++)
			samples = add_saturated(samples, lines.lines[i].samples);
		fprintf(out, "%s %lld\n", lines.texts + line->text, (long long)samples);
	}
	return 0;
}

int export_folded(struct export *export)
{
	return folded_write(export->profile, export->samples->off_cpu, export->out);
}
