/* SPDX-License-Identifier: GPL-2.0-only */
#include "bpf/policy.h"

#include "common/policy/policy_denial.h"

__noinline int policy_denies_one_uid(__u32 uid)
{
	return policy_denies_uid(&policy, uid);
}

__noinline int policy_denies_comm_words(__u64 first, __u64 second)
{
	const __u64 words[2] = { first, second };

	return policy_denies_comm(&policy, (const char *)words);
}
