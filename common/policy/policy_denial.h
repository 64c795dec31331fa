/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * policy_denial.h decides whether root's policy denies a process: one implementation for the in-kernel
 * programs and for bourdon-grant. It is inlined, so that the verifier sees the policy's constants in it.
 */
#ifndef BOURDON_COMMON_POLICY_POLICY_DENIAL_H
#define BOURDON_COMMON_POLICY_POLICY_DENIAL_H

#include "common/abi/policy.h"

#ifndef __BPF__
#include <stdbool.h>
#endif

#define POLICY_INLINE static inline __attribute__((always_inline))

POLICY_INLINE bool policy_denies_uid(const volatile struct policy *policy, __u32 uid)
{
	for (__u32 i = 0; i < POLICY_UIDS_MAX && i < policy->denied_count; i++)
		if (uid >= policy->denied[i].first && uid <= policy->denied[i].last)
			return true;
	for (__u32 i = 0; i < POLICY_UIDS_MAX && i < policy->allowed_count; i++)
		if (uid >= policy->allowed[i].first && uid <= policy->allowed[i].last)
			return false;
	return policy->allowed_count;
}

/* `comm` has ABI_COMM_BYTES bytes, zeroed after its NUL. */
POLICY_INLINE bool policy_denies_comm(const volatile struct policy *policy, const char *comm)
{
	__u64 words[2];

	__builtin_memcpy(words, comm, sizeof(words));
	for (__u32 i = 0; i < POLICY_COMMS_MAX && i < policy->comms_count; i++)
		if ((words[0] & policy->comms[i].mask[0]) == policy->comms[i].bits[0] &&
		    (words[1] & policy->comms[i].mask[1]) == policy->comms[i].bits[1])
			return true;
	return false;
}

#endif
