/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cpus.bpf.c owns noticing that a CPU goes away: the kernel takes the perf clock of a CPU that goes offline
 * out of its context (perf_event_exit_cpu() in kernel/events/core.c) and does not put it back when the CPU
 * returns, after a suspend for instance. Nothing but a new load samples that CPU again.
 */
#include "bpf/maps.h"

#define CPUHP_OFFLINE 0 /* the first state of enum cpuhp_state */

/* Comes by once for each step down. */
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
