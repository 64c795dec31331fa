/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/capture/capture_usage.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/base/numbers.h"
#include "common/base/shared_text.h"

#include <string.h>

const char *const usage_role_names[USAGE_ROLES] = { "target", "other", "kernel", "rest" };

int capture_usage_begin(struct capture_usage *ret_usage, const struct usage *now)
{
	*ret_usage = (struct capture_usage){ 0 };
	return usage_copy(now, &ret_usage->before);
}

void capture_usage_free(struct capture_usage *usage)
{
	for (uint32_t i = 0; i < usage->count; i++)
		shared_text_free(usage->rows[i].cgroup);
	free(usage->rows);
	for (uint32_t i = 0; i < usage->ended_count; i++)
		shared_text_free(usage->ended[i].cgroup);
	free(usage->ended);
	interrupt_time_free(&usage->interrupts);
	kill_rows_free(&usage->kills);
	usage_free(&usage->before);
	*usage = (struct capture_usage){ 0 };
}

/* The measures by which processes are ranked. */
#define MEASURES (sizeof(struct usage_sums) / sizeof(uint64_t))
_Static_assert(sizeof(struct usage_sums) == 19 * sizeof(uint64_t), "every member of usage_sums is a measure");

static uint64_t measure_of(const struct usage_sums *sums, size_t measure)
{
	uint64_t value;

	memcpy(&value, (const char *)sums + measure * sizeof(value), sizeof(value));
	return value;
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

/* Adds it to the row of the rest. */
static void add_to_rest(struct capture_usage *usage, const struct usage_process *process,
			const struct usage_sums *sums, const struct capture_usage_scope *scope)
{
	const char *cgroup = NULL;
	bool is_own = is_of_span(usage, process) && !process->is_kernel &&
		      scope->describe(scope->user, process, &cgroup);

	usage_sums_add(process->is_kernel ? &usage->rest_kernel
		       : is_own           ? &usage->rest_targets
					  : &usage->rest_others,
		       sums);
}

void capture_usage_settle(struct capture_usage *usage, const struct usage *now,
			  const struct capture_usage_scope *scope)
{
	for (uint32_t i = 0; i < now->count; i++) {
		const struct usage_process *process = &now->processes[i];
		struct usage_sums sums;

		if (!process->goes || !is_of_span(usage, process))
			continue;
		sums = usage_since(&usage->before, process);
		add_to_rest(usage, process, &sums, scope);
	}
}

/* The draining thread has no use for the state before any more, and the capture may wait for the disk. */
static void forget_before(struct capture_usage *usage)
{
	uint64_t walked_ns = usage->before.walked_ns;

	usage_free(&usage->before);
	usage->before.walked_ns = walked_ns;
}

/* ---- processes that ended ---- */

static int compare_keys(const void *a, const void *b)
{
	const struct ended_row *left = a, *right = b;

	return memcmp(&left->key, &right->key, sizeof(left->key));
}

static uint64_t ended_bytes(const struct ended_row *row)
{
	return row->sums.read_bytes + row->sums.write_bytes;
}

static int compare_cpu_falling(const void *a, const void *b)
{
	const struct ended_row *left = a, *right = b;

	return compare_falling(&left->sums.cpu_ns, &right->sums.cpu_ns);
}

static int compare_bytes_falling(const void *a, const void *b)
{
	uint64_t left = ended_bytes(a), right = ended_bytes(b);

	return COMPARE(right, left);
}

/* Adds the rows from `kept` on to one row, which takes their place. Returns the number of rows. */
static uint32_t sum_ended(struct ended_row *rows, uint32_t count, uint32_t kept)
{
	struct ended_row rest = { .role = USAGE_REST, .key.flags = ENDED_OVERFLOW };

	if (kept >= count)
		return count;
	for (uint32_t i = kept; i < count; i++) {
		ended_sums_add(&rest.sums, &rows[i].sums);
		shared_text_free(rows[i].cgroup);
	}
	rows[kept] = rest;
	return kept + 1;
}

/* Sums what the walks of the span took out, by key. 0 or -ENOMEM: then there are no rows. */
static int end_short_lived(struct capture_usage *usage, const struct ended *ended,
			   const struct capture_usage_scope *scope)
{
	struct ended_row *rows = calloc(ended->count + 1UL, sizeof(*rows));
	uint32_t count = 0, kept = 0, room = ended->count + 1;

	if (!rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < ended->count; i++)
		if (ended->programs[i].walk > usage->before.walk)
			rows[count++] = (struct ended_row){ .role = USAGE_OTHER,
							    .key = ended->programs[i].key,
							    .sums = ended->programs[i].sums };
	qsort(rows, count, sizeof(*rows), compare_keys);
	for (uint32_t i = 0; i < count; i++)
		if (kept && !compare_keys(&rows[kept - 1], &rows[i]))
			ended_sums_add(&rows[kept - 1].sums, &rows[i].sums);
		else
			rows[kept++] = rows[i];
	/* half of the rows are for those that moved most, the others for those that ran longest */
	if (kept > ENDED_ROWS_MAX) {
		qsort(rows, kept, sizeof(*rows), compare_bytes_falling);
		qsort(rows + ENDED_ROWS_MAX / 2, kept - ENDED_ROWS_MAX / 2, sizeof(*rows),
		      compare_cpu_falling);
		kept = sum_ended(rows, kept, ENDED_ROWS_MAX);
	}
	for (uint32_t i = 0; i < kept; i++) {
		const char *cgroup = NULL;

		if (rows[i].key.flags) {
			rows[i].role = rows[i].key.flags & ENDED_KERNEL ? USAGE_KERNEL : USAGE_REST;
			continue;
		}
		if (scope->describe_ended(scope->user, &rows[i].key, &cgroup))
			rows[i].role = USAGE_TARGET;
		rows[i].cgroup = shared_text_new(cgroup);
	}
	qsort(rows, kept, sizeof(*rows), compare_cpu_falling);
	usage->ended = rows;
	usage->ended_count = kept;
	array_fit(usage->ended, kept, room); /* the capture may wait for the disk */
	return 0;
}

/* ---- the machine ---- */

/* Call it when all rows are there. */
static void account(struct capture_usage *usage, const struct usage *now)
{
	const struct usage *before = &usage->before;
	struct machine_time machine = { .from_ns = before->walked_ns, .to_ns = now->walked_ns };
	uint64_t *parts = machine.parts_ns;

	for (uint32_t i = 0; i < usage->count; i++) {
		const struct usage_row *row = &usage->rows[i];

		if (row->role != USAGE_REST)
			parts[row->role == USAGE_TARGET   ? MACHINE_TARGETS
			      : row->role == USAGE_KERNEL ? MACHINE_KERNEL
							  : MACHINE_OTHERS] += row->process.sums.task.cpu_ns;
	}
	parts[MACHINE_TARGETS] += usage->rest_targets.task.cpu_ns;
	parts[MACHINE_OTHERS] += usage->rest_others.task.cpu_ns;
	parts[MACHINE_KERNEL] += usage->rest_kernel.task.cpu_ns;
	for (uint32_t i = 0; i < usage->ended_count; i++)
		parts[usage->ended[i].key.flags & ENDED_DENIED   ? MACHINE_DENIED
		      : usage->ended[i].key.flags & ENDED_KERNEL ? MACHINE_KERNEL
								 : MACHINE_SHORT_LIVED] +=
			usage->ended[i].sums.cpu_ns;
	parts[MACHINE_DENIED] += growth(usage_denied_ns(now), usage_denied_ns(before));
	machine_time_close(&machine, &before->times, &now->times, now->flags);
	usage->machine = machine;
}

static void add_bytes(struct machine_bytes *bytes, enum byte_part part, const struct task_usage *task)
{
	bytes->read[part] += (int64_t)task->read_bytes;
	bytes->written[part] += (int64_t)task->write_bytes;
}

/* Call it when all rows are there. */
static void account_bytes(struct capture_usage *usage, const struct usage *now)
{
	static const enum byte_part part_of[USAGE_ROLES] = {
		[USAGE_TARGET] = BYTES_TARGETS, [USAGE_OTHER] = BYTES_OTHERS, [USAGE_KERNEL] = BYTES_KERNEL
	};
	struct machine_bytes *bytes = &usage->bytes;

	for (uint32_t i = 0; i < usage->count; i++)
		if (usage->rows[i].role != USAGE_REST)
			add_bytes(bytes, part_of[usage->rows[i].role], &usage->rows[i].process.sums.task);
	add_bytes(bytes, BYTES_TARGETS, &usage->rest_targets.task);
	add_bytes(bytes, BYTES_OTHERS, &usage->rest_others.task);
	add_bytes(bytes, BYTES_KERNEL, &usage->rest_kernel.task);
	for (uint32_t i = 0; i < usage->ended_count; i++) {
		const struct ended_row *row = &usage->ended[i];
		const struct task_usage task = { .read_bytes = row->sums.read_bytes,
						 .write_bytes = row->sums.write_bytes };

		add_bytes(bytes, row->key.flags & ENDED_KERNEL ? BYTES_KERNEL : BYTES_SHORT_LIVED, &task);
	}
	machine_bytes_close(bytes, &usage->before.disks, &now->disks);
}

static bool describe_killed(void *user, const char comm[ABI_COMM_BYTES], uint64_t cgroup_id,
			    const char **ret_cgroup)
{
	const struct capture_usage_scope *scope = user;
	struct ended_key key = { .cgroup_id = cgroup_id };

	memcpy(key.comm, comm, sizeof(key.comm));
	return scope->describe_ended(scope->user, &key, ret_cgroup);
}

int capture_usage_end(struct capture_usage *usage, const struct usage *now,
		      const struct capture_usage_scope *scope)
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
			add_to_rest(usage, &now->processes[i], &sums[i], scope);
			continue;
		}
		row->process = now->processes[i];
		row->process.sums = sums[i];
		row->role = row->process.is_kernel                                 ? USAGE_KERNEL
			    : scope->describe(scope->user, &row->process, &cgroup) ? USAGE_TARGET
										   : USAGE_OTHER;
		row->cgroup = shared_text_new(cgroup);
		rest.process.counts_io_delay |= row->process.counts_io_delay;
		usage->count++;
	}
	usage_sums_add(&rest.process.sums, &usage->rest_targets);
	usage_sums_add(&rest.process.sums, &usage->rest_others);
	usage_sums_add(&rest.process.sums, &usage->rest_kernel);
	usage->rows[usage->count++] = rest;
	usage->to_ns = now->walked_ns;
	if (end_short_lived(usage, &now->short_lived, scope) < 0)
		return -ENOMEM;
	account(usage, now);
	account_bytes(usage, now);
	if (interrupt_time_make(&usage->before.interrupts, &now->interrupts, &usage->interrupts) < 0)
		return -ENOMEM;
	if (kill_rows_make(&now->kills, usage->before.walked_ns, UINT64_MAX, describe_killed, (void *)scope,
			   &usage->kills) < 0)
		return -ENOMEM;
	forget_before(usage);
	return 0;
}
