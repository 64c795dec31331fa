/* SPDX-License-Identifier: GPL-2.0-only */
/* bucket.h owns the budgets of stacks and of slots: token buckets of one CPU each. */
#ifndef BOURDON_BPF_BUCKET_H
#define BOURDON_BPF_BUCKET_H

#include "bpf/policy.h"

#define SECOND_NS 1000000000ULL
#define STACKS_SHARE 20U
#define STACK_NS_MAX 1000000U

/*
 * Token bucket that holds at most one second's budget: next_ns is when the next token is due if none is saved
 * (generic cell rate algorithm, ITU-T I.371).
 */
struct bucket {
	__u64 next_ns;
};

/* Returns the saved budget in ns, 0 if the bucket is empty. */
static __always_inline __u64 bucket_level(const struct bucket *bucket, __u64 now_ns)
{
	__s64 saved_ns = (__s64)(now_ns - bucket->next_ns);

	return saved_ns <= 0 ? 0 : (__u64)saved_ns > SECOND_NS ? SECOND_NS : (__u64)saved_ns;
}

/* The price of a token. The consumer can write `control`: root's policy caps its rates. `hz` is not 0. */
static __always_inline __u64 bucket_price(__u32 hz)
{
	return SECOND_NS / (hz < policy.max_rate ? hz : policy.max_rate);
}

/* Spends one token if at least `least_ns` of budget is saved. */
static __always_inline bool bucket_spend(struct bucket *bucket, __u64 now_ns, __u32 hz, __u64 least_ns)
{
	__u64 level_ns = bucket_level(bucket, now_ns);

	if (!hz || !level_ns || level_ns < least_ns)
		return false;
	bucket->next_ns = now_ns - level_ns + bucket_price(hz);
	return true;
}

/*
 * Charges for what the token was spent on: by forged tables a stack takes 22 us, ten times an honest one. So
 * stacks take at most one part in STACKS_SHARE of a CPU's time, whatever their rate.
 */
static __always_inline void bucket_charge(struct bucket *bucket, __u32 hz, __u64 took_ns)
{
	__u64 price_ns = bucket_price(hz), due_ns;

	/* longer: a hypervisor or an interrupt took the time */
	due_ns = (took_ns < STACK_NS_MAX ? took_ns : STACK_NS_MAX) * STACKS_SHARE;
	if (due_ns > price_ns)
		bucket->next_ns += due_ns - price_ns;
}

#endif
