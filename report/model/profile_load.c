/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads a profile from a database that may be hostile: samples, threads, processes; then their stacks. */
#include "common/base/array.h"
#include "report/model/profile.h"
#include "report/model/profile_load_stacks.h"
#include "report/model/profile_row.h"

/* What one capture may have. */
#define SAMPLES_MOST (1U << 20) /* bourdond writes 131,072 */
#define TIMES_MOST (1U << 22)   /* bourdond writes 262,144 */

struct loading {
	struct database *database;
	struct profile *profile;
	uint32_t samples_room, threads_room, processes_room, stacks_room;
	struct hash_index processes_index, threads_index, stacks_index;
	bool has_times; /* the query of samples has a role and times */
};

static int intern_process(struct loading *loading, int64_t process_id, uint32_t *ret_process)
{
	struct profile *profile = loading->profile;
	int added = hash_index_intern(&loading->processes_index, HASH_KEYS(profile->processes, process_id),
				      profile->processes, profile->processes_count, loading->processes_room,
				      &process_id, ret_process);

	return added < 0 ? added : 0;
}

static int intern_thread(struct loading *loading, const struct profile_thread *thread, uint32_t *ret_thread)
{
	struct profile *profile = loading->profile;
	int added = hash_index_intern(&loading->threads_index, HASH_ELEMENTS(profile->threads),
				      profile->threads, profile->threads_count, loading->threads_room, thread,
				      ret_thread);

	return added < 0 ? added : 0;
}

static int intern_stack(struct loading *loading, int64_t stack_id, uint32_t *ret_stack)
{
	struct profile *profile = loading->profile;
	int added = hash_index_intern(&loading->stacks_index, HASH_KEYS(profile->stacks, stack_id),
				      profile->stacks, profile->stacks_count, loading->stacks_room, &stack_id,
				      ret_stack);

	if (added > 0)
		profile->stacks[*ret_stack].node = PROFILE_NONE;
	return added < 0 ? added : 0;
}

/* A row has no more times than samples. */
static int add_times(struct loading *loading, const struct query *query, struct profile_sample *sample)
{
	struct profile *profile = loading->profile;
	uint32_t left = TIMES_MOST - profile->times.count;
	int64_t most = sample->samples < 0 ? 0 : sample->samples;
	int result;

	sample->first_time = profile->times.count;
	result = stored_times_read(query->statement, 10, sample->kind == profile->off_cpu,
				   most < left ? (uint32_t)most : left, &profile->times);
	sample->times_count = profile->times.count - sample->first_time;
	return result == -EFBIG ? -E2BIG : result;
}

static int add_sample(struct loading *loading, const struct query *query)
{
	struct profile *profile = loading->profile;
	struct profile_sample sample = { .second = query_number_at(query, 6),
					 .samples = query_number_at(query, 7),
					 .weight_ns = query_number_at(query, 8) };
	struct profile_thread thread = { .tid = query_number_at(query, 1) };
	const struct profile_sample *before =
		profile->samples_count ? &profile->samples[profile->samples_count - 1] : &sample;
	int result = intern_process(loading, query_number_at(query, 0), &thread.process);

	thread.name = profile->samples_count ? profile->threads[before->thread].name : 0;
	sample.kind = before->kind;
	sample.stall = before->stall;
	sample.role = before->role;
	if (!result)
		result = row_intern(loading->profile, query, 2, &thread.name);
	if (!result)
		result = intern_thread(loading, &thread, &sample.thread);
	if (!result)
		result = intern_stack(loading, query_number_at(query, 3), &sample.stack);
	if (!result)
		result = row_intern(loading->profile, query, 4, &sample.kind);
	if (!result)
		result = row_intern(loading->profile, query, 5, &sample.stall);
	if (!result && loading->has_times)
		result = row_intern(loading->profile, query, 9, &sample.role);
	if (!result && loading->has_times)
		result = add_times(loading, query, &sample);
	if (!result)
		result = array_make_room(profile->samples, profile->samples_count, loading->samples_room, 1U);
	if (!result)
		profile->samples[profile->samples_count++] = sample;
	return result;
}

#define SAMPLE_COLUMNS "process_id, tid, thread, stack_id, kind, stall, second, samples, weight_ns"

static const char *const samples_sql[] = {
	[PROFILE_OF_TARGETS] = "SELECT " SAMPLE_COLUMNS " FROM sample WHERE capture_id = ?1",
	[PROFILE_OF_OTHERS] = "SELECT " SAMPLE_COLUMNS " FROM other_sample WHERE capture_id = ?1",
	[PROFILE_OF_BYSTANDERS] = "SELECT " SAMPLE_COLUMNS
				  " FROM other_sample WHERE capture_id = ?1 AND role = 'other'",
	[PROFILE_OF_KERNEL] = "SELECT " SAMPLE_COLUMNS
			      " FROM other_sample WHERE capture_id = ?1 AND role = 'kernel'",
	[PROFILE_OF_ALL] = "SELECT " SAMPLE_COLUMNS ", 'target', times FROM sample WHERE capture_id = ?1 "
			   "UNION ALL SELECT " SAMPLE_COLUMNS
			   ", role, times FROM other_sample WHERE capture_id = ?1",
};

static int load_samples(struct loading *loading, int64_t capture_id, enum profile_of of)
{
	_cleanup_query_ struct query query = query_begin(loading->database, samples_sql[of], capture_id, 0);
	int result = 0;

	loading->has_times = of == PROFILE_OF_ALL;
	while (!result && query_next(&query))
		result = loading->profile->samples_count == SAMPLES_MOST ? -E2BIG
									 : add_sample(loading, &query);
	return result;
}

/* Those where threads waited, were when somebody ended a wait, were looked at, or made memory grow. */
static int load_more_stacks(struct loading *loading, int64_t capture_id)
{
	_cleanup_query_ struct query query =
		query_begin(loading->database,
			    "SELECT stack_id FROM waker WHERE capture_id = ?1 UNION "
			    "SELECT waker_stack_id FROM waker WHERE capture_id = ?1 UNION "
			    "SELECT stack_id FROM thread_state WHERE capture_id = ?1 UNION "
			    "SELECT stack_id FROM growth_row WHERE capture_id = ?1",
			    capture_id, 0);
	uint32_t stack;
	int result = 0;

	while (!result && query_next(&query))
		if (!query_is_null_at(&query, 0))
			result = loading->profile->stacks_count == SAMPLES_MOST
					 ? -E2BIG
					 : intern_stack(loading, query_number_at(&query, 0), &stack);
	return result;
}

static int load_processes(struct loading *loading)
{
	_cleanup_query_ struct query query = query_begin(
		loading->database,
		"SELECT tgid, uid, comm, exe, cgroup, unit, runtime FROM process WHERE process_id = ?1", 0,
		0);
	int result = 0;

	for (uint32_t i = 0; i < loading->profile->processes_count && !result; i++) {
		struct profile_process *process = &loading->profile->processes[i];

		if (!query_find(&query, process->process_id))
			continue;
		process->is_known = true;
		process->tgid = query_number_at(&query, 0);
		process->uid = query_number_at(&query, 1);
		process->has_uid = !query_is_null_at(&query, 1);
		result = row_intern(loading->profile, &query, 2, &process->comm);
		if (!result)
			result = row_keep(loading->profile, &query, 3, &process->exe);
		if (!result)
			result = row_keep(loading->profile, &query, 4, &process->cgroup);
		if (!result)
			result = row_keep(loading->profile, &query, 5, &process->unit);
		if (!result)
			result = row_keep(loading->profile, &query, 6, &process->runtime);
	}
	return result;
}

static int load_all(struct loading *loading, int64_t capture_id, enum profile_of of)
{
	struct profile *profile = loading->profile;
	int result = profile_intern(profile, "on-cpu", &profile->on_cpu);

	if (!result)
		result = profile_intern(profile, "off-cpu", &profile->off_cpu);
	if (!result)
		result = profile_intern(profile, "target", &profile->target);
	if (!result)
		result = load_samples(loading, capture_id, of);
	if (!result && of == PROFILE_OF_ALL)
		result = load_more_stacks(loading, capture_id);
	if (!result)
		result = load_processes(loading);
	return result ? result : profile_load_stacks(loading->database, profile);
}

int profile_load(struct database *database, int64_t capture_id, enum profile_of of,
		 struct profile *ret_profile)
{
	struct profile profile = { 0 };
	struct loading loading = { .database = database, .profile = &profile };
	int result = load_all(&loading, capture_id, of);

	hash_index_free(&loading.processes_index);
	hash_index_free(&loading.threads_index);
	hash_index_free(&loading.stacks_index);
	if (!result && database->failed)
		result = -EIO;
	if (result < 0) {
		profile_fail(database, result);
		profile_free(&profile);
		return result;
	}
	*ret_profile = profile;
	return 0;
}
