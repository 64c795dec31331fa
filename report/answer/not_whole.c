/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/answer/not_whole.h"

#include "common/abi/abi.h"
#include "common/base/cleanup.h"
#include "common/base/paths.h"
#include "common/text/escape.h"
#include "common/text/plural.h"
#include "report/text/format.h"
#include "report/text/wrap.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- in words ---- */

/* Of what the code is where a stack ends. */
enum code_kind { CODE_OF_FILE, CODE_MADE, CODE_NOT_MAPPED, CODE_KINDS };

struct words {
	const char *why, *remedy;
};

#define WITH_FRAME_POINTERS "build it with -fno-omit-frame-pointer"

/* Where the kind of code and how it was unwound do not matter. */
static const struct {
	const char *ended;
	struct words words;
} reasons[] = {
	{ "unmapped",
	  { "the stack goes on in no executable mapping that bourdond knew: mapped moments before, or unloaded",
	    "nothing, if the program had just started or loaded a library" } },
	{ "mapping-changed",
	  { "the program has replaced the code at that address, and nobody saw which was there at the time of the sample",
	    "nothing: the names would be guessed" } },
	{ "exiting",
	  { "the process was ending: the kernel gives its memory back, and its stack is gone", "nothing" } },
	{ "expression",
	  { "the rule for this code is a DWARF expression that the tables cannot hold",
	    "nothing to set; if it is compiled code, " WITH_FRAME_POINTERS } },
	{ "register",
	  { "the rule for this code needs a register that is not known in a caller",
	    "nothing to set; if it is compiled code, " WITH_FRAME_POINTERS } },
	{ "memory",
	  { "the stack could not be read there, or its next frame is not above this one",
	    "nothing, if it is rare; otherwise the rules of the file do not fit its code: report it" } },
	{ "depth",
	  { "the stack is deeper than the 127 frames that a sample keeps",
	    "nothing: the innermost frames are there" } },
	{ "policy",
	  { "root's policy allows the innermost function only (unwinding = none)",
	    "unwinding = dwarf in " CONFIGURATION_DIRECTORY
	    "/policy.conf, then 'systemctl reload bourdon-load'" } },
};
static_assert(SAMPLE_USER_FRAMES == 127, "the words have the number");

/* no-rule: no rule for the address, and rbp is no frame pointer. Without tables alone it may be for want of a table. */
static const struct words no_rule[CODE_KINDS] = {
	[CODE_OF_FILE] = { "the tables have no rule for this code, and rbp is no frame pointer: assembly, perhaps, or built without unwind tables",
			   "'bourdon status' says if the file has no table; otherwise build it with -fasynchronous-unwind-tables or -fno-omit-frame-pointer" },
	[CODE_MADE] = { "code made at run time (by a JIT compiler, perhaps) has no unwind rules, and rbp is no frame pointer",
			"keep frame pointers in that code, or turn off the JIT compiler that makes it (as pcre_jit off does in nginx)" },
	[CODE_NOT_MAPPED] = { "the code is in no mapping that bourdond knew, and rbp is no frame pointer",
			      "nothing, if the process was new or ended soon" },
};
static const struct words no_table = {
	"there was no rule for this code, and rbp is no frame pointer: a new file has no table in its first second, and some files never have one",
	"nothing, if the program was new; otherwise, unless 'bourdon status' names the file, build it with -fasynchronous-unwind-tables or -fno-omit-frame-pointer"
};
static const struct words unknown = { "this bourdon is older than that reason", "install a newer bourdon" };

/* How a runtime keeps frame pointers in the code that it makes. */
static const struct {
	const char *runtime, *remedy;
} runtimes[] = {
	{ "jvm", "start java with -XX:+PreserveFramePointer" },
	{ "node", "nothing to set: node keeps frame pointers in JavaScript that it has compiled" },
	{ "php", "in php.ini, opcache.jit = off and pcre.jit = 0" },
	{ "ruby", "start ruby with --yjit-perf, which keeps frame pointers" },
};

static struct words words_of(const char *ended, enum code_kind kind, const char *runtime,
			     bool by_frame_pointer)
{
	struct words words = unknown;

	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		if (!strcmp(reasons[i].ended, ended))
			return reasons[i].words;
	if (strcmp(ended, "no-rule") != 0)
		return words;
	words = kind == CODE_OF_FILE && by_frame_pointer ? no_table : no_rule[kind];
	for (size_t i = 0; i < ARRAY_SIZE(runtimes) && kind == CODE_MADE && runtime; i++)
		if (!strcmp(runtimes[i].runtime, runtime))
			words.remedy = runtimes[i].remedy;
	return words;
}

/* ---- adding up ---- */

/* Samples whose stacks end in one file for one reason; then those of one file. Texts of the profile are equal if their places are. */
struct part {
	const char *path, *kind;
	const char *runtime; /* of code made at run time; else NULL */
	const char *ended;
	bool by_frame_pointer; /* all that was recorded, was so by frame pointers */
	int64_t samples;
	int64_t of_reason; /* of a file: samples of the most frequent reason, which `ended` is */
};

static bool is_made(const struct profile_module *module)
{
	return !strcmp(module->kind, "jit") || !strcmp(module->kind, "anonymous");
}

static enum code_kind kind_of(const struct part *part)
{
	if (strcmp(part->kind, "jit") != 0 && strcmp(part->kind, "anonymous") != 0)
		return CODE_OF_FILE;
	return strcmp(part->path, "[unknown]") ? CODE_MADE : CODE_NOT_MAPPED;
}

/* Of a sample with a user stack: why that ends; else NULL. */
static const char *ended_of(const struct profile *profile, const struct profile_sample *sample)
{
	const struct profile_stack *stack = &profile->stacks[sample->stack];
	const char *ended = stack->is_known ? profile_text(profile, stack->ended) : "";

	return *ended && sample->samples > 0 ? ended : NULL;
}

static bool is_whole(const char *ended)
{
	return !strcmp(ended, "root");
}

static void count(const struct profile *profile, int64_t *ret_all, int64_t *ret_not_whole)
{
	*ret_all = *ret_not_whole = 0;
	for (uint32_t i = 0; i < profile->samples_count; i++) {
		const struct profile_sample *sample = &profile->samples[i];
		const char *ended = ended_of(profile, sample);

		if (!ended)
			continue;
		*ret_all = add_saturated(*ret_all, sample->samples);
		if (!is_whole(ended))
			*ret_not_whole = add_saturated(*ret_not_whole, sample->samples);
	}
}

double not_whole_percent(const struct profile *profile)
{
	int64_t all, not_whole;

	count(profile, &all, &not_whole);
	return all ? 100.0 * (double)not_whole / (double)all : 0;
}

/* The outermost frame of the path that each node ends; PROFILE_NONE: it has no frame. The caller frees. NULL: no memory. */
static uint32_t *find_outermost(const struct profile *profile)
{
	uint32_t *outermost = calloc(profile->nodes_count + 1UL, sizeof(*outermost));

	for (uint32_t i = 0; outermost && i < profile->nodes_count; i++) {
		const struct profile_node *node = &profile->nodes[i];

		outermost[i] = node->parent == PROFILE_NONE ? PROFILE_NONE : outermost[node->parent];
		if (outermost[i] == PROFILE_NONE && node->count)
			outermost[i] = profile->path_frames[node->first];
	}
	return outermost;
}

static int compare_pointers(const void *left, const void *right)
{
	return compare_numbers((int64_t)(uintptr_t)left, (int64_t)(uintptr_t)right);
}

static int compare_files(const struct part *left, const struct part *right)
{
	return compare_pointers(left->path, right->path) ?:
	       compare_pointers(left->kind, right->kind) ?:
	       compare_pointers(left->runtime, right->runtime);
}

static int compare_parts(const void *a, const void *b)
{
	const struct part *left = a, *right = b;
	return compare_files(left, right) ?:
	       compare_pointers(left->ended, right->ended) ?:
	       left->by_frame_pointer - right->by_frame_pointer;
}

static int most_samples_first(const void *a, const void *b)
{
	const struct part *left = a, *right = b;
	int order = compare_numbers(right->samples, left->samples);

	if (!order)
		order = strcmp(left->path, right->path);
	if (!order)
		order = strcmp(left->kind, right->kind);
	return order ? order
		     : strcmp(left->runtime ? left->runtime : "", right->runtime ? right->runtime : "");
}

/* Collects the samples that are not whole; *ret_parts is freed by the caller. Returns 0 or -ENOMEM. */
static int find_parts(const struct profile *profile, struct part **ret_parts, uint32_t *ret_count)
{
	_cleanup_free_ uint32_t *outermost = find_outermost(profile);
	struct part *parts = calloc(profile->samples_count + 1UL, sizeof(*parts));
	uint32_t found = 0;

	if (!outermost || !parts) {
		free(parts);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < profile->samples_count; i++) {
		const struct profile_sample *sample = &profile->samples[i];
		const struct profile_stack *stack = &profile->stacks[sample->stack];
		const char *ended = ended_of(profile, sample);
		uint32_t frame = stack->node == PROFILE_NONE ? PROFILE_NONE : outermost[stack->node];
		const struct profile_module *module;

		if (!ended || is_whole(ended) || frame == PROFILE_NONE)
			continue;
		module = &profile->modules[profile->frames[frame].module];
		parts[found++] = (struct part){
			.path = module->path,
			.kind = module->kind,
			.runtime = is_made(module) ? profile_process_of(profile, sample)->runtime : NULL,
			.ended = ended,
			.by_frame_pointer = !strcmp(profile_text(profile, stack->unwinder), "frame-pointer"),
			.samples = sample->samples,
		};
	}
	*ret_parts = parts;
	*ret_count = found;
	return 0;
}

static bool counts_more(const struct part *part, const struct part *than)
{
	int order = compare_numbers(part->samples, than->of_reason);

	if (!order)
		order = strcmp(than->ended, part->ended);
	return order > 0 || (!order && !part->by_frame_pointer);
}

/* Adds up the parts, which are sorted, by file, in place. Returns the number of files. */
static uint32_t add_up(struct part *parts, uint32_t parts_count)
{
	uint32_t files = 0;

	for (uint32_t i = 0; i < parts_count;) {
		struct part sum = parts[i];

		for (i++; i < parts_count && !compare_parts(&parts[i], &sum); i++)
			sum.samples = add_saturated(sum.samples, parts[i].samples);
		if (files && !compare_files(&parts[files - 1], &sum)) {
			struct part *file = &parts[files - 1];

			if (counts_more(&sum, file)) {
				file->ended = sum.ended;
				file->by_frame_pointer = sum.by_frame_pointer;
				file->of_reason = sum.samples;
			}
			file->samples = add_saturated(file->samples, sum.samples);
		} else {
			sum.of_reason = sum.samples;
			parts[files++] = sum;
		}
	}
	return files;
}

int not_whole_rows(const struct profile *profile, uint32_t limit, struct rows *ret_rows)
{
	static const char *const names[] = { "module",  "module_kind",  "runtime",           "samples",
					     "percent", "ended",        "ended_samples",     "why",
					     "remedy",  "user_samples", "not_whole_percent", "files" };
	_cleanup_free_ struct part *parts = NULL;
	struct rows rows = rows_of(names);
	uint32_t parts_count, files;
	int64_t all, not_whole;
	int result;

	count(profile, &all, &not_whole);
	*ret_rows = rows;
	if (!all || 100.0 * (double)not_whole / (double)all <= NOT_WHOLE_PERCENT_IGNORED)
		return 0;
	result = find_parts(profile, &parts, &parts_count);
	if (result < 0)
		return result;
	qsort(parts, parts_count, sizeof(*parts), compare_parts);
	files = add_up(parts, parts_count);
	qsort(parts, files, sizeof(*parts), most_samples_first);
	for (uint32_t i = 0; i < files && i < limit && !result; i++) {
		const struct part *part = &parts[i];
		struct words words =
			words_of(part->ended, kind_of(part), part->runtime, part->by_frame_pointer);

		result = rows_add(
			&rows, (struct value[]){ value_text(part->path), value_text(part->kind),
						 value_text(part->runtime), value_number(part->samples),
						 value_percent(part->samples, all), value_text(part->ended),
						 value_number(part->of_reason), value_text(words.why),
						 value_text(words.remedy), value_number(all),
						 value_percent(not_whole, all), value_number(files) });
	}
	return rows_finish(result, &rows, ret_rows);
}

/* ---- text ---- */

/* Of names that somebody else chose, at most. */
#define RUNTIME_COLUMNS 12
#define ENDED_COLUMNS 32

/* " of jvm"; "" for code of a file. `into` has FORMAT_BYTES bytes. */
static char *runtime_of(const struct query *query, char *into)
{
	char runtime[FORMAT_BYTES / 2];

	*into = '\0';
	if (query_is_null(query, "runtime"))
		return into;
	escape_terminal(query_text(query, "runtime"), runtime, sizeof(runtime));
	snprintf(into, FORMAT_BYTES, " of %s", format_cut(runtime, RUNTIME_COLUMNS, sizeof(runtime)));
	return into;
}

static void print_file(const struct layout *layout, const struct query *query)
{
	char place[FORMAT_BYTES], runtime[FORMAT_BYTES], share[FORMAT_BYTES], ended[FORMAT_BYTES],
		text[3 * FORMAT_BYTES], most[64] = "";
	long long samples = query_number(query, "samples"), of_reason = query_number(query, "ended_samples");
	int used = fprintf(layout->out, "  %s, %lld %s, ",
			   format_percent(query_real(query, "percent"), share, sizeof(share)), samples,
			   plural((uint64_t)samples, "sample", "samples"));

	used += (int)format_columns(runtime_of(query, runtime));
	fprintf(layout->out, "%s%s\n",
		format_place(query_text(query, "module"), layout->columns - used, place), runtime);
	if (of_reason < samples)
		snprintf(most, sizeof(most), ", %lld of them", of_reason);
	format_cut(escape_terminal(query_text(query, "ended"), ended, sizeof(ended)), ENDED_COLUMNS,
		   sizeof(ended));
	snprintf(text, sizeof(text), "%s%s: %s", ended, most, query_text(query, "why"));
	print_labelled_on(layout, "why", text);
	print_labelled_on(layout, "do", query_text(query, "remedy"));
}

void not_whole_print(const struct layout *layout, struct query *query)
{
	char share[FORMAT_BYTES], head[2 * FORMAT_BYTES];
	int64_t files = query_number(query, "files"), shown = 0;

	snprintf(head, sizeof(head),
		 "stacks that are not whole: %s of %lld; by the file of their outermost frame",
		 format_percent(query_real(query, "not_whole_percent"), share, sizeof(share)),
		 (long long)query_number(query, "user_samples"));
	print_lines_on(layout, head, 0);
	do {
		print_file(layout, query);
		shown++;
	} while (query_next(query));
	if (shown < files)
		fprintf(layout->out, "  … %lld more\n", (long long)(files - shown));
}
