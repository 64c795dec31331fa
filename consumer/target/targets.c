/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/target/targets.h"

#include "common/array.h"

#define PROCESSES_MAX (1U << 20)

struct wanted {
	const struct targets *targets;
	uint32_t tgid;
	uint64_t started_ns;
};

static bool is_wanted(const void *user, uint32_t position)
{
	const struct wanted *wanted = user;
	const struct target_process *process = &wanted->targets->processes[position];

	return process->tgid == wanted->tgid && process->started_ns == wanted->started_ns;
}

static uint32_t hash_of(uint32_t tgid, uint64_t started_ns)
{
	uint64_t identity[2] = { tgid, started_ns };

	return hash_bytes(0, identity, sizeof(identity));
}

static uint32_t find(const struct targets *targets, uint32_t tgid, uint64_t started_ns)
{
	struct wanted wanted = { targets, tgid, started_ns };

	return hash_index_find(&targets->index, hash_of(tgid, started_ns), is_wanted, &wanted);
}

void targets_free(struct targets *targets)
{
	free(targets->processes);
	hash_index_free(&targets->index);
	*targets = (struct targets){ 0 };
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
	result = hash_index_add(&targets->index, hash_of(process->tgid, process->started_ns), targets->count);
	if (result < 0)
		return result;
	targets->processes[targets->count++] = *process;
	targets->live++;
	return 0;
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
		hash_index_remove(&targets->index, hash_of(process->tgid, process->started_ns), i);
		last = &targets->processes[--targets->count];
		if (process == last)
			return;
		/*
		 * the last one fills the gap, and has to be found there; its old slot makes room for the new
		 */
		hash_index_remove(&targets->index, hash_of(last->tgid, last->started_ns), targets->count);
		*process = *last;
		hash_index_add(&targets->index, hash_of(process->tgid, process->started_ns), i);
	}
}
