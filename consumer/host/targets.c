/* SPDX-License-Identifier: GPL-2.0-only */
#include "consumer/host/targets.h"

#include "common/base/cleanup.h"
#include "common/base/numbers.h"
#include "consumer/host/fair_share.h"

#include <stdlib.h>
#include <string.h>

#define PROCESSES_MAX (1U << 20)
#define LONG_AGO_NS 1U /* as target_process.gone_ns: earlier than any other */

struct gone {
	uint64_t gone_ns;
	uint32_t uid, position;
};

#define KEYS(targets) HASH_KEYS_BEFORE((targets)->processes, pattern_id)

static uint32_t find(const struct targets *targets, uint32_t tgid, uint64_t started_ns)
{
	return hash_index_find_key(&targets->index, KEYS(targets), &(struct process_key){ started_ns, tgid });
}

void targets_init(struct targets *targets)
{
	*targets = (struct targets){ 0 };
}

void targets_free(struct targets *targets)
{
	for (uint32_t i = 0; i < targets->count; i++)
		free(targets->processes[i].earlier);
	free(targets->processes);
	hash_index_free(&targets->index);
	targets_init(targets);
}

/* Few processes execute a program after they became targets: only they take memory for it. */
static void keep_program(struct target_process *there)
{
	struct target_program *earlier = there->earlier;

	if (!earlier)
		earlier = calloc(TARGET_EARLIER, sizeof(*earlier));
	if (!earlier)
		return; /* its samples will have the name of their thread, or of the next program */
	memmove(earlier + 1, earlier, (TARGET_EARLIER - 1) * sizeof(*earlier));
	earlier->program = there->program;
	memcpy(earlier->comm, there->comm, sizeof(earlier->comm));
	there->earlier = earlier;
}

static void replace(struct target_process *there, const struct target_process *process)
{
	struct target_program *earlier;

	if (there->program != process->program)
		keep_program(there);
	earlier = there->earlier;
	*there = *process;
	there->earlier = earlier;
}

const char *targets_comm_of(const struct target_process *process, uint32_t program)
{
	if (process->program == program)
		return process->comm;
	for (size_t i = 0; process->earlier && i < TARGET_EARLIER && *process->earlier[i].comm; i++)
		if (process->earlier[i].program == program)
			return process->earlier[i].comm;
	return NULL;
}

int targets_put(struct targets *targets, const struct target_process *process)
{
	uint32_t found = find(targets, process->tgid, process->started_ns);
	int result;

	if (found != HASH_INDEX_NONE) {
		targets->live += targets->processes[found].gone_ns != 0;
		replace(&targets->processes[found], process);
		return 0;
	}
	if (targets->count == PROCESSES_MAX)
		return -ENOSPC;
	result = hash_index_intern(&targets->index, KEYS(targets), targets->processes, targets->count,
				   targets->room, process, &found);
	if (result < 0)
		return result;
	targets->processes[found] = *process;
	targets->processes[found].earlier = NULL;
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
		hash_index_remove_key(&targets->index, KEYS(targets), i);
		free(process->earlier);
		last = &targets->processes[--targets->count];
		if (process == last)
			return;
		/*
		 * the last process fills the gap and is indexed there; removing its old entry first makes
		 * room in the index
		 */
		hash_index_remove_key(&targets->index, KEYS(targets), targets->count);
		*process = *last;
		hash_index_add_key(&targets->index, KEYS(targets), i);
	}
}

/* By user, the latest first. */
static int compare_gone(const void *a, const void *b)
{
	const struct gone *left = a, *right = b;

	return COMPARE(left->uid, right->uid) ?: COMPARE(right->gone_ns, left->gone_ns);
}

static uint32_t gather_gone(const struct targets *targets, struct gone *gone)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < targets->count; i++)
		if (targets->processes[i].gone_ns)
			gone[count++] =
				(struct gone){ targets->processes[i].gone_ns, targets->processes[i].uid, i };
	return count;
}

int targets_forget_most(struct targets *targets, uint32_t keep)
{
	uint32_t count = targets->count - targets->live, users = 0, of_user = 0;
	_cleanup_free_ struct gone *gone = NULL;
	_cleanup_free_ uint64_t *wanted = NULL;
	uint64_t share;

	if (count <= keep)
		return 0;
	gone = calloc(count, sizeof(*gone));
	wanted = calloc(count, sizeof(*wanted));
	if (!gone || !wanted)
		return -ENOMEM;
	count = gather_gone(targets, gone);
	qsort(gone, count, sizeof(*gone), compare_gone);
	for (uint32_t i = 0; i < count; i++) {
		users += !i || gone[i].uid != gone[i - 1].uid;
		wanted[users - 1]++;
	}
	share = fair_share(wanted, users, keep);
	for (uint32_t i = 0; i < count; i++) {
		of_user = i && gone[i].uid == gone[i - 1].uid ? of_user + 1 : 0;
		if (of_user >= share)
			targets->processes[gone[i].position].gone_ns = LONG_AGO_NS;
	}
	targets_forget(targets, LONG_AGO_NS + 1);
	return 0;
}
