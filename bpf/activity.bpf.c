/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * activity.bpf.c owns the iterator `looks`: one read of it is a look at all threads of the machine. It counts in the map
 * `activity` how many threads are alike, and writes one record at the end. No thread has a record of its own, so that
 * a look costs some hundred ns a thread. The thread that looks is left out: it always runs then.
 *
 * Most threads wait where the last look found them. Where a thread waits is asked again only after it was switched: a
 * thread that is off CPU leaves its place by running, and the kernel counts when it leaves the CPU again. All else may be
 * changed by others meanwhile (root's policy, names, users, cgroups, states), and is read at each look.
 */
#include "bpf/thread_look.h"

#define PROBES 8U /* slots that a key may be in */

/* What the last look found of a thread. */
struct activity_place {
	__u64 switches; /* so many times had it left a CPU */
	__u32 slot;
	__s32 call;
	__s32 function;
	__u32 is_known; /* 0: it was on a CPU */
};

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct activity_place);
} activity_places SEC(".maps");

/* The consumer maps it: what it may write there makes nothing but its own counts wrong. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, ACTIVITY_SLOTS);
	__type(key, __u32);
	__type(value, struct activity_slot);
} activity SEC(".maps");

/*
 * The look under way. There is one reader; two at once would only count wrongly. The first look is number 2, so that slots
 * which were never used, of look 0, are free.
 */
static struct activity_look look = { .number = 1 };

static __always_inline bool is_same_key(const struct activity_key *one, const struct activity_key *other)
{
	const __u64 *left = (const void *)one, *right = (const void *)other;

	return left[0] == right[0] && left[1] == right[1] && left[2] == right[2] && left[3] == right[3] &&
	       left[4] == right[4];
}

/* Nobody knows the secret, so nobody can choose names whose keys have the same slots. */
static __always_inline __u32 hash_of(const struct activity_key *key)
{
	const __u64 *words = (const void *)key;

	_Static_assert(sizeof(*key) == 5 * sizeof(*words), "all of the key is hashed");
	return (__u32)lock_hash(lock_hash(words[0], words[1], words[2]), words[3], words[4]);
}

/* Adds a thread to a slot that has its key. Returns false if the slot has another one. */
static __always_inline bool add_to(__u32 index, const struct activity_key *key)
{
	struct activity_slot *slot = bpf_map_lookup_elem(&activity, &index);

	if (!slot || !is_same_key(&slot->key, key))
		return false;
	if (slot->look != look.number) {
		slot->look = look.number;
		slot->threads = 0;
	}
	slot->threads++;
	return true;
}

/* A slot that neither this look nor the last one used is free. Threads that remember it see that it has another key. */
static __always_inline bool take(__u32 index, const struct activity_key *key)
{
	struct activity_slot *slot = bpf_map_lookup_elem(&activity, &index);

	if (!slot || look.number - slot->look < 2)
		return false;
	slot->key = *key;
	slot->look = look.number;
	slot->threads = 1;
	return true;
}

/* Returns the slot with the thread, or ACTIVITY_SLOTS if there is no room for its key. */
__noinline __u32 activity_find_slot(const struct activity_key *key)
{
	__u32 first;

	if (!key)
		return ACTIVITY_SLOTS;
	first = hash_of(key);
	for (__u32 i = 0; i < PROBES; i++) {
		__u32 index = (first + i) & (ACTIVITY_SLOTS - 1);

		if (add_to(index, key))
			return index;
	}
	for (__u32 i = 0; i < PROBES; i++) {
		__u32 index = (first + i) & (ACTIVITY_SLOTS - 1);

		if (take(index, key))
			return index;
	}
	return ACTIVITY_SLOTS;
}

/* Where a thread that is off CPU waits. `place` is what the last look found. */
static __noinline int find_place(struct task_struct *task, __u64 switches, struct activity_place *place)
{
	struct system_call call = { .number = -1 };
	__u64 function = kernel_text && policy.kernel_stacks ? find_function(task) : 0;

	if (!place)
		return 0;
	if (!(task->flags & PF_KTHREAD))
		call = system_call_read(task);
	place->call = (__s32)call.number;
	place->function = function ? rebase(function) : KERNEL_FRAME_UNKNOWN;
	place->switches = switches;
	place->is_known = 1;
	return 0;
}

/* Counts a thread of a key that the last look did not find here. Returns its slot. */
static __always_inline __u32 count_anew(const struct activity_key *key)
{
	__u32 slot = activity_find_slot(key);

	if (slot == ACTIVITY_SLOTS)
		look.others[key->state & (ACTIVITY_STATES - 1)]++;
	return slot;
}

/*
 * Tells the path of the thread's cgroup if user space does not know it. Returns true if the kernel's buffer has no room:
 * the next read runs the program again for this thread.
 */
static __always_inline bool is_cut(struct seq_file *seq, struct task_struct *task)
{
	struct cgroup_scratch *path = cgroup_path_begin(task, CGROUP_OF_WALK);
	long failed;

	if (!path)
		return false;
	failed = bpf_seq_write(seq, &path->record, cgroup_record_bytes(path));
	cgroup_path_end(path, !failed);
	return failed;
}

static __always_inline int look_at(struct seq_file *seq, struct task_struct *task)
{
	/* read first: who is switched meanwhile has another number at the next look */
	__u64 switches = *(volatile unsigned long *)&task->nvcsw + *(volatile unsigned long *)&task->nivcsw;
	struct activity_place nowhere = { 0 }, *place;
	struct activity_key key = { .call = -1, .function = KERNEL_FRAME_UNKNOWN };

	if (task == bpf_get_current_task_btf() || is_hidden(task))
		return 0;
	read_comm(task->group_leader, key.comm);
	key.cgroup_id = task->cgroups->dfl_cgrp->kn->id;
	key.uid = task->real_cred->uid.val;
	key.flags = task->flags & PF_KTHREAD ? ACTIVITY_KERNEL : 0;
	key.state = (__u16)state_of(task);
	place = bpf_task_storage_get(&activity_places, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (!place)
		place = &nowhere;
	if (is_off_cpu(key.state)) {
		if (!place->is_known || place->switches != switches)
			find_place(task, switches, place);
		key.call = place->call;
		key.function = place->function;
	} else {
		place->is_known = 0;
	}
	if (!add_to(place->slot, &key)) {
		if (is_cut(seq, task))
			return 0;
		place->slot = count_anew(&key);
	}
	look.threads++;
	return 0;
}

SEC("iter/task")
int walk_activity(struct bpf_iter__task *ctx)
{
	struct seq_file *seq = ctx->meta->seq;
	struct task_struct *task = ctx->task;

	if (is_retired())
		return 0;
	if (!ctx->meta->seq_num) {
		look = (struct activity_look){ .header = { RECORD_ACTIVITY, sizeof(look) },
					       .number = look.number + 1 };
	}
	if (task)
		return look_at(seq, task);
	bpf_seq_write(seq, &look, sizeof(look));
	return 0;
}
