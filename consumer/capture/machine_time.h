/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * machine_time.h owns the account of a capture's span: all time of all CPUs, by who took it. Its parts add up to the
 * number of CPUs times the span.
 */
#ifndef BOURDON_CONSUMER_CAPTURE_MACHINE_TIME_H
#define BOURDON_CONSUMER_CAPTURE_MACHINE_TIME_H

#include "common/kernel/cpu_times.h"

#include <stdint.h>

enum machine_part {
	MACHINE_TARGETS,
	MACHINE_OTHERS,
	MACHINE_SHORT_LIVED, /* processes that began and ended between two walks, targets among them */
	MACHINE_KERNEL,      /* kernel threads */
	MACHINE_DENIED,      /* processes that root's policy denies */
	MACHINE_IRQ,
	MACHINE_SOFTIRQ, /* on a process's back; ksoftirqd is a kernel thread */
	MACHINE_STEAL,   /* the hypervisor ran others */
	MACHINE_GUEST,   /* virtual machines of this host */
	MACHINE_IDLE,
	MACHINE_UNACCOUNTED, /* what no part explains */
	MACHINE_PARTS,
};

extern const char *const machine_part_names[MACHINE_PARTS];

struct machine_time {
	uint64_t from_ns, to_ns;          /* CLOCK_MONOTONIC */
	uint64_t total_ns;                /* 0: /proc/stat could not be read, and there is no account */
	uint64_t parts_ns[MACHINE_PARTS]; /* the first five: set by the caller */
};

/*
 * Computes the total and the other parts. `flags` says what the CPU times of processes leave out (TASK_IRQ_APART,
 * TASK_STEAL_APART). What they do not leave out is counted twice if it interrupted a process, and once if it
 * interrupted an idle CPU. So only as much of it as the parts exceed the total by is taken from the processes' parts,
 * in proportion.
 */
void machine_time_close(struct machine_time *machine, const struct cpu_times *before,
			const struct cpu_times *after, uint32_t flags);

#endif
