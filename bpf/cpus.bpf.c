/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cpus.bpf.c counts CPUs that went offline. The kernel removes the perf clock of such a CPU from its context
 * (perf_event_exit_cpu() in kernel/events/core.c) and does not restore it when the CPU returns, for instance
 * after a suspend. Only a new bourdon-load samples that CPU again.
 */
#include "bpf/maps.h"

#define CPUHP_OFFLINE 0 /* first state of enum cpuhp_state */

/* Fires once for each hotplug state that the CPU passes on its way down. */
SEC("tp_btf/cpuhp_enter")
int BPF_PROG(cpu_step, unsigned int cpu, int goal)
{
	__u32 counter = COUNTER_CLOCKS_LOST;
	__u64 *lost;

	if (goal != CPUHP_OFFLINE)
		return 0;
	lost = bpf_map_lookup_percpu_elem(&counters, &counter, cpu);
	if (lost)
		*lost = 1;
	return 0;
}
