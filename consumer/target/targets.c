/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/target/targets.h"

#include "common/array.h"

#define PROCESSES_MAX (1U << 20)

static uint32_t find(const struct targets *targets, uint32_t tgid, uint64_t started_ns)
{
	return process_index_find(&targets->index, PROCESS_ARRAY(targets->processes), tgid, started_ns);
}

void targets_init(struct targets *targets)
{
	*targets = (struct targets){ 0 };
}

void targets_free(struct targets *targets)
{
	free(targets->processes);
	process_index_clear(&targets->index);
	targets_init(targets);
}

int targets_put(struct targets *targets, const struct target_process *process)
{
	uint32_t found = find(targets, process->tgid, process->started_ns);
	int result;

	if (found != HASH_INDEX_NONE) {
		targets->live += targets->processes[found].gone_ns != 0;
		targets->processes[found] = *process;
		return 0;
	}
	if (targets->count == PROCESSES_MAX)
		return -ENOSPC;
	if (array_make_room(targets->processes, targets->count, targets->room, 1U))
		return -ENOMEM;
	result = process_index_add(&targets->index, process->tgid, process->started_ns, targets->count);
	if (result < 0)
		return result;
	targets->processes[targets->count++] = *process;
	targets->live++;
	return 0;
}

void targets_note_watched(struct targets *targets, uint32_t position, bool watched)
{
	targets->processes[position].watched = watched;
}

void targets_leave(struct targets *targets, uint32_t tgid, uint64_t started_ns, uint64_t now_ns)
{
	uint32_t found = find(targets, tgid, started_ns);

	if (found == HASH_INDEX_NONE || targets->processes[found].gone_ns)
		return;
	targets->processes[found].gone_ns = now_ns;
	targets->live--;
}

void targets_leave_unseen(struct targets *targets, uint32_t walk, uint64_t now_ns)
{
	for (uint32_t i = 0; i < targets->count; i++) {
		struct target_process *process = &targets->processes[i];

		if (process->gone_ns || process->walk == walk)
			continue;
		process->gone_ns = now_ns;
		targets->live--;
	}
}

const struct target_process *targets_find(const struct targets *targets, uint32_t tgid, uint64_t started_ns)
{
	uint32_t found = find(targets, tgid, started_ns);

	return found == HASH_INDEX_NONE ? NULL : &targets->processes[found];
}

void targets_forget(struct targets *targets, uint64_t before_ns)
{
	for (uint32_t i = 0; i < targets->count;) {
		struct target_process *process = &targets->processes[i], *last;

		if (!process->gone_ns || process->gone_ns >= before_ns) {
			i++;
			continue;
		}
		process_index_remove(&targets->index, process->tgid, process->started_ns, i);
		last = &targets->processes[--targets->count];
		if (process == last)
			return;
		/*
		 * the last process fills the gap and is indexed there; removing its old entry first makes
		 * room in the index
		 */
		process_index_remove(&targets->index, last->tgid, last->started_ns, targets->count);
		*process = *last;
		process_index_add(&targets->index, process->tgid, process->started_ns, i);
	}
}
