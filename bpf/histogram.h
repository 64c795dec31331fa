/* SPDX-License-Identifier: GPL-2.0-only */
/* histogram.h measures latencies: it adds values to the table of common/abi/latency.h, which bpf/histogram.bpf.c owns. */
#ifndef BOURDON_BPF_HISTOGRAM_H
#define BOURDON_BPF_HISTOGRAM_H

#include "bpf/maps.h"

/* Set by the loader: drawn by chance, and never told. The places of elements in tables depend on it. */
extern const volatile __u64 table_secret[2];

/* Multiply-shift hashing (Dietzfelbinger and others, 1997): the upper bits are the good ones. */
static __always_inline __u64 table_hash(__u64 word)
{
	return (word ^ table_secret[0]) * (table_secret[1] | 1);
}

/* Set by the loader: --probes, a bit for each group. Programs of others are not attached. */
extern const volatile __u32 latency_probes;

/* Adds a value to the histogram `key`, whose bucket is set here. Any context, also with locks held, also in NMIs. */
int histogram_add(struct histogram_key *key, __u64 value);

/* Of a request to a device: CLOCK_MONOTONIC. It ends now. */
struct block_values {
	__u64 since_ns, issued_ns, ended_ns;
	__u64 bytes;
};

/* The same for the metrics of that request, which is one event: what they share is done once. */
int histogram_add_block(struct histogram_key *key, const struct block_values *values);

/* Counts an event that has no value, because there was no room to follow it. */
int histogram_count_lost(__u32 metric);

/* Counts an end without its begin, or a begin without its end. */
int histogram_count_unpaired(__u32 metric);

/* The groups that somebody wants measured, a bit for each. A dead consumer may: histogram_add() asks whether it lives. */
static __always_inline __u32 latency_wanted(const struct control *shared)
{
	return shared ? latency_probes & *(volatile const __u32 *)&shared->latency : 0;
}

static __always_inline bool latency_group_wanted(__u32 group)
{
	return latency_probes >> group & 1 && latency_wanted(control_get()) >> group & 1;
}

/* The owner of what the current task, which this is, does: the cgroup of a target, 0 of others. */
static __always_inline __u64 latency_owner(struct task_struct *task)
{
	__u32 tgid = task->tgid;

	return may_be_target(task) && bpf_map_lookup_elem(&targets, &tgid) ? bpf_get_current_cgroup_id() : 0;
}

static __always_inline void histogram_put(__u32 metric, __u32 detail, __u64 object, __u64 owner, __u64 value)
{
	struct histogram_key key = {
		.object = object, .owner = owner, .metric = (__u8)metric, .detail = (__u8)detail
	};

	histogram_add(&key, value);
}

#endif
