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
 *   3  off-CPU intervals, open and ended, the exact totals of each process, and the budgets of both in
 * control
 *   4  stall clocks, and what starts them in control; the counter of stacks off CPU
 *   5  tables for unwinding by .eh_frame, and where a process has code; why the walk of a user stack ended;
 * the count of addresses in no known mapping, in control
 *   6  root's policy; user stacks that end by it; the counters of what it denied
 */
#ifndef BOURDON_ABI_H
#define BOURDON_ABI_H

#include <linux/types.h>

#ifndef BOURDON_ABI /* tests/e2e/upgrade.bats is told another one */
#define BOURDON_ABI 6U
#endif

#define ABI_COMM_BYTES 16U /* TASK_COMM_LEN: 15 bytes and a NUL */

/* Record types. A reader counts and skips a type it does not know. */
#define RECORD_SAMPLE 1U
#define RECORD_PROCESS 2U
#define RECORD_ERROR 3U
#define RECORD_TASK 4U
#define RECORD_MAPPING 5U
#define RECORD_THREAD 6U

struct record_header {
	__u16 type;  /* RECORD_* */
	__u16 bytes; /* of the whole record, this header included */
};

/* ---- policy: one element, root's word; frozen before a program is loaded, so that it is constant ---- */

#define POLICY_UIDS_MAX 16U
#define POLICY_COMMS_MAX 32U
#define POLICY_RATE_MAX 20000U

#define POLICY_UNWIND_NONE 0U          /* of the user stack the leaf, which is in a register */
#define POLICY_UNWIND_FRAME_POINTER 1U /* no tables are used */
#define POLICY_UNWIND_DWARF 2U

struct policy_uids {
	__u32 first;
	__u32 last; /* included */
};

/* A comm is meant if its bits under the mask are these: 16 bytes, as two words of this machine. */
struct policy_comm {
	__u64 bits[2];
	__u64 mask[2];
};

struct policy {
	__u32 max_rate;      /* samples a second and CPU, of each kind; 1 to POLICY_RATE_MAX */
	__u32 unwinding;     /* POLICY_UNWIND_* */
	__u32 kernel_stacks; /* 0: there are none */
	__u32 allowed_count; /* 0: all uids are */
	__u32 denied_count;
	__u32 comms_count;
	struct policy_uids allowed[POLICY_UIDS_MAX];
	struct policy_uids denied[POLICY_UIDS_MAX];
	struct policy_comm comms[POLICY_COMMS_MAX];
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
	__u64 since_ns;   /* CLOCK_MONOTONIC: it has been one since then */
	__u32 pattern_id;
	__u32 reserved;
};

#define TARGETS_DEFAULT 16384U

/* ---- control: one element, written by the consumer but for its last line, read by every program ---- */

struct control {
	__u32 abi;
	__u32 live_patterns; /* bit 0: 0 is patterns_a, 1 is patterns_b */
	__u64 heartbeat_ns;  /* CLOCK_MONOTONIC; programs go quiet when it is too old */
	__u64 offcpu_min_ns; /* shorter intervals off CPU are added up before they take a slot */
	/* the budgets of one CPU, a second: each a bucket that holds a second's */
	__u32 offcpu_stacks_hz; /* stacks taken when a thread leaves the CPU */
	__u32 offcpu_slots_hz;  /* slots of the ring */
	/* the stall clocks: which run, and of which threads */
	__u64 clocks_cgroup; /* of this cgroup and those below it; 0: of all targets */
	__u32 clocks_level;  /* how many cgroups are above it */
	__u32 clocks_epoch;  /* 0: they stand still; another number: they begin anew */
	__u64 reserved[2];
	/* a cache line of its own, that programs write */
	__u64 unmapped; /* how often a user stack led to an address that the process's tables do not know */
	__u64 reserved2[7];
};

/*
 * ---- clocks: per CPU, how long threads of targets stalled there ----
 *
 * What kernel/sched/psi.c keeps of a cgroup on each CPU (psi_group_cpu), of targets alone. Programs write,
 * but only on behalf of threads that they have seen leave that CPU or come to it since the clocks began.
 */

#define CLOCK_CPU 0U    /* a thread was runnable, and did not run */
#define CLOCK_MEMORY 1U /* a thread was in a memory stall, on CPU or off */
#define CLOCK_IO 2U     /* a thread waited for I/O */
#define CLOCK_RESOURCES 3U

/* Threads, 16 bits of `counts` each. */
#define CLOCK_RUNNABLE 1ULL /* those on CPU, too */
#define CLOCK_ON_CPU (1ULL << 16)
#define CLOCK_IN_MEMSTALL (1ULL << 32)
#define CLOCK_IN_IOWAIT (1ULL << 48)
#define CLOCK_MASK 0xffffULL

#define CLOCKS_BEGIN (~0ULL) /* an epoch: the rest is being zeroed */

/* Whether threads that are counted so stall on the resource (kernel/sched/psi.c, test_states()). */
static inline __attribute__((always_inline)) int clock_is_stalled(__u64 counts, __u32 resource)
{
	if (resource == CLOCK_CPU)
		return (counts & CLOCK_MASK) > (counts / CLOCK_ON_CPU & CLOCK_MASK);
	return (counts / (resource == CLOCK_MEMORY ? CLOCK_IN_MEMSTALL : CLOCK_IN_IOWAIT) & CLOCK_MASK) != 0;
}

struct stall_clock {
	__u64 epoch; /* of control, which the rest is of */
	__u64 counts;
	__u64 since_ns; /* CLOCK_MONOTONIC: until then the sums below are complete */
	__u64 nonidle_ns;
	__u64 some_ns[CLOCK_RESOURCES];
	__u64 reserved;
};

/* ---- oncpu, offcpu: per-CPU rings of slots; slot i of CPU c is element c * slots_per_cpu + i ---- */

#define SAMPLE_KERNEL_FRAMES 64U
#define SAMPLE_USER_FRAMES 127U /* the kernel's default limit, sysctl kernel.perf_event_max_stack */

#define SAMPLE_ON_CPU 1U
#define SAMPLE_OFF_CPU 2U

/* Stall classes, PSI's own; bits, because a refault stalls on memory and io at once. */
#define STALL_MEMORY 1U
#define STALL_IO 2U
#define STALL_CPU 4U

/* Bits: a stack may need both, one for some frames and one for others. */
#define UNWINDER_FRAME_POINTER 1U
#define UNWINDER_EH_FRAME 2U

/* Why the walk of a user stack ended. */
#define UNWIND_ENDED_ROOT 1U       /* at the thread's first function: the stack is whole */
#define UNWIND_ENDED_DEPTH 2U      /* no room for more frames */
#define UNWIND_ENDED_MEMORY 3U     /* what should be the stack cannot be read, or leads downwards */
#define UNWIND_ENDED_UNMAPPED 4U   /* at an address in no mapping that is known to be executable */
#define UNWIND_ENDED_NO_RULE 5U    /* no rule for the address, and the frame pointer leads nowhere */
#define UNWIND_ENDED_EXPRESSION 6U /* a CFA expression that the tables cannot hold */
#define UNWIND_ENDED_REGISTER 7U   /* a CFA by a register that is not known in a caller */
#define UNWIND_ENDED_POLICY 8U     /* root wants no more of it to be read */

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
	__u64 time_ns;   /* CLOCK_MONOTONIC; of an interval its end */
	__u64 weight_ns; /* an interval's time blocked, and that of shorter ones before it in the same class
			  */
	/* of an interval off CPU; else 0 */
	__u64 queued_ns;  /* likewise, its time runnable: STALL_CPU, and STALL_MEMORY as in `stall` */
	__u64 left_ns;    /* when it left the CPU */
	__u64 woken_ns;   /* when it became runnable */
	__u64 started_ns; /* of the process */
	__u64 cgroup_id;
	__u32 tgid;
	__u32 tid;
	__u32 pattern_id;
	__u32 thread_state; /* task_struct.__state when it left the CPU; 0 is running */
	__u8 kind;          /* SAMPLE_* */
	__u8 stall;         /* STALL_* bits; of an interval those of its blocked part */
	__u8 unwinder;      /* UNWINDER_* bits, of the user part */
	__u8 user_ended;    /* UNWIND_ENDED_* */
	__u8 reserved[4];
	__s16 kernel_depth; /* frames, or a negative errno */
	__s16 user_depth;
	char comm[ABI_COMM_BYTES]; /* of the thread */
	__u32 reserved2;
	__s32 kernel_frames[SAMPLE_KERNEL_FRAMES]; /* KERNEL_FRAME_*, leaf first */
	/*
	 * Virtual addresses, leaf first. A caller's is the one behind its call, and that of code which a
	 * signal interrupted is likewise one more than where it was.
	 */
	__u64 user_frames[SAMPLE_USER_FRAMES];
};

/* ---- offcpu_open: tid -> the interval of a thread that is off CPU now ---- */

/*
 * A sample without an end: time_ns and weight_ns are 0. sample.seq and seq_again are 0 while the thread is on
 * CPU or the value being written, else both left_ns: a copy that has two different ones is of two intervals.
 */
struct open_interval {
	struct sample sample;
	__u64 seq_again;
};

#define OFFCPU_OPEN_DEFAULT 8192U

/*
 * ---- unwind_*: how to walk the user stacks of targets; compiled from .eh_frame ----
 *
 * unwind_procs has a process's part of unwind_maps, its executable mappings in ascending order. A mapping has
 * a part of unwind_pages, one for each 4 KiB of the file's text. A page has a part of one chunk of
 * unwind_rows: ascending, the first one at 0. A row says which of unwind_rules holds from there on. All of it
 * is the consumer's to write, so that programs check every number.
 */

#define UNWIND_PAGE_BITS 12U
#define UNWIND_PAGE_BYTES (1U << UNWIND_PAGE_BITS)
#define UNWIND_CHUNK_BITS 10U
#define UNWIND_CHUNK_ROWS (1U << UNWIND_CHUNK_BITS)
#define UNWIND_MAPPINGS_MAX 2048U /* of a process */

/*
 * ---- code_spans: tgid -> where a target has code, as the mapping iterator last saw it ----
 *
 * The tables say where in a process's memory the next address is, and so whoever writes them could have any
 * word of it shown as a frame. Programs show only what lies within these spans, which they alone write: a
 * span for each eighth of the user's half, from its first executable mapping to its last.
 */
#define CODE_SPANS 8U
#define CODE_SPAN_BITS 44U /* of addresses, that are not looked at for the number of the span */

struct code_span {
	__u64 begins, ends;
};

struct code_spans {
	__u64 started_ns; /* of the process */
	__u64 vdso;       /* apart: it lies behind the stack */
	struct code_span spans[CODE_SPANS];
};

struct unwind_process {
	__u64 started_ns;
	__u32 first; /* in unwind_maps */
	__u32 count;
};

struct unwind_mapping {
	__u64 begins; /* virtual addresses */
	__u64 ends;
	__u64 table_at;   /* where the first page of the table would lie */
	__u32 first_page; /* in unwind_pages */
	__u32 pages;      /* 0: no table, by frame pointers */
};

struct unwind_page {
	__u32 first_row; /* chunk << UNWIND_CHUNK_BITS, and the row in it */
	__u32 rows;      /* 0: no rule for any of it */
};

struct unwind_row {
	__u16 at;   /* in the page */
	__u16 rule; /* in unwind_rules; 0: none */
};

struct unwind_chunk {
	struct unwind_row rows[UNWIND_CHUNK_ROWS];
};

/* unwind_rule.kind. The CFA, DWARF's canonical frame address, is where the caller's stack ends. */
#define UNWIND_NONE 0U
#define UNWIND_ROOT 1U      /* no caller: DWARF says that the return address is undefined */
#define UNWIND_CFA 2U       /* register + cfa_offset */
#define UNWIND_CFA_DEREF 3U /* what lies at register + cfa_offset, + cfa_add */
#define UNWIND_CFA_PLT 4U   /* register + cfa_offset, + 8 from byte cfa_add of 16 on: an entry of x86's PLT */
#define UNWIND_EXPRESSION 5U /* one of which the above is none */

/* unwind_rule.frame_pointer, .return_address and .extra: where the frame has what its caller had in it */
#define UNWIND_SAME 0U   /* not saved: it is as it was */
#define UNWIND_AT_CFA 1U /* in memory, so far from the CFA */
#define UNWIND_AT_STACK_POINTER                                                                              \
	2U /* from the frame's own stack pointer: in frames that the kernel makes for signals */
#define UNWIND_AT_FRAME_POINTER 3U /* from its own frame pointer: in prologues that align the stack */
#define UNWIND_ELSEWHERE 4U        /* of `extra`: there is no telling */

struct unwind_rule {
	__u8 kind;
	__u8 cfa_register; /* DWARF's number for this architecture */
	__u8 is_signal;    /* the caller was interrupted: its address is not one behind a call */
	__u8 frame_pointer;
	__u8 return_address;
	__u8 extra; /* one more register that callers' CFAs are computed from: x86's rbx */
	__s16 extra_at;
	__s32 cfa_offset;
	__s32 cfa_add;
	__s32 frame_pointer_at;
	__s32 return_address_at;
};

/* ---- totals: tgid -> exact times of a target since it became one ---- */

#define STALL_CLASSES 8U /* the STALL_* bits as an index; 0 is none */

struct totals {
	__u64 started_ns; /* of the process */
	__u64 on_cpu_ns;
	__u64 off_cpu_ns[STALL_CLASSES]; /* all of it, also what no slot tells */
	__u64 intervals[STALL_CLASSES];
	__u64 unstacked_ns[STALL_CLASSES]; /* of that: long enough for a slot, but over a budget */
	__u64 unstacked;                   /* intervals that were */
	__u64 reclaim_ns;                  /* within reclaim or compaction, on CPU or off */
	__u64 reclaim_off_ns;              /* of that, off CPU: off_cpu_ns has it, too */
};

/* ---- events: what happened to processes that match a pattern ---- */

#define PROCESS_MATCHED 1U   /* became a target, or its pattern changed */
#define PROCESS_UNMATCHED 2U /* is no target any more: renamed, or denied */
#define PROCESS_EXITED 3U

struct process_event {
	struct record_header header;
	__u32 kind; /* PROCESS_* */
	__u32 tgid;
	__u32 pattern_id;
	__u64 started_ns;
	/* of PROCESS_MATCHED; 0 for who is no target any more: policy may be why */
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

/* ---- tasks: a record for each process with an address space, and one for each of its other threads ---- */

/* What a task has had of the machine since it began; running sums of the kernel's own. */
struct task_usage {
	__u64 cpu_ns;
	__u64 run_delay_ns;
	__u64 io_delay_ns; /* block I/O; TASK_IO_DELAY says whether the kernel counts it */
	__u64 major_faults;
	__u64 minor_faults;
	__u64 read_bytes;
	__u64 write_bytes;
	__u64 voluntary_switches;
	__u64 involuntary_switches;
};

#define TASK_IO_DELAY 1U /* kernel.task_delayacct is on */

struct task_record {
	struct record_header header;
	__u32 tgid;
	__u32 pattern_id; /* 0: not a target */
	__u32 uid;
	__u64 started_ns;
	__u64 cgroup_id;
	char comm[ABI_COMM_BYTES];
	struct task_usage usage; /* of the first thread, and of all that have ended (but for their delays) */
	__u64 rss_bytes;
	/* of a target, since it became one; else 0 */
	__u64 stalled_cpu_ns;
	__u64 stalled_memory_ns;
	__u64 stalled_io_ns;
	__u64 unstacked_ns;
	__u64 unstacked;
	__u32 flags; /* TASK_* */
	__u32 reserved;
};

struct thread_record {
	struct record_header header;
	__u32 tgid;
	__u64 started_ns; /* of the process */
	struct task_usage usage;
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
#define COUNTER_SAMPLES_OFFCPU 12U
#define COUNTER_OFFCPU_UNSTACKED 13U /* intervals long enough for a slot that were over a budget */
#define COUNTER_OFFCPU_UNTRACKED 14U /* threads of which no intervals are known: no memory */
#define COUNTER_OFFCPU_STACKS 15U    /* taken when a thread left the CPU */
#define COUNTER_POLICY_DENIED 16U    /* processes that ceased to be targets when policy forbade it */
#define COUNTERS 17U

#define ABI_CHECK(type, member, at)                                                                          \
	_Static_assert(__builtin_offsetof(struct type, member) == (at), #type "." #member " moved")
#define ABI_SIZE(type, bytes) _Static_assert(sizeof(struct type) == (bytes), "struct " #type " changed size")

ABI_SIZE(record_header, 4);
ABI_SIZE(policy, 1304);
ABI_CHECK(policy, allowed, 24);
ABI_SIZE(pattern_key, 20);
ABI_SIZE(target, 24);
ABI_CHECK(target, pattern_id, 16);
ABI_SIZE(control, 128);
ABI_CHECK(control, unmapped, 64);
ABI_SIZE(code_spans, 144);
ABI_SIZE(unwind_process, 16);
ABI_SIZE(unwind_mapping, 32);
ABI_SIZE(unwind_page, 8);
ABI_SIZE(unwind_row, 4);
ABI_SIZE(unwind_chunk, 4096);
ABI_SIZE(unwind_rule, 24);
ABI_CHECK(control, clocks_cgroup, 32);
ABI_SIZE(stall_clock, 64);
ABI_CHECK(control, heartbeat_ns, 8);
ABI_CHECK(sample, seq, 8);
ABI_CHECK(sample, tgid, 72);
ABI_CHECK(sample, kind, 88);
ABI_CHECK(sample, kernel_depth, 96);
ABI_CHECK(sample, comm, 100);
ABI_CHECK(sample, kernel_frames, 120);
ABI_CHECK(sample, user_frames, 376);
ABI_SIZE(sample, 1392);
ABI_SIZE(open_interval, 1400);
ABI_SIZE(totals, 232);
ABI_SIZE(process_event, 56);
ABI_CHECK(process_event, comm, 40);
ABI_SIZE(error_event, 40);
ABI_CHECK(error_event, comm, 24);
ABI_SIZE(task_record, 176);
ABI_CHECK(task_record, comm, 32);
ABI_CHECK(task_record, rss_bytes, 120);
ABI_SIZE(thread_record, 88);
ABI_SIZE(mapping_record, 64);
ABI_CHECK(mapping_record, path_bytes, 60);

#endif
