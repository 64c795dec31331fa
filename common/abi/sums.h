/* SPDX-License-Identifier: GPL-2.0-only */
/* abi/sums.h defines what the programs sum up: a part of common/abi/abi.h. */
#ifndef BOURDON_ABI_SUMS_H
#define BOURDON_ABI_SUMS_H

#include "common/abi/base.h"

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

/*
 * Of ACCOUNT_IO the sums are no part of the threads' time: they are how long requests of the victim waited for a device and were
 * in it, charged to those who had requests there then. A party without a name is all that kernel threads do for its cgroup.
 */
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
#define COUNTER_SAMPLES_GROWTH 27U /* stacks of growth */
#define COUNTERS 28U

ABI_SIZE(stall_clock, 64);
ABI_SIZE(totals, 240);
ABI_SIZE(interrupt_key, 8);
ABI_SIZE(interrupt_sums, 16);
ABI_SIZE(irq_name, 32);
ABI_SIZE(victim_sums, 5152);
ABI_CHECK(victim_sums, slots, 32);
ABI_SIZE(blame_key, 32);
ABI_CHECK(blame_key, cgroup_id, 8);
ABI_SIZE(blame_sums, 512);
ABI_SIZE(away_record, 56);
ABI_SIZE(ended_key, 48);
ABI_SIZE(ended_sums, 64);
ABI_SIZE(ended_record, 112);

#endif
