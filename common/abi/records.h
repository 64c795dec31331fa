/* SPDX-License-Identifier: GPL-2.0-only */
/* abi/records.h defines what iterators and rings tell one by one: a part of common/abi/abi.h. */
#ifndef BOURDON_ABI_RECORDS_H
#define BOURDON_ABI_RECORDS_H

#include "common/abi/base.h"

/* ---- states of threads ---- */

/* As ps(1) has them, but a thread that runs is told from one that waits for a CPU. */
#define THREAD_RUNNING 0U
#define THREAD_QUEUED 1U
#define THREAD_SLEEPING 2U
#define THREAD_DISK 3U
#define THREAD_STOPPED 4U
#define THREAD_TRACED 5U
#define THREAD_DEAD 6U
#define THREAD_ZOMBIE 7U
#define THREAD_PARKED 8U
#define THREAD_IDLE 9U
#define THREAD_STATES 10U
#define THREAD_STATE_NAMES "running", "queued", "S", "D", "T", "t", "X", "Z", "P", "I"

/* ---- activity: threads that one look found alike ---- */

#define ACTIVITY_KERNEL 1U /* a kernel thread */

struct activity_key {
	char comm[ABI_COMM_BYTES]; /* of the process */
	__u64 cgroup_id;
	__u32 uid;
	__s32 call; /* system call; -1: none, or not known */
	__s32 function; /* where it is off CPU, as a frame of a kernel stack; KERNEL_FRAME_UNKNOWN: none, or not known */
	__u16 state; /* THREAD_* */
	__u16 flags; /* ACTIVITY_* */
};

struct activity_slot {
	struct activity_key key;
	__u64 look; /* the last one that counted threads here */
	__u32 threads;
	__u32 reserved;
};

#define ACTIVITY_SLOTS 8192U /* a power of two */
#define ACTIVITY_STATES 16U  /* a power of two, THREAD_STATES or more */

/* The iterator's last record: a look that is whole. Before it may be records of cgroups. */
struct activity_look {
	struct record_header header;
	__u32 threads; /* that root's policy shows */
	__u64 number;
	__u32 others[ACTIVITY_STATES]; /* threads that found no slot, by state */
};

/* ---- errors: what a program failed to do ---- */

#define ERROR_TARGETS_FULL 1U
#define ERROR_EVENTS_FULL 2U
#define ERROR_KERNEL_STACK 3U
#define ERROR_USER_STACK 4U

struct error_event {
	struct record_header header;
	__u32 code; /* ERROR_* */
	__u32 tgid;
	__s32 error; /* negative errno, or 0 */
	__u64 time_ns;
	char comm[ABI_COMM_BYTES];
};

/* ---- tasks: a record for each process with an address space, and one for each of its other threads ---- */

/* Resources that a task has used since it started, as the kernel counts them. */
struct task_usage {
	__u64 cpu_ns; /* task_struct.se.sum_exec_runtime: exact, not by ticks */
	__u64 run_delay_ns;
	__u64 io_delay_ns; /* block I/O; valid if TASK_IO_DELAY is set */
	__u64 major_faults;
	__u64 minor_faults;
	/* its own: the kernel adds those of a child to the parent that waits for it (signal_struct.ioac) */
	__u64 read_bytes;
	__u64 write_bytes;
	__u64 voluntary_switches;
	__u64 involuntary_switches;
	/* of a process: time in direct reclaim, on CPU and off; of a thread 0 */
	__u64 reclaim_ns;
	__u64 reclaims;
};

static inline __attribute__((always_inline)) void task_usage_add(struct task_usage *sum,
								 const struct task_usage *more)
{
	sum->cpu_ns += more->cpu_ns;
	sum->run_delay_ns += more->run_delay_ns;
	sum->io_delay_ns += more->io_delay_ns;
	sum->major_faults += more->major_faults;
	sum->minor_faults += more->minor_faults;
	sum->read_bytes += more->read_bytes;
	sum->write_bytes += more->write_bytes;
	sum->voluntary_switches += more->voluntary_switches;
	sum->involuntary_switches += more->involuntary_switches;
	sum->reclaim_ns += more->reclaim_ns;
	sum->reclaims += more->reclaims;
}

#define TASK_IO_DELAY 1U  /* the kernel accounts I/O delay: sysctl kernel.task_delayacct=1 */
#define TASK_KERNEL 2U    /* a kernel thread */
#define TASK_DENIED 4U    /* root's policy denies the process: only usage.cpu_ns is told, all else is 0 */
#define TASK_IRQ_APART 8U /* cpu_ns leaves out time in interrupts: CONFIG_IRQ_TIME_ACCOUNTING */
#define TASK_STEAL_APART                                                                                     \
	16U /* cpu_ns leaves out time stolen by the hypervisor: CONFIG_PARAVIRT_TIME_ACCOUNTING */

struct task_record {
	struct record_header header;
	__u32 tgid;
	__u32 pattern_id; /* 0: not a target */
	__u32 uid;
	__u64 started_ns;
	__u64 cgroup_id;
	char comm[ABI_COMM_BYTES];
	struct task_usage usage; /* first thread, plus all exited threads (except their delays) */
	__u64 rss_bytes;
	/* of a target, since it became a target; otherwise 0 */
	__u64 stalled_cpu_ns;
	__u64 stalled_memory_ns;
	__u64 stalled_io_ns;
	__u64 unstacked_ns;
	__u64 unstacked;
	__u32 flags;   /* TASK_* */
	__u32 program; /* as sample.program */
};

struct thread_record {
	struct record_header header;
	__u32 tgid;
	__u64 started_ns; /* start of the process */
	struct task_usage usage;
};

/* ---- in `events`: a process is killed because memory ran out; in `cgroup_paths`: by another process ---- */

#define KILL_OOM 0U    /* by the kernel */
#define KILL_SIGNAL 1U /* SIGKILL of another process */
#define KILL_KINDS 2U

/* kill_record.flags */
#define KILL_DENIED 1U    /* root's policy denies the victim: tgid, cgroup_id, rss_bytes and comm are 0 */
#define KILL_BY_DENIED 2U /* the same of the killer: by_tgid, by_cgroup_id and by_comm are 0 */
#define KILL_LIMIT_V1 4U  /* the limit is that of a cgroup of version 1: it has no path here, but a name */

#define KILL_LIMIT_NAME_BYTES 64U

struct kill_record {
	struct record_header header;
	__u32 how;     /* KILL_OOM or KILL_SIGNAL */
	__u64 time_ns; /* CLOCK_MONOTONIC */
	__u64 cgroup_id;
	__u64 rss_bytes;
	__u64 by_cgroup_id;
	__u64 limit_bytes; /* KILL_OOM: of the cgroup that was full; 0: the host was */
	__u32 tgid;
	__u32 by_tgid; /* KILL_OOM: whoever asked for memory */
	__u32 account; /* uid that the record counts for: of the victim for KILL_OOM, else of the killer */
	__u32 limit_level; /* of that cgroup below the root; it is above the victim, or the victim's */
	__u32 flags;       /* KILL_* */
	__u32 reserved;
	char comm[ABI_COMM_BYTES];
	char by_comm[ABI_COMM_BYTES];
	char limit_name[KILL_LIMIT_NAME_BYTES]; /* KILL_LIMIT_V1; with a NUL */
};

/*
 * ---- states: a look at each thread of a target, and at each other one in D or queued; followed by its frames ----
 */

#define LOOK_FRAMES 32U

/* off CPU since the last look of this series (control.looks_series): its call, fd, lock and frames are those of then */
#define LOOK_SAME 1U

struct look_record {
	struct record_header header; /* `bytes` excludes the frames */
	__u32 tid;
	__u32 tgid;
	__u32 program;    /* as sample.program */
	__u64 started_ns; /* start of the process, CLOCK_BOOTTIME */
	__u64 cgroup_id;
	__u64 lock;                /* as sample.lock */
	__s32 call;                /* number of its system call; -1: none, or not known */
	__s32 fd;                  /* the call's first argument, if that is a descriptor; else -1 */
	char comm[ABI_COMM_BYTES]; /* name of the thread */
	__u8 state;                /* THREAD_* */
	__u8 of;                   /* SAMPLE_OF_* */
	__u8 flags;                /* LOOK_* */
	__u8 reserved1;
	/* kernel frames that follow, as __s32 KERNEL_FRAME_*, innermost first; LOOK_FRAMES: there may be more */
	__u16 depth;
	__u16 reserved2;
};

/*
 * ---- mappings: of each target one RECORD_MAPPED, then a RECORD_MAPPING for each executable mapping ----
 *
 * A process has at most UNWIND_MAPPINGS_MAX mappings in the list: more would find no room in the unwind tables.
 * Processes with many mappings are listed apart, so that they keep no other process waiting.
 */

#define MAPPINGS_OF_FEW 0U  /* of processes with up to UNWIND_MAPPINGS_MAX mappings of any kind */
#define MAPPINGS_OF_MANY 1U /* of processes with more */
/* of every process that policy allows, what fits into one buffer, whether it is sampled or not */
#define MAPPINGS_OF_ALL 2U
/*
 * of processes with few whose program was not met before, or was first met less than MAPPINGS_NEW_MS ago and has another number of
 * mappings than when they were listed
 */
#define MAPPINGS_OF_NEW 3U
#define MAPPINGS_KINDS 4U
#define MAPPINGS_NEW_MS 500U

/* mapped_record.flags */
#define MAPPED_LISTED 1U /* some of its mappings follow */
/* the following are in a second record, behind the mappings */
#define MAPPED_MORE 2U       /* the list is not complete: the next pass of the same scan goes on */
#define MAPPED_BUSY 4U       /* as MAPPED_MORE: the process changes its mappings at the moment */
#define MAPPED_BYSTANDER 16U /* of every record of a process that is no target */
#define MAPPED_CUT 8U        /* it has more executable mappings than are listed */

struct mapped_record {
	struct record_header header;
	__u32 tgid;
	__u64 started_ns;
	__u32 uid;
	__u32 mappings; /* of any kind */
	__u32 flags;    /* MAPPED_* */
	__u32 program;  /* as sample.program */
	char comm[ABI_COMM_BYTES];
};

/* RECORD_MAPPING is followed by path_bytes bytes of path. */
#define MAPPING_PATH_BYTES 4096U

#define MAPPING_IS_EXE 1U /* the mapped file is the process's executable */
#define MAPPING_IS_VDSO 2U
#define MAPPING_NO_PATH 4U /* file-backed, but its path could not be read this time */
/* of no file, where the executable's code was: file_offset counts from the page of its first byte of code */
#define MAPPING_IS_TEXT 8U

struct mapping_record {
	struct record_header header; /* `bytes` excludes the path */
	__u32 tgid;
	__u64 started_ns;
	__u64 begins; /* virtual address */
	__u64 ends;
	__u64 file_offset; /* bytes */
	__u64 inode;
	__u32 device_major;
	__u32 device_minor;
	__u32 flags;      /* MAPPING_* */
	__u32 path_bytes; /* 0: anonymous or MAPPING_NO_PATH. The NUL is neither counted nor sent */
	__u32 epoch; /* mm_struct.mm_lock_seq: differs after each change of mappings; 0: the kernel has none */
	__u32 reserved;
};

/*
 * ---- cgroup_paths, and between the records of tasks: the path of a cgroup, followed by path_bytes bytes ----
 *
 * Programs tell the path of a process's cgroup when they report the process. They skip ids in cgroups_known,
 * where the consumer puts each id whose path it has.
 */

/*
 * Of a path, without a NUL. With the mount point before it and the name of a file behind it, it fits into
 * PATH_MAX (4096): a longer path cannot be opened.
 */
#define CGROUP_PATH_BYTES 3840U
/* Levels below the root. The kernel has no limit; container runtimes make fewer than ten. */
#define CGROUP_LEVELS 64U

#define CGROUP_TOO_LONG 1U /* more than CGROUP_PATH_BYTES or CGROUP_LEVELS: there is no path */

struct cgroup_record {
	struct record_header header; /* `bytes` excludes the path */
	__u32 path_bytes;            /* 0: CGROUP_TOO_LONG */
	__u64 cgroup_id;
	/*
	 * The topmost ancestor that another user than root may write to, or the cgroup itself if there is
	 * none: whoever makes cgroups below it shares one budget.
	 */
	__u64 account;
	__u32 flags; /* CGROUP_* */
	__u32 reserved;
};

/* Elements of cgroups_known: cgroup id -> 1. The consumer forgets before it has so many. */
#define CGROUPS_KNOWN 32768U

ABI_SIZE(error_event, 40);
ABI_CHECK(error_event, comm, 24);
ABI_SIZE(task_record, 192);
ABI_CHECK(task_record, comm, 32);
ABI_CHECK(task_record, rss_bytes, 136);
ABI_SIZE(thread_record, 104);
ABI_SIZE(activity_key, 40);
ABI_SIZE(activity_slot, 56);
ABI_CHECK(activity_slot, look, 40);
ABI_SIZE(activity_look, 80);
ABI_CHECK(activity_look, number, 8);
ABI_SIZE(kill_record, 168);
ABI_CHECK(kill_record, comm, 72);
ABI_SIZE(look_record, 72);
ABI_CHECK(look_record, comm, 48);
ABI_CHECK(look_record, depth, 68);
ABI_SIZE(mapped_record, 48);
ABI_CHECK(mapped_record, comm, 32);
ABI_SIZE(cgroup_record, 32);
ABI_CHECK(cgroup_record, cgroup_id, 8);
ABI_SIZE(mapping_record, 72);
ABI_CHECK(mapping_record, path_bytes, 60);

#endif
