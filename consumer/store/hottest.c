/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/store/hottest.h"

#include "common/cleanup.h"

#include <inttypes.h>
#include <string.h>

/* Fewer samples tell nothing about where the time goes. */
#define SAMPLES_LEAST 10U

struct search {
	const struct capture *capture;
	const struct resolved *resolved;
	const struct resolved_frame *frame;
	uint64_t *samples;           /* by position of the first frame of a function */
	struct hash_index functions; /* of these frames */
	uint64_t all;                /* samples of the group */
};

static bool is_function(const void *user, uint32_t position)
{
	const struct search *search = user;
	const struct resolved_frame *there = &search->resolved->frames[position];

	return there->module == search->frame->module && !strcmp(there->function, search->frame->function);
}

/* Adds the samples to the function of this frame. */
static int count(struct search *search, uint32_t position, uint32_t samples)
{
	const struct resolved_frame *frame = &search->resolved->frames[position];
	uint32_t hash = hash_number_and_bytes(frame->module, frame->function, strlen(frame->function)), found;
	int result = 0;

	search->frame = frame;
	found = hash_index_find(&search->functions, hash, is_function, search);
	if (found == HASH_INDEX_NONE) {
		found = position;
		result = hash_index_add(&search->functions, hash, position);
	}
	search->samples[found] += samples;
	return result;
}

/* The innermost frame of the stack, which an inlined function may be; UINT32_MAX: the stack has none with a name. */
static uint32_t leaf_of(const struct search *search, uint32_t stack)
{
	const struct resolved_frame *frames = search->resolved->frames;
	uint32_t at;

	if (!search->resolved->depths[stack])
		return UINT32_MAX;
	at = search->resolved->of_stack_frame[search->capture->stacks.stacks[stack].first];
	while (frames[at].inner)
		at = frames[at].inner;
	return frames[at].inlined || frames[at].function_offset >= 0 ? at : UINT32_MAX;
}

static int count_rows(struct search *search, const struct usage_group *group)
{
	const struct capture *capture = search->capture;
	int result = 0;

	for (uint32_t i = 0; i < capture->rows_count && !result; i++) {
		const struct capture_row *row = &capture->rows[i];
		const struct capture_process *process = &capture->processes[row->process];
		uint32_t leaf;

		if (row->kind != SAMPLE_ON_CPU ||
		    !usage_group_has(group, process->role, process->comm, process->cgroup))
			continue;
		search->all += row->samples;
		leaf = leaf_of(search, row->stack);
		if (leaf != UINT32_MAX)
			result = count(search, leaf, row->samples);
	}
	return result;
}

static bool is_kernel(const struct resolved_module *module)
{
	return module->kind == MODULE_KERNEL || module->kind == MODULE_KERNEL_MODULE;
}

bool hottest_find(void *user, const struct usage_group *group, char *into, size_t into_bytes)
{
	const struct hottest_source *source = user;
	_cleanup_free_ uint64_t *samples = calloc(source->resolved->frames_count + 1UL, sizeof(*samples));
	struct search search = { .capture = source->capture,
				 .resolved = source->resolved,
				 .samples = samples };
	const struct resolved_frame *frame;
	uint32_t most = 0;
	int result = samples ? count_rows(&search, group) : -ENOMEM;

	hash_index_free(&search.functions);
	if (result < 0 || search.all < SAMPLES_LEAST)
		return false;
	for (uint32_t i = 0; i < source->resolved->frames_count; i++)
		if (samples[i] > samples[most])
			most = i;
	if (!samples[most])
		return false;
	frame = &source->resolved->frames[most];
	snprintf(into, into_bytes, "%s%.*s (%" PRIu64 " %% of its samples)",
		 is_kernel(&source->resolved->modules[frame->module]) ? "[k] " : "", CAUSE_FUNCTION_BYTES,
		 frame->function, (100 * samples[most] + search.all / 2) / search.all);
	return true;
}
