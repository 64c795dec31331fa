/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/capture/capture_usage.h"

#include "common/cleanup.h"

#include <string.h>

const char *const usage_role_names[USAGE_ROLES] = { "target", "other", "rest" };

int capture_usage_begin(struct capture_usage *ret_usage, const struct usage *now)
{
	*ret_usage = (struct capture_usage){ 0 };
	return usage_copy(now, &ret_usage->before);
}

void capture_usage_free(struct capture_usage *usage)
{
	for (uint32_t i = 0; i < usage->count; i++)
		if (!usage->rows[i].shares_cgroup)
			free(usage->rows[i].cgroup);
	free(usage->rows);
	usage_free(&usage->before);
	*usage = (struct capture_usage){ 0 };
}

/* The measures by which processes are ranked. */
#define MEASURES (sizeof(struct usage_sums) / sizeof(uint64_t))
_Static_assert(sizeof(struct usage_sums) == 15 * sizeof(uint64_t), "every member of usage_sums is a measure");

static uint64_t measure_of(const struct usage_sums *sums, size_t measure)
{
	uint64_t value;

	memcpy(&value, (const char *)sums + measure * sizeof(value), sizeof(value));
	return value;
}

static int compare_falling(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? 1 : left > right ? -1 : 0;
}

/*
 * Marks the processes with the largest values of one measure. `values` has room for one value of each
 * process.
 */
static void choose_by(const struct usage_sums *sums, uint32_t count, size_t measure, uint64_t *values,
		      bool *chosen)
{
	uint64_t least = 1; /* the smallest value that is marked */
	uint32_t some = 0, marked = 0;

	for (uint32_t i = 0; i < count; i++)
		if (measure_of(&sums[i], measure))
			values[some++] = measure_of(&sums[i], measure);
	if (some > USAGE_ROWS_A_MEASURE) {
		qsort(values, some, sizeof(*values), compare_falling);
		least = values[USAGE_ROWS_A_MEASURE - 1];
	}
	for (uint32_t i = 0; i < count; i++)
		if (measure_of(&sums[i], measure) > least) {
			chosen[i] = true;
			marked++;
		}
	/* of processes with the smallest marked value, only as many as there is room for */
	for (uint32_t i = 0; i < count && marked < USAGE_ROWS_A_MEASURE; i++)
		if (measure_of(&sums[i], measure) == least) {
			chosen[i] = true;
			marked++;
		}
}

void usage_sums_add(struct usage_sums *to, const struct usage_sums *more)
{
	for (size_t measure = 0; measure < MEASURES; measure++) {
		uint64_t sum = measure_of(to, measure) + measure_of(more, measure);

		memcpy((char *)to + measure * sizeof(sum), &sum, sizeof(sum));
	}
}

/* `now` may hold processes that ended before this capture began, kept for another capture. */
static bool is_of_span(const struct capture_usage *usage, const struct usage_process *process)
{
	return process->walk > usage->before.walk;
}

/* Rows of one cgroup, which may have a long path, share one copy. There are at most some 1,500 rows. */
static void put_cgroup(const struct capture_usage *usage, struct usage_row *row, const char *cgroup)
{
	if (!cgroup)
		return;
	for (uint32_t i = 0; i < usage->count; i++) {
		const struct usage_row *before = &usage->rows[i];

		if (before->process.cgroup_id != row->process.cgroup_id || !before->cgroup)
			continue;
		row->cgroup = before->cgroup;
		row->shares_cgroup = true;
		return;
	}
	row->cgroup = strdup(cgroup);
}

/* Adds it to the row of the rest. */
static void add_to_rest(struct capture_usage *usage, const struct usage_process *process,
			const struct usage_sums *sums, capture_usage_describe describe, void *user)
{
	const char *cgroup = NULL;
	bool is_own = is_of_span(usage, process) && describe(user, process, &cgroup);

	usage_sums_add(is_own ? &usage->rest_targets : &usage->rest_others, sums);
}

void capture_usage_settle(struct capture_usage *usage, const struct usage *now,
			  capture_usage_describe describe, void *user)
{
	for (uint32_t i = 0; i < now->count; i++) {
		const struct usage_process *process = &now->processes[i];
		struct usage_sums sums;

		if (!process->goes || !is_of_span(usage, process))
			continue;
		sums = usage_since(&usage->before, process);
		add_to_rest(usage, process, &sums, describe, user);
	}
}

/* The draining thread has no use for the state before any more, and the capture may wait for the disk. */
static void forget_before(struct capture_usage *usage)
{
	uint64_t walked_ns = usage->before.walked_ns;

	usage_free(&usage->before);
	usage->before.walked_ns = walked_ns;
}

int capture_usage_end(struct capture_usage *usage, const struct usage *now, capture_usage_describe describe,
		      void *user)
{
	_cleanup_free_ struct usage_sums *sums = calloc(now->count + 1UL, sizeof(*sums));
	_cleanup_free_ uint64_t *values = calloc(now->count + 1UL, sizeof(*values));
	_cleanup_free_ bool *chosen = calloc(now->count + 1UL, sizeof(*chosen));
	struct usage_row rest = { .role = USAGE_REST };
	uint32_t rows = 1;

	if (!sums || !values || !chosen)
		return -ENOMEM;
	for (uint32_t i = 0; i < now->count; i++)
		if (is_of_span(usage, &now->processes[i]))
			sums[i] = usage_since(&usage->before, &now->processes[i]);
	for (size_t measure = 0; measure < MEASURES; measure++)
		choose_by(sums, now->count, measure, values, chosen);
	for (uint32_t i = 0; i < now->count; i++)
		rows += chosen[i];
	usage->rows = calloc(rows, sizeof(*usage->rows));
	if (!usage->rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < now->count; i++) {
		struct usage_row *row = &usage->rows[usage->count];
		const char *cgroup = NULL;

		if (!chosen[i]) {
			add_to_rest(usage, &now->processes[i], &sums[i], describe, user);
			continue;
		}
		row->process = now->processes[i];
		row->process.sums = sums[i];
		row->role = describe(user, &row->process, &cgroup) ? USAGE_TARGET : USAGE_OTHER;
		put_cgroup(usage, row, cgroup);
		rest.process.counts_io_delay |= row->process.counts_io_delay;
		usage->count++;
	}
	usage_sums_add(&rest.process.sums, &usage->rest_targets);
	usage_sums_add(&rest.process.sums, &usage->rest_others);
	usage->rows[usage->count++] = rest;
	usage->to_ns = now->walked_ns;
	forget_before(usage);
	return 0;
}
