/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/worker/live_text.h"

#include "common/base/cleanup.h"
#include "common/base/hash.h"
#include "common/base/numbers.h"
#include "common/protocol/live_line.h"

#include <inttypes.h>
#include <string.h>

#define INLINED_MAX 64U /* functions at one address; a symbolizer names 32 */

/* What the samples of one thread with the same functions have in common. */
struct live_group {
	uint64_t of_stack; /* hash of the functions */
	uint32_t process, tid;
	uint32_t row; /* one of its rows */
	uint32_t samples;
};

struct live_groups {
	struct live_group *groups;
	uint32_t count;
	uint16_t *cpus; /* by row: of its last sample */
};

static void groups_free(struct live_groups *groups)
{
	free(groups->groups);
	free(groups->cpus);
}

/* ---- groups ---- */

/* So long that two texts of a thread never have the same. */
static uint64_t hash_text(const char *text)
{
	size_t bytes = strlen(text);

	return (uint64_t)hash_number_and_bytes(1, text, bytes) << 32 | hash_bytes(text, bytes);
}

/* Addresses in memory of no file tell nobody anything, and one program may have samples at thousands of them. */
static const char *function_of(const struct resolved *resolved, const struct resolved_frame *frame)
{
	const struct resolved_module *module = &resolved->modules[frame->module];

	return module->kind == MODULE_ANONYMOUS ? module->path : frame->function;
}

/* Of all functions at one address. */
static uint64_t hash_frame(const struct resolved *resolved, uint32_t position)
{
	const struct resolved_frame *frame = &resolved->frames[position];
	uint64_t hash = frame->module;

	for (;; frame = &resolved->frames[frame->inner]) {
		hash = hash * 31 + hash_text(function_of(resolved, frame));
		if (!frame->inner)
			return hash;
	}
}

/*
 * Only stacks of one thread are told apart by it: a thread that makes its own stacks look alike misleads about nobody else.
 * NULL without memory; the caller frees.
 */
static uint64_t *hash_stacks(const struct capture *capture, const struct resolved *resolved)
{
	uint64_t *hashes = calloc(capture->stacks.count + 1UL, sizeof(*hashes));
	_cleanup_free_ uint64_t *of_frames = calloc(resolved->frames_count + 1UL, sizeof(*of_frames));

	if (!hashes || !of_frames) {
		free(hashes);
		return NULL;
	}
	for (uint32_t i = 0; i < resolved->frames_count; i++)
		of_frames[i] = hash_frame(resolved, i);
	for (uint32_t i = 0; i < capture->stacks.count; i++)
		for (uint32_t depth = 0; depth < resolved->depths[i]; depth++)
			hashes[i] =
				hashes[i] * 31 +
				of_frames[resolved->of_stack_frame[capture->stacks.stacks[i].first + depth]];
	return hashes;
}

/* For qsort(3): those of one line follow each other. */
static int compare_identities(const void *a, const void *b)
{
	const struct live_group *left = a, *right = b;
	return COMPARE(left->process, right->process) ?:
	       COMPARE(left->tid, right->tid) ?:
	       COMPARE(left->of_stack, right->of_stack);
}

/* For qsort(3): most samples first. */
static int compare_samples(const void *a, const void *b)
{
	const struct live_group *left = a, *right = b;
	return COMPARE(right->samples, left->samples) ?: compare_identities(a, b);
}

static void merge_alike(struct live_groups *groups)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < groups->count; i++)
		if (kept && !compare_identities(&groups->groups[kept - 1], &groups->groups[i]))
			groups->groups[kept - 1].samples += groups->groups[i].samples;
		else
			groups->groups[kept++] = groups->groups[i];
	groups->count = kept;
}

static int find_groups(const struct capture *capture, const struct resolved *resolved,
		       struct live_groups *groups)
{
	_cleanup_free_ uint64_t *hashes = hash_stacks(capture, resolved);

	groups->groups = calloc(capture->rows_count + 1UL, sizeof(*groups->groups));
	groups->cpus = malloc((capture->rows_count + 1UL) * sizeof(*groups->cpus));
	if (!hashes || !groups->groups || !groups->cpus)
		return -ENOMEM;
	memset(groups->cpus, 0xff, capture->rows_count * sizeof(*groups->cpus)); /* CAPTURE_NO_CPU */
	for (uint32_t i = 0; i < capture->events_count; i++)
		groups->cpus[capture->events[i].row] = capture->events[i].cpu;
	for (uint32_t i = 0; i < capture->rows_count; i++) {
		const struct capture_row *row = &capture->rows[i];

		groups->groups[groups->count++] =
			(struct live_group){ hashes[row->stack], row->process, row->tid, i, row->samples };
	}
	qsort(groups->groups, groups->count, sizeof(groups->groups[0]), compare_identities);
	merge_alike(groups);
	qsort(groups->groups, groups->count, sizeof(groups->groups[0]), compare_samples);
	return 0;
}

/* ---- lines ---- */

/* A stack as text, the innermost function first. */
struct live_stack {
	char text[LIVE_STACK_BYTES + sizeof(";...")];
	size_t bytes;
	bool is_cut;
};

static void add_function(struct live_stack *stack, const char *function, bool is_kernel)
{
	size_t bytes = strlen(function) + (is_kernel ? strlen(LIVE_KERNEL) : 0) + (stack->bytes != 0);
	char *at = stack->text + stack->bytes;

	if (stack->is_cut)
		return;
	if (stack->bytes + bytes > LIVE_STACK_BYTES) {
		stack->is_cut = true;
		stack->bytes += (size_t)sprintf(at, "%s...", stack->bytes ? ";" : "");
		return;
	}
	sprintf(at, "%s%s%s", stack->bytes ? ";" : "", function, is_kernel ? LIVE_KERNEL : "");
	/* a semicolon within a name would begin another function */
	for (char *within = at + (stack->bytes != 0); (within = strchr(within, ';'));)
		*within = ':';
	stack->bytes += bytes;
}

static bool is_of_kernel(const struct resolved_module *module)
{
	return module->kind == MODULE_KERNEL || module->kind == MODULE_KERNEL_MODULE;
}

/* Adds the functions at one address. Returns the innermost one. */
static const char *add_frame(struct live_stack *stack, const struct resolved *resolved, uint32_t position)
{
	const struct resolved_frame *frame = &resolved->frames[position];
	bool is_kernel = is_of_kernel(&resolved->modules[frame->module]);
	const char *functions[INLINED_MAX];
	uint32_t count = 0;

	for (;; frame = &resolved->frames[frame->inner]) {
		functions[count++] = function_of(resolved, frame);
		if (!frame->inner || count == INLINED_MAX)
			break;
	}
	for (uint32_t i = count; i-- > 0;)
		add_function(stack, functions[i], is_kernel);
	return functions[count - 1];
}

static void write_stack(FILE *out, const struct capture *capture, const struct resolved *resolved,
			uint32_t position)
{
	const uint32_t *frames = &resolved->of_stack_frame[capture->stacks.stacks[position].first];
	struct live_stack stack = { .bytes = 0 };
	const char *function = "", *module = "";

	for (uint32_t i = 0; i < resolved->depths[position]; i++) {
		const char *innermost = add_frame(&stack, resolved, frames[i]);

		if (i)
			continue;
		function = innermost;
		module = resolved->modules[resolved->frames[frames[0]].module].path;
	}
	status_line_field(out, "function", "%s", function);
	status_line_field(out, "module", "%s", module);
	status_line_field(out, "stack", "%s", stack.text);
}

static void write_sample(FILE *out, const struct capture *capture, const struct resolved *resolved,
			 const struct live_groups *groups, const struct live_group *group)
{
	const struct capture_row *row = &capture->rows[group->row];
	const struct capture_process *process = &capture->processes[group->process];
	uint16_t cpu = groups->cpus[group->row];

	status_line_begin(out, LIVE_SAMPLE);
	status_line_field(out, "count", "%" PRIu32, group->samples);
	status_line_field(out, "tgid", "%" PRIu32, process->tgid);
	status_line_field(out, "tid", "%" PRIu32, group->tid);
	if (process->uid != CAPTURE_NO_UID)
		status_line_field(out, "uid", "%" PRIu32, process->uid);
	if (cpu != CAPTURE_NO_CPU)
		status_line_field(out, "cpu", "%" PRIu16, cpu);
	status_line_field(out, "process", "%.*s", (int)sizeof(process->comm), process->comm);
	status_line_field(out, "comm", "%.*s", (int)sizeof(row->thread), row->thread);
	status_line_field(out, "cgroup", "%s", process->cgroup ? process->cgroup : "");
	write_stack(out, capture, resolved, row->stack);
	status_line_end(out);
}

/* Samples that the kernel took and the second lacks. */
static uint64_t lost_samples(const struct capture *capture)
{
	static const enum loss reasons[] = { LOSS_OVERWRITTEN, LOSS_TORN, LOSS_CAPTURE_FULL, LOSS_OTHERS_FULL,
					     LOSS_UNKNOWN_PROCESS };
	uint64_t lost = 0;

	for (size_t i = 0; i < ARRAY_SIZE(reasons); i++)
		lost += capture->losses[reasons[i]];
	return lost;
}

static void write_second(FILE *out, const struct capture *capture, uint64_t samples, uint64_t left_out)
{
	const struct capture_trigger *trigger = &capture->trigger;
	/* in us: a second that had to wait for a disk is minutes long */
	uint64_t length_us = (capture->ended_ns - trigger->triggered_ns) / 1000;

	status_line_begin(out, LIVE_SECOND);
	status_line_field(out, "at_ns", "%" PRId64, trigger->triggered_at);
	status_line_field(out, "ticks", "%" PRIu64, (length_us * trigger->hz + 500000) / 1000000);
	status_line_field(out, "cpus", "%" PRIu32, capture->cpus);
	status_line_field(out, "samples", "%" PRIu64, samples);
	status_line_field(out, "left_out", "%" PRIu64, left_out);
	status_line_end(out);
}

char *live_text(const struct capture *capture, const struct resolved *resolved)
{
	_cleanup_(groups_free) struct live_groups groups = { 0 };
	uint64_t samples = 0, left_out = lost_samples(capture);
	char *text = NULL;
	size_t bytes = 0;
	FILE *out;

	if (find_groups(capture, resolved, &groups) < 0)
		return NULL;
	out = open_memstream(&text, &bytes);
	if (!out)
		return NULL;
	for (uint32_t i = 0; i < groups.count; i++) {
		if (i >= LIVE_LINES_MAX || ftell(out) >= (long)LIVE_BYTES_MAX) {
			left_out += groups.groups[i].samples;
			continue;
		}
		write_sample(out, capture, resolved, &groups, &groups.groups[i]);
		samples += groups.groups[i].samples;
	}
	write_second(out, capture, samples, left_out);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}
