/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * histogram.bpf.c owns the histograms of latencies: a table of open addressing without locks, in which a value has a slot for each
 * epoch. A slot that is old enough is used again, so the table has as much of the past as there is room for.
 *
 * Two CPUs may make the same slot at once, one each: the reader adds them up, so nothing is lost. What finds no slot is counted.
 */
#include "bpf/histogram.h"
#include "bpf/target.h"

#define TRIES 3U /* another CPU may take a slot first */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, HISTOGRAM_SETS);
	__type(key, __u32);
	__type(value, struct histogram_set);
} histograms SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, (METRICS * TALLY_EPOCHS));
	__type(key, __u32);
	__type(value, struct histogram_tally);
} histogram_tallies SEC(".maps");

const volatile __u32 latency_probes = 0;
const volatile __u64 table_secret[2] = { 0 };

static __always_inline struct histogram_tally *tally_of(__u32 metric, __u64 epoch)
{
	__u32 index = metric * TALLY_EPOCHS + (__u32)epoch % TALLY_EPOCHS;
	struct histogram_tally *tally = bpf_map_lookup_elem(&histogram_tallies, &index);

	if (tally && tally->epoch != epoch) {
		__builtin_memset(tally, 0, sizeof(*tally));
		tally->epoch = epoch;
	}
	return tally;
}

/* Of what the values of one event share. */
static __always_inline __u64 hash_of_event(const struct histogram_key *key, __u64 epoch)
{
	__u64 hash = table_hash(epoch << 32 ^ key->object);

	return table_hash(hash ^ hash >> 29 ^ key->owner);
}

static __always_inline __u64 hash_of(const struct histogram_key *key, __u64 hash_of_event)
{
	__u64 word = (__u64)key->bucket << 16 | (__u64)key->metric << 8 | key->detail;
	__u64 hash = table_hash(hash_of_event ^ hash_of_event >> 29 ^ word);

	return hash ^ hash >> 32;
}

static __always_inline bool is_of(const struct histogram_slot *slot, const struct histogram_key *key)
{
	return slot->key.object == key->object && slot->key.owner == key->owner &&
	       slot->key.bucket == key->bucket && slot->key.metric == key->metric &&
	       slot->key.detail == key->detail;
}

/* Of a slot that may be used again, and has the id `before`. False: another CPU was faster. */
static __always_inline bool take_slot(struct histogram_slot *slot, __u64 before, __u64 id,
				      const struct histogram_key *key)
{
	if (__sync_val_compare_and_swap(&slot->id, before, HISTOGRAM_BUSY) != before)
		return false;
	slot->key = *key;
	slot->count = slot->sum = 0;
	publish(&slot->id, id);
	return true;
}

/* The slot with that id, or else the oldest one: ids are compared with the slot's number in place of their lowest bits. */
static __always_inline __u32 way_of(const struct histogram_set *set, __u64 id)
{
	__u64 oldest = HISTOGRAM_BUSY, found = 0;

#pragma unroll
	for (__u32 i = 0; i < HISTOGRAM_WAYS; i++) {
		__u64 there = *(volatile const __u64 *)&set->slots[i].id,
		      older = (there & ~(__u64)(HISTOGRAM_WAYS - 1)) | i, mask = not_less(oldest, older);

		found |= is_zero(there ^ id) * (HISTOGRAM_WAYS | i);
		oldest = (oldest & ~mask) | (older & mask);
	}
	/* if there is one, `found` has the bit HISTOGRAM_WAYS, too */
	return (__u32)(found + oldest * is_zero(found)) % HISTOGRAM_WAYS;
}

/* One that may be used again. One that is being made may not. */
static __always_inline bool is_free(__u64 id, __u64 epoch)
{
	return id != HISTOGRAM_BUSY && (id >> 32) + HISTOGRAM_EPOCHS_KEPT <= epoch;
}

/*
 * NULL: there is no room. Each value has a way at which it is looked for first, because a whole set is six lines of
 * memory.
 */
static __always_inline struct histogram_slot *slot_for(const struct histogram_key *key, __u64 epoch,
						       __u64 hash)
{
	__u64 id = epoch << 32 | (__u32)(hash >> 20), there;
	__u32 index = latency_metric_group(key->metric) * HISTOGRAM_SETS_A_GROUP +
		      (__u32)hash % HISTOGRAM_SETS_A_GROUP;
	struct histogram_set *set = bpf_map_lookup_elem(&histograms, &index);
	struct histogram_slot *slot;

	if (!set)
		return NULL;
	slot = &set->slots[(__u32)hash / HISTOGRAM_SETS_A_GROUP % HISTOGRAM_WAYS];
	there = *(volatile __u64 *)&slot->id;
	if (there == id ? is_of(slot, key) : is_free(there, epoch) && take_slot(slot, there, id, key))
		return slot;
	for (__u32 tries = 0; tries < TRIES; tries++) {
		slot = &set->slots[way_of(set, id)];
		there = *(volatile __u64 *)&slot->id;
		if (there == id)
			return is_of(slot, key) ? slot : NULL;
		/* one that is being made may be this one in a moment */
		if (there != HISTOGRAM_BUSY && !is_free(there, epoch))
			return NULL;
		if (there != HISTOGRAM_BUSY && take_slot(slot, there, id, key))
			return slot;
	}
	return NULL;
}

/* 0: nobody reads the table. */
static __always_inline __u64 epoch_now(__u64 now_ns)
{
	const struct control *shared = control_get();

	return !shared || is_quiet(shared, now_ns) ? 0 : now_ns / HISTOGRAM_EPOCH_NS;
}

/* Not inlined: the values of one event are added by one function, which the verifier follows once. */
__noinline int histogram_add_hashed(struct histogram_key *key, __u64 value, __u64 epoch, __u64 hash_of_event)
{
	struct histogram_tally *tally;
	struct histogram_slot *slot;

	if (!key || key->metric >= METRICS)
		return 0;
	tally = tally_of(key->metric, epoch);
	if (!tally)
		return 0;
	if (value > HISTOGRAM_VALUE_MAX) {
		__sync_fetch_and_add(&tally->absurd, 1);
		return 0;
	}
	__sync_fetch_and_add(&tally->events, 1);
	key->bucket = (__u16)bucket_of(value);
	slot = slot_for(key, epoch, hash_of(key, hash_of_event));
	if (!slot) {
		__sync_fetch_and_add(&tally->overflow, 1);
		return 0;
	}
	__sync_fetch_and_add(&slot->count, 1);
	__sync_fetch_and_add(&slot->sum, value);
	return 0;
}

__noinline int histogram_add(struct histogram_key *key, __u64 value)
{
	__u64 epoch = epoch_now(bpf_ktime_get_ns());

	if (key && epoch)
		histogram_add_hashed(key, value, epoch, hash_of_event(key, epoch));
	return 0;
}

__noinline int histogram_add_block(struct histogram_key *key, const struct block_values *values)
{
	__u64 epoch, hash;

	if (!key || !values)
		return 0;
	epoch = epoch_now(values->ended_ns);
	if (!epoch)
		return 0;
	hash = hash_of_event(key, epoch);
	key->metric = METRIC_BLOCK;
	histogram_add_hashed(key, values->ended_ns - values->since_ns, epoch, hash);
	key->metric = METRIC_BLOCK_QUEUE;
	histogram_add_hashed(key, values->issued_ns - values->since_ns, epoch, hash);
	key->metric = METRIC_BLOCK_SERVICE;
	histogram_add_hashed(key, values->ended_ns - values->issued_ns, epoch, hash);
	key->metric = METRIC_BLOCK_SIZE;
	histogram_add_hashed(key, values->bytes, epoch, hash);
	return 0;
}

static __always_inline struct histogram_tally *tally_now(__u32 metric)
{
	return metric < METRICS ? tally_of(metric, bpf_ktime_get_ns() / HISTOGRAM_EPOCH_NS) : NULL;
}

__noinline int histogram_count_lost(__u32 metric)
{
	struct histogram_tally *tally = tally_now(metric);

	if (!tally)
		return 0;
	__sync_fetch_and_add(&tally->events, 1);
	__sync_fetch_and_add(&tally->overflow, 1);
	return 0;
}

__noinline int histogram_count_unpaired(__u32 metric)
{
	struct histogram_tally *tally = tally_now(metric);

	if (tally)
		__sync_fetch_and_add(&tally->unpaired, 1);
	return 0;
}
