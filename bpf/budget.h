/* SPDX-License-Identifier: GPL-2.0-only */
/* budget.h gives each account, such as a user, a part of what one of them could use up: so much at once, and then more by time. */
#ifndef BOURDON_BPF_BUDGET_H
#define BOURDON_BPF_BUDGET_H

#include "bpf/maps.h"

/* Account -> when its budget is full again, CLOCK_MONOTONIC. LRU: a forgotten account has its whole budget again. */
struct budgets_map {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u64);
	__type(value, __u64);
};

/*
 * Takes one, of at_once, each of which is back after each_ns. False: there is none. Two CPUs at once may take the same one: the limit
 * need not be exact.
 */
static __always_inline bool budget_spend(struct budgets_map *budgets, __u64 account, __u64 now_ns,
					 __u64 each_ns, __u32 at_once)
{
	__u64 *known = bpf_map_lookup_elem(budgets, &account);
	__u64 full_ns = known && *known > now_ns ? *known : now_ns;

	if (full_ns - now_ns > (at_once - 1) * each_ns)
		return false;
	full_ns += each_ns;
	bpf_map_update_elem(budgets, &account, &full_ns, BPF_ANY);
	return true;
}

#endif
