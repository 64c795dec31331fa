/* SPDX-License-Identifier: GPL-2.0-only */
/* abi/policy.h defines root's limits, which the loader puts into a map: a part of common/abi/abi.h. */
#ifndef BOURDON_ABI_POLICY_H
#define BOURDON_ABI_POLICY_H

#include "common/abi/base.h"

/* ---- policy: one element with root's limits; frozen before the programs load, so constant to them ---- */

#define POLICY_UIDS_MAX 16U
#define POLICY_COMMS_MAX 32U
#define POLICY_RATE_MAX 20000U
#define POLICY_RATE_DEFAULT                                                                                  \
	5000U /* the recorder asks for 4000 stacks a second at most (consumer/offcpu_budgets.c) */

#define POLICY_UNWIND_NONE 0U          /* only the leaf, which is in a register */
#define POLICY_UNWIND_FRAME_POINTER 1U /* tables are not used */
#define POLICY_UNWIND_DWARF 2U

struct policy_uids {
	__u32 first;
	__u32 last; /* inclusive */
};

/* Matches a comm if its bits under the mask equal `bits`: 16 bytes, as two words in host byte order. */
struct policy_comm {
	__u64 bits[2];
	__u64 mask[2];
};

struct policy {
	__u32 max_rate;      /* samples a second, CPU and kind; 1 to POLICY_RATE_MAX */
	__u32 unwinding;     /* POLICY_UNWIND_* */
	__u32 kernel_stacks; /* 0: none are recorded */
	__u32 allowed_count; /* 0: all uids are allowed */
	__u32 denied_count;
	__u32 comms_count;
	__u32 deny_undumpable; /* 1: a process whose memory the kernel protects is denied (bpf/policy.h) */
	__u32 bystanders;      /* 0: of processes, only targets are sampled */
	__u32 kernel_threads;  /* 0: none is sampled */
	__u32 latency_labels; /* 0: latencies of others than targets are told without device, cgroup and place of a lock */
	struct policy_uids allowed[POLICY_UIDS_MAX];
	struct policy_uids denied[POLICY_UIDS_MAX];
	struct policy_comm comms[POLICY_COMMS_MAX];
};

ABI_SIZE(policy, 1320);
ABI_CHECK(policy, allowed, 40);

#endif
