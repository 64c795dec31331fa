/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Shows the verdict for captures with numbers as kernels report them, that missing numbers give
 * `undetermined`, and that statistics are read from files as kernels write them, or refused.
 */
#include "common/cleanup.h"
#include "consumer/capture/cause.h"
#include "tests/unit/helpers.h"
#include "tests/unit/suites.h"

#include <string.h>

#define MILLISECOND 1000000UL
#define SECOND (1000 * MILLISECOND)
#define MIB (1L << 20)
#define ROWS_MOST 5
#define ENDED_MOST 2
#define INTERRUPTS_MOST 3
#define STATS_MOST 9

/* ---- verdicts ---- */

struct cause_case {
	enum psi_resource resource;
	bool of_system;
	uint64_t stalled_us, observed_us;
	struct usage_sums rest_targets, rest_others;
	struct usage_row rows[ROWS_MOST];
	struct ended_row ended[ENDED_MOST];
	struct machine_time machine;
	struct interrupt interrupts[INTERRUPTS_MOST];
	struct kernel_stat stats[STATS_MOST];
	const char *hottest; /* the function of every program */
	const char *verdict, *because;
};

static bool hottest(void *user, const struct usage_group *group, char *into, size_t into_bytes)
{
	snprintf(into, into_bytes, "%s of %s", (const char *)user, group->program);
	return true;
}

#define TARGET(...)                                                                                          \
	{                                                                                                    \
		.role = USAGE_TARGET, .process = {.comm = "victim", .tgid = 1, .sums = { __VA_ARGS__ } }     \
	}
#define OTHER(...)                                                                                           \
	{                                                                                                    \
		.role = USAGE_OTHER, .process = {.comm = "hog", .tgid = 2, .sums = { __VA_ARGS__ } }         \
	}
#define REST(...)                                                                                            \
	{                                                                                                    \
		.role = USAGE_REST, .process = {.sums = { __VA_ARGS__ } }                                    \
	}
#define SYSTEM KERNEL_STAT_SYSTEM

static const struct cause_case cause_cases[] = {
	{ .resource = PSI_CPU,
	  .stalled_us = 4000000,
	  .rows = { TARGET(.task.cpu_ns = SECOND, .stalled_cpu_ns = 4 * SECOND),
		    OTHER(.task.cpu_ns = 4 * SECOND) },
	  .stats = { { "cpu.stat", 1, "", "throttled_usec", 1000, 4001000 },
		     { "cpu.stat", 0, "", "throttled_usec", 5, 6 },
		     { "cpu.stat", 1, "", "nr_throttled", 10, 60 },
		     { "cpu.stat", 1, "", "nr_periods", 10, 61 },
		     { "cpu.max", 0, "", "quota_usec", 900000, 900000 },
		     { "cpu.max", 1, "", "quota_usec", 50000, 150000 },
		     { "cpu.max", 1, "", "period_usec", 100000, 100000 } },
	  .verdict = CAUSE_THROTTLED,
	  .because =
		  "/above was throttled for 4.00 s, summed over its CPUs, in 50 of 51 periods, by its cpu.max of 1.50 CPUs, within 5.00 s" },
	/* too little throttling to be the cause */
	{ .resource = PSI_CPU,
	  .stalled_us = 2500000,
	  .rows = { TARGET(.task.cpu_ns = 2500 * MILLISECOND, .stalled_cpu_ns = 2500 * MILLISECOND),
		    OTHER(.task.cpu_ns = 2 * SECOND), REST(.task.cpu_ns = 500 * MILLISECOND) },
	  .rest_others = { .task.cpu_ns = 500 * MILLISECOND },
	  .stats = { { "cpu.stat", 0, "", "throttled_usec", 0, 100000 } },
	  .verdict = CAUSE_COMPETING,
	  .because =
		  "hog[2] took 2.00 s of CPU time, while victim[1] ran 2.50 s and waited 2.50 s for a CPU (50 % of its time), within 6.00 s" },
	{ .resource = PSI_CPU,
	  .stalled_us = 5000000,
	  .rows = { TARGET(.task.cpu_ns = 10 * SECOND, .stalled_cpu_ns = 10 * SECOND),
		    OTHER(.task.cpu_ns = 100 * MILLISECOND) },
	  .verdict = CAUSE_OWN_THREADS,
	  .because =
		  "victim[1] took 10.00 s of CPU time, and waited 10.00 s (50 % of the targets' time), mostly for each other: all other processes ran 0.10 s, within 6.00 s" },
	/* two threads on one CPU: the stall and the CPU time are not measured within exactly the same time */
	{ .resource = PSI_CPU,
	  .stalled_us = 6000000,
	  .rows = { TARGET(.task.cpu_ns = 5900 * MILLISECOND, .stalled_cpu_ns = 5900 * MILLISECOND) },
	  .verdict = CAUSE_OWN_THREADS },
	/* nobody ran, and no number says why */
	{ .resource = PSI_CPU,
	  .stalled_us = 4000000,
	  .rows = { TARGET(.task.cpu_ns = SECOND, .stalled_cpu_ns = 4 * SECOND),
		    OTHER(.task.cpu_ns = SECOND) },
	  .verdict = CAUSE_UNDETERMINED },
	/* processes that no walk saw ran: the root cgroup counted them */
	{ .resource = PSI_CPU,
	  .stalled_us = 4000000,
	  .rows = { TARGET(.task.cpu_ns = SECOND, .stalled_cpu_ns = 4 * SECOND),
		    OTHER(.task.cpu_ns = SECOND) },
	  .stats = { { "cpu.stat", 2, "", "user_usec", 7, 5000007 },
		     { "cpu.stat", 2, "", "system_usec", 0, 2000000 },
		     { "cpu.stat", 1, "", "user_usec", 0, 9000000 } },
	  .verdict = CAUSE_COMPETING,
	  .because =
		  "hog[2] took 1.00 s of CPU time, while victim[1] ran 1.00 s and waited 4.00 s for a CPU (80 % of its time), within 6.00 s" },
	{ .resource = PSI_CPU,
	  .of_system = true,
	  .stalled_us = 4000000,
	  .rows = { TARGET(.task.cpu_ns = SECOND, .stalled_cpu_ns = 4 * SECOND) },
	  .stats = { { "cpu.stat", SYSTEM, "", "user_usec", 0, 4000000 } },
	  .verdict = CAUSE_COMPETING },
	/* the whole machine did not run for as long as they waited */
	{ .resource = PSI_CPU,
	  .stalled_us = 4000000,
	  .rows = { TARGET(.task.cpu_ns = SECOND, .stalled_cpu_ns = 4 * SECOND),
		    OTHER(.task.cpu_ns = SECOND) },
	  .stats = { { "cpu.stat", 2, "", "user_usec", 0, 3000000 } },
	  .verdict = CAUSE_UNDETERMINED },
	/* the row of the rest includes targets, which are no competitors */
	{ .resource = PSI_CPU,
	  .stalled_us = 5000000,
	  .rest_targets = { .task.cpu_ns = 10 * SECOND, .stalled_cpu_ns = 9 * SECOND },
	  .rest_others = { .task.cpu_ns = SECOND },
	  .rows = { TARGET(.task.cpu_ns = SECOND, .stalled_cpu_ns = SECOND), OTHER(.task.cpu_ns = SECOND),
		    REST(.task.cpu_ns = 11 * SECOND, .stalled_cpu_ns = 9 * SECOND) },
	  .verdict = CAUSE_OWN_THREADS,
	  .because =
		  "victim[1] took 1.00 s of CPU time, and waited 10.00 s (48 % of the targets' time), mostly for each other: all other processes ran 2.00 s, within 6.00 s" },
	{ .resource = PSI_CPU, .rows = { OTHER(.task.cpu_ns = SECOND) }, .verdict = CAUSE_UNDETERMINED },
	{ .resource = PSI_MEMORY,
	  .rows = { TARGET(.stalled_memory_ns = SECOND) },
	  .stats = { { "memory.events", 0, "", "high", 7, 7 },
		     { "memory.events", 0, "", "max", 7, 49 },
		     { "memory.events.local", 0, "", "max", 7, 49 },
		     { "memory.max", 0, "", "bytes", 50 * MIB, 50 * MIB },
		     { "memory.events", 1, "", "max", 7, 9999 },
		     { "memory.stat", 0, "", "workingset_refault_anon", 0, 256 },
		     { "memory.stat", 0, "", "workingset_refault_file", 0, 256 },
		     { "memory.stat", 1, "", "workingset_refault_file", 0, 9999 },
		     { "vmstat", SYSTEM, "", "pgscan_direct", 0, 1 } },
	  .verdict = CAUSE_OWN_LIMIT,
	  .because =
		  "/above/it reached its memory.max of 50.0 MiB 42 times, and read 2.0 MiB again that had been evicted, within 5.00 s" },
	{ .resource = PSI_MEMORY,
	  .rows = { TARGET(.stalled_memory_ns = SECOND) },
	  .stats = { { "memory.events", 1, "", "high", -1, 3 }, { "memory.events", 0, "", "high", 1, 3 } },
	  .verdict = CAUSE_OWN_LIMIT,
	  .because =
		  "/above/it reached its memory.high 2 times, and read 0.0 MiB again that had been evicted, within 5.00 s" },
	{ .resource = PSI_MEMORY,
	  .of_system = true,
	  .rows = { TARGET(.stalled_memory_ns = SECOND), OTHER(.rss_bytes = 3 * MIB) },
	  .stats = { { "vmstat", SYSTEM, "", "pgscan_direct", 0, 512 },
		     { "vmstat", SYSTEM, "", "pgscan_kswapd", 0, 1024 },
		     { "vmstat", SYSTEM, "", "allocstall_normal", 0, 20 },
		     { "vmstat", SYSTEM, "", "allocstall_movable", 0, 3 } },
	  .verdict = CAUSE_SHORTAGE,
	  .because =
		  "23 allocations on the host waited for reclaim, which scanned 2.0 MiB (kswapd: 4.0 MiB), within 5.00 s; the largest is hog[2] with 3.0 MiB" },
	/* no memory.events: a limit of cgroup1 */
	{ .resource = PSI_MEMORY,
	  .rows = { TARGET(.stalled_memory_ns = 1500 * MILLISECOND) },
	  .stats = { { "vmstat", SYSTEM, "", "pgfault", 0, 20 } },
	  .verdict = CAUSE_OWN_LIMIT,
	  .because =
		  "the targets were in reclaim for 1.50 s within 6.00 s, without any reclaim for the whole host: a cgroup reached its memory limit, but no memory.events say which" },
	/* cgroup2 reports the limits, and none of them was hit */
	{ .resource = PSI_MEMORY,
	  .rows = { TARGET(.stalled_memory_ns = 1500 * MILLISECOND) },
	  .stats = { { "vmstat", SYSTEM, "", "pgfault", 0, 20 }, { "memory.current", 0, "", "bytes", 7, 7 } },
	  .verdict = CAUSE_UNDETERMINED },
	{ .resource = PSI_MEMORY,
	  .rows = { TARGET(.stalled_memory_ns = SECOND) },
	  .stats = { { "memory.events", 1, "", "max", 0, 9999 },
		     { "memory.events.local", 1, "", "max", 0, 3 },
		     { "memory.stat", 1, "", "workingset_refault_file", 0, 256 } },
	  .verdict = CAUSE_OWN_LIMIT,
	  .because =
		  "/above reached its memory.max 3 times, and read 1.0 MiB again that had been evicted, within 5.00 s" },
	/* a limit that was hit a few times, while the whole system waits */
	{ .resource = PSI_MEMORY,
	  .rows = { TARGET(.stalled_memory_ns = SECOND) },
	  .stats = { { "memory.events.local", 0, "", "max", 0, 3 },
		     { "vmstat", SYSTEM, "", "allocstall_normal", 0, 400 } },
	  .verdict = CAUSE_SHORTAGE },
	/* without vmstat there is no verdict */
	{ .resource = PSI_MEMORY,
	  .rows = { TARGET(.stalled_memory_ns = 1500 * MILLISECOND) },
	  .verdict = CAUSE_UNDETERMINED,
	  .because =
		  "victim[1] ran 0.00 s, waited 0.00 s for a CPU, 0.00 s for a disk and spent 1.50 s in reclaim, within 6.00 s; the memory controller is not that of cgroup v2: a limit of cgroup v1 would not be seen" },
	{ .resource = PSI_IO,
	  .rows = { TARGET(.task.read_bytes = 10 * MIB),
		    OTHER(.task.read_bytes = 30 * MIB, .task.write_bytes = 4 * MIB),
		    REST(.task.write_bytes = MIB) },
	  .rest_others = { .task.write_bytes = MIB },
	  .stats = { { "diskstats", SYSTEM, "vda", "busy_ms", 0, 5000 } },
	  .verdict = CAUSE_COMPETING,
	  .because =
		  "hog[2] read 30.0 MiB and wrote 4.0 MiB, 76 % of what all processes did; the targets moved 10.0 MiB and waited 0.00 s for it, within 6.00 s" },
	/* reads again what reclaim removed because of the limit */
	{ .resource = PSI_IO,
	  .rows = { TARGET(.task.read_bytes = 4 * MIB) },
	  .stats = { { "memory.events", 0, "", "max", 0, 9 },
		     { "memory.stat", 0, "", "workingset_refault_file", 0, 768 },
		     { "diskstats", SYSTEM, "vda", "busy_ms", 0, 5000 } },
	  .verdict = CAUSE_OWN_LIMIT,
	  .because =
		  "/above/it reached its memory.max 9 times, and read 3.0 MiB again that had been evicted, within 5.00 s" },
	{ .resource = PSI_IO,
	  .rows = { TARGET(.task.write_bytes = 10 * MIB), OTHER(.task.write_bytes = MIB) },
	  .stats = { { "diskstats", SYSTEM, "sda", "busy_ms", 0, 100 },
		     { "diskstats", SYSTEM, "vda", "busy_ms", 100, 4600 },
		     { "diskstats", SYSTEM, "vda", "reads", 0, 100 },
		     { "diskstats", SYSTEM, "vda", "writes", 0, 900 },
		     { "diskstats", SYSTEM, "vda", "read_ms", 0, 500 },
		     { "diskstats", SYSTEM, "vda", "write_ms", 0, 4000 } },
	  .verdict = CAUSE_DEVICE,
	  .because = "vda was busy for 90 % of 5.00 s, with 1000 requests of 4.50 ms each" },
	/* few requests, but slow ones */
	{ .resource = PSI_IO,
	  .stats = { { "diskstats", SYSTEM, "vda", "busy_ms", 100, 400 },
		     { "diskstats", SYSTEM, "vda", "reads", 0, 10 },
		     { "diskstats", SYSTEM, "vda", "read_ms", 0, 300 } },
	  .verdict = CAUSE_DEVICE,
	  .because = "vda was busy for 6 % of 5.00 s, with 10 requests of 30.00 ms each" },
	{ .resource = PSI_IO,
	  .stats = { { "diskstats", SYSTEM, "vda", "busy_ms", 100, 400 },
		     { "diskstats", SYSTEM, "vda", "reads", 0, 100 },
		     { "diskstats", SYSTEM, "vda", "read_ms", 0, 300 } },
	  .verdict = CAUSE_UNDETERMINED },
	/* a storm of short-lived programs */
	{ .resource = PSI_CPU,
	  .stalled_us = 4000000,
	  .rows = { TARGET(.task.cpu_ns = SECOND, .stalled_cpu_ns = 4 * SECOND),
		    OTHER(.task.cpu_ns = 500 * MILLISECOND) },
	  .ended = { { .role = USAGE_OTHER,
		       .key = { .comm = "true", .parent = "bash", .parent_tgid = 19850 },
		       .cgroup = (char *)"/system.slice/cron.service",
		       .sums = { .processes = 5120, .cpu_ns = 6 * SECOND } } },
	  .machine = { .total_ns = 12 * SECOND },
	  .hottest = "main",
	  .verdict = CAUSE_COMPETING,
	  .because =
		  "true ×5120, begun by bash[19850] in cron.service took 6.00 s of CPU time, 50 % of the machine's, mostly in main of true, while victim[1] ran 1.00 s and waited 4.00 s for a CPU (80 % of its time), within 6.00 s" },
	/* four workers are one group, and larger than the largest process */
	{ .resource = PSI_CPU,
	  .stalled_us = 4000000,
	  .rows = { TARGET(.task.cpu_ns = SECOND, .stalled_cpu_ns = 4 * SECOND),
		    { .role = USAGE_OTHER,
		      .process = { .comm = "backup", .tgid = 9, .sums.task.cpu_ns = 3 * SECOND } },
		    { .role = USAGE_OTHER,
		      .cgroup = (char *)"/batch.slice/a.service/x",
		      .process = { .comm = "stress", .tgid = 5, .sums.task.cpu_ns = 2 * SECOND } },
		    { .role = USAGE_OTHER,
		      .cgroup = (char *)"/batch.slice/a.service/y",
		      .process = { .comm = "stress", .tgid = 6, .sums.task.cpu_ns = 2 * SECOND } } },
	  .verdict = CAUSE_COMPETING,
	  .because =
		  "stress ×2 in a.service took 4.00 s of CPU time, while victim[1] ran 1.00 s and waited 4.00 s for a CPU (80 % of its time), within 6.00 s" },
	/* a rule for the whole host: one of its targets is the reason of the others' waiting */
	{ .resource = PSI_CPU,
	  .of_system = true,
	  .stalled_us = 4000000,
	  .rows = { TARGET(.task.cpu_ns = SECOND, .stalled_cpu_ns = 3 * SECOND),
		    { .role = USAGE_TARGET,
		      .process = { .comm = "batch",
				   .tgid = 3,
				   .sums = { .task.cpu_ns = 8 * SECOND, .stalled_cpu_ns = SECOND } } } },
	  .verdict = CAUSE_COMPETING,
	  .because =
		  "batch[3] took 8.00 s of CPU time, while the other targets ran 1.00 s and waited 3.00 s for a CPU (75 % of their time), within 6.00 s" },
	{ .resource = PSI_CPU,
	  .stalled_us = 4000000,
	  .rows = { TARGET(.task.cpu_ns = SECOND, .stalled_cpu_ns = 4 * SECOND),
		    { .role = USAGE_KERNEL,
		      .process = { .comm = "kworker/0:1", .tgid = 8, .sums.task.cpu_ns = 3 * SECOND } },
		    { .role = USAGE_KERNEL,
		      .process = { .comm = "kworker/u4:2", .tgid = 9, .sums.task.cpu_ns = SECOND } } },
	  .verdict = CAUSE_COMPETING,
	  .because =
		  "kernel threads kworker ×2 took 4.00 s of CPU time, while victim[1] ran 1.00 s and waited 4.00 s for a CPU (80 % of its time), within 6.00 s" },
	/* those whose names are nobody's business */
	{ .resource = PSI_CPU,
	  .stalled_us = 4000000,
	  .rows = { TARGET(.task.cpu_ns = SECOND, .stalled_cpu_ns = 4 * SECOND),
		    OTHER(.task.cpu_ns = 4 * SECOND) },
	  .machine = { .total_ns = 12 * SECOND, .parts_ns[MACHINE_DENIED] = 5 * SECOND },
	  .verdict = CAUSE_COMPETING,
	  .because =
		  "processes that root's policy denies took 5.00 s of CPU time, 42 % of the machine's, while victim[1] ran 1.00 s and waited 4.00 s for a CPU (80 % of its time), within 6.00 s" },
	/* nobody is blamed where nobody is hurt */
	{ .resource = PSI_CPU,
	  .stalled_us = 200000,
	  .observed_us = 20000,
	  .rows = { TARGET(.task.cpu_ns = 9 * SECOND, .stalled_cpu_ns = 200 * MILLISECOND),
		    OTHER(.task.cpu_ns = 9 * SECOND) },
	  .verdict = CAUSE_NEGLIGIBLE,
	  .because = "victim[1] waited 2.2 % of its time for a CPU: 0.20 s, and ran 9.00 s, within 6.00 s" },
	/* but they were, before the capture began */
	{ .resource = PSI_CPU,
	  .stalled_us = 200000,
	  .observed_us = 500000,
	  .rows = { TARGET(.task.cpu_ns = 9 * SECOND, .stalled_cpu_ns = 200 * MILLISECOND),
		    OTHER(.task.cpu_ns = 9 * SECOND) },
	  .verdict = CAUSE_COMPETING },
	{ .resource = PSI_CPU,
	  .stalled_us = 4000000,
	  .rows = { TARGET(.task.cpu_ns = SECOND, .stalled_cpu_ns = 4 * SECOND),
		    OTHER(.task.cpu_ns = SECOND) },
	  .machine = { .total_ns = 12 * SECOND, .parts_ns[MACHINE_STEAL] = 6 * SECOND },
	  .verdict = CAUSE_STEAL,
	  .because = "the hypervisor took 6.00 s, 50 % of the machine's time, within 6.00 s" },
	{ .resource = PSI_IO,
	  .stalled_us = 20000,
	  .observed_us = 20000,
	  .rows = { TARGET(.task.cpu_ns = 9 * SECOND, .stalled_io_ns = 100 * MILLISECOND),
		    OTHER(.task.read_bytes = 300 * MIB) },
	  .verdict = CAUSE_NEGLIGIBLE,
	  .because = "victim[1] waited 1.1 % of its time for a disk: 0.10 s, and ran 9.00 s, within 6.00 s" },
	{ .resource = PSI_IRQ,
	  .machine = { .total_ns = 12 * SECOND,
		       .parts_ns = { [MACHINE_IRQ] = SECOND, [MACHINE_SOFTIRQ] = 2 * SECOND } },
	  .verdict = CAUSE_INTERRUPTS,
	  .because =
		  "interrupts took 1.00 s and soft interrupts 2.00 s, 25.0 % of the machine's time, within 6.00 s" },
	/* measured, where the kernel counted ticks */
	{ .resource = PSI_IRQ,
	  .machine = { .total_ns = 12 * SECOND, .parts_ns[MACHINE_SOFTIRQ] = SECOND },
	  .interrupts = { { .key = { INTERRUPT_SOFT, 3 }, .sums.ns = 1200 * MILLISECOND },
			  { .key = { INTERRUPT_HARD, 36 }, .sums.ns = 600 * MILLISECOND, .name = "eth0-rx" },
			  { .key = { INTERRUPT_SOFT, 1 }, .sums.ns = 300 * MILLISECOND } },
	  .verdict = CAUSE_INTERRUPTS,
	  .because =
		  "interrupts took 0.60 s and soft interrupts 1.50 s, 17.5 % of the machine's time: NET_RX 1.20 s (10.0 %), eth0-rx 0.60 s (5.0 %), within 6.00 s" },
	/* a handler without a name */
	{ .resource = PSI_IRQ,
	  .machine = { .total_ns = 12 * SECOND },
	  .interrupts = { { .key = { INTERRUPT_HARD, 36 }, .sums.ns = 600 * MILLISECOND } },
	  .verdict = CAUSE_INTERRUPTS,
	  .because =
		  "interrupts took 0.60 s and soft interrupts 0.00 s, 5.0 % of the machine's time: interrupt 36 0.60 s (5.0 %), within 6.00 s" },
	{ .resource = PSI_IRQ,
	  .machine = { .total_ns = 12 * SECOND, .parts_ns[MACHINE_STEAL] = SECOND },
	  .interrupts = { { .key = { INTERRUPT_SOFT, 3 }, .sums.ns = 999 * MILLISECOND } },
	  .verdict = CAUSE_STEAL,
	  .because = "the hypervisor took 1.00 s, 8.3 % of the machine's time, within 6.00 s" },
	/* threads wait for a CPU that is in interrupts, part of them in ksoftirqd */
	{ .resource = PSI_CPU,
	  .stalled_us = 4000000,
	  .rows = { TARGET(.task.cpu_ns = SECOND, .stalled_cpu_ns = 4 * SECOND),
		    { .role = USAGE_KERNEL,
		      .process = { .comm = "ksoftirqd/0", .tgid = 8, .sums.task.cpu_ns = 5 * SECOND } } },
	  .machine = { .total_ns = 12 * SECOND },
	  .interrupts = { { .key = { INTERRUPT_SOFT, 3 }, .sums.ns = 4 * SECOND } },
	  .verdict = CAUSE_INTERRUPTS,
	  .because =
		  "interrupts took 0.00 s and soft interrupts 4.00 s, 33.3 % of the machine's time: NET_RX 4.00 s (33.3 %), within 6.00 s" },
	/* but a process took more */
	{ .resource = PSI_CPU,
	  .stalled_us = 4000000,
	  .rows = { TARGET(.task.cpu_ns = SECOND, .stalled_cpu_ns = 4 * SECOND),
		    OTHER(.task.cpu_ns = 5 * SECOND) },
	  .machine = { .total_ns = 12 * SECOND },
	  .interrupts = { { .key = { INTERRUPT_SOFT, 3 }, .sums.ns = 4 * SECOND } },
	  .verdict = CAUSE_COMPETING },
	/* or it was less than a quarter of the machine's time */
	{ .resource = PSI_CPU,
	  .stalled_us = 4000000,
	  .rows = { TARGET(.task.cpu_ns = SECOND, .stalled_cpu_ns = 4 * SECOND),
		    OTHER(.task.cpu_ns = 3 * SECOND) },
	  .machine = { .total_ns = 13 * SECOND },
	  .interrupts = { { .key = { INTERRUPT_SOFT, 3 }, .sums.ns = 3200 * MILLISECOND } },
	  .verdict = CAUSE_COMPETING },
	{ .resource = PSI_IO,
	  .rows = { TARGET(.task.read_bytes = 2048 * MIB), OTHER(.task.read_bytes = 30 * MIB) },
	  .stats = { { "diskstats", SYSTEM, "vda", "busy_ms", 0, 5000 } },
	  .verdict = CAUSE_OWN_IO,
	  .because =
		  "the targets read 2048.0 MiB and wrote 0.0 MiB, all other processes 30.0 MiB, and waited 0.00 s for it, within 6.00 s" },
	/* a storm of dd, whose bytes are no longer in their parent's */
	{ .resource = PSI_IO,
	  .rows = { TARGET(.task.write_bytes = 10 * MIB, .stalled_io_ns = SECOND) },
	  .ended = { { .role = USAGE_OTHER,
		       .key = { .comm = "dd", .parent = "bash" },
		       .sums = { .processes = 40, .write_bytes = 990 * MIB } } },
	  .verdict = CAUSE_COMPETING,
	  .because =
		  "dd ×40, begun by bash read 0.0 MiB and wrote 990.0 MiB, 99 % of what all processes did; victim[1] moved 10.0 MiB and waited 1.00 s for it, within 6.00 s" },
	/* who grew, and not who is large */
	{ .resource = PSI_MEMORY,
	  .of_system = true,
	  .rows = { TARGET(.rss_bytes = 900 * MIB, .grown_bytes = 2 * MIB),
		    OTHER(.rss_bytes = 400 * MIB, .rss_before_bytes = 100 * MIB, .grown_bytes = 300 * MIB) },
	  .stats = { { "vmstat", SYSTEM, "", "allocstall_normal", 5, 9 },
		     { "vmstat", SYSTEM, "", "pgscan_direct", 0, 256 },
		     { "vmstat", SYSTEM, "", "workingset_refault_file", 0, 512 } },
	  .verdict = CAUSE_SHORTAGE,
	  .because =
		  "4 allocations on the host waited for reclaim, which scanned 1.0 MiB (kswapd: 0.0 MiB); 2.0 MiB were read again that had been evicted, within 5.00 s; hog[2] grew most, by 300.0 MiB to 400.0 MiB, within 6.00 s" },
	/* the targets themselves */
	{ .resource = PSI_MEMORY,
	  .of_system = true,
	  .rows = { TARGET(.rss_bytes = 900 * MIB, .grown_bytes = 500 * MIB),
		    OTHER(.rss_bytes = 400 * MIB, .grown_bytes = 300 * MIB) },
	  .stats = { { "vmstat", SYSTEM, "", "pgscan_kswapd", 0, 256 } },
	  .verdict = CAUSE_SHORTAGE,
	  .because =
		  "kswapd scanned 1.0 MiB on the host, and no allocation waited for reclaim, within 5.00 s; victim[1] grew most, by 500.0 MiB to 900.0 MiB, within 6.00 s" },
	/* CPUs were idle: a quota that is not visible from here may be the reason, too */
	{ .resource = PSI_CPU,
	  .stalled_us = 4000000,
	  .rows = { TARGET(.task.cpu_ns = SECOND, .stalled_cpu_ns = 4 * SECOND),
		    OTHER(.task.cpu_ns = 4 * SECOND) },
	  .machine = { .total_ns = 12 * SECOND, .parts_ns[MACHINE_IDLE] = 7 * SECOND },
	  .verdict = CAUSE_COMPETING,
	  .because =
		  "hog[2] took 4.00 s of CPU time, 33 % of the machine's, while victim[1] ran 1.00 s and waited 4.00 s for a CPU (80 % of its time), within 6.00 s; the CPU controller is not that of cgroup v2: a quota of cgroup v1 would not be seen" },
	{ .resource = PSI_IRQ, .verdict = CAUSE_UNDETERMINED },
};

START_TEST(whoever_ran_on_other_cpus_took_nothing)
{
	struct usage_row rows[] = {
		TARGET(.task.cpu_ns = 3 * SECOND, .stalled_cpu_ns = 3 * SECOND),
		OTHER(.task.cpu_ns = 6 * SECOND),
		{ .role = USAGE_OTHER,
		  .process = { .comm = "neighbour", .tgid = 3, .sums = { .task.cpu_ns = 4 * SECOND } } }
	};
	struct capture_process processes[] = { { .role = USAGE_TARGET, .comm = "victim" },
					       { .role = USAGE_OTHER, .comm = "hog" },
					       { .role = USAGE_OTHER, .comm = "neighbour" } };
	/* on CPU, off CPU because it waited for a CPU, and off CPU because it slept */
	struct capture_row samples[] = { { .process = 0, .kind = SAMPLE_ON_CPU },
					 { .process = 0, .kind = SAMPLE_OFF_CPU, .stall = STALL_CPU },
					 { .process = 0, .kind = SAMPLE_OFF_CPU },
					 { .process = 1, .kind = SAMPLE_ON_CPU, .samples = 20 },
					 { .process = 2, .kind = SAMPLE_ON_CPU, .samples = 10 } };
	struct capture_event events[80];
	struct pressure_reading readings[2] = {
		{ .scope = PRESSURE_CGROUP }, { .scope = PRESSURE_CGROUP, .totals.us[PSI_SOME] = 3000000 }
	};
	struct capture capture = { .trigger = { .psi = { .resource = PSI_CPU, .window_us = 1000000 },
						.cgroup = (char *)"/it" },
				   .processes = processes,
				   .processes_count = ARRAY_SIZE(processes),
				   .rows = samples,
				   .rows_count = ARRAY_SIZE(samples),
				   .events = events,
				   .usage = { .rows = rows,
					      .count = ARRAY_SIZE(rows),
					      .before.walked_ns = SECOND,
					      .to_ns = 7 * SECOND },
				   .pressure = { .readings = readings, .count = ARRAY_SIZE(readings) },
				   .kernel_stats.counts_quotas = true };
	struct cause cause;

	/* the victim ran on CPU 3 and waited for CPU 1; it slept on CPU 2, where the hog runs; the neighbour, half on CPU 3 */
	for (uint32_t i = 0; i < 10; i++) {
		events[capture.events_count++] = (struct capture_event){ .row = 0, .cpu = 3 };
		events[capture.events_count++] = (struct capture_event){ .row = 1, .cpu = 1 };
		events[capture.events_count++] = (struct capture_event){ .row = 2, .cpu = 2 };
		events[capture.events_count++] = (struct capture_event){ .row = 3, .cpu = 2 };
		events[capture.events_count++] = (struct capture_event){ .row = 3, .cpu = CAPTURE_NO_CPU };
		events[capture.events_count++] = (struct capture_event){ .row = 4, .cpu = i % 2 ? 3 : 0 };
	}
	cause = cause_find(&capture, NULL, NULL);
	ck_assert_str_eq(
		cause.because,
		"neighbour[3] took 4.00 s of CPU time, 50 % of it on the targets' CPUs, while victim[1] ran 3.00 s and waited 3.00 s for a CPU (50 % of its time), within 6.00 s");
	/* it has so few samples that it ran before the capture was recorded, for all but 0.2 s */
	capture.trigger.hz = 50;
	samples[4].samples = 1;
	cause = cause_find(&capture, NULL, NULL);
	ck_assert_str_eq(cause.verdict, CAUSE_OWN_THREADS);
	/* unless the capture was full: then they may be missing */
	capture.losses[LOSS_OTHERS_FULL] = 1;
	cause = cause_find(&capture, NULL, NULL);
	ck_assert_msg(!strncmp(cause.because, "neighbour[3] took 4.00 s of CPU time, while", 43), "%s",
		      cause.because);
	capture.losses[LOSS_OTHERS_FULL] = 0;
	/* and where no other process has any: root's policy may not allow them */
	processes[1].role = USAGE_KERNEL;
	samples[4].samples = 0;
	cause = cause_find(&capture, NULL, NULL);
	ck_assert_msg(!strncmp(cause.because, "hog[2] took 6.00 s of CPU time, while", 37), "%s",
		      cause.because);
	processes[1].role = USAGE_OTHER;
	/* without the neighbour, nobody took anything */
	capture.usage.count = 2;
	cause = cause_find(&capture, NULL, NULL);
	ck_assert_str_eq(cause.verdict, CAUSE_OWN_THREADS);
	/* with few samples of the victim it is not known where it ran: whoever took most */
	samples[1].stall = 0;
	cause = cause_find(&capture, NULL, NULL);
	ck_assert_msg(!strncmp(cause.because, "hog[2] took 6.00 s of CPU time, while", 37), "%s",
		      cause.because);
}
END_TEST

/* A rule for the whole system, on a host whose memory controller is that of cgroup v2. */
START_TEST(reclaim_that_is_over_and_reclaim_of_a_limit)
{
	struct usage_row usage[] = { TARGET(.stalled_memory_ns = SECOND),
				     OTHER(.rss_bytes = 400 * MIB, .rss_before_bytes = 100 * MIB,
					   .grown_bytes = 300 * MIB) };
	struct cgroup_memory_row rows[] = {
		{ .cgroup = (char *)"/", .before.scanned = 5 * MIB, .after.scanned = 5 * MIB },
		{ .cgroup = (char *)"/calm", .before.scanned = 2 * MIB, .after.scanned = 3 * MIB },
		{ .cgroup = (char *)"/new", .before.scanned = -1, .after.scanned = 90 * MIB },
		{ .cgroup = (char *)"/full", .before.scanned = 3 * MIB, .after.scanned = 8 * MIB },
	};
	struct kernel_stat stats[] = { { "vmstat", SYSTEM, "", "pgfault", 0, 20 },
				       { "vmstat", SYSTEM, "", "workingset_refault_file", 256, 768 } };
	struct capture capture = { .trigger.psi = { .resource = PSI_MEMORY, .window_us = 1000000 },
				   .usage = { .rows = usage,
					      .count = ARRAY_SIZE(usage),
					      .before.walked_ns = SECOND,
					      .to_ns = 7 * SECOND },
				   .cgroup_memory = { .rows = rows, .count = 1 },
				   .kernel_stats = { .stats = stats,
						     .count = ARRAY_SIZE(stats),
						     .from_ns = SECOND,
						     .to_ns = 6 * SECOND } };
	struct cause cause = cause_find(&capture, NULL, NULL);

	ck_assert_str_eq(cause.verdict, CAUSE_SHORTAGE);
	ck_assert_str_eq(
		cause.because,
		"2.0 MiB were read again that had been evicted before the trigger, and nothing was reclaimed after it, within 5.00 s; hog[2] grew most, by 300.0 MiB to 400.0 MiB, within 6.00 s");
	/* nobody grew, nothing was scanned: no number says why, and all was examined */
	usage[1].process.sums.grown_bytes = 0;
	cause = cause_find(&capture, NULL, NULL);
	ck_assert_str_eq(cause.verdict, CAUSE_UNDETERMINED);
	ck_assert_msg(!strstr(cause.because, "cgroup v1"), "%s", cause.because);
	/* a cgroup reclaims by itself: whoever grew is not the reason */
	usage[1].process.sums.grown_bytes = 300 * MIB;
	rows[0].after.scanned = 10 * MIB;
	capture.cgroup_memory.count = ARRAY_SIZE(rows);
	cause = cause_find(&capture, NULL, NULL);
	ck_assert_str_eq(cause.verdict, CAUSE_OWN_LIMIT);
	ck_assert_str_eq(
		cause.because,
		"the targets were in reclaim for 1.00 s within 6.00 s, without any reclaim for the whole host; of cgroups /full was scanned most, 5.0 MiB: it or one above it reached its memory limit");
}
END_TEST

struct kill_case {
	struct kill_record kill; /* of the victim, which held 60 MiB */
	const char *limit_cgroup;
	uint64_t victim_mib, hog_mib; /* by how much they grew */
	const char *hog_cgroup;
	bool is_lost; /* there were too many kills to keep its row */
	const char *because, *culprit;
};

#define VICTIM "victim[1] in /above/it"
#define KILLED_BY VICTIM ", which held 60.0 MiB, was killed by "
#define AT_LIMIT(NAME) KILLED_BY "the kernel, because " NAME " had used up its 64.0 MiB"
#define HOG_GREW(WHERE) "; hog[2] in " WHERE " grew most, by 300.0 MiB to 300.0 MiB, within 6.00 s"

static const struct kill_case kill_cases[] = {
	{ { .how = KILL_OOM },
	  NULL,
	  50,
	  300,
	  "/other",
	  false,
	  KILLED_BY "the kernel, because the host's memory was used up" HOG_GREW("/other"),
	  "hog[2] in /other" },
	{ { .how = KILL_SIGNAL },
	  NULL,
	  50,
	  300,
	  "/other",
	  false,
	  KILLED_BY "systemd-oomd" HOG_GREW("/other"),
	  "hog[2] in /other" },
	/* whoever grew elsewhere did not meet the limit */
	{ { .how = KILL_OOM, .limit_bytes = 64 * MIB },
	  "/above",
	  50,
	  300,
	  "/other",
	  false,
	  AT_LIMIT("/above") "; " VICTIM " grew most, by 50.0 MiB to 50.0 MiB, within 6.00 s",
	  VICTIM },
	{ { .how = KILL_OOM, .limit_bytes = 64 * MIB },
	  "/above",
	  50,
	  300,
	  "/above/that",
	  false,
	  AT_LIMIT("/above") HOG_GREW("/above/that"),
	  "hog[2] in /above/that" },
	{ { .how = KILL_OOM, .limit_bytes = 64 * MIB },
	  "/above",
	  0,
	  300,
	  "/abovethat",
	  false,
	  AT_LIMIT("/above"),
	  VICTIM },
	/* the victim's growth was not seen: another one's, of less than it held, is not the reason */
	{ { .how = KILL_OOM },
	  NULL,
	  0,
	  59,
	  "/other",
	  false,
	  KILLED_BY "the kernel, because the host's memory was used up",
	  VICTIM },
	/* a limit of version 1 has no path here */
	{ { .how = KILL_OOM, .limit_bytes = 64 * MIB, .flags = KILL_LIMIT_V1 },
	  "of-v1",
	  0,
	  300,
	  "/above/it/too",
	  false,
	  AT_LIMIT("of-v1") HOG_GREW("/above/it/too"),
	  "hog[2] in /above/it/too" },
	{ { .how = KILL_OOM, .limit_bytes = 64 * MIB },
	  "/above",
	  0,
	  0,
	  "/other",
	  true,
	  "victim[1], which held 60.0 MiB, was killed by the kernel, because its cgroup had used up its 64.0 MiB",
	  "victim[1]" },
};

START_TEST(a_kill_blames_whoever_grew_below_its_limit)
{
	const struct kill_case *one = &kill_cases[_i];
	struct usage_row usage[] = {
		TARGET(.rss_bytes = one->victim_mib * MIB, .grown_bytes = one->victim_mib * MIB),
		OTHER(.rss_bytes = one->hog_mib * MIB, .grown_bytes = one->hog_mib * MIB)
	};
	struct kill_row row = { .record = one->kill,
				.is_target = true,
				.is_by_oomd = one->kill.how == KILL_SIGNAL,
				.cgroup = (char *)"/above/it",
				.limit_cgroup = (char *)one->limit_cgroup };
	struct capture capture = { .trigger = { .mode = TRIGGER_KILL, .psi.resource = PSI_MEMORY },
				   .usage = { .rows = usage,
					      .count = ARRAY_SIZE(usage),
					      .before.walked_ns = SECOND,
					      .to_ns = 7 * SECOND,
					      .kills = { &row, !one->is_lost } } };
	struct cause cause;

	usage[0].cgroup = "/above/it";
	usage[1].cgroup = one->hog_cgroup;
	row.record.tgid = 1;
	row.record.rss_bytes = 60 * MIB;
	strcpy(row.record.comm, "victim");
	capture.trigger.kill = row.record;
	cause = cause_find(&capture, NULL, NULL);
	ck_assert_str_eq(cause.verdict, CAUSE_KILL);
	ck_assert_str_eq(cause.because, one->because);
	ck_assert_str_eq(cause.culprit, one->culprit);
}
END_TEST

/* Whom the sentence blames: it begins with that group, but for memory. Limits, devices and interrupts are nobody. */
static void expect_culprit(const struct cause *cause)
{
	static const char *const nobody[] = { CAUSE_THROTTLED,   CAUSE_OWN_LIMIT, CAUSE_DEVICE,
					      CAUSE_INTERRUPTS,  CAUSE_STEAL,     CAUSE_NEGLIGIBLE,
					      CAUSE_UNDETERMINED };
	const char *grew = strstr(cause->because, " grew most");
	size_t length = strlen(cause->culprit);

	for (size_t i = 0; i < ARRAY_SIZE(nobody); i++)
		if (!strcmp(cause->verdict, nobody[i]))
			ck_assert_str_eq(cause->culprit, "");
	if (!strcmp(cause->verdict, CAUSE_COMPETING) || !strcmp(cause->verdict, CAUSE_OWN_THREADS))
		ck_assert_msg(!strncmp(cause->because, length ? cause->culprit : "processes ",
				       length ? length : strlen("processes ")),
			      "'%s': %s", cause->culprit, cause->because);
	if (grew)
		ck_assert_msg(length && !strncmp(grew - length, cause->culprit, length), "'%s': %s",
			      cause->culprit, cause->because);
}

START_TEST(verdicts)
{
	const struct cause_case *one = &cause_cases[_i];
	struct capture capture = { .trigger = { .psi = { .resource = one->resource },
						.cgroup = one->of_system ? NULL : (char *)"/above/it" },
				   .kernel_stats = { .from_ns = SECOND, .to_ns = 6 * SECOND } };
	struct usage_row rows[ROWS_MOST];
	struct ended_row ended[ENDED_MOST];
	struct interrupt interrupts[INTERRUPTS_MOST];
	struct kernel_stat stats[STATS_MOST];
	struct pressure_reading readings[4] = { 0 };
	struct cause cause;

	memcpy(rows, one->rows, sizeof(rows));
	memcpy(stats, one->stats, sizeof(stats));
	capture.usage.rows = rows;
	while (capture.usage.count < ROWS_MOST &&
	       (rows[capture.usage.count].role == USAGE_REST || *rows[capture.usage.count].process.comm))
		capture.usage.count++;
	memcpy(ended, one->ended, sizeof(ended));
	capture.usage.ended = ended;
	while (capture.usage.ended_count < ENDED_MOST && ended[capture.usage.ended_count].sums.processes)
		capture.usage.ended_count++;
	capture.usage.machine = one->machine;
	memcpy(interrupts, one->interrupts, sizeof(interrupts));
	capture.usage.interrupts.rows = interrupts;
	while (capture.usage.interrupts.count < INTERRUPTS_MOST &&
	       interrupts[capture.usage.interrupts.count].key.kind) {
		const struct interrupt *row = &interrupts[capture.usage.interrupts.count++];

		*(row->key.kind == INTERRUPT_SOFT ? &capture.usage.interrupts.soft_ns
						  : &capture.usage.interrupts.hard_ns) += row->sums.ns;
	}
	capture.trigger.psi.window_us = 1000000;
	capture.trigger.observed_us = one->observed_us;
	capture.usage.rest_targets = one->rest_targets;
	capture.usage.rest_others = one->rest_others;
	capture.usage.before.walked_ns = SECOND;
	capture.usage.to_ns = 7 * SECOND;
	capture.kernel_stats.stats = stats;
	while (capture.kernel_stats.count < STATS_MOST && stats[capture.kernel_stats.count].source)
		capture.kernel_stats.count++;
	for (size_t i = 0; i < ARRAY_SIZE(readings); i++) {
		readings[i].scope = i & 1 && !one->of_system ? PRESSURE_CGROUP : PRESSURE_SYSTEM;
		readings[i].resource = one->resource;
		readings[i].totals.us[PSI_SOME] = i < 2 ? 77 : 77 + (i == 3 ? one->stalled_us : 1);
	}
	capture.pressure.readings = readings;
	capture.pressure.count = ARRAY_SIZE(readings);
	cause = cause_find(&capture, one->hottest ? hottest : NULL, (void *)one->hottest);
	ck_assert_str_eq(cause.verdict, one->verdict);
	if (one->because)
		ck_assert_str_eq(cause.because, one->because);
	expect_culprit(&cause);
}
END_TEST

/* ---- statistics ---- */

static const struct kernel_stat *find(const struct kernel_stats *stats, int scope, const char *source,
				      const char *device, const char *name)
{
	for (uint32_t i = 0; i < stats->count; i++) {
		const struct kernel_stat *stat = &stats->stats[i];

		if (stat->scope == scope && !strcmp(stat->source, source) && !strcmp(stat->device, device) &&
		    !strcmp(stat->name, name))
			return stat;
	}
	return NULL;
}

static void holds(const struct kernel_stats *stats, int scope, const char *source, const char *device,
		  const char *name, int64_t before, int64_t after)
{
	const struct kernel_stat *stat = find(stats, scope, source, device, name);

	ck_assert_msg(stat, "%s of %s is not there", name, source);
	ck_assert_int_eq(stat->before, before);
	ck_assert_int_eq(stat->after, after);
}

START_TEST(files_of_a_cgroup_and_those_above)
{
	_cleanup_free_ char *mount = directory_make();
	static char memory[1 << 20];
	struct kernel_stats stats;

	file_put_below(mount, "a/b/cpu.stat",
		       "usage_usec 10\nuser_usec 7\nnr_throttled 1\nthrottled_usec 100\n");
	file_put_below(mount, "a/b/cpu.max", "20000 100000\n");
	file_put_below(mount, "a/b/memory.max", "max\n");
	file_put_below(mount, "a/b/memory.high", "67108864\n");
	file_put_below(mount, "a/b/memory.stat", "anon 4096\npgscan 5\nworkingset_refault_file 1\n");
	file_put_below(mount, "a/b/io.stat",
		       "254:0 rbytes=1 wbytes=2 rios=3 wios=4\n8:0 rbytes=5 wbytes=6\n");
	file_put_below(mount, "a/memory.events", "low 0\nhigh 0\nmax 3\noom 0\n");
	file_put_below(mount, "cpu.stat", "usage_usec 1000\n");
	kernel_stats_begin(&stats, mount, "/a/b", SECOND);
	memset(memory, 1, sizeof(memory)); /* a page fault */
	file_put_below(mount, "a/b/cpu.stat",
		       "usage_usec 30\nuser_usec 7\nnr_throttled 2\nthrottled_usec 900\n");
	file_put_below(mount, "a/b/memory.max", "4096\n");
	file_put_below(mount, "a/b/memory.stat", "anon 8192\nworkingset_refault_file 9\npgscan 6\n");
	file_put_below(mount, "a/b/io.stat",
		       "8:0 rbytes=5 wbytes=7\n254:0 rbytes=1 wbytes=20 rios=3 wios=5\n");
	file_put_below(mount, "a/memory.events", "low 0\nhigh 0\nmax 5\noom 0\n");
	file_put_below(mount, "cpu.stat", "usage_usec 2000\n");
	kernel_stats_end(&stats, mount, "/a/b", 3 * SECOND);

	ck_assert_uint_eq(stats.from_ns, SECOND);
	ck_assert_uint_eq(stats.to_ns, 3 * SECOND);
	holds(&stats, 0, "cpu.stat", "", "usage_usec", 10, 30);
	holds(&stats, 0, "cpu.stat", "", "throttled_usec", 100, 900);
	holds(&stats, 0, "cpu.max", "", "quota_usec", 20000, 20000);
	holds(&stats, 0, "memory.max", "", "bytes", -1, 4096);
	holds(&stats, 0, "memory.high", "", "bytes", 67108864, 67108864);
	holds(&stats, 0, "memory.stat", "", "pgscan", 5, 6);
	holds(&stats, 0, "memory.stat", "", "workingset_refault_file", 1, 9);
	holds(&stats, 0, "io.stat", "254:0", "wbytes", 2, 20);
	holds(&stats, 0, "io.stat", "8:0", "wbytes", 6, 7);
	holds(&stats, 1, "memory.events", "", "max", 3, 5);
	holds(&stats, 2, "cpu.stat", "", "usage_usec", 1000, 2000);
	/* what did not change, and what bourdon does not record */
	ck_assert_ptr_null(find(&stats, 0, "cpu.stat", "", "user_usec"));
	ck_assert_ptr_null(find(&stats, 0, "memory.stat", "", "anon"));
	ck_assert_ptr_null(find(&stats, 1, "memory.events", "", "oom"));
	/* read on this machine */
	ck_assert_ptr_nonnull(find(&stats, KERNEL_STAT_SYSTEM, "vmstat", "", "pgfault"));
	kernel_stats_free(&stats);
	/* of the system: the root cgroup's CPU time, and nothing else of a cgroup */
	kernel_stats_begin(&stats, mount, NULL, SECOND);
	file_put_below(mount, "cpu.stat", "usage_usec 2500\n");
	kernel_stats_end(&stats, mount, NULL, 3 * SECOND);
	holds(&stats, KERNEL_STAT_SYSTEM, "cpu.stat", "", "usage_usec", 2000, 2500);
	ck_assert_ptr_null(find(&stats, 0, "cpu.stat", "", "usage_usec"));
	kernel_stats_free(&stats);
}
END_TEST

/* What was last read of a cgroup that is removed counts; one that is made in its place is another one. */
START_TEST(a_cgroup_that_is_removed_keeps_its_last_numbers)
{
	_cleanup_free_ char *mount = directory_make(), *cgroup = path_join(mount, "a/b"),
			    *file = path_join(mount, "a/b/cpu.stat"), *away = path_join(mount, "gone");
	struct kernel_stats stats;

	file_put_below(mount, "a/b/cpu.stat", "nr_periods 10\nnr_throttled 1\nthrottled_usec 100\n");
	file_put_below(mount, "a/cpu.stat", "usage_usec 100\n");
	kernel_stats_begin(&stats, mount, "/a/b", SECOND);
	file_put_below(mount, "a/b/cpu.stat", "nr_periods 20\nnr_throttled 9\nthrottled_usec 700\n");
	kernel_stats_look(&stats, mount, "/a/b");
	/* its directory stays elsewhere, so that the new one is not given its number */
	ck_assert_int_eq(unlink(file), 0);
	ck_assert_int_eq(rename(cgroup, away), 0);
	kernel_stats_look(&stats, mount, "/a/b");
	file_put_below(mount, "a/b/cpu.stat", "nr_periods 2\nnr_throttled 2\nthrottled_usec 99999\n");
	file_put_below(mount, "a/cpu.stat", "usage_usec 300\n");
	kernel_stats_end(&stats, mount, "/a/b", 3 * SECOND);
	holds(&stats, 0, "cpu.stat", "", "throttled_usec", 100, 700);
	holds(&stats, 0, "cpu.stat", "", "nr_throttled", 1, 9);
	holds(&stats, 1, "cpu.stat", "", "usage_usec", 100, 300);
	kernel_stats_free(&stats);
	directory_remove(mount);
}
END_TEST

START_TEST(scopes)
{
	static const int lengths[] = { 6, 2, 1, -1, -1 };

	for (int i = 0; i < (int)ARRAY_SIZE(lengths); i++)
		ck_assert_int_eq(kernel_stat_scope_length(&(struct kernel_stat){ .scope = i }, "/a/bcd"),
				 lengths[i]);
	ck_assert_int_eq(kernel_stat_scope_length(&(struct kernel_stat){ .scope = 0 }, "/"), 1);
	ck_assert_int_eq(kernel_stat_scope_length(&(struct kernel_stat){ .scope = 1 }, "/"), -1);
}
END_TEST

START_TEST(strange_files)
{
	_cleanup_free_ char *mount = directory_make(), *many = calloc(1, 200000);
	struct kernel_stats stats;
	size_t length = 0;

	for (int i = 0; i < 9000; i++)
		length += (size_t)sprintf(many + length, "n%d %d\n", i, i);
	file_put_below(mount, "x/cpu.stat", many);
	file_put_below(mount, "x/cpu.max", "max 100000\n");
	file_put_below(mount, "x/memory.events",
		       "\n \nmax\nmax x\nmax 18446744073709551615\n"
		       "a_name_that_is_longer_than_thirty_one_characters 7\n");
	file_put_below(mount, "x/io.stat", "254:0\n254:1 =\n254:2 rbytes\n254:3 rbytes=x wbytes=3 =4\n=\n");
	kernel_stats_begin(&stats, mount, "/x", SECOND);
	for (size_t i = 0; i < length; i++)
		many[i] = many[i] == ' ' ? '\t' : many[i]; /* all values differ */
	for (char *at = many; (at = strchr(at, '\n')); at++)
		at[-1] = at[-1] == '7' ? '8' : '7';
	file_put_below(mount, "x/cpu.stat", many);
	kernel_stats_end(&stats, mount, "/x", 2 * SECOND);
	ck_assert_uint_eq(stats.count, 4096);
	ck_assert_ptr_null(find(&stats, 0, "cpu.max", "", "quota_usec"));
	kernel_stats_free(&stats);
	/* a cgroup that does not exist any more */
	kernel_stats_begin(&stats, mount, "/x", SECOND);
	directory_remove(mount);
	kernel_stats_end(&stats, mount, "/x", 2 * SECOND);
	ck_assert_ptr_nonnull(find(&stats, 0, "cpu.stat", "", "n1"));
	ck_assert_int_eq(find(&stats, 0, "cpu.stat", "", "n1")->after, -1);
	kernel_stats_free(&stats);
}
END_TEST

SUITE(cause)
{
	Suite *suite = suite_create("cause");
	TCase *tcase = tcase_create("cause");

	tcase_add_test(tcase, whoever_ran_on_other_cpus_took_nothing);
	tcase_add_test(tcase, reclaim_that_is_over_and_reclaim_of_a_limit);
	tcase_add_loop_test(tcase, verdicts, 0, ARRAY_SIZE(cause_cases));
	tcase_add_loop_test(tcase, a_kill_blames_whoever_grew_below_its_limit, 0, ARRAY_SIZE(kill_cases));
	tcase_add_test(tcase, files_of_a_cgroup_and_those_above);
	tcase_add_test(tcase, a_cgroup_that_is_removed_keeps_its_last_numbers);
	tcase_add_test(tcase, scopes);
	tcase_add_test(tcase, strange_files);
	suite_add_tcase(suite, tcase);
	return suite;
}
