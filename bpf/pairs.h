/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pairs.h finds the begin that an end belongs to: in an array without locks, in which each key has two places. It is no map of the
 * kernel's type hash, because programs ask while the kernel holds locks of such maps, and in interrupts.
 *
 * An element is made by whoever sees the begin and freed by whoever sees the end. One whose end was lost stays until another begin
 * of its key finds it, or until it is old and a third key needs its place.
 */
#ifndef BOURDON_BPF_PAIRS_H
#define BOURDON_BPF_PAIRS_H

#include "bpf/histogram.h"

#define PAIRS 16384U               /* a power of two */
#define PAIR_LOST_NS 600000000000U /* ten minutes: the end of an older one was lost */
#define PAIR_BUSY 1U               /* being made */

/* Each element begins with it. */
struct pair {
	__u64 key; /* neither 0, which means free, nor PAIR_BUSY */
	__u64 since_ns;
};

/*
 * Whether the group is measured. Called at each of its events with the time since when all are seen: what began before may have ended
 * unseen, which is no loss. The event that finds the group off sets the time to 0: without one, nothing was missed.
 */
static __always_inline bool pairs_are_measured(__u64 *since_ns, __u32 group)
{
	if (latency_group_wanted(group) && !is_retired()) {
		if (!*since_ns)
			__sync_val_compare_and_swap(since_ns, 0, bpf_ktime_get_ns());
		return true;
	}
	if (*since_ns)
		*since_ns = 0;
	return false;
}

static __always_inline void *pair_at(void *map, __u64 key, __u32 place)
{
	__u32 index = ((__u32)(table_hash(key) >> 40) ^ place) % PAIRS;

	return bpf_map_lookup_elem(map, &index);
}

/* NULL: there is none. */
static __always_inline void *pair_find(void *map, __u64 key)
{
	struct pair *pair = pair_at(map, key, 0);

	if (pair && pair->key == key)
		return pair;
	pair = pair_at(map, key, 1);
	return pair && pair->key == key ? pair : NULL;
}

/* For a key that has none. NULL: other keys have both places. */
static __always_inline void *pair_make(void *map, __u64 key, __u64 now_ns, __u32 metric)
{
	for (__u32 place = 0; place < 2; place++) {
		struct pair *pair = pair_at(map, key, place);
		__u64 before = pair ? *(volatile __u64 *)&pair->key : PAIR_BUSY;

		if (!pair || before == PAIR_BUSY || (before && now_ns - pair->since_ns <= PAIR_LOST_NS) ||
		    __sync_val_compare_and_swap(&pair->key, before, PAIR_BUSY) != before)
			continue;
		if (before)
			histogram_count_unpaired(metric);
		pair->since_ns = now_ns;
		publish(&pair->key, key);
		return pair;
	}
	return NULL;
}

/* Read all members before. */
static __always_inline void pair_free(void *pair)
{
	publish(&((struct pair *)pair)->key, 0);
}

#endif
