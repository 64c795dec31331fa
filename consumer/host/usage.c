/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/host/usage.h"

#include "common/base/array.h"
#include "common/base/cleanup.h"
#include "common/base/numbers.h"

#include <string.h>

#define LAST_SUMS_MAX 16384U

void usage_init(struct usage *usage)
{
	*usage = (struct usage){ 0 };
}

void usage_free(struct usage *usage)
{
	free(usage->processes);
	hash_index_free(&usage->index);
	ended_free(&usage->short_lived);
	interrupts_free(&usage->interrupts);
	kills_free(&usage->kills);
	free(usage->last_sums);
	usage_init(usage);
}

#define KEYS(usage) HASH_KEYS_BEFORE((usage)->processes, uid)

static uint32_t find(const struct usage *usage, uint32_t tgid, uint64_t started_ns)
{
	return hash_index_find_key(&usage->index, KEYS(usage), &(struct process_key){ started_ns, tgid });
}

void usage_walk_begin(struct usage *usage, uint64_t began_ns)
{
	usage->walk++;
	usage->began_ns = began_ns;
	usage->denied_ns = 0;
}

/*
 * What only the kernel programs know of a process. They forget it when its last thread ends, but a walk meets the process
 * until its parent has waited for it. So these sums never shrink.
 */
static struct usage_sums stalls_of(const struct usage_sums *sums)
{
	return (struct usage_sums){ .stalled_cpu_ns = sums->stalled_cpu_ns,
				    .stalled_memory_ns = sums->stalled_memory_ns,
				    .stalled_io_ns = sums->stalled_io_ns,
				    .unstacked_ns = sums->unstacked_ns,
				    .unstacked = sums->unstacked };
}

static void raise_to(uint64_t *sum, uint64_t told)
{
	*sum = told > *sum ? told : *sum;
}

/*
 * Finds or adds the process. The first record of each walk, which may be one of its threads, resets its other sums.
 * Returns NULL without memory, and for a process that has told its last sums: it is there until its parent waits for
 * it.
 */
static struct usage_process *meet(struct usage *usage, uint32_t tgid, uint64_t started_ns)
{
	struct usage_process *process;
	uint32_t position = 0;

	if (hash_index_intern(&usage->index, KEYS(usage), usage->processes, usage->count, usage->room,
			      &((struct process_key){ started_ns, tgid }), &position) < 0)
		return NULL;
	process = &usage->processes[position];
	if (process->is_final) {
		process->walk = usage->walk;
		return NULL;
	}
	if (process->walk != usage->walk) {
		process->walk = usage->walk;
		process->sums = stalls_of(&process->sums);
	}
	return process;
}

void usage_walk_process(struct usage *usage, const struct task_record *record)
{
	struct usage_process *process;

	if (record->flags & TASK_DENIED) {
		usage->denied_ns += record->usage.cpu_ns;
		return;
	}
	usage->flags = record->flags & (TASK_IRQ_APART | TASK_STEAL_APART);
	if (record->started_ns >= usage->began_ns)
		return;
	process = meet(usage, record->tgid, record->started_ns);
	if (!process)
		return;
	process->is_kernel = record->flags & TASK_KERNEL;
	process->uid = record->uid;
	process->program = record->program;
	process->cgroup_id = record->cgroup_id;
	memcpy(process->comm, record->comm, sizeof(process->comm));
	process->counts_io_delay = record->flags & TASK_IO_DELAY;
	task_usage_add(&process->sums.task, &record->usage);
	process->sums.rss_bytes = record->rss_bytes;
	raise_to(&process->sums.stalled_cpu_ns, record->stalled_cpu_ns);
	raise_to(&process->sums.stalled_memory_ns, record->stalled_memory_ns);
	raise_to(&process->sums.stalled_io_ns, record->stalled_io_ns);
	raise_to(&process->sums.unstacked_ns, record->unstacked_ns);
	raise_to(&process->sums.unstacked, record->unstacked);
}

void usage_walk_thread(struct usage *usage, const struct thread_record *record)
{
	struct usage_process *process =
		record->started_ns < usage->began_ns ? meet(usage, record->tgid, record->started_ns) : NULL;

	if (process)
		task_usage_add(&process->sums.task, &record->usage);
}

void usage_end(struct usage *usage, const struct ended_record *record)
{
	if (usage->last_sums_count < LAST_SUMS_MAX &&
	    !array_make_room(usage->last_sums, usage->last_sums_count, usage->last_sums_room, 1U))
		usage->last_sums[usage->last_sums_count++] = *record;
}

void usage_kill(struct usage *usage, const struct kill_record *record)
{
	for (uint32_t i = 0; i < usage->count; i++) {
		struct usage_process *process = &usage->processes[i];

		if (process->tgid == record->tgid && !process->is_final)
			process->killed_bytes = record->rss_bytes;
	}
}

/* Without these, the time of a process since the walk before its end would be nobody's. */
static void apply_last_sums(struct usage *usage)
{
	for (uint32_t i = 0; i < usage->last_sums_count; i++) {
		const struct ended_record *record = &usage->last_sums[i];
		uint32_t position = find(usage, record->tgid, record->started_ns);
		struct usage_process *process;

		/* no walk has told its name: policy denies it, or it ended before the first walk came to it */
		if (position == HASH_INDEX_NONE) {
			usage->denied_ended_ns += record->usage.cpu_ns;
			continue;
		}
		process = &usage->processes[position];
		process->sums.task = record->usage;
		if (process->killed_bytes)
			process->sums.rss_bytes = process->killed_bytes;
		process->is_final = true;
		process->walk = usage->walk;
	}
	free(usage->last_sums);
	usage->last_sums = NULL;
	usage->last_sums_count = usage->last_sums_room = 0;
}

uint64_t usage_denied_ns(const struct usage *usage)
{
	return usage->denied_ns + usage->denied_ended_ns;
}

static bool is_ended(const struct usage *usage, const struct usage_process *process)
{
	return process->is_final || process->walk != usage->walk;
}

void usage_sweep(struct usage *usage)
{
	uint32_t kept = 0;

	usage->ended = 0;
	for (uint32_t i = 0; i < usage->count; i++) {
		if (usage->processes[i].goes)
			continue;
		usage->ended += is_ended(usage, &usage->processes[i]);
		usage->processes[kept++] = usage->processes[i];
	}
	if (kept == usage->count)
		return;
	usage->count = kept;
	hash_index_free(&usage->index);
	for (uint32_t i = 0; i < kept; i++)
		/* without memory the process is not indexed: the next walk adds it again and drops this entry */
		(void)hash_index_add_key(&usage->index, KEYS(usage), i);
}

void usage_walk_end(struct usage *usage, uint64_t now_ns, uint32_t since)
{
	usage->walked_ns = now_ns;
	apply_last_sums(usage);
	ended_forget(&usage->short_lived, since);
	for (uint32_t i = 0; i < usage->count; i++) {
		struct usage_process *process = &usage->processes[i];

		process->goes = is_ended(usage, process) && process->walk <= since;
	}
	usage_sweep(usage);
}

bool usage_choose(struct usage *usage, uint32_t most)
{
	_cleanup_free_ uint64_t *times = NULL;
	uint64_t least_ns = UINT64_MAX; /* that stays */
	uint32_t count = 0, stay = most / 2;

	if (usage->ended <= most)
		return false;
	times = calloc(usage->ended, sizeof(*times));
	for (uint32_t i = 0; times && i < usage->count; i++)
		if (is_ended(usage, &usage->processes[i]))
			times[count++] = usage->processes[i].sums.task.cpu_ns;
	if (times) {
		qsort(times, count, sizeof(*times), compare_falling);
		least_ns = times[stay ? stay - 1 : 0];
	} else {
		stay = 0;
	}
	/* the latest first: of those with equal times, the earliest go */
	for (uint32_t i = usage->count; i-- > 0;) {
		struct usage_process *process = &usage->processes[i];

		if (!is_ended(usage, process))
			continue;
		process->goes = !stay || process->sums.task.cpu_ns < least_ns;
		stay -= !process->goes;
	}
	return true;
}

int usage_copy(const struct usage *usage, struct usage *ret_copy)
{
	int result = 0;

	usage_init(ret_copy);
	ret_copy->walk = usage->walk;
	ret_copy->walked_ns = usage->walked_ns;
	ret_copy->denied_ns = usage_denied_ns(usage);
	ret_copy->times = usage->times;
	ret_copy->disks = usage->disks;
	result = interrupts_copy(&usage->interrupts, &ret_copy->interrupts);
	if (result < 0 || !usage->count)
		return result;
	ret_copy->processes = reallocarray(NULL, usage->count, sizeof(*usage->processes));
	if (!ret_copy->processes)
		return -ENOMEM;
	ret_copy->room = usage->count;
	for (uint32_t i = 0; i < usage->count && !result; i++) {
		const struct usage_process *process = &usage->processes[i];

		if (usage->walk - process->walk > 1) /* the last walk may have failed */
			continue;
		ret_copy->processes[ret_copy->count] = *process;
		result = hash_index_add_key(&ret_copy->index, KEYS(ret_copy), ret_copy->count);
		ret_copy->count += !result;
	}
	return result;
}

/* A thread that ends takes its delays with it, so a sum may have shrunk: then the growth is 0. */
struct usage_sums usage_since(const struct usage *before, const struct usage_process *process)
{
	uint32_t position = find(before, process->tgid, process->started_ns);
	const struct usage_sums nothing = { 0 }, *to = &process->sums,
				*from = position == HASH_INDEX_NONE ? &nothing
								    : &before->processes[position].sums;

	return (struct usage_sums){
		.task = { .cpu_ns = growth(to->task.cpu_ns, from->task.cpu_ns),
			  .run_delay_ns = growth(to->task.run_delay_ns, from->task.run_delay_ns),
			  .io_delay_ns = growth(to->task.io_delay_ns, from->task.io_delay_ns),
			  .major_faults = growth(to->task.major_faults, from->task.major_faults),
			  .minor_faults = growth(to->task.minor_faults, from->task.minor_faults),
			  .read_bytes = growth(to->task.read_bytes, from->task.read_bytes),
			  .write_bytes = growth(to->task.write_bytes, from->task.write_bytes),
			  .voluntary_switches =
				  growth(to->task.voluntary_switches, from->task.voluntary_switches),
			  .involuntary_switches =
				  growth(to->task.involuntary_switches, from->task.involuntary_switches),
			  .reclaim_ns = growth(to->task.reclaim_ns, from->task.reclaim_ns),
			  .reclaims = growth(to->task.reclaims, from->task.reclaims) },
		.rss_bytes = to->rss_bytes,
		.rss_before_bytes = from->rss_bytes,
		.grown_bytes = growth(to->rss_bytes, from->rss_bytes),
		.stalled_cpu_ns = growth(to->stalled_cpu_ns, from->stalled_cpu_ns),
		.stalled_memory_ns = growth(to->stalled_memory_ns, from->stalled_memory_ns),
		.stalled_io_ns = growth(to->stalled_io_ns, from->stalled_io_ns),
		.unstacked_ns = growth(to->unstacked_ns, from->unstacked_ns),
		.unstacked = growth(to->unstacked, from->unstacked),
	};
}

const struct usage_process *usage_find(const struct usage *usage, uint32_t tgid, uint64_t started_ns)
{
	uint32_t found = find(usage, tgid, started_ns);

	return found == HASH_INDEX_NONE ? NULL : &usage->processes[found];
}
