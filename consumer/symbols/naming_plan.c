/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/symbols/naming_plan.h"

#include "common/base/cleanup.h"
#include "common/base/numbers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Elements of an array, at least one: calloc(0) may return NULL. */
static uint32_t *numbers(uint32_t count)
{
	return calloc((size_t)count + 1, sizeof(uint32_t));
}

/* ---- weights ---- */

/* Stores for each frame the time of the stacks that it is in, however often in each. Returns 0 or -ENOMEM. */
static int weigh_frames(const struct capture *capture, const struct resolved *resolved, uint64_t *weights)
{
	_cleanup_free_ uint64_t *of_stacks = calloc((size_t)capture->stacks.count + 1, sizeof(*of_stacks));
	_cleanup_free_ uint32_t *counted = numbers(resolved->frames_count); /* the last stack, from 1 on */

	if (!of_stacks || !counted)
		return -ENOMEM;
	for (uint32_t i = 0; i < capture->rows_count; i++)
		of_stacks[capture->rows[i].stack] += capture->rows[i].weight_ns;
	/* a stack of 1 MiB is worth 1 ms */
	for (uint32_t i = 0; i < capture->growths.count; i++)
		of_stacks[capture->growths.rows[i].stack] += capture->growths.rows[i].bytes;
	for (uint32_t i = 0; i < capture->stacks.count; i++) {
		for (uint32_t j = 0; j < resolved->depths[i]; j++) {
			uint32_t frame = resolved->of_stack_frame[capture->stacks.stacks[i].first + j];

			if (counted[frame] == i + 1)
				continue;
			counted[frame] = i + 1;
			weights[frame] += of_stacks[i];
		}
	}
	return 0;
}

/* The heaviest first; of equal ones, the one that was found first. */
static int compare_weights(const void *a, const void *b, void *user)
{
	const uint32_t *left = a, *right = b;
	const uint64_t *weights = user;

	return COMPARE(weights[*right], weights[*left]) ?: COMPARE(*left, *right);
}

/* ---- the frames of each module ---- */

static int group_frames(const struct resolved *resolved, uint64_t *weights, struct naming_plan *plan)
{
	_cleanup_free_ uint32_t *next = numbers(resolved->modules_count);

	if (!next)
		return -ENOMEM;
	for (uint32_t i = 0; i < resolved->frames_count; i++)
		plan->first[resolved->frames[i].module + 1]++;
	for (uint32_t i = 0; i < resolved->modules_count; i++) {
		plan->first[i + 1] += plan->first[i];
		next[i] = plan->first[i];
	}
	for (uint32_t i = 0; i < resolved->frames_count; i++)
		plan->frames[next[resolved->frames[i].module]++] = i;
	for (uint32_t i = 0; i < resolved->modules_count; i++)
		qsort_r(plan->frames + plan->first[i], plan->first[i + 1] - plan->first[i],
			sizeof(*plan->frames), compare_weights, weights);
	return 0;
}

/* Sorts the modules by the weight of their heaviest frame. */
static int sort_modules(const struct naming_plan *plan, const uint64_t *weights)
{
	_cleanup_free_ uint64_t *of_modules = calloc((size_t)plan->modules_count + 1, sizeof(*of_modules));

	if (!of_modules)
		return -ENOMEM;
	for (uint32_t i = 0; i < plan->modules_count; i++) {
		plan->modules[i] = i;
		if (plan->first[i] < plan->first[i + 1])
			of_modules[i] = weights[plan->frames[plan->first[i]]];
	}
	qsort_r(plan->modules, plan->modules_count, sizeof(*plan->modules), compare_weights, of_modules);
	return 0;
}

/* ---- the order of the modules ---- */

static bool is_target(const struct capture *capture, uint32_t process)
{
	return capture->processes[process].role == USAGE_TARGET;
}

/* Stores the position of the first process whose stacks lead into each module, of a target if there is one. */
static void find_owners(const struct capture *capture, const struct resolved *resolved, uint32_t *owners)
{
	memset(owners, 0xff, resolved->modules_count * sizeof(*owners));
	for (uint32_t i = 0; i < capture->stacks.count; i++) {
		const struct stack *stack = &capture->stacks.stacks[i];

		for (uint32_t j = 0; j < resolved->depths[i]; j++) {
			uint32_t frame = resolved->of_stack_frame[stack->first + j];
			uint32_t *owner = &owners[resolved->frames[frame].module];

			if (*owner == UINT32_MAX ||
			    (is_target(capture, stack->process) && !is_target(capture, *owner)))
				*owner = stack->process;
		}
	}
	for (uint32_t i = 0; i < resolved->modules_count; i++)
		if (owners[i] == UINT32_MAX)
			owners[i] = 0;
}

/* Stores for each process the position of the first process of the same user. */
static int find_users(const struct capture *capture, uint32_t *users)
{
	const struct hash_keys keys = HASH_KEYS(capture->processes, uid);
	struct hash_index index = { 0 };
	int result = 0;

	for (uint32_t i = 0; i < capture->processes_count && !result; i++) {
		users[i] = hash_index_find_key(&index, keys, &capture->processes[i].uid);
		if (users[i] != HASH_INDEX_NONE)
			continue;
		users[i] = i;
		result = hash_index_add_key(&index, keys, i);
	}
	hash_index_free(&index);
	return result;
}

/*
 * Reorders the modules: the first one of each owner, then the second one of each, and so on. `owners` is by
 * module and has numbers below `owners_count`.
 */
static int take_turns(struct naming_plan *plan, const uint32_t *owners, uint32_t owners_count)
{
	uint32_t count = plan->modules_count;
	_cleanup_free_ uint32_t *seen = numbers(owners_count), *turns = numbers(count),
				*starts = numbers(count + 1), *sorted = numbers(count);

	if (!seen || !turns || !starts || !sorted)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		turns[i] = seen[owners[plan->modules[i]]]++;
		starts[turns[i] + 1]++;
	}
	for (uint32_t i = 0; i < count; i++)
		starts[i + 1] += starts[i];
	for (uint32_t i = 0; i < count; i++)
		sorted[starts[turns[i]]++] = plan->modules[i];
	memcpy(plan->modules, sorted, count * sizeof(*sorted));
	return 0;
}

/* Moves the modules of targets to the front, and changes nothing else in the order. */
static int targets_first(const struct capture *capture, struct naming_plan *plan, const uint32_t *owners)
{
	uint32_t count = plan->modules_count, kept = 0;
	_cleanup_free_ uint32_t *sorted = numbers(count);

	if (!sorted)
		return -ENOMEM;
	for (int targets = 1; targets >= 0; targets--)
		for (uint32_t i = 0; i < count; i++)
			if (is_target(capture, owners[plan->modules[i]]) == targets)
				sorted[kept++] = plan->modules[i];
	memcpy(plan->modules, sorted, count * sizeof(*sorted));
	return 0;
}

static int order_modules(const struct capture *capture, const struct resolved *resolved,
			 struct naming_plan *plan)
{
	_cleanup_free_ uint32_t *owners = numbers(resolved->modules_count),
				*users = numbers(capture->processes_count),
				*owner_users = numbers(resolved->modules_count);
	int result;

	if (!owners || !users || !owner_users)
		return -ENOMEM;
	if (!capture->processes_count)
		return 0;
	find_owners(capture, resolved, owners);
	result = find_users(capture, users);
	if (!result)
		result = take_turns(plan, owners, capture->processes_count);
	for (uint32_t i = 0; i < plan->modules_count; i++)
		owner_users[i] = users[owners[i]];
	if (!result)
		result = take_turns(plan, owner_users, capture->processes_count);
	return result < 0 ? result : targets_first(capture, plan, owners);
}

int naming_plan_make(const struct capture *capture, const struct resolved *resolved,
		     struct naming_plan *ret_plan)
{
	_cleanup_free_ uint64_t *weights = calloc((size_t)resolved->frames_count + 1, sizeof(*weights));
	int result = 0;

	*ret_plan = (struct naming_plan){ .modules = numbers(resolved->modules_count),
					  .modules_count = resolved->modules_count,
					  .frames = numbers(resolved->frames_count),
					  .first = numbers(resolved->modules_count + 1) };
	if (!weights || !ret_plan->modules || !ret_plan->frames || !ret_plan->first)
		result = -ENOMEM;
	if (!result)
		result = weigh_frames(capture, resolved, weights);
	if (!result)
		result = group_frames(resolved, weights, ret_plan);
	if (!result)
		result = sort_modules(ret_plan, weights);
	return result < 0 ? result : order_modules(capture, resolved, ret_plan);
}

void naming_plan_free(struct naming_plan *plan)
{
	free(plan->modules);
	free(plan->frames);
	free(plan->first);
	*plan = (struct naming_plan){ 0 };
}
