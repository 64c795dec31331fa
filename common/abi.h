/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * abi.h defines every record and map value that crosses between the in-kernel programs and user space.
 *
 * It is the only header of bourdon that both worlds include. It uses fixed-width types only; padding is
 * explicit and zeroed; every record begins with its type and size. Any change raises BOURDON_ABI and adds a
 * line to this history:
 *
 *   1  targets, on-CPU sample rings, process events, error records, task and mapping iterators
 *   2  counter of CPUs that lost their perf clock
 *   3  off-CPU intervals, ended and still open; exact totals of each process; budgets for both in control
 *   4  stall clocks, and the fields of control that start them; counter of off-CPU stacks
 *   5  tables for unwinding by .eh_frame; code spans of each process; the reason why unwinding a user stack
 *      ended; in control, the count of addresses in no known mapping
 *   6  root's policy; user stacks that end because of it; counters of what it denied
 *   7  mappings: a record of each process, which part of them to list, and how far the list has come; paths of
 *      cgroups: a ring, records in the task iterator, the set of known ids, counters; policy on processes whose
 *      memory the kernel protects
 *   8  processes that ended: sums of those that no walk met, and a record of each other one; kernel threads in
 *      the task iterator; bytes of I/O without those of waited-for children; the start of the last walk; which
 *      of the programs that a process has executed a sample is of; samples on CPU of bystanders and of kernel
 *      threads, and policy on both
 *   9  who woke a thread, and where, and a key of the futex that it waited for; time in interrupts, and the names of their
 *      handlers; time in reclaim of every process; kills; what captures on demand want
 *  10  looks at the states of threads, and at the activity of all
 *  11  where a Java virtual machine of the HotSpot kind says how its compiled code is unwound
 *  12  accounts of where the time of targets' threads went, and who they waited for
 *  13  in these, memory limits with their cgroup, processes that are wanted by their id apart from others, and the command
 *      `bourdon`
 *  14  slots that the consumer has not read yet are kept; intervals off CPU beyond the budget count in a later one; the first
 *      wait of a thread has a slot
 *  15  what the kernel counts of these programs
 */
#ifndef BOURDON_ABI_H
#define BOURDON_ABI_H

#include <linux/types.h>

#ifndef BOURDON_ABI /* tests/e2e/upgrade.bats builds with another number */
#define BOURDON_ABI 15U
#endif

#define ABI_COMM_BYTES 16U /* TASK_COMM_LEN: 15 bytes and a NUL */

/* Record types. A reader counts and skips types that it does not know. */
#define RECORD_SAMPLE 1U
#define RECORD_PROCESS 2U
#define RECORD_ERROR 3U
#define RECORD_TASK 4U
#define RECORD_MAPPING 5U
#define RECORD_THREAD 6U
#define RECORD_MAPPED 7U
#define RECORD_CGROUP 8U
#define RECORD_ENDED 9U
#define RECORD_KILL 10U
#define RECORD_LOOK 11U
#define RECORD_ACTIVITY 12U
#define RECORD_AWAY 13U
#define RECORD_PROGRAM 14U

struct record_header {
	__u16 type;  /* RECORD_* */
	__u16 bytes; /* whole record, header included */
};

/* ---- policy: one element with root's limits; frozen before the programs load, so constant to them ---- */

#define POLICY_UIDS_MAX 16U
#define POLICY_COMMS_MAX 32U
#define POLICY_RATE_MAX 20000U
#define POLICY_RATE_DEFAULT                                                                                  \
	5000U /* the recorder asks for 4000 stacks a second at most (consumer/recorder.c) */

#define POLICY_UNWIND_NONE 0U          /* only the leaf, which is in a register */
#define POLICY_UNWIND_FRAME_POINTER 1U /* tables are not used */
#define POLICY_UNWIND_DWARF 2U

struct policy_uids {
	__u32 first;
	__u32 last; /* inclusive */
};

/* Matches a comm if its bits under the mask equal `bits`: 16 bytes, as two words in host byte order. */
struct policy_comm {
	__u64 bits[2];
	__u64 mask[2];
};

struct policy {
	__u32 max_rate;      /* samples a second, CPU and kind; 1 to POLICY_RATE_MAX */
	__u32 unwinding;     /* POLICY_UNWIND_* */
	__u32 kernel_stacks; /* 0: none are recorded */
	__u32 allowed_count; /* 0: all uids are allowed */
	__u32 denied_count;
	__u32 comms_count;
	__u32 deny_undumpable; /* 1: a process whose memory the kernel protects is denied (bpf/policy.h) */
	__u32 bystanders;      /* 0: of processes, only targets are sampled */
	__u32 kernel_threads;  /* 0: none is sampled */
	__u32 reserved;
	struct policy_uids allowed[POLICY_UIDS_MAX];
	struct policy_uids denied[POLICY_UIDS_MAX];
	struct policy_comm comms[POLICY_COMMS_MAX];
};

/* ---- patterns_a, patterns_b: LPM trie, comm pattern -> pattern id ---- */

/*
 * Prefix of an exact pattern: the comm and its NUL. Of a prefix pattern: its bytes only. Of "*": length zero.
 * The kernel compares the first prefix_bits bits, most significant first (kernel/bpf/lpm_trie.c).
 */
struct pattern_key {
	__u32 prefix_bits;
	char comm[ABI_COMM_BYTES];
};

#define PATTERNS_MAX 4096U

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

/* ---- targets: tgid -> a sampled process ---- */

struct target {
	__u64 started_ns; /* start of the process, CLOCK_BOOTTIME: with the tgid, its identity */
	__u64 since_ns;   /* when it became a target, CLOCK_MONOTONIC */
	__u32 pattern_id;
	__u32 victim; /* key in `victims`; 0: none yet, or its name or cgroup has changed */
};

#define TARGETS_DEFAULT 16384U

/*
 * ---- wanted: what captures on demand are of -> until when; programs read it after root's policy ----
 *
 * A process that matches no pattern, and is wanted, is a target with the pattern id PATTERN_WANTED.
 */

#define PATTERN_WANTED 0xffffffffU

#define WANTED_PROCESS 1U /* what[0] is a tgid */
#define WANTED_CGROUP 2U  /* what[0] is the id of a cgroup: it, and the cgroups below it */
#define WANTED_COMM 3U    /* what[] has the first `bytes` bytes of the comm, and zeros */

struct wanted_key {
	__u32 kind; /* WANTED_* */
	__u32 bytes; /* WANTED_COMM: ABI_COMM_BYTES for a whole comm, with its NUL; less for a prefix; else 0 */
	__u64 what[2]; /* a comm as it is in memory */
};

struct wanted_until {
	__u64 until_ns;   /* CLOCK_MONOTONIC; it ends by itself */
	__u64 started_ns; /* WANTED_PROCESS: start of the process, CLOCK_BOOTTIME; else 0 */
};

#define WANTED_MAX 256U
/* A longer time counts as none: of the longest capture, an hour, and of what comes after it. */
#define WANTED_NS_MAX 3660000000000ULL

/* Bits of control.wanted; bit n below them: there is a comm of n bytes. */
#define WANTED_IN_PROCESSES (1U << 31)
#define WANTED_IN_CGROUPS (1U << 30)
#define WANTED_IN_COMMS ((2U << ABI_COMM_BYTES) - 1)

/* A target, or one of the others, whose samples are on CPU alone. */
#define SAMPLE_OF_TARGET 0U
#define SAMPLE_OF_BYSTANDER 1U /* another process; its pattern id is 0 */
#define SAMPLE_OF_KERNEL 2U    /* a kernel thread: it has a kernel stack alone */

/*
 * ---- control: one element; written by the consumer except the last cache line, read by every program ----
 */

struct control {
	__u32 abi;
	__u32 live_patterns; /* bit 0: 0 selects patterns_a, 1 patterns_b */
	__u64 heartbeat_ns;  /* CLOCK_MONOTONIC; programs go quiet when it is older than --quiet-after */
	__u64 offcpu_min_ns; /* shorter off-CPU intervals are summed until they reach this */
	/* budgets of one CPU, a second; each is a bucket that holds at most one second's worth */
	__u32 offcpu_stacks_hz; /* stacks recorded when a thread leaves the CPU */
	__u32 offcpu_slots_hz;  /* slots written to the ring */
	/* what the stall clocks measure */
	__u64 clocks_cgroup; /* this cgroup and its descendants; 0: all targets */
	__u32 clocks_level;  /* number of ancestors of that cgroup */
	__u32 clocks_epoch;  /* 0: clocks are stopped; a new number resets and starts them */
	/* what the iterator `mappings` lists. Any number is safe: it only decides what is left out */
	__u32 mappings_scan; /* a new number lists every process from its first mapping on */
	__u32 mappings_of;   /* MAPPINGS_OF_* */
	/* when the last walk over all processes began (CLOCK_BOOTTIME): it met all that had started before */
	__u64 walk_began_ns;
	/* which kinds of keys `wanted` has: WANTED_IN_*. Any number is safe: it only spares look-ups */
	__u32 wanted;
	/* a new number: the iterator `states` tells the stack of each thread again */
	__u32 looks_series;
	/* how long a slot of `victims` and `blame` is: 2^(ACCOUNT_SLOT_BITS + this) ns; more than ACCOUNT_SLOT_MORE_MAX is 0 */
	__u32 account_slot_more;
	/* tgid of the consumer, and the file of the command `bourdon`. Any number is safe: it only labels processes, and their children */
	__u32 recorder;
	__u64 reporter_inode;
	__u32 reporter_device; /* as the kernel has it: dev_t of 12 and 20 bits */
	__u32 reserved3;
	/* slots of intervals that ended since then are not overwritten; 0: all may be. Any number is safe: it only decides which of two is lost */
	__u64 offcpu_unread_ns;
	__u32 reserved4[6];
	/* written by programs, in a cache line of its own */
	__u64 unmapped; /* number of user stacks that led to an address outside the process's tables */
	__u64 reserved2[7];
};

/*
 * ---- clocks: per CPU, how long threads of targets stalled there ----
 *
 * The same state that kernel/sched/psi.c keeps of a cgroup on each CPU (psi_group_cpu), but of targets only.
 * Programs write it. They count a thread only after they have seen it leave or enter a CPU since the clocks
 * began.
 */

#define CLOCK_CPU 0U    /* a thread was runnable but not running */
#define CLOCK_MEMORY 1U /* a thread was in a memory stall, on or off CPU */
#define CLOCK_IO 2U     /* a thread waited for I/O */
#define CLOCK_RESOURCES 3U

/* Numbers of threads, packed into `counts` as 16 bits each. */
#define CLOCK_RUNNABLE 1ULL /* includes those on CPU */
#define CLOCK_ON_CPU (1ULL << 16)
#define CLOCK_IN_MEMSTALL (1ULL << 32)
#define CLOCK_IN_IOWAIT (1ULL << 48)
#define CLOCK_MASK 0xffffULL

#define CLOCKS_BEGIN (~0ULL) /* as an epoch: the clock is being reset */

/* True if threads with these counts stall on the resource (kernel/sched/psi.c, test_states()). */
static inline __attribute__((always_inline)) int clock_is_stalled(__u64 counts, __u32 resource)
{
	if (resource == CLOCK_CPU)
		return (counts & CLOCK_MASK) > (counts / CLOCK_ON_CPU & CLOCK_MASK);
	return (counts / (resource == CLOCK_MEMORY ? CLOCK_IN_MEMSTALL : CLOCK_IN_IOWAIT) & CLOCK_MASK) != 0;
}

struct stall_clock {
	__u64 epoch; /* value of control.clocks_epoch that the fields below belong to */
	__u64 counts;
	__u64 since_ns; /* CLOCK_MONOTONIC: the sums below are complete up to here */
	__u64 nonidle_ns;
	__u64 some_ns[CLOCK_RESOURCES];
	__u64 reserved;
};

/* ---- oncpu, offcpu: per-CPU rings of slots; slot i of CPU c is element c * slots_per_cpu + i ---- */

#define SAMPLE_KERNEL_FRAMES 64U
#define SAMPLE_USER_FRAMES 127U /* the kernel's default for sysctl kernel.perf_event_max_stack */

#define SAMPLE_ON_CPU 1U
#define SAMPLE_OFF_CPU 2U
#define SAMPLE_WAKER 3U /* the stack of the thread that ended the interval in the slot before */

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
	 * slot
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
	__u32 thread_state; /* task_struct.__state when it left the CPU; 0: runnable */
	__u8 kind;          /* SAMPLE_* */
	__u8 stall;         /* STALL_* bits; for an interval, of its blocked part */
	__u8 unwinder;      /* UNWINDER_* bits used for the user frames */
	__u8 user_ended;    /* UNWIND_ENDED_* */
	__u8 of;            /* SAMPLE_OF_* */
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

/*
 * ---- unwind_*: rules for unwinding the user stacks of targets; compiled from .eh_frame and .gopclntab ----
 *
 * unwind_procs gives a process its part of unwind_maps: its executable mappings in ascending order. A mapping
 * has a part of unwind_pages, with one element for each 4 KiB of the file's text. A page has a part of one
 * chunk of unwind_rows, in ascending order, the first at offset 0. A row names the element of unwind_rules
 * that holds from its offset on. The consumer can write all of it, so programs check every number.
 */

#define UNWIND_PAGE_BITS 12U
#define UNWIND_PAGE_BYTES (1U << UNWIND_PAGE_BITS)
#define UNWIND_CHUNK_BITS 10U
#define UNWIND_CHUNK_ROWS (1U << UNWIND_CHUNK_BITS)
#define UNWIND_MAPPINGS_MAX 2048U /* of one process */

/*
 * ---- code_spans: tgid -> where a target has code, as the mapping iterator last saw it ----
 *
 * The unwind tables decide where in a process's memory the next address is read, so a compromised consumer
 * could have any word recorded as a frame. Programs record only addresses within these spans, which only
 * programs write. There is one span for each eighth of the user address space, from its first executable
 * mapping to its last.
 */
#define CODE_SPANS 8U
#define CODE_SPAN_BITS 44U /* address bits below the span's number */

struct code_span {
	__u64 begins, ends;
};

struct code_spans {
	__u64 started_ns; /* start of the process */
	__u64 vdso;       /* kept apart: the vDSO is behind the stack */
	struct code_span spans[CODE_SPANS];
	/* how far the iterator has come with this process */
	__u64 next;   /* address where the list goes on */
	__u32 scan;   /* the scan that the members around it belong to (control.mappings_scan) */
	__u32 shown;  /* 1 plus the scan in which its RECORD_MAPPED was written */
	__u32 listed; /* mappings written so far */
	__u32 visits; /* mappings of any kind that this pass has visited */
	__u32 done;   /* 1: the list of this scan has ended */
	__u32 reserved;
};

/*
 * ---- bystanders: tgid -> a process that is no target and was sampled of late ----
 *
 * One that was sampled BYSTANDER_OFTEN times is listed by the mapping iterator, as targets are, so that it gets
 * names and unwind tables.
 */
struct bystander {
	__u64 started_ns; /* start of the process, CLOCK_BOOTTIME */
	__u32 samples;    /* up to BYSTANDER_OFTEN */
	__u32 reserved;
	struct code_spans
		spans; /* as those of a target; spans.started_ns is 0 until the iterator has listed it */
};

#define BYSTANDER_OFTEN 8U
#define BYSTANDERS_MAX 1024U /* those that run most: the least recently sampled one makes room */

struct unwind_process {
	__u64 started_ns;
	__u32 first; /* index into unwind_maps */
	__u32 count;
};

/*
 * A mapping without a table, in a process that has libjvm.so, may have code that HotSpot compiled. Then first_page
 * is an index into unwind_hotspot that is not 0, and table_at is where the first byte of libjvm.so is in the process:
 * where it would be if the whole file were mapped as its text is.
 */
struct unwind_mapping {
	__u64 begins; /* virtual addresses */
	__u64 ends;
	__u64 table_at; /* address that the table's first page describes */
	__u32 first_page; /* index into unwind_pages; without a table 0, UNWIND_OF_NO_FILE, or into unwind_hotspot */
	__u32 pages; /* 0: no table, use frame pointers */
};

/*
 * What one libjvm.so says of HotSpot's compiled code. HotSpot tells debuggers in gHotSpotVMStructs at which offset
 * each field of its structures is. The offsets are computed when the library is loaded, so what the file says is
 * where they will be: the programs read them from the process. Places are distances from its first byte, as above.
 */
#define HOTSPOT_ARRAY_COUNT 0U /* GrowableArray: _len, an int */
#define HOTSPOT_ARRAY_DATA 1U
#define HOTSPOT_HEAP_MEMORY 2U /* CodeHeap: _memory and _segmap, each a VirtualSpace */
#define HOTSPOT_HEAP_SEGMENTS 3U
#define HOTSPOT_HEAP_SHIFT 4U   /* _log2_segment_size, an int */
#define HOTSPOT_SPACE_BEGINS 5U /* VirtualSpace: _low_boundary and _high_boundary */
#define HOTSPOT_SPACE_ENDS 6U
#define HOTSPOT_BLOB_NAME 7U      /* CodeBlob: _name, a pointer to text */
#define HOTSPOT_BLOB_BYTES 8U     /* _size, an int */
#define HOTSPOT_BLOB_CODE 9U      /* _code_begin, a pointer, or _code_offset, an int */
#define HOTSPOT_BLOB_COMPLETE 10U /* _frame_complete_offset */
#define HOTSPOT_BLOB_FRAME 11U    /* _frame_size, an int: in words */
#define HOTSPOT_FIELDS 12U

#define HOTSPOT_OFFSET_MAX 4096U     /* of a field; above the largest known */
#define HOTSPOT_PLACE_MAX (1U << 31) /* in the file and the zeros behind it */

struct unwind_hotspot {
	__u32 heaps; /* place of CodeCache::_heaps, a pointer to a GrowableArray; 0: no HotSpot */
	__u32 offsets[HOTSPOT_FIELDS]; /* place of the word that has the offset of the field */
	__u8 block_bytes;              /* of the header that is before a CodeBlob in its heap */
	__u8 complete_bytes;           /* of _frame_complete_offset: 2 or 4 */
	__u8 code_is_offset;           /* 1: the CodeBlob has _code_offset */
	__u8 reserved;
};

#define UNWIND_HOTSPOTS 64U /* elements of the map: different files libjvm.so, and 0 for none */

/* unwind_mapping.first_page: the mapping is of no file, so its code was made at run time */
#define UNWIND_OF_NO_FILE (~0U)

struct unwind_page {
	__u32 first_row; /* chunk << UNWIND_CHUNK_BITS | row in the chunk */
	__u32 rows;      /* 0: no rule anywhere in the page */
};

struct unwind_row {
	__u16 at;   /* offset in the page */
	__u16 rule; /* index into unwind_rules; 0: none */
};

struct unwind_chunk {
	struct unwind_row rows[UNWIND_CHUNK_ROWS];
};

/* unwind_rule.kind. CFA is DWARF's canonical frame address: where the caller's stack ends. */
#define UNWIND_NONE 0U
#define UNWIND_ROOT 1U      /* no caller: DWARF marks the return address undefined */
#define UNWIND_CFA 2U       /* register + cfa_offset */
#define UNWIND_CFA_DEREF 3U /* *(register + cfa_offset) + cfa_add */
/* register + cfa_offset, plus 8 from byte cfa_add on in each 16 bytes: an entry of x86's PLT */
#define UNWIND_CFA_PLT 4U
#define UNWIND_EXPRESSION 5U /* an expression of none of these forms */
#define UNWIND_CFA_MOVED 6U  /* register + cfa_offset, which may be on another stack */
/*
 * The frame is on the stack of Go's scheduler, its caller on the goroutine's: CFA is the stack pointer that the runtime saved
 * there, plus cfa_offset. With UNWIND_SAME for the return address, this is what the runtime saved beside it. The members say where
 * that is: g at cfa_add from the thread's FS, its M at cfa_register in that, the M's goroutine at extra_at in it, and the saved
 * stack pointer at frame_pointer_at in the goroutine. A saved frame pointer is right below the return address.
 */
#define UNWIND_GO_SWITCH 7U
#define UNWIND_KINDS 8U

/* unwind_rule.frame_pointer, .return_address and .extra: where the frame keeps its caller's value */
#define UNWIND_SAME 0U             /* in the register, unchanged */
#define UNWIND_AT_CFA 1U           /* in memory, at an offset from the CFA */
#define UNWIND_AT_STACK_POINTER 2U /* at an offset from the frame's own stack pointer: signal frames */
#define UNWIND_AT_FRAME_POINTER 3U /* from the frame's own frame pointer: prologues that align the stack */
#define UNWIND_ELSEWHERE 4U        /* for `extra`: unknown */

struct unwind_rule {
	__u8 kind;
	__u8 cfa_register; /* DWARF register number */
	__u8 is_signal;    /* the caller was interrupted: its address is exact, not a return address */
	__u8 frame_pointer;
	__u8 return_address;
	__u8 extra; /* one more register that callers compute CFAs from: rbx on x86 */
	__s16 extra_at;
	__s32 cfa_offset;
	__s32 cfa_add;
	__s32 frame_pointer_at;
	__s32 return_address_at;
};

/* ---- totals: tgid -> exact times of a target since it became a target ---- */

#define STALL_CLASSES 8U /* STALL_* bits as an index; 0: no stall */

struct totals {
	__u64 started_ns; /* start of the process */
	__u64 on_cpu_ns;
	__u64 off_cpu_ns[STALL_CLASSES]; /* all intervals, with or without a slot */
	__u64 intervals[STALL_CLASSES];
	__u64 unstacked_ns[STALL_CLASSES]; /* the part that was long enough for a slot but over budget */
	__u64 unstacked;                   /* number of such intervals */
	__u64 reclaim_ns;                  /* time in reclaim or compaction, on or off CPU */
	__u64 reclaim_off_ns;              /* the off-CPU part of reclaim_ns, also in off_cpu_ns */
	/* how long the threads and processes that it made waited for their first CPU, as far as no slot has that yet */
	__u64 first_ns;
};

/* ---- events: process events of targets ---- */

#define PROCESS_MATCHED 1U   /* became a target, or its pattern changed */
#define PROCESS_UNMATCHED 2U /* no longer a target: renamed, or denied by policy */
#define PROCESS_EXITED 3U

struct process_event {
	struct record_header header;
	__u32 kind; /* PROCESS_* */
	__u32 tgid;
	__u32 pattern_id;
	__u64 started_ns;
	/* PROCESS_MATCHED only. Otherwise 0: policy may deny the process */
	__u64 cgroup_id;
	__u32 uid;
	__u32 program; /* as sample.program */
	char comm[ABI_COMM_BYTES];
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

/*
 * ---- ended: what processes used that no walk has met, summed by what they ran ----
 *
 * The consumer takes elements out at each walk. The final sums of a process that the last walk met are a record
 * of their own, in `cgroup_paths`, unless that ring is half full.
 */

#define ENDED_MAX 4096U

#define ENDED_DENIED 1U   /* root's policy denies them: all other members of the key are 0 */
#define ENDED_OVERFLOW 2U /* there was no room for more keys: as above */
#define ENDED_KERNEL 4U   /* kernel threads */

struct ended_key {
	char comm[ABI_COMM_BYTES]; /* the program's name when it ended */
	char parent[ABI_COMM_BYTES];
	__u64 cgroup_id;
	__u32 parent_tgid; /* 0: the parent is itself as short-lived */
	__u32 flags;       /* ENDED_* */
};

struct ended_sums {
	__u64 processes;
	__u64 cpu_ns;
	__u64 run_delay_ns;
	__u64 major_faults;
	__u64 read_bytes;
	__u64 write_bytes;
	__u64 reclaim_ns;
	__u64 reclaims;
};

struct ended_record {
	struct record_header header;
	__u32 tgid;
	__u64 started_ns;
	struct task_usage usage;
	__u32 flags; /* TASK_DENIED: only usage.cpu_ns is told, all else is 0 */
	__u32 reserved;
};

/*
 * ---- interrupts: per-CPU sums by kind and number; irq_names: number -> the name of its handler ----
 */

#define INTERRUPTS_MAX 512U

#define INTERRUPT_SOFT 1U  /* number: the kernel's vector, from HI_SOFTIRQ (0) to RCU_SOFTIRQ (9) */
#define INTERRUPT_HARD 2U  /* number: as in /proc/interrupts */
#define INTERRUPT_TIMER 3U /* an x86 CPU's own timer; number 0 */

struct interrupt_key {
	__u32 kind; /* INTERRUPT_* */
	__u32 number;
};

struct interrupt_sums {
	__u64 count;
	__u64 ns; /* of a soft interrupt: without the hard ones within it */
};

#define IRQ_NAME_BYTES 32U

struct irq_name {
	char name[IRQ_NAME_BYTES]; /* with a NUL */
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
#define MAPPINGS_KINDS 3U

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

/*
 * ---- victims: where the time of targets' threads went; blame: who they waited for ----
 *
 * A victim is all threads of targets with one name in one cgroup. Its time is summed by account, and its waiting also by
 * party, each in a ring of slots of equal length: the slot of a moment of CLOCK_MONOTONIC is that moment's number of slots
 * since 0, modulo ACCOUNT_SLOTS. An interval counts in the slots that it covers.
 */

#define ACCOUNT_RAN 0U
#define ACCOUNT_MEMORY 1U    /* in reclaim, running; or blocked in a memory stall */
#define ACCOUNT_THROTTLED 2U /* runnable, while its cgroup or one above has used up its quota */
#define ACCOUNT_QUEUED 3U    /* runnable otherwise */
#define ACCOUNT_IO 4U
#define ACCOUNT_LOCK 5U    /* for a futex that is a lock: a thread that released it ended the wait */
#define ACCOUNT_NETWORK 6U /* another host ended it */
#define ACCOUNT_PEER 7U    /* another thread of this host did */
#define ACCOUNT_SLEEP 8U
#define ACCOUNT_REST 9U /* the kernel programs do not know: they did not see a switch */
#define ACCOUNTS 10U
#define ACCOUNT_NAMES "ran", "memory", "throttled", "queued", "io", "lock", "network", "peer", "sleep", "rest"

#define ACCOUNT_SLOTS 64U        /* a power of two */
#define ACCOUNT_SLOT_BITS 30U    /* 1.07 s, or by control.account_slot_more longer */
#define ACCOUNT_SLOT_MORE_MAX 4U /* 17 s, and all slots together 1,099 s */
/* A slot: the number of its span in the upper 16 bits, ns in the others. A slot of another number is empty. */
#define ACCOUNT_SLOT_NS_BITS 48U

struct victim_sums {
	char comm[ABI_COMM_BYTES]; /* of the group leader */
	__u64 cgroup_id;
	__u32 tgid; /* a process that captures on demand want by its id has sums of its own; 0: of all others together */
	__u32 reserved;
	__u64 slots[ACCOUNTS][ACCOUNT_SLOTS];
};

#define VICTIMS_MAX 512U

#define BLAME_PROCESS                                                                                        \
	0U /* the members comm and cgroup_id say whom; for kinds that say nothing of them they are 0 */
#define BLAME_KERNEL 1U   /* a kernel thread; of those named kworker/..., only this word */
#define BLAME_RECORDER 2U /* the consumer, or a child of it */
#define BLAME_QUOTA                                                                                          \
	3U /* the cgroup whose quota was used up: its id, 0 for one of version 1, and the begin of its name */
#define BLAME_IRQ 4U
#define BLAME_STEAL 5U
#define BLAME_NOBODY 6U /* the CPU was idle */
#define BLAME_DENIED 7U /* root's policy does not let it be named */
#define BLAME_UNSEEN                                                                                         \
	8U /* the kernel counted the wait, and the programs did not see it; or another host ended it */
#define BLAME_LIMIT                                                                                          \
	9U /* a memory limit to which reclaim goes back: id and begin of the name of its cgroup, as far as known */
#define BLAME_KINDS 10U

struct blame_key {
	__u32 victim;
	__u8 wait; /* ACCOUNT_* */
	__u8 by;   /* BLAME_* */
	__u8 then; /* ACCOUNT_LOCK: the account of the party meanwhile; ACCOUNTS: not known. Otherwise ACCOUNTS */
	__u8 reserved;
	__u64 cgroup_id;
	char comm[ABI_COMM_BYTES];
};

struct blame_sums {
	__u64 slots[ACCOUNT_SLOTS];
};

#define BLAME_MAX 8192U

/* ---- away: a record of each thread of a target, with what it does at the moment ---- */

struct away_record {
	struct record_header header;
	__u32 victim;  /* 0: not known */
	__u32 account; /* of the interval since since_ns, which is in no sum yet; ACCOUNTS: there is none */
	__u32 tgid;
	__u64 since_ns; /* CLOCK_MONOTONIC */
	__u64 until_ns; /* 0: it has not ended */
	__u64 cgroup_id;
	char comm[ABI_COMM_BYTES]; /* of the group leader */
};

/* ---- what the kernel counts of the programs ---- */

#define OWN_PROGRAMS_MAX 64U

struct program_name {
	char text[32]; /* ends with a NUL */
};

/* Of all CPUs, since the load. Runs, and their time, count only while the kernel's statistics of BPF programs are on. */
struct program_cost {
	struct record_header header;
	__u32 reserved;
	struct program_name name;
	__u64 runs;
	__u64 run_ns;
	__u64 missed; /* runs that the kernel left out, because the program ran on that CPU already: counted always */
};

/* ---- counters: per-CPU array, one element each ---- */

#define COUNTER_SAMPLES_ONCPU 0U
#define COUNTER_SAMPLES_QUIET 1U /* ticks without a sample: the heartbeat was too old */
#define COUNTER_KERNEL_STACK_ERRORS 2U
#define COUNTER_USER_STACK_ERRORS 3U
#define COUNTER_STACKS_TRUNCATED 4U
#define COUNTER_TARGETS_FULL 5U
#define COUNTER_EVENTS_LOST 6U
#define COUNTER_ERRORS_LOST 7U
#define COUNTER_MATCHES 8U
#define COUNTER_EXITS 9U
#define COUNTER_PATHS_BUSY 10U
#define COUNTER_CLOCKS_LOST 11U /* 1 for each CPU that went offline after the load */
#define COUNTER_SAMPLES_OFFCPU 12U
#define COUNTER_OFFCPU_UNSTACKED 13U /* intervals long enough for a slot but over budget */
#define COUNTER_OFFCPU_UNTRACKED 14U /* threads without intervals: no memory */
#define COUNTER_OFFCPU_STACKS 15U    /* stacks recorded when a thread left the CPU */
#define COUNTER_POLICY_DENIED 16U    /* processes that stopped being targets because of policy */
#define COUNTER_CGROUPS_TOLD 17U
#define COUNTER_CGROUPS_OVER_BUDGET 18U /* times a path was not told: its account had no budget left */
#define COUNTER_CGROUPS_LOST 19U    /* times a path was not told: the ring was full, or it was unreadable */
#define COUNTER_ENDED_LOST 20U      /* final sums of processes that were not told: the ring was half full */
#define COUNTER_SAMPLES_OTHERS 21U  /* on CPU, of bystanders and kernel threads */
#define COUNTER_INTERRUPTS_LOST 22U /* interrupts that were not summed: there are more than INTERRUPTS_MAX */
#define COUNTER_KILLS_LOST                                                                                   \
	23U /* kills that were not told: too many of one uid, or the ring was a quarter full */
#define COUNTER_ACCOUNTS_LOST                                                                                \
	24U /* intervals of targets' threads that found no room in `victims` or `blame` */
#define COUNTER_ACCOUNTS_FIXED 25U /* waits for a CPU whose length the kernel's own sums corrected */
#define COUNTER_OFFCPU_JOINED                                                                                \
	26U /* intervals over budget, whose time is in the weight of a later one of their thread */
#define COUNTERS 27U

#define ABI_CHECK(type, member, at)                                                                          \
	_Static_assert(__builtin_offsetof(struct type, member) == (at), #type "." #member " moved")
#define ABI_SIZE(type, bytes) _Static_assert(sizeof(struct type) == (bytes), "struct " #type " changed size")

ABI_SIZE(record_header, 4);
ABI_SIZE(policy, 1320);
ABI_CHECK(policy, allowed, 40);
ABI_SIZE(pattern_key, 20);
ABI_SIZE(target, 24);
ABI_CHECK(target, pattern_id, 16);
ABI_SIZE(control, 192);
ABI_CHECK(control, wanted, 64);
ABI_CHECK(control, offcpu_unread_ns, 96);
ABI_CHECK(control, unmapped, 128);
ABI_SIZE(wanted_key, 24);
ABI_CHECK(wanted_key, what, 8);
ABI_SIZE(wanted_until, 16);
ABI_SIZE(code_spans, 176);
ABI_SIZE(bystander, 192);
ABI_SIZE(unwind_process, 16);
ABI_SIZE(unwind_mapping, 32);
ABI_SIZE(unwind_page, 8);
ABI_SIZE(unwind_row, 4);
ABI_SIZE(unwind_chunk, 4096);
ABI_SIZE(unwind_rule, 24);
ABI_SIZE(unwind_hotspot, 56);
ABI_CHECK(control, clocks_cgroup, 32);
ABI_CHECK(control, mappings_scan, 48);
ABI_CHECK(control, walk_began_ns, 56);
ABI_SIZE(stall_clock, 64);
ABI_CHECK(control, heartbeat_ns, 8);
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
ABI_SIZE(totals, 240);
ABI_SIZE(process_event, 56);
ABI_CHECK(process_event, comm, 40);
ABI_SIZE(error_event, 40);
ABI_CHECK(error_event, comm, 24);
ABI_SIZE(task_record, 192);
ABI_CHECK(task_record, comm, 32);
ABI_CHECK(task_record, rss_bytes, 136);
ABI_SIZE(thread_record, 104);
ABI_SIZE(interrupt_key, 8);
ABI_SIZE(interrupt_sums, 16);
ABI_SIZE(irq_name, 32);
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
ABI_SIZE(victim_sums, 5152);
ABI_CHECK(victim_sums, slots, 32);
ABI_SIZE(blame_key, 32);
ABI_CHECK(blame_key, cgroup_id, 8);
ABI_SIZE(blame_sums, 512);
ABI_SIZE(away_record, 56);
ABI_SIZE(program_cost, 64);
ABI_CHECK(program_cost, name, 8);
ABI_CHECK(program_cost, runs, 40);
ABI_SIZE(ended_key, 48);
ABI_SIZE(ended_sums, 64);
ABI_SIZE(ended_record, 112);
ABI_SIZE(mapped_record, 48);
ABI_CHECK(mapped_record, comm, 32);
ABI_SIZE(cgroup_record, 32);
ABI_CHECK(cgroup_record, cgroup_id, 8);
ABI_SIZE(mapping_record, 64);
ABI_CHECK(mapping_record, path_bytes, 60);

#endif
