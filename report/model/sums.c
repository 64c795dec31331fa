/* SPDX-License-Identifier: GPL-2.0-only */
#include "report/model/sums.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"

#include <stdlib.h>
#include <string.h>

/* What rows have in common that are added up. Sums of stacks are found by what stands before `at`. */
struct sum {
	uint32_t path, comm; /* of a stack */
	uint32_t at;         /* position of a text, a process or a stack */
	bool is_used, truncated;
	int64_t number;
	int64_t samples, weight_ns;
};

static void add_sample(struct sum *sum, const struct profile_sample *sample)
{
	sum->is_used = true;
	sum->samples = add_saturated(sum->samples, sample->samples);
	sum->weight_ns = add_saturated(sum->weight_ns, sample->weight_ns);
}

/* Removes the sums without samples. Returns the number of the others. */
static uint32_t keep_used(struct sum *sums, uint32_t count)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < count; i++)
		if (sums[i].is_used)
			sums[kept++] = sums[i];
	return kept;
}

/* The samples, or the weights, of all sums. */
static int64_t whole_of(const struct sum *sums, uint32_t count, bool by_weight)
{
	int64_t whole = 0;

	for (uint32_t i = 0; i < count; i++)
		whole = add_saturated(whole, by_weight ? sums[i].weight_ns : sums[i].samples);
	return whole;
}

/* ---- stalls ---- */

static int longest_first(const void *a, const void *b, void *user)
{
	const struct sum *left = a, *right = b;
	return compare_numbers(right->weight_ns, left->weight_ns)
		       ?: strcmp(profile_text(user, left->at), profile_text(user, right->at));
}

int sums_of_stalls(const struct profile *profile, struct rows *ret_rows)
{
	static const char *const names[] = { "stall", "weight_ns", "intervals", "percent" };
	_cleanup_free_ struct sum *sums = calloc(profile->texts.count + 1UL, sizeof(*sums));
	struct rows rows = rows_of(names);
	uint32_t count;
	int64_t whole;
	int result = 0;

	if (!sums)
		return -ENOMEM;
	for (uint32_t i = 0; i < profile->samples_count; i++) {
		const struct profile_sample *sample = &profile->samples[i];

		if (sample->kind != profile->off_cpu)
			continue;
		sums[sample->stall].at = sample->stall;
		add_sample(&sums[sample->stall], sample);
	}
	count = keep_used(sums, profile->texts.count);
	whole = whole_of(sums, count, true);
	qsort_r(sums, count, sizeof(*sums), longest_first, (void *)profile);
	for (uint32_t i = 0; i < count && !result; i++)
		result = rows_add(&rows, (struct value[]){ value_text(profile_text(profile, sums[i].at)),
							   value_number(sums[i].weight_ns),
							   value_number(sums[i].samples),
							   value_percent(sums[i].weight_ns, whole) });
	return rows_finish(result, &rows, ret_rows);
}

bool sums_stalls_on(const char *stall, const char *resource)
{
	size_t bytes = strlen(resource);

	for (const char *at = stall; bytes && (at = strstr(at, resource)); at++)
		if ((at == stall || at[-1] == '+') && (!at[bytes] || at[bytes] == '+'))
			return true;
	return false;
}

int64_t sums_stalled_ns(const struct profile *profile, const char *resource)
{
	int64_t stalled_ns = 0;

	for (uint32_t i = 0; i < profile->samples_count; i++) {
		const struct profile_sample *sample = &profile->samples[i];

		if (sample->second >= 0 && sums_stalls_on(profile_text(profile, sample->stall), resource))
			stalled_ns = add_saturated(stalled_ns, sample->weight_ns);
	}
	return stalled_ns;
}

/* ---- processes ---- */

/* Then by tgid, which is `number`, and by process_id. */
static int most_samples_first(const void *a, const void *b, void *user)
{
	const struct profile *profile = user;
	const struct sum *left = a, *right = b;
	int order = compare_numbers(right->samples, left->samples);

	if (!order)
		order = compare_numbers(left->number, right->number);
	return order ? order
		     : compare_numbers(profile->processes[left->at].process_id,
				       profile->processes[right->at].process_id);
}

int sums_of_processes(const struct profile *profile, uint32_t limit, struct rows *ret_rows)
{
	static const char *const names[] = { "comm",   "tgid",    "uid",     "exe",
					     "cgroup", "samples", "percent", "cpu_ns" };
	_cleanup_free_ struct sum *sums = calloc(profile->processes_count + 1UL, sizeof(*sums));
	struct rows rows = rows_of(names);
	uint32_t count;
	int64_t whole;
	int result = 0;

	if (!sums)
		return -ENOMEM;
	for (uint32_t i = 0; i < profile->samples_count; i++) {
		const struct profile_sample *sample = &profile->samples[i];
		uint32_t at = profile->threads[sample->thread].process;

		if (sample->kind != profile->on_cpu || !profile->processes[at].is_known)
			continue;
		sums[at].at = at;
		sums[at].number = profile->processes[at].tgid;
		add_sample(&sums[at], sample);
	}
	count = keep_used(sums, profile->processes_count);
	whole = whole_of(sums, count, false);
	qsort_r(sums, count, sizeof(*sums), most_samples_first, (void *)profile);
	for (uint32_t i = 0; i < count && i < limit && !result; i++) {
		const struct profile_process *process = &profile->processes[sums[i].at];

		result = rows_add(
			&rows,
			(struct value[]){
				value_text(profile_text(profile, process->comm)), value_number(process->tgid),
				process->has_uid ? value_number(process->uid) : value_text(NULL),
				value_text(process->exe), value_text(process->cgroup),
				value_number(sums[i].samples), value_percent(sums[i].samples, whole),
				value_number(sums[i].weight_ns) });
	}
	return rows_finish(result, &rows, ret_rows);
}

/* ---- seconds ---- */

static int compare_seconds(const void *a, const void *b)
{
	return compare_numbers(((const struct sum *)a)->number, ((const struct sum *)b)->number);
}

int sums_of_seconds(const struct profile *profile, struct rows *ret_rows)
{
	static const char *const names[] = { "second", "samples", "weight_ns" };
	_cleanup_free_ struct sum *sums = calloc(profile->samples_count + 1UL, sizeof(*sums));
	struct rows rows = rows_of(names);
	uint32_t count = 0;
	int result = 0;

	if (!sums)
		return -ENOMEM;
	for (uint32_t i = 0; i < profile->samples_count; i++)
		if (profile->samples[i].kind == profile->on_cpu)
			sums[count++] = (struct sum){ .number = profile->samples[i].second,
						      .samples = profile->samples[i].samples,
						      .weight_ns = profile->samples[i].weight_ns };
	qsort(sums, count, sizeof(*sums), compare_seconds);
	for (uint32_t i = 0; i < count && !result;) {
		struct sum sum = { .number = sums[i].number };

		for (; i < count && sums[i].number == sum.number; i++) {
			sum.samples = add_saturated(sum.samples, sums[i].samples);
			sum.weight_ns = add_saturated(sum.weight_ns, sums[i].weight_ns);
		}
		result =
			rows_add(&rows, (struct value[]){ value_number(sum.number), value_number(sum.samples),
							  value_number(sum.weight_ns) });
	}
	return rows_finish(result, &rows, ret_rows);
}

/* ---- stacks ---- */

/* The functions of stacks as a tree, in which equal paths are one: path 0 is the empty one. */
struct paths {
	struct path {
		uint32_t parent, function;
	} * paths;
	uint32_t count, room;
	uint32_t *of_node; /* where the path of each node ends */
	struct hash_index index;
};

static void paths_free(struct paths *paths)
{
	free(paths->paths);
	free(paths->of_node);
	hash_index_free(&paths->index);
}

#define _cleanup_paths_ _cleanup_(paths_free)

/* Goes one function down. Returns -ENOMEM, or at least 0. */
static int follow_path(struct paths *paths, uint32_t function, uint32_t *path)
{
	const struct path wanted = { *path, function };

	return hash_index_intern(&paths->index, HASH_ELEMENTS(paths->paths), paths->paths, paths->count,
				 paths->room, &wanted, path);
}

static int find_paths(const struct profile *profile, struct paths *paths)
{
	int result = 0;

	paths->of_node = calloc(profile->nodes_count + 1UL, sizeof(*paths->of_node));
	if (!paths->of_node || array_make_room(paths->paths, paths->count, paths->room, 1U))
		return -ENOMEM;
	paths->paths[paths->count++] = (struct path){ PROFILE_NONE, PROFILE_NONE };
	for (uint32_t i = 0; i < profile->nodes_count; i++) {
		const struct profile_node *node = &profile->nodes[i];
		uint32_t path = node->parent == PROFILE_NONE ? 0 : paths->of_node[node->parent];

		for (uint32_t j = node->first; j < node->first + node->count && result >= 0; j++)
			result = follow_path(paths, profile->frames[profile->path_frames[j]].function, &path);
		if (result < 0)
			return result;
		paths->of_node[i] = path;
	}
	return 0;
}

struct stack_sums {
	struct sum *sums;
	uint32_t count, room;
	struct hash_index index;
};

static void stack_sums_free(struct stack_sums *sums)
{
	free(sums->sums);
	hash_index_free(&sums->index);
}

#define _cleanup_stack_sums_ _cleanup_(stack_sums_free)

static int add_to_stack(const struct profile *profile, const struct paths *paths, struct stack_sums *sums,
			const struct profile_sample *sample)
{
	const struct profile_stack *stack = &profile->stacks[sample->stack];
	const struct sum wanted = { .path = stack->node == PROFILE_NONE ? 0 : paths->of_node[stack->node],
				    .comm = profile_process_of(profile, sample)->comm };
	uint32_t position;
	int added = hash_index_intern(&sums->index, HASH_KEYS_BEFORE(sums->sums, at), sums->sums, sums->count,
				      sums->room, &wanted, &position);
	struct sum *sum;

	if (added < 0)
		return added;
	sum = &sums->sums[position];
	if (added || stack->stack_id < sum->number) {
		sum->at = sample->stack;
		sum->number = stack->stack_id;
	}
	sum->truncated = sum->truncated || stack->truncated;
	add_sample(sum, sample);
	return 0;
}

static int most_first(const struct sum *left, const struct sum *right, bool by_weight,
		      const struct profile *profile)
{
	return (by_weight ? compare_numbers(right->weight_ns, left->weight_ns)
			  : compare_numbers(right->samples, left->samples)) ?:
	       compare_numbers(left->number, right->number) ?:
	       strcmp(profile_text(profile, left->comm), profile_text(profile, right->comm));
}

static int by_samples(const void *a, const void *b, void *profile)
{
	return most_first(a, b, false, profile);
}

static int by_weight(const void *a, const void *b, void *profile)
{
	return most_first(a, b, true, profile);
}

static int add_frame_row(const struct profile *profile, const struct profile_frame *frame, struct rows *rows)
{
	const struct profile_module *module = &profile->modules[frame->module];

	return rows_add(rows,
			(struct value[]){ value_text(profile_text(profile, frame->function)),
					  value_text(module->path), value_text(module->kind),
					  value_text(frame->file),
					  frame->has_line ? value_number(frame->line) : value_text(NULL),
					  value_number(frame->inlined) });
}

/* The frames of a stack, leaf first. The caller frees them; NULL without memory. */
static struct rows *frames_of(const struct profile *profile, const struct profile_stack *stack)
{
	static const char *const names[] = { "function", "module", "module_kind", "file", "line", "inlined" };
	struct profile_walk walk = profile_walk_of(profile, stack);
	const struct profile_frame *frame;
	struct rows *rows = malloc(sizeof(*rows));

	if (!rows)
		return NULL;
	*rows = rows_of(names);
	while ((frame = profile_walk_next(&walk)))
		if (add_frame_row(profile, frame, rows) < 0) {
			rows_free(rows);
			free(rows);
			return NULL;
		}
	return rows;
}

static int add_stack_row(const struct profile *profile, const struct sum *sum, struct value percent,
			 struct rows *rows)
{
	const struct profile_stack *stack = &profile->stacks[sum->at];
	struct rows *frames = frames_of(profile, stack);

	if (!frames)
		return -ENOMEM;
	return rows_add(rows, (struct value[]){ value_number(sum->number),
						value_text(profile_text(profile, sum->comm)),
						value_number(sum->samples), value_number(sum->weight_ns),
						percent, value_text(profile_text(profile, stack->unwinder)),
						value_number(sum->truncated), value_rows(frames) });
}

int sums_of_stacks(const struct profile *profile, const char *resource, uint32_t limit, struct rows *ret_rows)
{
	static const char *const names[] = { "stack_id", "comm",     "samples",   "weight_ns",
					     "percent",  "unwinder", "truncated", "frames" };
	uint32_t kind = resource ? profile->off_cpu : profile->on_cpu;
	_cleanup_stack_sums_ struct stack_sums sums = { 0 };
	_cleanup_paths_ struct paths paths = { 0 };
	struct rows rows = rows_of(names);
	int result = find_paths(profile, &paths);
	int64_t whole;

	for (uint32_t i = 0; i < profile->samples_count && !result; i++) {
		const struct profile_sample *sample = &profile->samples[i];

		if (sample->kind == kind && profile->stacks[sample->stack].is_known &&
		    profile_process_of(profile, sample)->is_known &&
		    (!resource || !*resource ||
		     sums_stalls_on(profile_text(profile, sample->stall), resource)))
			result = add_to_stack(profile, &paths, &sums, sample);
	}
	if (sums.count)
		qsort_r(sums.sums, sums.count, sizeof(*sums.sums), resource ? by_weight : by_samples,
			(void *)profile);
	whole = whole_of(sums.sums, sums.count, resource != NULL);
	for (uint32_t i = 0; i < sums.count && i < limit && !result; i++)
		result = add_stack_row(
			profile, &sums.sums[i],
			value_percent(resource ? sums.sums[i].weight_ns : sums.sums[i].samples, whole),
			&rows);
	return rows_finish(result, &rows, ret_rows);
}
