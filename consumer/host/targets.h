/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * targets.h owns the table of target processes. The kernel's targets map says which processes are sampled;
 * this table holds their names, cgroups and rules. A process that ended stays for as long as history may
 * contain its samples.
 *
 * Room: who is on the host: targets, usage, kills, all threads. The draining thread alone; it reads maps and
 * iterators, and never waits.
 */
#ifndef BOURDON_CONSUMER_HOST_TARGETS_H
#define BOURDON_CONSUMER_HOST_TARGETS_H

#include "common/abi/abi.h"
#include "common/base/process_key.h"

#include <stdbool.h>
#include <stdint.h>

/* A program that a process executed, under the name that it had last. */
struct target_program {
	uint32_t program;          /* sample.program */
	char comm[ABI_COMM_BYTES]; /* "": unused */
};

/* Launchers execute twice or thrice within milliseconds. */
#define TARGET_EARLIER 4U

struct target_process {
	uint64_t started_ns;
	uint32_t tgid; /* up to here the key */
	uint32_t pattern_id;
	uint64_t cgroup_id;
	uint32_t uid;
	uint32_t program;          /* sample.program of what it runs */
	char comm[ABI_COMM_BYTES]; /* terminated */
	/* the table's: what it ran before, TARGET_EARLIER of them, the last one first; NULL: nothing else */
	struct target_program *earlier;
	/* number of the last walk that saw it; for an announced process, of the last walk before */
	uint32_t walk;
	/* the rules that apply to it watch its cgroup; false: its cgroup's path is not known yet */
	bool watched;
	uint64_t gone_ns; /* CLOCK_MONOTONIC; 0 while it is a target */
};

struct targets {
	struct target_process *processes;
	uint32_t count, room, live;
	struct hash_index index;
};

void targets_init(struct targets *targets);
void targets_free(struct targets *targets);

/* Adds the process, or updates its entry. Returns 0, -ENOSPC (more than a million processes) or -ENOMEM. */
int targets_put(struct targets *targets, const struct target_process *process);

/* Notes whether the cgroup of the process at this position is watched, or need not be. */
void targets_note_watched(struct targets *targets, uint32_t position, bool watched);

/* Notes that the process is not a target any more. */
void targets_leave(struct targets *targets, uint32_t tgid, uint64_t started_ns, uint64_t now_ns);

/* Notes the same for every process that this walk, which has ended, did not see: its exit event was lost. */
void targets_leave_unseen(struct targets *targets, uint32_t walk, uint64_t now_ns);

/* Returns NULL for an unknown process. Valid until the table changes. */
const struct target_process *targets_find(const struct targets *targets, uint32_t tgid, uint64_t started_ns);

/* The name of the process while it ran that program; NULL if that is not known, or not yet. */
const char *targets_comm_of(const struct target_process *process, uint32_t program);

/* Removes the processes that stopped being targets before `before_ns`. */
void targets_forget(struct targets *targets, uint64_t before_ns);

/*
 * Removes processes that stopped being targets, so that at most `keep` of them stay. Users share that number
 * (fair_share.h): a user whose processes begin and end without pause loses his own, the oldest first. Returns
 * 0 or -ENOMEM; then nothing was removed.
 */
int targets_forget_most(struct targets *targets, uint32_t keep);

#endif
