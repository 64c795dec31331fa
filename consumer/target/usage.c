/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/target/usage.h"

#include "common/array.h"

#include <string.h>

void usage_init(struct usage *usage, uint64_t seed)
{
	*usage = (struct usage){ .seed = seed };
}

void usage_free(struct usage *usage)
{
	free(usage->processes);
	hash_index_free(&usage->index);
	*usage = (struct usage){ .seed = usage->seed };
}

struct wanted {
	const struct usage *usage;
	uint64_t started_ns;
	uint32_t tgid;
};

static bool is_wanted(const void *user, uint32_t position)
{
	const struct wanted *wanted = user;
	const struct usage_process *process = &wanted->usage->processes[position];

	return process->tgid == wanted->tgid && process->started_ns == wanted->started_ns;
}

static uint32_t hash_of(const struct usage *usage, uint32_t tgid, uint64_t started_ns)
{
	return hash_bytes(usage->seed, (uint64_t[]){ tgid, started_ns }, 2 * sizeof(uint64_t));
}

static uint32_t find(const struct usage *usage, uint32_t tgid, uint64_t started_ns)
{
	struct wanted wanted = { usage, started_ns, tgid };

	return hash_index_find(&usage->index, hash_of(usage, tgid, started_ns), is_wanted, &wanted);
}

void usage_walk_begin(struct usage *usage)
{
	usage->walk++;
}

/*
 * Its sums begin anew with the first record of each walk: a thread may come by before its process does. NULL
 * out of memory.
 */
static struct usage_process *meet(struct usage *usage, uint32_t tgid, uint64_t started_ns)
{
	uint32_t position = find(usage, tgid, started_ns);
	struct usage_process *process;

	if (position == HASH_INDEX_NONE) {
		position = usage->count;
		if (array_make_room(usage->processes, usage->count, usage->room, 1U) ||
		    hash_index_add(&usage->index, hash_of(usage, tgid, started_ns), position))
			return NULL;
		usage->processes[usage->count++] =
			(struct usage_process){ .tgid = tgid, .started_ns = started_ns };
	}
	process = &usage->processes[position];
	if (process->walk != usage->walk) {
		process->walk = usage->walk;
		process->sums = (struct usage_sums){ 0 };
	}
	return process;
}

static void add(struct task_usage *sum, const struct task_usage *more)
{
	sum->cpu_ns += more->cpu_ns;
	sum->run_delay_ns += more->run_delay_ns;
	sum->io_delay_ns += more->io_delay_ns;
	sum->major_faults += more->major_faults;
	sum->minor_faults += more->minor_faults;
	sum->read_bytes += more->read_bytes;
	sum->write_bytes += more->write_bytes;
	sum->voluntary_switches += more->voluntary_switches;
	sum->involuntary_switches += more->involuntary_switches;
}

void usage_walk_process(struct usage *usage, const struct task_record *record)
{
	struct usage_process *process = meet(usage, record->tgid, record->started_ns);

	if (!process)
		return;
	process->uid = record->uid;
	process->cgroup_id = record->cgroup_id;
	memcpy(process->comm, record->comm, sizeof(process->comm));
	process->counts_io_delay = record->flags & TASK_IO_DELAY;
	add(&process->sums.task, &record->usage);
	process->sums.rss_bytes = record->rss_bytes;
	process->sums.stalled_cpu_ns = record->stalled_cpu_ns;
	process->sums.stalled_memory_ns = record->stalled_memory_ns;
	process->sums.stalled_io_ns = record->stalled_io_ns;
	process->sums.unstacked_ns = record->unstacked_ns;
	process->sums.unstacked = record->unstacked;
}

void usage_walk_thread(struct usage *usage, const struct thread_record *record)
{
	struct usage_process *process = meet(usage, record->tgid, record->started_ns);

	if (process)
		add(&process->sums.task, &record->usage);
}

static void forget_unmet(struct usage *usage)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < usage->count; i++)
		if (usage->processes[i].walk == usage->walk)
			usage->processes[kept++] = usage->processes[i];
	if (kept == usage->count)
		return;
	usage->count = kept;
	hash_index_free(&usage->index);
	for (uint32_t i = 0; i < kept; i++) {
		const struct usage_process *process = &usage->processes[i];

		/*
		 * what is not in the index is met as if it were new: its twin is forgotten with the next walk
		 */
		(void)hash_index_add(&usage->index, hash_of(usage, process->tgid, process->started_ns), i);
	}
}

void usage_walk_end(struct usage *usage, uint64_t now_ns, bool forget)
{
	usage->walked_ns = now_ns;
	if (forget)
		forget_unmet(usage);
}

int usage_copy(const struct usage *usage, struct usage *ret_copy)
{
	*ret_copy = (struct usage){ .seed = usage->seed, .walk = usage->walk, .walked_ns = usage->walked_ns };
	if (!usage->count)
		return 0;
	if (array_make_room(ret_copy->processes, 0U, ret_copy->room, usage->count))
		return -ENOMEM;
	memcpy(ret_copy->processes, usage->processes, usage->count * sizeof(*usage->processes));
	for (uint32_t i = 0; i < usage->count; i++) {
		const struct usage_process *process = &usage->processes[i];
		int result = hash_index_add(&ret_copy->index,
					    hash_of(usage, process->tgid, process->started_ns), i);

		if (result < 0)
			return result;
		ret_copy->count++;
	}
	return 0;
}

/* What ends takes its delays with it: a sum may be less than it was. */
static uint64_t grown(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

struct usage_sums usage_since(const struct usage *before, const struct usage_process *process)
{
	uint32_t position = find(before, process->tgid, process->started_ns);
	const struct usage_sums *from, *to = &process->sums;

	if (position == HASH_INDEX_NONE)
		return *to;
	from = &before->processes[position].sums;
	return (struct usage_sums){
		.task = { .cpu_ns = grown(to->task.cpu_ns, from->task.cpu_ns),
			  .run_delay_ns = grown(to->task.run_delay_ns, from->task.run_delay_ns),
			  .io_delay_ns = grown(to->task.io_delay_ns, from->task.io_delay_ns),
			  .major_faults = grown(to->task.major_faults, from->task.major_faults),
			  .minor_faults = grown(to->task.minor_faults, from->task.minor_faults),
			  .read_bytes = grown(to->task.read_bytes, from->task.read_bytes),
			  .write_bytes = grown(to->task.write_bytes, from->task.write_bytes),
			  .voluntary_switches =
				  grown(to->task.voluntary_switches, from->task.voluntary_switches),
			  .involuntary_switches =
				  grown(to->task.involuntary_switches, from->task.involuntary_switches) },
		.rss_bytes = to->rss_bytes,
		.stalled_cpu_ns = grown(to->stalled_cpu_ns, from->stalled_cpu_ns),
		.stalled_memory_ns = grown(to->stalled_memory_ns, from->stalled_memory_ns),
		.stalled_io_ns = grown(to->stalled_io_ns, from->stalled_io_ns),
		.unstacked_ns = grown(to->unstacked_ns, from->unstacked_ns),
		.unstacked = grown(to->unstacked, from->unstacked),
	};
}
