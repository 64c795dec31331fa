/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/protocol/counters.h"

#include "common/base/cleanup.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

const char *const counter_names[COUNTERS] = {
	[COUNTER_SAMPLES_ONCPU] = "samples-oncpu",
	[COUNTER_SAMPLES_QUIET] = "samples-not-taken-quiet",
	[COUNTER_KERNEL_STACK_ERRORS] = "kernel-stack-errors",
	[COUNTER_USER_STACK_ERRORS] = "user-stack-errors",
	[COUNTER_STACKS_TRUNCATED] = "stacks-truncated",
	[COUNTER_TARGETS_FULL] = "targets-full",
	[COUNTER_EVENTS_LOST] = "events-lost",
	[COUNTER_ERRORS_LOST] = "errors-lost",
	[COUNTER_MATCHES] = "matches",
	[COUNTER_EXITS] = "exits",
	[COUNTER_PATHS_BUSY] = "paths-busy",
	[COUNTER_CLOCKS_LOST] = "clocks-lost",
	[COUNTER_SAMPLES_OFFCPU] = "samples-offcpu",
	[COUNTER_OFFCPU_UNSTACKED] = "offcpu-over-budget",
	[COUNTER_OFFCPU_UNTRACKED] = "offcpu-untracked",
	[COUNTER_OFFCPU_STACKS] = "offcpu-stacks",
	[COUNTER_POLICY_DENIED] = "policy-denied",
	[COUNTER_CGROUPS_TOLD] = "cgroup-paths",
	[COUNTER_CGROUPS_OVER_BUDGET] = "cgroup-paths-over-budget",
	[COUNTER_CGROUPS_LOST] = "cgroup-paths-lost",
	[COUNTER_ENDED_LOST] = "ended-lost",
	[COUNTER_SAMPLES_OTHERS] = "others-samples",
	[COUNTER_INTERRUPTS_LOST] = "interrupts-lost",
	[COUNTER_KILLS_LOST] = "kills-lost",
	[COUNTER_ACCOUNTS_LOST] = "accounts-lost",
	[COUNTER_ACCOUNTS_FIXED] = "accounts-corrected",
	[COUNTER_OFFCPU_JOINED] = "offcpu-joined",
	[COUNTER_SAMPLES_GROWTH] = "samples-growth",
};

int counters_read(int map_fd, uint64_t ret_values[COUNTERS])
{
	int cpus = libbpf_num_possible_cpus();
	_cleanup_free_ uint64_t *each = NULL;

	if (cpus < 0)
		return cpus;
	each = calloc((size_t)cpus, sizeof(*each));
	if (!each)
		return -ENOMEM;
	for (__u32 i = 0; i < COUNTERS; i++) {
		uint64_t sum = 0;
		int result = bpf_map_lookup_elem(map_fd, &i, each);

		if (result < 0)
			return result;
		for (int cpu = 0; cpu < cpus; cpu++)
			sum += each[cpu];
		ret_values[i] = sum;
	}
	return 0;
}
