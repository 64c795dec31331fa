/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * abi/latency.h defines the histograms of latencies: a part of common/abi/abi.h.
 *
 * ---- histograms: a table of open addressing in an array; histogram_tallies: what became of all events ----
 *
 * It is no map of the kernel's type hash: programs add to it while the kernel holds the locks of such maps, of which they
 * measure the contention.
 */
#ifndef BOURDON_ABI_LATENCY_H
#define BOURDON_ABI_LATENCY_H

#include "common/abi/base.h"

/* Groups, which rules and captures switch on: bits of control.latency and control.latency_loaded. */
#define LATENCY_RUNQUEUE 0U
#define LATENCY_OFFCPU 1U
#define LATENCY_BLOCK 2U
#define LATENCY_LOCK 3U
#define LATENCY_MEMORY 4U
#define LATENCY_SOFTIRQ 5U
#define LATENCY_EXEC 6U
#define LATENCY_FORK 7U
#define LATENCY_REQUEST 8U
#define LATENCY_GROUPS 9U
#define LATENCY_GROUP_NAMES                                                                                  \
	"runqueue", "offcpu", "block", "lock", "memory", "softirq", "exec", "fork", "request"

/* What is measured. The first of a group has its number. Values are ns, or bytes. */
#define METRIC_RUNQUEUE 0U /* from becoming runnable to a CPU; owner: the cgroup of the target */
#define METRIC_OFFCPU 1U   /* off CPU; detail: ACCOUNT_*; owner: as above */
#define METRIC_BLOCK                                                                                         \
	2U /* from a request's queue to its end; object: device; detail: BLOCK_*; owner: who asked */
#define METRIC_LOCK 3U   /* detail: LOCK_*; object: see there; owner: the cgroup of the target, 0 of others */
#define METRIC_MEMORY 4U /* detail: MEMORY_*; owner: as of locks */
#define METRIC_SOFTIRQ 5U /* a soft interrupt, without the hard ones within it; detail: its vector */
#define METRIC_EXEC 6U    /* from the start of a process to its first exec; owner: as of locks */
#define METRIC_FORK 7U    /* a new process or thread of a target, to its first CPU; owner: its cgroup */
/* from the arrival of a request at a server to its answer's last byte; object: REQUEST_PORT_*; owner: the server's cgroup */
#define METRIC_REQUEST 8U
#define METRIC_BLOCK_QUEUE 9U    /* the part before the device had the request */
#define METRIC_BLOCK_SERVICE 10U /* the part since then */
#define METRIC_BLOCK_SIZE 11U    /* bytes */
#define METRIC_REQUEST_FIRST 12U /* from the arrival to the answer's first byte */
#define METRIC_REQUEST_UNREAD 13U
/* Since the server read it, of the thread that did, if that sent the answer; detail: REQUEST_ALONE or REQUEST_SHARED */
#define METRIC_REQUEST_ON_CPU 14U
#define METRIC_REQUEST_QUEUED 15U
#define METRIC_REQUEST_BLOCKED 16U
#define METRIC_REQUEST_MULTIPLEXED 17U /* as METRIC_REQUEST, of connections on which requests overlap */
#define METRICS 18U
#define METRIC_NAMES                                                                                         \
	"runqueue", "offcpu", "block", "lock", "memory", "softirq", "exec", "fork", "request",               \
		"block.queue", "block.service", "block.size", "request.first_byte", "request.unread",        \
		"request.on_cpu", "request.queued", "request.blocked", "request.multiplexed"

/* The group that a metric belongs to: LATENCY_*. */
static inline __attribute__((always_inline)) __u32 latency_metric_group(__u32 metric)
{
	if (metric < LATENCY_GROUPS)
		return metric;
	return metric <= METRIC_BLOCK_SIZE ? LATENCY_BLOCK : LATENCY_REQUEST;
}

/* METRIC_BLOCK*: the operation (include/linux/blk_types.h, enum req_op), and whether it failed. */
#define BLOCK_OPERATION 0x7fU
#define BLOCK_FAILED 0x80U

/*
 * METRIC_LOCK. A futex: object is the key of the lock (sample.lock). A lock of the kernel: object is the frame from which it was
 * wanted by who waited for LOCK_CALLER_NS or longer, as a sample has frames of the kernel, in the lower half; else 0.
 */
#define LOCK_FUTEX 0U
#define LOCK_MUTEX 1U
#define LOCK_RWSEM_READ 2U
#define LOCK_RWSEM_WRITE 3U
#define LOCK_SPIN 4U
#define LOCK_RWLOCK_READ 5U
#define LOCK_RWLOCK_WRITE 6U
#define LOCK_RT 7U
#define LOCK_PERCPU_RWSEM 8U
#define LOCK_OTHER 9U
#define LOCKS 10U
#define LOCK_NAMES                                                                                           \
	"futex", "mutex", "rwsem read", "rwsem write", "spinlock", "rwlock read", "rwlock write", "rt",      \
		"percpu rwsem", "other"
#define LOCK_CALLER_NS 10000U

#define MEMORY_DIRECT 0U /* direct reclaim */
#define MEMORY_LIMIT 1U  /* reclaim because of a cgroup's limit */
#define MEMORY_COMPACTION 2U
#define MEMORY_FAULT 3U /* a thread blocked for I/O outside of a system call: a page was read */
#define MEMORY_KINDS 4U
#define MEMORY_NAMES "direct reclaim", "memcg reclaim", "compaction", "major fault"

/* METRIC_REQUEST*: the object is the server's port; this one, if more ports are in use than are told apart. */
#define REQUEST_PORT_OTHER 0U
#define REQUEST_ALONE 0U
#define REQUEST_SHARED 1U /* the thread read from other connections, too, before it answered */

/*
 * Buckets are log-linear: values below 8 have one each, and each octave from there on has 8 (HdrHistogram's layout). So a bucket is
 * at most an eighth of its lower bound wide.
 */
#define BUCKET_BITS 3U
#define BUCKETS_AN_OCTAVE (1U << BUCKET_BITS)

#define HISTOGRAM_VALUE_MAX (1ULL << 42) /* an hour and 13 minutes: what is longer is counted as absurd */

/*
 * 1 if the value is 0, else 0. Without branches, of which the verifier would follow each; clang would make some. Multiply by it: where
 * a mask of all ones or none meets a constant, the verifier of Linux 6.18 follows both, too.
 */
static inline __attribute__((always_inline)) __u64 is_zero(__u64 value)
{
	value |= -value;
	__asm__ volatile("" : "+r"(value));
	value = value >> 63 ^ 1;
	__asm__ volatile("" : "+r"(value));
	return value;
}

static inline __attribute__((always_inline)) __u32 bucket_of(__u64 value)
{
	__u64 rest = value >> BUCKET_BITS;
	__u32 octave = 0; /* of `rest`: the number of its highest bit */

	if (!rest)
		return (__u32)value;
	for (__u32 step = 32; step; step /= 2) {
		__u32 shift = step * (__u32)(is_zero(rest >> step) ^ 1);

		octave += shift;
		rest >>= shift;
	}
	return (octave + 1) * BUCKETS_AN_OCTAVE + (__u32)(value >> octave) % BUCKETS_AN_OCTAVE;
}

/* The lowest value of a bucket. The bucket ends where the next one begins. */
static inline __attribute__((always_inline)) __u64 bucket_begins(__u32 bucket)
{
	__u32 octave = bucket / BUCKETS_AN_OCTAVE;

	return octave ? (__u64)(BUCKETS_AN_OCTAVE + bucket % BUCKETS_AN_OCTAVE) << (octave - 1) : bucket;
}

#define HISTOGRAM_EPOCH_NS 5000000000ULL

struct histogram_key {
	__u64 object;
	__u64 owner; /* the id of a cgroup; 0: not told */
	__u16 bucket;
	__u8 metric; /* METRIC_* */
	__u8 detail;
	__u32 reserved;
};

struct histogram_slot {
	__u64 id; /* epoch of CLOCK_MONOTONIC in the upper half; 0: free; HISTOGRAM_BUSY: being made */
	struct histogram_key key;
	__u64 count;
	__u64 sum; /* of the values */
};

#define HISTOGRAM_BUSY (1ULL << 62)

/* An element of the table: the slots that a value may have. */
#define HISTOGRAM_WAYS 8U /* a power of two */

struct histogram_set {
	struct histogram_slot slots[HISTOGRAM_WAYS];
};

/* Each group has a part of the table of its own: a storm in one takes no room from another. */
#define HISTOGRAM_SETS_A_GROUP 4096U /* a power of two */
#define HISTOGRAM_SETS (LATENCY_GROUPS * HISTOGRAM_SETS_A_GROUP)
/* The oldest slot of a set is used again when its epoch is so many back. */
#define HISTOGRAM_EPOCHS_KEPT 4U

/* By metric and epoch, of each CPU. events = those in the table + overflow. */
#define TALLY_EPOCHS 32U /* a power of two */

struct histogram_tally {
	__u64 epoch; /* that the members below are of */
	__u64 events;
	__u64 overflow; /* found no slot */
	__u64 unpaired; /* ends without a begin, and begins without an end */
	__u64 absurd;   /* longer than HISTOGRAM_VALUE_MAX, or negative */
};

ABI_SIZE(histogram_key, 24);
ABI_SIZE(histogram_slot, 48);
ABI_CHECK(histogram_slot, count, 32);
ABI_SIZE(histogram_set, 384);
ABI_SIZE(histogram_tally, 40);

#endif
