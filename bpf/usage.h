/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * usage.h reads what a thread or a process has used, for the walk over all processes and for those that end.
 */
#ifndef BOURDON_BPF_USAGE_H
#define BOURDON_BPF_USAGE_H

#include "bpf/maps.h"

#define PAGE_BYTES 4096U

/* from the enum in linux/mm_types_task.h */
#define MM_FILEPAGES 0
#define MM_ANONPAGES 1
#define MM_SHMEMPAGES 3

static __always_inline __u64 rss_bytes(struct mm_struct *mm)
{
	struct mm_struct___before_6_2 *before = (void *)mm;
	__s64 pages;

	if (!mm)
		return 0;
	if (bpf_core_field_exists(before->rss_stat.count))
		pages = BPF_CORE_READ(before, rss_stat.count[MM_FILEPAGES].counter) +
			BPF_CORE_READ(before, rss_stat.count[MM_ANONPAGES].counter) +
			BPF_CORE_READ(before, rss_stat.count[MM_SHMEMPAGES].counter);
	else
		pages = BPF_CORE_READ(mm, rss_stat[MM_FILEPAGES].count) +
			BPF_CORE_READ(mm, rss_stat[MM_ANONPAGES].count) +
			BPF_CORE_READ(mm, rss_stat[MM_SHMEMPAGES].count);
	/* since 6.2 the counters are approximate and may be negative */
	return pages > 0 ? (__u64)pages * PAGE_BYTES : 0;
}

static __always_inline void read_usage(struct task_struct *task, struct task_usage *usage)
{
	usage->cpu_ns = BPF_CORE_READ(task, se.sum_exec_runtime);
	if (bpf_core_field_exists(task->sched_info.run_delay))
		usage->run_delay_ns = BPF_CORE_READ(task, sched_info.run_delay);
	usage->major_faults = BPF_CORE_READ(task, maj_flt);
	usage->minor_faults = BPF_CORE_READ(task, min_flt);
	usage->voluntary_switches = BPF_CORE_READ(task, nvcsw);
	usage->involuntary_switches = BPF_CORE_READ(task, nivcsw);
	if (bpf_core_field_exists(task->ioac.read_bytes)) {
		usage->read_bytes = BPF_CORE_READ(task, ioac.read_bytes);
		usage->write_bytes = BPF_CORE_READ(task, ioac.write_bytes);
	}
}

/* Returns false if this kernel does not account I/O delay. */
static __always_inline bool read_io_delay(struct task_struct *task, struct task_usage *usage)
{
	struct task_delay_info *delays;

	if (!bpf_core_field_exists(task->delays))
		return false;
	delays = BPF_CORE_READ(task, delays);
	if (!delays)
		return false;
	usage->io_delay_ns = BPF_CORE_READ(delays, blkio_delay);
	return true;
}

/* Adds the time that the process was in direct reclaim. */
static __always_inline void add_reclaims(struct task_struct *leader, struct task_usage *usage)
{
	__u32 tgid = BPF_CORE_READ(leader, tgid);
	const struct reclaims *sums = bpf_map_lookup_elem(&reclaims, &tgid);

	if (!sums || sums->started_ns != BPF_CORE_READ(leader, start_boottime))
		return;
	usage->reclaim_ns += sums->ns;
	usage->reclaims += sums->times;
}

/* Adds what the process's threads used that have ended. */
static __always_inline void add_ended_threads(struct task_struct *leader, struct task_usage *usage)
{
	struct signal_struct *signal = BPF_CORE_READ(leader, signal);
	__u32 tgid = BPF_CORE_READ(leader, tgid);
	const struct thread_bytes *bytes = bpf_map_lookup_elem(&thread_bytes, &tgid);

	usage->cpu_ns += BPF_CORE_READ(signal, sum_sched_runtime);
	usage->major_faults += BPF_CORE_READ(signal, maj_flt);
	usage->minor_faults += BPF_CORE_READ(signal, min_flt);
	usage->voluntary_switches += BPF_CORE_READ(signal, nvcsw);
	usage->involuntary_switches += BPF_CORE_READ(signal, nivcsw);
	if (bytes && bytes->started_ns == BPF_CORE_READ(leader, start_boottime)) {
		usage->read_bytes += bytes->read_bytes;
		usage->write_bytes += bytes->write_bytes;
	}
}

#endif
