/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * maps.h declares the maps and load-time constants that the programs share; maps.bpf.c defines them. The
 * loader sets sizes that depend on the machine before it loads the programs.
 *
 * Room: the programs in the kernel, one observation a file. The kernel calls them, in any context. They write maps
 * whose elements common/abi/ describes; what the consumer can write there may be forged.
 */
#ifndef BOURDON_BPF_MAPS_H
#define BOURDON_BPF_MAPS_H

#include "bpf/kernel.h"
#include "common/abi/abi.h"

#define CGROUP_NAME_BYTES 256U /* NAME_MAX and a NUL */

/* The consumer can write to the maps from here to UNWIND_MAP: programs trust nothing in them. */
struct patterns_map {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, PATTERNS_MAX);
	__type(key, struct pattern_key);
	__type(value, __u32);
};

struct control_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct control);
};

struct samples_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* set by the loader: slots_per_cpu * CPUs */
	__type(key, __u32);
	__type(value, struct sample);
};

/* Programs delete an entry when its process exits or executes another program. */
struct unwind_procs_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, TARGETS_DEFAULT);
	__type(key, __u32);
	__type(value, struct unwind_process);
};

/* The cgroups whose paths the consumer has: an id that is missing is told again, one too many is not told. */
struct cgroups_known_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, CGROUPS_KNOWN);
	__type(key, __u64);
	__type(value, __u32);
};

/* The consumer takes elements out: it can make its own accounts wrong. */
struct ended_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, ENDED_MAX);
	__type(key, struct ended_key);
	__type(value, struct ended_sums);
};

/* Whom captures on demand want: read after root's policy alone, which the consumer cannot widen by it. */
struct wanted_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, WANTED_MAX);
	__type(key, struct wanted_key);
	__type(value, struct wanted_until);
};

/* Sized by the loader according to --unwind-memory. Mappable, so that each map's data begins on a page. */
#define UNWIND_MAP(name, element)                                                                            \
	struct name {                                                                                        \
		__uint(type, BPF_MAP_TYPE_ARRAY);                                                            \
		__uint(map_flags, BPF_F_MMAPABLE);                                                           \
		__uint(max_entries, 1);                                                                      \
		__type(key, __u32);                                                                          \
		__type(value, struct element);                                                               \
	}

UNWIND_MAP(unwind_maps_map, unwind_mapping);
UNWIND_MAP(unwind_pages_map, unwind_page);
UNWIND_MAP(unwind_rows_map, unwind_chunk);
UNWIND_MAP(unwind_rules_map, unwind_rule);

struct unwind_hotspot_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, UNWIND_HOTSPOTS);
	__type(key, __u32);
	__type(value, struct unwind_hotspot);
};

/* Only programs write the maps from here on. */
struct targets_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TARGETS_DEFAULT);
	__type(key, __u32);
	__type(value, struct target);
};

struct records_map {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 18);
};

struct counters_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, COUNTERS);
	__type(key, __u32);
	__type(value, __u64);
};

/* Elements are allocated on demand, so a host with few targets uses little memory. */
struct totals_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, TARGETS_DEFAULT);
	__type(key, __u32);
	__type(value, struct totals);
};

struct code_spans_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, TARGETS_DEFAULT);
	__type(key, __u32);
	__type(value, struct code_spans);
};

struct bystanders_map {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, BYSTANDERS_MAX);
	__type(key, __u32);
	__type(value, struct bystander);
};

/*
 * tgid -> start of a process whose memory the kernel protected when it was made or executed a program. Before
 * Linux 6.16 its memory is gone when it ends. LRU: who makes many such processes has the oldest ones' names told.
 */
struct undumpable_map {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, __u64);
};

/* The last thread of a process, between its end and the moment when it leaves its CPU for ever. */
struct ending {
	struct ended_key key;
	struct task_usage usage;
	__u64 self_ns; /* part of usage.cpu_ns: the thread's own */
	__u64 started_ns;
	__u32 tgid;
	__u32 was_met; /* the last walk met the process */
};

struct endings_map {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct ending);
};

/* The I/O of threads that ended, of processes that live: signal_struct.ioac has that of children in it. */
struct thread_bytes {
	__u64 started_ns; /* of the process */
	__u64 read_bytes;
	__u64 write_bytes;
};

struct thread_bytes_map {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct thread_bytes);
};

/* How long a process has been in direct reclaim. LRU, as `reclaiming` is: one that is forgotten begins at 0. */
struct reclaims {
	__u64 started_ns; /* of the process */
	__u64 ns;         /* of all its threads, on CPU and off */
	__u64 times;
};

struct reclaims_map {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct reclaims);
};

/* When a path was last told, in ns. LRU: an attacker who fills it causes paths to be told twice. */
struct cgroups_told_map {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64);
	__type(value, __u64);
};

struct cgroup_budget {
	__u64 next_ns; /* when the budget is full again, a second later */
};

/* Account (struct cgroup_record) -> budget. LRU: a forgotten account has its whole budget again. */
struct cgroup_budgets_map {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u64);
	__type(value, struct cgroup_budget);
};

struct cgroup_scratch {
	__u64 busy;
	struct cgroup_record record; /* followed by its path, as it is sent */
	char path[CGROUP_PATH_BYTES + 1 + CGROUP_NAME_BYTES];
};

/* The first element is for process events, which interrupt nothing of this kind; the second for the walk. */
struct cgroup_scratch_map {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, __u32);
	__type(value, struct cgroup_scratch);
};

/*
 * User space does not map the clocks. BPF_F_MMAPABLE aligns them to a page, so each clock has its own cache
 * line.
 */
struct clocks_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* set by the loader: number of CPUs */
	__type(key, __u32);
	__type(value, struct stall_clock);
};

extern struct patterns_map patterns_a SEC(".maps");
extern struct patterns_map patterns_b SEC(".maps");
extern struct control_map control SEC(".maps");
extern struct unwind_procs_map unwind_procs SEC(".maps");
extern struct unwind_maps_map unwind_maps SEC(".maps");
extern struct unwind_pages_map unwind_pages SEC(".maps");
extern struct unwind_rows_map unwind_rows SEC(".maps");
extern struct unwind_rules_map unwind_rules SEC(".maps");
extern struct unwind_hotspot_map unwind_hotspot SEC(".maps");
extern struct cgroups_known_map cgroups_known SEC(".maps");
extern struct ended_map ended SEC(".maps");
extern struct wanted_map wanted SEC(".maps");
extern struct undumpable_map undumpable SEC(".maps");
extern struct endings_map endings SEC(".maps");
extern struct thread_bytes_map thread_bytes SEC(".maps");
extern struct reclaims_map reclaims SEC(".maps");
extern struct records_map cgroup_paths SEC(".maps");
extern struct cgroups_told_map cgroups_told SEC(".maps");
extern struct cgroup_budgets_map cgroup_budgets SEC(".maps");
extern struct cgroup_scratch_map cgroup_scratch SEC(".maps");
extern struct targets_map targets SEC(".maps");
extern struct records_map events SEC(".maps");
extern struct records_map errors SEC(".maps");
extern struct counters_map counters SEC(".maps");
extern struct totals_map totals SEC(".maps");
extern struct code_spans_map code_spans SEC(".maps");
extern struct bystanders_map bystanders SEC(".maps");

/*
 * 1: another load or an unload has taken the place of this one. Its programs may still run, because an open
 * iterator and a held pin keep them: every program that delivers something asks is_retired() first.
 */
extern volatile __u32 retired SEC(".data.retired");

static __always_inline bool is_retired(void)
{
	return retired;
}

/*
 * By the lower bits of its tgid, how many processes `targets` has. Nearly all threads of a host are of no target, and this
 * tells so in a tenth of the time of a look-up.
 */
#define TARGETED_SLOTS 16384U
extern __u32 targeted[TARGETED_SLOTS];

/*
 * Puts the value into the hash map, and counts it if the key is new. Returns 0 or a negative errno. A map's error is an int:
 * before Linux 6.4 (d7ba4cc900bf) a program that reads it as a long gets an upper half of zeros, which is no negative number.
 */
static __always_inline int put_counted(void *map, const __u32 *key, const void *value, __u32 *counted)
{
	int failed = (int)bpf_map_update_elem(map, key, value, BPF_NOEXIST);

	if (failed == -EEXIST)
		return (int)bpf_map_update_elem(map, key, value, BPF_ANY);
	if (!failed)
		__sync_fetch_and_add(counted, 1);
	return failed;
}

static __always_inline bool may_be_target(const struct task_struct *task)
{
	return *(volatile __u32 *)&targeted[(__u32)task->tgid % TARGETED_SLOTS];
}

static __always_inline void count(__u32 counter)
{
	__u64 *value = bpf_map_lookup_elem(&counters, &counter);

	if (value)
		__sync_fetch_and_add(value, 1);
}

/*
 * Returns all ones if left >= right, else 0, without a branch: in a loop the verifier would follow each. They must not be
 * further apart than 2^63.
 */
static __always_inline __u64 not_less(__u64 left, __u64 right)
{
	__u64 mask = left - right;

	/* clang 16 makes branches of it otherwise */
	asm volatile("" : "+r"(mask));
	mask = ~(__u64)((__s64)mask >> 63);
	asm volatile("" : "+r"(mask));
	return mask;
}

/* Orders stores that user space reads without a lock: an atomic exchange is a full barrier (Linux 5.12). */
static __always_inline void publish(__u64 *seq, __u64 value)
{
	__sync_lock_test_and_set(seq, value);
}

static __always_inline struct control *control_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&control, &zero);
}

/* The spans of a target or of a bystander, or NULL. */
static __always_inline struct code_spans *code_spans_of(__u32 tgid)
{
	struct code_spans *spans = bpf_map_lookup_elem(&code_spans, &tgid);
	struct bystander *bystander;

	if (spans)
		return spans;
	bystander = bpf_map_lookup_elem(&bystanders, &tgid);
	if (!bystander)
		return NULL;
	/* clang would add the offset before it compares, which the verifier refuses */
	asm volatile("" : "+r"(bystander));
	return &bystander->spans;
}

#endif
