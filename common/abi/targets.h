/* SPDX-License-Identifier: GPL-2.0-only */
/* abi/targets.h defines whom the programs sample, what the consumer tells them, and what they tell of processes: a part of common/abi/abi.h. */
#ifndef BOURDON_ABI_TARGETS_H
#define BOURDON_ABI_TARGETS_H

#include "common/abi/base.h"

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

/* ---- targets: tgid -> a sampled process ---- */

struct target {
	__u64 started_ns; /* start of the process, CLOCK_BOOTTIME: with the tgid, its identity */
	__u64 since_ns;   /* when it became a target, CLOCK_MONOTONIC */
	__u32 pattern_id;
	__u32 victim; /* key in `victims`; 0: none yet, or its name or cgroup has changed */
};

#define TARGETS_DEFAULT 16384U

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
	__u32 known_ms; /* since when the iterator knows the program (CLOCK_MONOTONIC, modulo 2^32); 0: it does not */
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
	__u32 latency;         /* groups of latencies that are measured: a bit for each LATENCY_* */
	/* slots of intervals that ended since then are not overwritten; 0: all may be. Any number is safe: it only decides which of two is lost */
	__u64 offcpu_unread_ns;
	__u32 latency_loaded; /* groups that can be: the loader writes it */
	__u32 reserved4;
	/* CLOCK_MONOTONIC: growth before that was not seen, because LATENCY_MEMORY was off or the consumer did not run */
	__u64 growth_since_ns;
	__u32 reserved5[2];
	/* written by programs, in a cache line of its own */
	__u64 unmapped; /* number of user stacks that led to an address outside the process's tables */
	__u64 reserved2[7];
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

ABI_SIZE(pattern_key, 20);
ABI_SIZE(target, 24);
ABI_CHECK(target, pattern_id, 16);
ABI_SIZE(control, 192);
ABI_CHECK(control, wanted, 64);
ABI_CHECK(control, offcpu_unread_ns, 96);
ABI_CHECK(control, growth_since_ns, 112);
ABI_CHECK(control, unmapped, 128);
ABI_SIZE(wanted_key, 24);
ABI_CHECK(wanted_key, what, 8);
ABI_SIZE(wanted_until, 16);
ABI_CHECK(control, clocks_cgroup, 32);
ABI_CHECK(control, mappings_scan, 48);
ABI_CHECK(control, walk_began_ns, 56);
ABI_CHECK(control, heartbeat_ns, 8);
ABI_SIZE(process_event, 56);
ABI_CHECK(process_event, comm, 40);
ABI_SIZE(code_spans, 176);
ABI_SIZE(bystander, 192);

#endif
