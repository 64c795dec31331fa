/* SPDX-License-Identifier: GPL-2.0-only */
/* abi/samples.h defines samples and intervals off CPU: a part of common/abi/abi.h. */
#ifndef BOURDON_ABI_SAMPLES_H
#define BOURDON_ABI_SAMPLES_H

#include "common/abi/base.h"

/* ---- oncpu, offcpu: per-CPU rings of slots; slot i of CPU c is element c * slots_per_cpu + i ---- */

#define SAMPLE_KERNEL_FRAMES 64U
#define SAMPLE_USER_FRAMES 127U /* the kernel's default for sysctl kernel.perf_event_max_stack */

#define SAMPLE_ON_CPU 1U
#define SAMPLE_OFF_CPU 2U
#define SAMPLE_WAKER 3U  /* the stack of the thread that ended the interval in the slot before */
#define SAMPLE_GROWTH 4U /* in the off-CPU ring: where the process got more memory than it ever had */

/* PSI's stall classes. Bits, because a refault stalls on memory and I/O at once. */
#define STALL_MEMORY 1U
#define STALL_IO 2U
#define STALL_CPU 4U

/* Bits, because one stack may need both methods. */
#define UNWINDER_FRAME_POINTER 1U
#define UNWINDER_EH_FRAME 2U

/* Why unwinding a user stack ended. */
#define UNWIND_ENDED_ROOT 1U       /* at the thread's first function: the stack is complete */
#define UNWIND_ENDED_DEPTH 2U      /* no room for more frames */
#define UNWIND_ENDED_MEMORY 3U     /* stack memory is unreadable, or the next frame is not above */
#define UNWIND_ENDED_UNMAPPED 4U   /* the address is in no known executable mapping */
#define UNWIND_ENDED_NO_RULE 5U    /* no rule for the address, and rbp is no frame pointer */
#define UNWIND_ENDED_EXPRESSION 6U /* the CFA expression does not fit into the tables */
#define UNWIND_ENDED_REGISTER 7U   /* the CFA needs a register that is unknown in a caller */
#define UNWIND_ENDED_POLICY 8U     /* root's policy limits unwinding */
#define UNWIND_ENDED_CHANGED 9U /* the consumer's: something else was mapped at the address before or since */
#define UNWIND_ENDED_EXITING 10U /* the process is ending, and its memory is given back */

/*
 * A kernel frame below 2^30 is an offset from _text. Modules, BPF programs and trampolines are numbered
 * around KERNEL_FRAME_MODULES, by their distance from the module that was lowest at load time (bpf/rebase.h).
 */
#define KERNEL_FRAME_MODULES 0x60000000LL
#define KERNEL_FRAME_MODULES_SPAN 0x20000000LL
#define KERNEL_FRAME_UNKNOWN (-0x7fffffff - 1) /* in neither range */

/* waker.kind */
#define WAKER_UNKNOWN 0U   /* blocked for less than WAKER_MIN_NS, or no wake-up was seen */
#define WAKER_THREAD 1U    /* only then the other members are set */
#define WAKER_INTERRUPT 2U /* a timer, a device, or the network, whatever thread it interrupted */
#define WAKER_DENIED 3U    /* root's policy denies its process */

#define WAKER_MIN_NS 1000000U

/* The thread that woke another one. */
struct waker {
	__u64 started_ns; /* start of its process, CLOCK_BOOTTIME */
	__u64 cgroup_id;
	__u32 tgid;
	__u32 tid;
	__u32 program; /* as sample.program */
	__u8 kind;     /* WAKER_* */
	__u8 of;       /* SAMPLE_OF_* */
	__u8 releases; /* 1: it gave a futex free */
	__u8 reserved;
	char comm[ABI_COMM_BYTES]; /* name of the thread */
};

struct sample {
	struct record_header header;
	__u32 cpu;
	/* 0 while being written; otherwise the number of this sample on its CPU, from 1; published last */
	__u64 seq;
	__u64 time_ns; /* CLOCK_MONOTONIC; for an interval, its end */
	/*
	 * on-CPU: the clock's period. Off-CPU: time blocked, plus that of earlier intervals of the class that got no
	 * slot. Growth: the bytes since the last one
	 */
	__u64 weight_ns;
	/* off-CPU intervals only; 0 for on-CPU samples */
	/* as weight_ns, but time runnable: STALL_CPU, plus STALL_MEMORY if `stall` has it */
	__u64 queued_ns;
	__u64 left_ns;    /* when it left the CPU */
	__u64 woken_ns;   /* when it became runnable */
	__u64 started_ns; /* start of the process, CLOCK_BOOTTIME */
	__u64 cgroup_id;
	__u32 tgid;
	__u32 tid;
	__u32 pattern_id;
	__u32 epoch;     /* of its address space, as mapping_record.epoch; 0: not known */
	__u8 kind;       /* SAMPLE_* */
	__u8 stall;      /* STALL_* bits; for an interval, of its blocked part */
	__u8 unwinder;   /* UNWINDER_* bits used for the user frames */
	__u8 user_ended; /* UNWIND_ENDED_* */
	__u8 of;         /* SAMPLE_OF_* */
	__u8 has_waker_stack; /* of an interval, 1: the next slot is a SAMPLE_WAKER with its left_ns and woken_ns */
	__u8 reserved[2];
	__s16 kernel_depth; /* number of frames, or a negative errno */
	__s16 user_depth;
	char comm[ABI_COMM_BYTES]; /* name of the thread */
	__u32 program; /* task_struct.self_exec_id: the kernel raises it when the process executes another */
	/* off-CPU intervals only */
	__u64 lock; /* an opaque key of the futex that it waited for; 0: none */
	struct waker waker;
	__s32 kernel_frames[SAMPLE_KERNEL_FRAMES]; /* KERNEL_FRAME_*, leaf first */
	/*
	 * Virtual addresses, leaf first. In a caller it is the return address. In code that a signal
	 * interrupted it is the interrupted address plus one.
	 */
	__u64 user_frames[SAMPLE_USER_FRAMES];
};

/* ---- offcpu_open: tid -> the current interval of a thread that is off CPU ---- */

/*
 * A sample without an end: time_ns and weight_ns are 0. sample.seq and seq_again are 0 while the thread runs
 * or the value is being written; otherwise both equal left_ns. A copy in which they differ mixes two
 * intervals.
 */
struct open_interval {
	struct sample sample;
	__u64 seq_again;
};

#define OFFCPU_OPEN_DEFAULT 8192U

ABI_CHECK(sample, seq, 8);
ABI_CHECK(sample, tgid, 72);
ABI_CHECK(sample, kind, 88);
ABI_CHECK(sample, kernel_depth, 96);
ABI_CHECK(sample, comm, 100);
ABI_SIZE(waker, 48);
ABI_CHECK(sample, waker, 128);
ABI_CHECK(sample, kernel_frames, 176);
ABI_CHECK(sample, user_frames, 432);
ABI_SIZE(sample, 1448);
ABI_SIZE(open_interval, 1456);

#endif
