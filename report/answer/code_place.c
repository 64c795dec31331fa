/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/answer/code_place.h"

#include "common/base/cleanup.h"
#include "common/kernel/cgroup_parts.h"
#include "report/model/rows.h"
#include "report/model/sums.h"
#include "report/text/format.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>

/* Functions of the stack that are shown, kernel functions behind the first one left out. */
#define FUNCTIONS_SHOWN 12U

struct weighing {
	const struct profile *profile;
	int64_t *of_stack;    /* samples, or ns */
	int64_t *of_function; /* the same by the innermost function: a text of the profile */
	int64_t all;
};

static void weighing_free(struct weighing *weighing)
{
	free(weighing->of_stack);
	free(weighing->of_function);
}

#define _cleanup_weighing_ _cleanup_(weighing_free)

/* Functions in which every thread leaves its CPU: where it waits is behind them, as in /proc/PID/wchan. */
static bool is_scheduler(const struct profile *profile, const struct profile_frame *frame)
{
	static const char *const begins[] = { "__schedule",       "schedule",       "io_schedule",
					      "preempt_schedule", "__cond_resched", "_cond_resched" };
	const char *function = profile_text(profile, frame->function);

	if (!profile->modules[frame->module].is_kernel)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(begins); i++)
		if (!strncmp(function, begins[i], strlen(begins[i])))
			return true;
	return false;
}

/* Goes to the innermost function, which is returned, and leaves the walk behind it; NULL: the stack has no frames. */
static const struct profile_frame *begin_walk(const struct profile *profile, uint32_t stack,
					      struct profile_walk *ret_walk)
{
	struct profile_walk walk = profile_walk_of(profile, &profile->stacks[stack]), first;
	const struct profile_frame *frame, *leaf;

	if (!profile->stacks[stack].is_known)
		return NULL;
	leaf = frame = profile_walk_next(&walk);
	first = walk;
	while (frame && is_scheduler(profile, frame))
		frame = profile_walk_next(&walk);
	*ret_walk = frame ? walk : first;
	return frame ? frame : leaf;
}

static const struct profile_frame *leaf_of(const struct profile *profile, uint32_t stack)
{
	struct profile_walk walk;

	return begin_walk(profile, stack, &walk);
}

static bool is_of(const struct verdict_who *who, bool is_kernel, const struct profile *profile,
		  const struct profile_process *process)
{
	const char *comm, *cgroup = process->cgroup;
	char unit[NAME_MAX + 1];
	size_t length = strlen(who->program);

	if (!process->is_known)
		return false;
	comm = profile_text(profile, process->comm);
	/* kworker/1:2 is a kworker, and ksoftirqd/0 a ksoftirqd */
	if (is_kernel)
		return !strncmp(comm, who->program, length) &&
		       (comm[length] == '/' || !comm[length + strspn(comm + length, "0123456789.")]);
	if (strcmp(comm, who->program) != 0)
		return false;
	if (!cgroup)
		return true;
	if (who->unit)
		return cgroup_unit(cgroup, unit) && !strcmp(unit, who->unit);
	return !who->cgroup || !strcmp(cgroup, who->cgroup);
}

static void weigh(struct weighing *weighing, const struct verdict_who *who, bool is_kernel,
		  const char *resource)
{
	const struct profile *profile = weighing->profile;

	for (uint32_t i = 0; i < profile->samples_count; i++) {
		const struct profile_sample *sample = &profile->samples[i];
		int64_t weight = resource ? sample->weight_ns : sample->samples;
		const struct profile_frame *leaf;

		if (sample->kind != (resource ? profile->off_cpu : profile->on_cpu) || weight <= 0 ||
		    (resource && *resource &&
		     !sums_stalls_on(profile_text(profile, sample->stall), resource)) ||
		    (who && !is_of(who, is_kernel, profile, profile_process_of(profile, sample))))
			continue;
		weighing->all = add_saturated(weighing->all, weight);
		leaf = leaf_of(profile, sample->stack);
		if (!leaf)
			continue;
		weighing->of_stack[sample->stack] = add_saturated(weighing->of_stack[sample->stack], weight);
		weighing->of_function[leaf->function] =
			add_saturated(weighing->of_function[leaf->function], weight);
	}
}

/* The stack with most weight among those that end in the function with most; PROFILE_NONE: there is none. */
static uint32_t hottest_stack(const struct weighing *weighing, int64_t *ret_weight)
{
	const struct profile *profile = weighing->profile;
	uint32_t function = 0, found = PROFILE_NONE;

	for (uint32_t i = 1; i < profile->texts.count; i++)
		if (weighing->of_function[i] > weighing->of_function[function])
			function = i;
	*ret_weight = weighing->of_function[function];
	for (uint32_t i = 0; i < profile->stacks_count; i++) {
		const struct profile_frame *leaf = weighing->of_stack[i] ? leaf_of(profile, i) : NULL;

		if (leaf && leaf->function == function &&
		    (found == PROFILE_NONE || weighing->of_stack[i] > weighing->of_stack[found]))
			found = i;
	}
	return found;
}

static bool has_same_functions(const struct profile *profile, uint32_t one, uint32_t other)
{
	struct profile_walk left = profile_walk_of(profile, &profile->stacks[one]),
			    right = profile_walk_of(profile, &profile->stacks[other]);
	const struct profile_frame *here, *there;

	do {
		here = profile_walk_next(&left);
		there = profile_walk_next(&right);
	} while (here && there && here->function == there->function);
	return !here && !there;
}

/* Keeps `hottest` and, as far as there is room, the others with its functions. */
static void keep_stacks(const struct weighing *weighing, uint32_t hottest, struct code_place *place)
{
	const struct profile *profile = weighing->profile;

	place->stack_ids[place->stacks_count++] = profile->stacks[hottest].stack_id;
	for (uint32_t i = 0; i < profile->stacks_count && place->stacks_count < CODE_PLACE_STACKS; i++)
		if (i != hottest && weighing->of_stack[i] && has_same_functions(profile, hottest, i))
			place->stack_ids[place->stacks_count++] = profile->stacks[i].stack_id;
}

/* Appends what fits. */
static void __attribute__((format(printf, 2, 3))) append(struct code_place *place, const char *format, ...)
{
	size_t used = strlen(place->text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(place->text + used, sizeof(place->text) - used, format, arguments);
	va_end(arguments);
}

/* Where a program was in the kernel, its own functions behind that say more than the kernel's. */
static void describe_stack(const struct profile *profile, uint32_t stack, const char *share,
			   struct code_place *place)
{
	struct profile_walk walk;
	const struct profile_frame *frame = begin_walk(profile, stack, &walk), *before = frame;
	bool in_kernel = profile->modules[frame->module].is_kernel;
	uint32_t shown = 1, left_out = 0;

	snprintf(place->function, sizeof(place->function), "%s%s", in_kernel ? "[k] " : "",
		 profile_text(profile, frame->function));
	append(place, "%s in %s", share, place->function);
	while ((frame = profile_walk_next(&walk)) && shown < FUNCTIONS_SHOWN) {
		bool is_kernel = profile->modules[frame->module].is_kernel;

		/* one of the kernel's callers is enough, and recursion is one */
		if ((is_kernel && shown > 1) || frame->function == before->function) {
			left_out += is_kernel;
			continue;
		}
		append(place, " < %s%s%s", left_out && !is_kernel ? "… < " : "", is_kernel ? "[k] " : "",
		       profile_text(profile, frame->function));
		left_out = 0;
		before = frame;
		shown++;
	}
}

int code_place_find(const struct profile *profile, const struct verdict_who *who, bool is_kernel,
		    const char *resource, struct code_place *ret_place)
{
	_cleanup_weighing_ struct weighing weighing = { profile,
							calloc(profile->stacks_count + 1UL, sizeof(int64_t)),
							calloc(profile->texts.count + 1UL, sizeof(int64_t)),
							0 };
	struct code_place place = { 0 };
	char share[128], time[32];
	int64_t weight;
	uint32_t stack;

	if (!weighing.of_stack || !weighing.of_function)
		return -ENOMEM;
	weigh(&weighing, who, is_kernel, resource);
	stack = hottest_stack(&weighing, &weight);
	if (stack != PROFILE_NONE) {
		keep_stacks(&weighing, stack, &place);
		if (resource)
			snprintf(share, sizeof(share), "%.0f %% of %s of waiting",
				 100 * (double)weight / (double)weighing.all,
				 format_duration((double)weighing.all, " ", time, sizeof(time)));
		else
			snprintf(share, sizeof(share), "%.0f %% of %" PRId64 " samples",
				 100 * (double)weight / (double)weighing.all, weighing.all);
		describe_stack(profile, stack, share, &place);
	}
	*ret_place = place;
	return 0;
}
