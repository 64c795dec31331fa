/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * cpu_times.h reads what the machine's CPUs did that no process accounts for, from /proc/stat (proc_stat(5)). The
 * kernel counts there in ticks of 10 ms, except idle time, which it measures (get_cpu_idle_time_us() in its
 * kernel/time/tick-sched.c), and interrupts with CONFIG_IRQ_TIME_ACCOUNTING.
 */
#ifndef BOURDON_COMMON_KERNEL_CPU_TIMES_H
#define BOURDON_COMMON_KERNEL_CPU_TIMES_H

#include <stdint.h>

/* Running sums over all CPUs that are online, in ns. */
struct cpu_times {
	uint32_t cpus; /* 0: not read */
	uint64_t idle_ns, irq_ns, softirq_ns, steal_ns;
	uint64_t guest_ns; /* of virtual machines; also in the CPU time of the processes that run them */
};

/* Reads the text of /proc/stat. Returns 0 or -EBADMSG. */
int cpu_times_parse(const char *text, struct cpu_times *ret_times);

/* Reads /proc/stat. Returns 0 or -errno; then there are 0 CPUs. */
int cpu_times_read(struct cpu_times *ret_times);

#endif
