/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * abi.h owns every record and map value that crosses between the in-kernel programs and user space.
 *
 * It is the one header both worlds include. Fixed-width types only, padding explicit and zeroed, every
 * record begins with its type and size. A change to any of it raises BOURDON_ABI and adds a line below.
 *
 * ABI history
 *   1  targets, on-CPU sample rings, process events, error records, task and mapping iterators
 *   2  the counter of CPUs that lost their clock
 */
#ifndef BOURDON_ABI_H
#define BOURDON_ABI_H

#include <linux/types.h>

#define BOURDON_ABI 2U

#define ABI_COMM_BYTES 16U /* TASK_COMM_LEN: 15 bytes and a NUL */

/* Record types. A reader counts and skips a type it does not know. */
#define RECORD_SAMPLE 1U
#define RECORD_PROCESS 2U
#define RECORD_ERROR 3U
#define RECORD_TASK 4U
#define RECORD_MAPPING 5U

struct record_header {
	__u16 type;  /* RECORD_* */
	__u16 bytes; /* of the whole record, this header included */
};

/* ---- patterns_a, patterns_b: LPM trie, comm pattern -> pattern id ---- */

/*
 * An exact pattern's prefix covers the comm and its NUL, a prefix pattern's covers its bytes only, and "*"
 * has length zero. The kernel compares the first prefix_bits bits, most significant first
 * (kernel/bpf/lpm_trie.c).
 */
struct pattern_key {
	__u32 prefix_bits;
	char comm[ABI_COMM_BYTES];
};

#define PATTERNS_MAX 4096U

/* ---- targets: tgid -> the process that is sampled ---- */

struct target {
	__u64 started_ns; /* boot time at which the process began: its identity together with the tgid */
	__u32 pattern_id;
	__u32 reserved;
};

#define TARGETS_DEFAULT 16384U

/* ---- control: one element, written by the consumer, read by every program ---- */

struct control {
	__u32 abi;
	__u32 live_patterns; /* bit 0: 0 is patterns_a, 1 is patterns_b */
	__u64 heartbeat_ns;  /* CLOCK_MONOTONIC; programs go quiet when it is too old */
};

/* ---- oncpu: per-CPU rings of slots; slot i of CPU c is element c * slots_per_cpu + i ---- */

#define SAMPLE_KERNEL_FRAMES 64U
#define SAMPLE_USER_FRAMES 127U /* the kernel's default limit, sysctl kernel.perf_event_max_stack */

#define SAMPLE_ON_CPU 1U
#define SAMPLE_OFF_CPU 2U

/* Stall classes, PSI's own; bits, because a refault stalls on memory and io at once. */
#define STALL_MEMORY 1U
#define STALL_IO 2U
#define STALL_CPU 4U

#define UNWINDER_FRAME_POINTER 1U
#define UNWINDER_EH_FRAME 2U

/*
 * A kernel frame below 2^30 is an offset from _text. Modules, in-kernel programs and trampolines lie around
 * KERNEL_FRAME_MODULES, by their distance from the one that was lowest at load time (bpf/rebase.h).
 */
#define KERNEL_FRAME_MODULES 0x60000000LL
#define KERNEL_FRAME_MODULES_SPAN 0x20000000LL
#define KERNEL_FRAME_UNKNOWN (-0x7fffffff - 1) /* lies in neither */

struct sample {
	struct record_header header;
	__u32 cpu;
	__u64 seq; /* 0 while being written; else counts the samples of this CPU from 1. Published last. */
	__u64 time_ns; /* CLOCK_MONOTONIC */
	__u64 weight_ns;
	__u64 started_ns; /* of the process */
	__u64 cgroup_id;
	__u32 tgid;
	__u32 tid;
	__u32 pattern_id;
	__u32 thread_state; /* task_struct.__state; 0 is running */
	__u8 kind;          /* SAMPLE_* */
	__u8 stall;         /* STALL_* bits */
	__u8 unwinder;      /* UNWINDER_* of the user part */
	__u8 reserved[5];
	__s16 kernel_depth; /* frames, or a negative errno */
	__s16 user_depth;
	char comm[ABI_COMM_BYTES]; /* of the thread */
	__u32 reserved2;
	__s32 kernel_frames[SAMPLE_KERNEL_FRAMES]; /* KERNEL_FRAME_*, leaf first */
	__u64 user_frames[SAMPLE_USER_FRAMES];     /* virtual addresses, leaf first */
};

/* ---- events: what happened to processes that match a pattern ---- */

#define PROCESS_MATCHED 1U   /* became a target, or its pattern changed */
#define PROCESS_UNMATCHED 2U /* is no target any more: renamed */
#define PROCESS_EXITED 3U

struct process_event {
	struct record_header header;
	__u32 kind; /* PROCESS_* */
	__u32 tgid;
	__u32 pattern_id;
	__u64 started_ns;
	__u64 cgroup_id;
	__u32 uid;
	__u32 reserved;
	char comm[ABI_COMM_BYTES];
};

/* ---- errors: what a program could not do ---- */

#define ERROR_TARGETS_FULL 1U
#define ERROR_EVENTS_FULL 2U
#define ERROR_KERNEL_STACK 3U
#define ERROR_USER_STACK 4U

struct error_event {
	struct record_header header;
	__u32 code; /* ERROR_* */
	__u32 tgid;
	__s32 error; /* negative errno, 0 where there is none */
	__u64 time_ns;
	char comm[ABI_COMM_BYTES];
};

/* ---- tasks: one record per process with an address space ---- */

struct task_record {
	struct record_header header;
	__u32 tgid;
	__u32 pattern_id; /* 0: not a target */
	__u32 uid;
	__u64 started_ns;
	__u64 cgroup_id;
	char comm[ABI_COMM_BYTES];
};

/* ---- mappings: one record per executable mapping of a target; path_bytes of path follow ---- */

#define MAPPING_PATH_BYTES 4096U

#define MAPPING_IS_EXE 1U /* the mapped file is the process's executable */
#define MAPPING_IS_VDSO 2U
#define MAPPING_NO_PATH 4U /* there is a file, but its path could not be had this time */

struct mapping_record {
	struct record_header header; /* bytes does not count the path */
	__u32 tgid;
	__u64 started_ns;
	__u64 begins; /* virtual address */
	__u64 ends;
	__u64 file_offset; /* bytes */
	__u64 inode;
	__u32 device_major;
	__u32 device_minor;
	__u32 flags;      /* MAPPING_* */
	__u32 path_bytes; /* 0: anonymous, or MAPPING_NO_PATH; the NUL is not counted and not sent */
};

/* ---- counters: per-CPU array, one element each ---- */

#define COUNTER_SAMPLES_ONCPU 0U
#define COUNTER_SAMPLES_QUIET 1U /* not taken: the heartbeat was too old */
#define COUNTER_KERNEL_STACK_ERRORS 2U
#define COUNTER_USER_STACK_ERRORS 3U
#define COUNTER_STACKS_TRUNCATED 4U
#define COUNTER_TARGETS_FULL 5U
#define COUNTER_EVENTS_LOST 6U
#define COUNTER_ERRORS_LOST 7U
#define COUNTER_MATCHES 8U
#define COUNTER_EXITS 9U
#define COUNTER_PATHS_BUSY 10U
#define COUNTER_CLOCKS_LOST 11U /* 1 for a CPU that went offline after the load */
#define COUNTERS 12U

#define ABI_CHECK(type, member, at)                                                                          \
	_Static_assert(__builtin_offsetof(struct type, member) == (at), #type "." #member " moved")
#define ABI_SIZE(type, bytes) _Static_assert(sizeof(struct type) == (bytes), "struct " #type " changed size")

ABI_SIZE(record_header, 4);
ABI_SIZE(pattern_key, 20);
ABI_SIZE(target, 16);
ABI_CHECK(target, pattern_id, 8);
ABI_SIZE(control, 16);
ABI_CHECK(control, heartbeat_ns, 8);
ABI_CHECK(sample, seq, 8);
ABI_CHECK(sample, tgid, 48);
ABI_CHECK(sample, kind, 64);
ABI_CHECK(sample, kernel_depth, 72);
ABI_CHECK(sample, comm, 76);
ABI_CHECK(sample, kernel_frames, 96);
ABI_CHECK(sample, user_frames, 352);
ABI_SIZE(sample, 1368);
ABI_SIZE(process_event, 56);
ABI_CHECK(process_event, comm, 40);
ABI_SIZE(error_event, 40);
ABI_CHECK(error_event, comm, 24);
ABI_SIZE(task_record, 48);
ABI_CHECK(task_record, comm, 32);
ABI_SIZE(mapping_record, 64);
ABI_CHECK(mapping_record, path_bytes, 60);

#endif
