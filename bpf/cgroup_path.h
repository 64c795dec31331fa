/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cgroup_path.h tells user space the path of a process's cgroup, once, when the process is reported. User
 * space alone knows which paths it has (cgroups_known), so what it loses or forgets is told again.
 *
 * Whoever may make cgroups could flood user space with paths. So all cgroups below one that a user may write
 * to share a budget, whatever uids their processes have. A cgroup that only root can have made has its own.
 * The cgroups of cgroup2 cannot be renamed, and their ids are never used again (kernfs, 64 bits).
 */
#ifndef BOURDON_BPF_CGROUP_PATH_H
#define BOURDON_BPF_CGROUP_PATH_H

#include "bpf/maps.h"

/* Of paths and their records that one account may have told in a second: some 400 of usual length. */
#define CGROUP_BUDGET_BYTES 65536U
#define CGROUP_BUDGET_NS 1000000000ULL

/* User space has confirmed a path long before, unless it lost it. */
#define CGROUP_TOLD_NS 250000000ULL

#define CGROUP_OF_EVENT 0U
#define CGROUP_OF_WALK 1U

#define WRITABLE_BY_OTHERS 0022U /* group or all */

/* Argument of a bpf_loop() callback. */
struct cgroup_walk {
	struct cgroup *cgroup;
	struct cgroup_scratch *scratch;
	__u32 levels;
	__u32 ended; /* ENDED_* */
	__u64 now_ns;
};

#define ENDED_WHOLE 0U
#define ENDED_OVER_BUDGET 1U
#define ENDED_UNREADABLE 2U /* a part of a path must not pass for the whole */

/* Returns the saved budget in ns, at most a second's. */
static __always_inline __u64 cgroup_budget_left(__u64 account, __u64 now_ns)
{
	struct cgroup_budget *budget = bpf_map_lookup_elem(&cgroup_budgets, &account);
	__s64 left_ns = budget ? (__s64)(now_ns - budget->next_ns) : (__s64)CGROUP_BUDGET_NS;

	return left_ns <= 0 ? 0 : (__u64)left_ns > CGROUP_BUDGET_NS ? CGROUP_BUDGET_NS : (__u64)left_ns;
}

/* Two CPUs at once may spend the same bytes: the limit need not be exact. */
static __always_inline void cgroup_budget_spend(__u64 account, __u64 now_ns, __u32 bytes)
{
	struct cgroup_budget budget = { .next_ns = now_ns - cgroup_budget_left(account, now_ns) +
						   bytes * (CGROUP_BUDGET_NS / CGROUP_BUDGET_BYTES) };

	bpf_map_update_elem(&cgroup_budgets, &account, &budget, BPF_ANY);
}

/* True if another user than root may make cgroups below it. */
static __always_inline bool cgroup_is_delegated(struct kernfs_node *node)
{
	struct kernfs_iattrs *changed = BPF_CORE_READ(node, iattr); /* NULL: as the kernel made it, root's */

	return (BPF_CORE_READ(node, mode) & WRITABLE_BY_OTHERS) ||
	       (changed && BPF_CORE_READ(changed, ia_uid.val) != 0);
}

/* Adds one level to the path, from below the root downwards. Returns 1 to stop. */
static long cgroup_path_down(__u32 index, void *user)
{
	struct cgroup_walk *walk = user;
	struct cgroup_scratch *scratch = walk->scratch;
	__u32 at = scratch->record.path_bytes;
	struct cgroup **ancestors = (void *)walk->cgroup + bpf_core_field_offset(struct cgroup, ancestors);
	struct cgroup *ancestor;
	struct kernfs_node *node;
	long bytes;

	if (index >= walk->levels)
		return 1;
	if (bpf_probe_read_kernel(&ancestor, sizeof(ancestor), ancestors + index + 1)) {
		walk->ended = ENDED_UNREADABLE;
		return 1;
	}
	node = BPF_CORE_READ(ancestor, kn);
	if (!scratch->record.account && cgroup_is_delegated(node)) {
		scratch->record.account = BPF_CORE_READ(node, id);
		if (!cgroup_budget_left(scratch->record.account, walk->now_ns)) {
			walk->ended = ENDED_OVER_BUDGET;
			return 1;
		}
	}
	if (at > CGROUP_PATH_BYTES)
		return 1;
	scratch->path[at] = '/';
	/* the count includes the NUL, which the next level overwrites */
	bytes = bpf_probe_read_kernel_str(&scratch->path[at + 1], CGROUP_NAME_BYTES,
					  BPF_CORE_READ(node, name));
	if (bytes <= 1) {
		walk->ended = ENDED_UNREADABLE;
		return 1;
	}
	scratch->record.path_bytes = at + (__u32)bytes;
	return 0;
}

/*
 * Prepares the record of the task's cgroup. Returns NULL if it is not to be told now. Otherwise call
 * cgroup_path_end(). `which` is CGROUP_OF_*.
 */
static __noinline struct cgroup_scratch *cgroup_path_begin(struct task_struct *task, __u32 which)
{
	struct cgroup *cgroup = BPF_CORE_READ(task, cgroups, dfl_cgrp);
	struct cgroup_walk walk = { .cgroup = cgroup, .now_ns = bpf_ktime_get_ns() };
	__u64 id = BPF_CORE_READ(cgroup, kn, id), *told_ns;

	if (bpf_map_lookup_elem(&cgroups_known, &id))
		return NULL;
	told_ns = bpf_map_lookup_elem(&cgroups_told, &id);
	if (told_ns && walk.now_ns - *told_ns < CGROUP_TOLD_NS)
		return NULL;
	walk.scratch = bpf_map_lookup_elem(&cgroup_scratch, &which);
	if (!walk.scratch)
		return NULL;
	if (__sync_lock_test_and_set(&walk.scratch->busy, 1)) {
		count(COUNTER_PATHS_BUSY);
		return NULL;
	}
	walk.scratch->record =
		(struct cgroup_record){ .header = { RECORD_CGROUP, sizeof(struct cgroup_record) },
					.cgroup_id = id };
	walk.levels = (__u32)BPF_CORE_READ(cgroup, level);
	bpf_loop(CGROUP_LEVELS + 1, cgroup_path_down, &walk, 0);
	if (walk.ended != ENDED_WHOLE) {
		count(walk.ended == ENDED_OVER_BUDGET ? COUNTER_CGROUPS_OVER_BUDGET : COUNTER_CGROUPS_LOST);
		__sync_lock_test_and_set(&walk.scratch->busy, 0);
		return NULL;
	}
	if (!walk.scratch->record.account)
		walk.scratch->record.account = id;
	if (!walk.levels) {
		walk.scratch->path[0] = '/';
		walk.scratch->record.path_bytes = 1;
	}
	if (walk.levels > CGROUP_LEVELS || walk.scratch->record.path_bytes > CGROUP_PATH_BYTES) {
		walk.scratch->record.path_bytes = 0;
		walk.scratch->record.flags = CGROUP_TOO_LONG;
	}
	return walk.scratch;
}

static __always_inline __u64 cgroup_record_bytes(const struct cgroup_scratch *scratch)
{
	__u64 bytes = sizeof(scratch->record) + scratch->record.path_bytes;

	/* for the verifier: the size is a power of two */
	return bytes & 4095;
}

_Static_assert(sizeof(struct cgroup_record) + CGROUP_PATH_BYTES <= 4095,
	       "a record with its path exceeds the mask");
_Static_assert(sizeof(struct cgroup_record) + CGROUP_PATH_BYTES + 1 + CGROUP_NAME_BYTES >= 4095,
	       "the mask exceeds the scratch");

/* `told`: the record was sent. A cgroup that is its own account is one, and tells its path once. */
static __noinline int cgroup_path_end(struct cgroup_scratch *scratch, bool told)
{
	__u64 id, now_ns = bpf_ktime_get_ns();

	if (!scratch)
		return 0;
	id = scratch->record.cgroup_id;
	if (told) {
		count(COUNTER_CGROUPS_TOLD);
		bpf_map_update_elem(&cgroups_told, &id, &now_ns, BPF_ANY);
		if (scratch->record.account != id)
			cgroup_budget_spend(scratch->record.account, now_ns,
					    (__u32)cgroup_record_bytes(scratch));
	}
	__sync_lock_test_and_set(&scratch->busy, 0);
	return 0;
}

/* Tells it through the ring, without waking the consumer: the event that follows does. */
static __always_inline void cgroup_path_tell(struct task_struct *task)
{
	struct cgroup_scratch *scratch = cgroup_path_begin(task, CGROUP_OF_EVENT);
	long failed;

	if (!scratch)
		return;
	failed = bpf_ringbuf_output(&cgroup_paths, &scratch->record, cgroup_record_bytes(scratch),
				    BPF_RB_NO_WAKEUP);
	if (failed)
		count(COUNTER_CGROUPS_LOST);
	cgroup_path_end(scratch, !failed);
}

#endif
