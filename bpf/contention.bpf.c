/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * contention.bpf.c measures how long threads and CPUs wait for locks of the kernel, from the moment when one is found taken. The
 * kernel may hold any lock meanwhile, so nothing here takes one.
 *
 * A wait is known by who waits: a thread, or, for a lock on which a CPU spins, the lock on that CPU, because interrupts wait
 * within each other. Linux calls both tracepoints in __mutex_lock(), and so on (include/trace/events/lock.h, since 5.19).
 */
#include "bpf/pairs.h"
#include "bpf/rebase.h"
#include "bpf/target.h"

#define FOUND_SPINNING 1U /* include/trace/events/lock.h: LCB_F_* */
#define FOUND_READ 2U
#define FOUND_WRITE 4U
#define FOUND_RT 8U
#define FOUND_PERCPU 16U
#define FOUND_MUTEX 32U

#define STACK_WORDS 12U /* of these, the first ones are the tracepoint's */

struct lock_wait {
	struct pair pair; /* its key is who waits */
	__u64 lock;
	__u32 kind; /* LOCK_* */
	__u32 reserved;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PAIRS);
	__type(key, __u32);
	__type(value, struct lock_wait);
} lock_waits SEC(".maps");

static __always_inline __u32 kind_of(__u32 flags)
{
	bool reads = flags & FOUND_READ, writes = flags & FOUND_WRITE;

	if (flags & FOUND_MUTEX)
		return LOCK_MUTEX;
	if (flags & FOUND_RT)
		return LOCK_RT;
	if (flags & FOUND_PERCPU)
		return LOCK_PERCPU_RWSEM;
	if (flags & FOUND_SPINNING)
		return reads ? LOCK_RWLOCK_READ : writes ? LOCK_RWLOCK_WRITE : LOCK_SPIN;
	return reads ? LOCK_RWSEM_READ : writes ? LOCK_RWSEM_WRITE : LOCK_OTHER;
}

static __always_inline bool is_spun_on(__u32 kind)
{
	return kind == LOCK_SPIN || kind == LOCK_RWLOCK_READ || kind == LOCK_RWLOCK_WRITE;
}

/* The upper half of an address of the kernel has ones there. */
static __always_inline __u64 cpu_at(__u64 lock)
{
	return lock ^ (__u64)bpf_get_smp_processor_id() << 48;
}

/* Of pairs_are_measured(). */
static __u64 measured_since_ns;

SEC("tp_btf/contention_begin")
int BPF_PROG(lock_begin, void *lock, unsigned int flags)
{
	__u32 kind = kind_of(flags);
	struct lock_wait *wait;
	__u64 who, now_ns;

	if (!pairs_are_measured(&measured_since_ns, LATENCY_LOCK))
		return 0;
	who = is_spun_on(kind) ? cpu_at((__u64)lock) : bpf_get_current_task();
	now_ns = bpf_ktime_get_ns();
	wait = pair_find(&lock_waits, who);
	/* a mutex is first spun for, and told again when the thread goes to sleep */
	if (wait && wait->lock == (__u64)lock && wait->kind == kind && kind == LOCK_MUTEX &&
	    wait->pair.since_ns >= measured_since_ns)
		return 0;
	if (wait && wait->pair.since_ns >= measured_since_ns)
		histogram_count_unpaired(METRIC_LOCK);
	if (!wait)
		wait = pair_make(&lock_waits, who, now_ns, METRIC_LOCK);
	if (!wait) {
		histogram_count_unpaired(METRIC_LOCK);
		return 0;
	}
	wait->lock = (__u64)lock;
	wait->kind = kind;
	wait->pair.since_ns = now_ns;
	return 0;
}

/* The innermost frame outside of the functions of locks: who called them. 0: not known, or not to be told. */
static __noinline __u32 caller(void *ctx)
{
	__u64 words[STACK_WORDS], found = 0, inside = 0;
	long bytes = 0;

	if (kernel_text && policy.kernel_stacks)
		bytes = bpf_get_stack(ctx, words, sizeof(words), 0);
	if (bytes != sizeof(words))
		return 0;
	for (__u32 i = 0; i < STACK_WORDS; i++) {
		__u64 is_inside = part_mask(kernel_locks, words[i]);

		found += words[i] * (is_zero(found) & inside & ~is_inside & 1);
		inside |= is_inside;
	}
	return found ? (__u32)rebase(found) : 0;
}

SEC("tp_btf/contention_end")
int BPF_PROG(lock_end, void *lock)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct lock_wait *wait;
	__u32 kind;
	__u64 since_ns, ns, owner = 0;

	if (!pairs_are_measured(&measured_since_ns, LATENCY_LOCK))
		return 0;
	wait = pair_find(&lock_waits, bpf_get_current_task());
	if (!wait || wait->lock != (__u64)lock)
		wait = pair_find(&lock_waits, cpu_at((__u64)lock));
	if (!wait) {
		histogram_count_unpaired(METRIC_LOCK);
		return 0;
	}
	since_ns = wait->pair.since_ns;
	kind = wait->kind;
	pair_free(wait);
	if (since_ns < measured_since_ns)
		return 0;
	ns = bpf_ktime_get_ns() - since_ns;
	if (!is_spun_on(kind))
		owner = latency_owner(task);
	histogram_put(METRIC_LOCK, kind,
		      ns >= LOCK_CALLER_NS && (owner || policy.latency_labels) ? caller(ctx) : 0, owner, ns);
	return 0;
}
