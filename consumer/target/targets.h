/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * targets.h owns what user space knows of the target processes: the kernel's targets map says who is
 * sampled, this table says who that is. One that is gone is kept as long as history may speak of it.
 */
#ifndef BOURDON_CONSUMER_TARGET_TARGETS_H
#define BOURDON_CONSUMER_TARGET_TARGETS_H

#include "common/abi.h"
#include "common/process_index.h"

#include <stdbool.h>
#include <stdint.h>

struct target_process {
	uint32_t tgid;
	uint32_t pattern_id;
	uint64_t started_ns;
	uint64_t cgroup_id;
	uint32_t uid;
	char comm[ABI_COMM_BYTES]; /* terminated */
	uint32_t walk;             /* the walk that saw it last, or that was the last when it was announced */
	bool watched;              /* its cgroup was known, and is watched for the rules that apply */
	uint64_t gone_ns;          /* CLOCK_MONOTONIC; 0 while it is a target */
};

struct targets {
	struct target_process *processes;
	uint32_t count, room, live;
	struct process_index index;
};

/* `seed` is a random number (common/process_index.h). */
void targets_init(struct targets *targets, uint64_t seed);
void targets_free(struct targets *targets);

/* Adds the process, or takes over what is new about it. 0, -ENOSPC (more than a million) or -ENOMEM. */
int targets_put(struct targets *targets, const struct target_process *process);

/* The cgroup of the process at this position is watched. */
void targets_note_watched(struct targets *targets, uint32_t position);

/* The process is no target any more. */
void targets_leave(struct targets *targets, uint32_t tgid, uint64_t started_ns, uint64_t now_ns);

/* So is every one that this walk, which has ended, did not see: its exit was lost. */
void targets_leave_unseen(struct targets *targets, uint32_t walk, uint64_t now_ns);

/* NULL for one that was never heard of. Valid until the table changes. */
const struct target_process *targets_find(const struct targets *targets, uint32_t tgid, uint64_t started_ns);

/* Forgets those that left before `before_ns`. */
void targets_forget(struct targets *targets, uint64_t before_ns);

#endif
