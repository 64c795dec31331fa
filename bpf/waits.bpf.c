/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * waits.bpf.c owns waits for a CPU: which victims' threads wait where, and charging them to who ran there meanwhile (accounts.h).
 */
#include "bpf/account_parts.h"
#include "bpf/interrupts.h"
#include "bpf/part.h"
#include "bpf/sample.h"

#define QUOTA_LEVELS 8 /* above the thread's own cgroup, that are asked whose quota is used up */
#define NOT_KNOWN (~0ULL)
/* An integral that has grown by more was read while another CPU changed it: the next switch reads it again. */
#define SLICE_NS_MAX 3600000000000LL

/* Of the current thread's queue, whose lock the caller holds. */
__noinline __u64 account_clock(void)
{
	return run_queue_of(bpf_get_current_task_btf())->clock;
}

/* What a hypervisor has taken from this CPU. */
__noinline __u64 account_stolen(void)
{
	struct rq *queue = run_queue_of(bpf_get_current_task_btf());

	return bpf_core_field_exists(queue->prev_steal_time_rq) ? queue->prev_steal_time_rq : 0;
}

static __always_inline struct wait_cpu *waits_of(__u32 cpu)
{
	return bpf_map_lookup_elem(&wait_cpus, &cpu);
}

/* Finds the victim's place, or takes one, and counts one more in it. Returns its number, or -1. */
__noinline int account_enter(struct wait_cpu *waits, __u32 victim, __u64 since_ns)
{
	if (!waits || !victim)
		return -1;
	for (__u32 i = 0; i < WAIT_PLACES; i++) {
		struct wait_place *place = &waits->places[(victim + i) & (WAIT_PLACES - 1)];
		__u64 empty = (__u64)victim << 32, word = *(volatile __u64 *)&place->word;

		if (!word && !__sync_val_compare_and_swap(&place->word, 0, empty)) {
			word = empty;
			place->queue = 0; /* of the victim that had it before */
			place->throttled = 0;
		}
		if (word >> 32 != victim)
			continue;
		/* first the sum: who reads between the two finds less than there is, and leaves it */
		__sync_fetch_and_add(&place->sum_ns, -since_ns);
		if (__sync_val_compare_and_swap(&place->word, word, word + 1) == word)
			return (int)((victim + i) & (WAIT_PLACES - 1));
		/* another CPU was faster, or the place was given up: this wait will count as not seen */
		__sync_fetch_and_add(&place->sum_ns, since_ns);
		return -1;
	}
	return -1;
}

/* The thread waits for that CPU since since_ns. `queue` 0: not known. */
__noinline int account_join(struct accounted *thread, __u32 cpu, __u64 since_ns, __u64 queue)
{
	struct wait_cpu *waits = waits_of(cpu);
	struct wait_place *place;
	int number;

	if (!waits || !thread || thread->place)
		return 0;
	number = account_enter(waits, thread->victim, since_ns);
	if (number < 0)
		return 0;
	place = &waits->places[number & (WAIT_PLACES - 1)];
	/* what a calm CPU did before does not count; of another one it is not known */
	if (!*(volatile __u64 *)&waits->taken) {
		waits->began_ns = since_ns;
		waits->irq_ns = waits->steal_ns = NOT_KNOWN;
		if (cpu == bpf_get_smp_processor_id()) {
			waits->irq_ns = interrupts_ns();
			waits->steal_ns = account_stolen();
		}
	}
	thread->joined_ns = since_ns;
	thread->place = 1 + cpu * WAIT_PLACES + (__u32)number;
	if (queue) {
		place->queue = queue;
		if ((__u32) * (volatile __u64 *)&place->word == 1)
			bpf_probe_read_kernel(&place->throttled, sizeof(place->throttled),
					      &((struct cfs_rq *)queue)->throttle_count);
	}
	__sync_fetch_and_or(&waits->taken, 1ULL << (number & (WAIT_PLACES - 1)));
	return 0;
}

/* `delay_ns`: how long the thread has waited in all, as the kernel counts it. The difference is of a migration. */
__noinline int account_leave_place(struct accounted *thread, __u64 now_ns, __u64 delay_ns)
{
	struct wait_cpu *waits;
	struct wait_place *place;
	__s64 wrong_ns;
	__u32 at;

	if (!thread || !thread->place)
		return 0;
	at = thread->place - 1;
	thread->place = 0;
	wrong_ns = (__s64)((now_ns - thread->joined_ns) - (delay_ns - thread->seen_ns));
	thread->seen_ns = delay_ns;
	waits = waits_of(at / WAIT_PLACES);
	if (!waits)
		return 0;
	place = &waits->places[at & (WAIT_PLACES - 1)];
	if (wrong_ns) {
		count(COUNTER_ACCOUNTS_FIXED);
		now_ns -= (__u64)wrong_ns;
	}
	__sync_fetch_and_add(&place->word, -1ULL);
	__sync_fetch_and_add(&place->sum_ns, now_ns);
	return 0;
}

__noinline int account_add_unseen(__u32 victim, __u64 ns, __u64 now_ns)
{
	struct blame_key key = {
		.victim = victim, .wait = ACCOUNT_QUEUED, .by = BLAME_UNSEEN, .then = ACCOUNTS
	};
	__u64 number = now_ns >> slot_bits();

	account_add(victim, ACCOUNT_QUEUED, number, ns);
	account_add_blame(&key, number, ns);
	return 0;
}

/* Argument of the bpf_loop() callbacks. */
struct slice {
	struct blame_key runner;
	__u64 taken;
	__u64 now_ns, number;
	__u64 ns, irq_ns, steal_ns;
	__u32 cpu;
	__u32 reserved;
};

/* 1 if any of the lower bits is set, else 0, without a branch: the verifier would follow each. */
static __always_inline __u32 any_of(__u64 bits)
{
	asm volatile("" : "+r"(bits));
	return (__u32)(-bits >> 63);
}

/* clang 14 crashes on __builtin_ctzll(). `bits` has one of the lower sixteen. */
static __always_inline __u32 first_of(__u64 bits)
{
	__u64 lowest = bits & -bits;
	__u32 first = any_of(lowest & 0xff00) << 3 | any_of(lowest & 0xf0f0) << 2 |
		      any_of(lowest & 0xcccc) << 1 | any_of(lowest & 0xaaaa);

	_Static_assert(WAIT_PLACES == 16, "the lower sixteen bits");
	/* Linux 6.1 does not know the bounds of such a sum, and clang, which does, would leave out the mask */
	asm volatile("" : "+r"(first));
	return first & (WAIT_PLACES - 1);
}

/* Finds the nearest cgroup of the queue or above it that has used up its quota. */
__noinline int account_find_quota(struct wait_place *place, __u32 cpu)
{
	struct cfs_rq *queue;
	struct task_group *group;

	if (!place)
		return 0;
	queue = (void *)place->queue;
	group = BPF_CORE_READ(queue, tg);
	for (int i = 0; i < QUOTA_LEVELS && group; i++) {
		struct cfs_rq **queues = BPF_CORE_READ(group, cfs_rq);
		struct cgroup *cgroup = BPF_CORE_READ(group, css.cgroup);

		if (bpf_probe_read_kernel(&queue, sizeof(queue), &queues[cpu]))
			break;
		if (BPF_CORE_READ_BITFIELD_PROBED(queue, throttled)) {
			place->quota_cgroup = id_of_cgroup(cgroup);
			bpf_probe_read_kernel_str(place->quota_name, sizeof(place->quota_name),
						  BPF_CORE_READ(cgroup, kn, name));
			return 0;
		}
		group = BPF_CORE_READ(group, parent);
	}
	place->quota_cgroup = 0;
	place->quota_name[0] = '\0';
	return 0;
}

static __always_inline void charge_slice(struct blame_key *key, __u8 wait, __u8 by, const struct slice *slice,
					 __u64 ns)
{
	key->wait = wait;
	key->by = by;
	if (ns)
		account_add_blame(key, slice->number, ns);
}

__noinline int account_charge_quota(struct wait_place *place, __u32 victim, __u64 number, __u64 ns)
{
	struct blame_key key = {
		.victim = victim, .wait = ACCOUNT_THROTTLED, .by = BLAME_QUOTA, .then = ACCOUNTS
	};

	if (!place)
		return 0;
	key.cgroup_id = place->quota_cgroup;
	__builtin_memcpy(key.comm, place->quota_name, sizeof(key.comm));
	account_add(victim, ACCOUNT_THROTTLED, number, ns);
	account_add_blame(&key, number, ns);
	return 0;
}

__noinline int account_charge_runner(const struct slice *slice, __u32 victim, __u64 ns)
{
	struct blame_key key = { .victim = victim, .then = ACCOUNTS };
	__u64 part_ns;

	if (!slice)
		return 0;
	account_add(victim, ACCOUNT_QUEUED, slice->number, ns);
	part_ns = part_of_slice(ns, slice->steal_ns, slice->ns);
	charge_slice(&key, ACCOUNT_QUEUED, BLAME_STEAL, slice, part_ns);
	ns -= part_ns;
	part_ns = part_of_slice(ns, slice->irq_ns, slice->ns);
	charge_slice(&key, ACCOUNT_QUEUED, BLAME_IRQ, slice, part_ns);
	ns -= part_ns;
	key.cgroup_id = slice->runner.cgroup_id;
	__builtin_memcpy(key.comm, slice->runner.comm, sizeof(key.comm));
	charge_slice(&key, ACCOUNT_QUEUED, slice->runner.by, slice, ns);
	return 0;
}

/* Charges what the threads of one place have waited since the last switch. */
static long charge_place(__u32 index, struct slice *slice)
{
	struct wait_cpu *waits = waits_of(slice->cpu);
	__u32 number = first_of(slice->taken), was_throttled, victim;
	__u64 bit = 1ULL << number, word, queue;
	struct wait_place *place;
	__s64 sum_ns, ns;

	slice->taken &= ~bit;
	if (!waits)
		return 1;
	place = &waits->places[number];
	word = *(volatile __u64 *)&place->word;
	sum_ns = *(volatile __s64 *)&place->sum_ns;
	victim = (__u32)(word >> 32);
	ns = (__s64)((__u64)(__u32)word * slice->now_ns) + sum_ns - place->charged_ns;
	if (ns < 0 || ns > SLICE_NS_MAX)
		return !slice->taken;
	place->charged_ns += ns;
	was_throttled = place->throttled;
	queue = place->queue;
	if (queue)
		bpf_probe_read_kernel(&place->throttled, sizeof(place->throttled),
				      &((struct cfs_rq *)queue)->throttle_count);
	if (ns && was_throttled)
		account_charge_quota(place, victim, slice->number, (__u64)ns);
	else if (ns)
		account_charge_runner(slice, victim, (__u64)ns);
	/* throttling begins and ends with a switch: what counts is the begin of the slice */
	if (!was_throttled && place->throttled)
		account_find_quota(place, slice->cpu);
	if (!(__u32)word && __sync_val_compare_and_swap(&place->word, word, 0) == word) {
		__sync_fetch_and_and(&waits->taken, ~bit);
		/* a thread that arrives by migration does not hold this queue's lock */
		if (*(volatile __u64 *)&place->word)
			__sync_fetch_and_or(&waits->taken, bit);
	}
	return !slice->taken;
}

__noinline int account_slice(__u64 now_ns)
{
	struct slice slice = { .cpu = bpf_get_smp_processor_id(), .number = now_ns >> slot_bits() };
	struct wait_cpu *waits = waits_of(slice.cpu);
	__u64 irq_ns, steal_ns;

	if (!waits)
		return 0;
	slice.taken = *(volatile __u64 *)&waits->taken & ((1ULL << WAIT_PLACES) - 1);
	slice.now_ns = account_clock();
	irq_ns = interrupts_ns();
	steal_ns = account_stolen();
	slice.ns = slice.now_ns - waits->began_ns;
	slice.irq_ns = waits->irq_ns == NOT_KNOWN ? 0 : irq_ns - waits->irq_ns;
	slice.steal_ns = waits->steal_ns == NOT_KNOWN ? 0 : steal_ns - waits->steal_ns;
	waits->began_ns = slice.now_ns;
	waits->irq_ns = irq_ns;
	waits->steal_ns = steal_ns;
	if (!slice.taken)
		return 0;
	account_name(&slice.runner);
	bpf_loop(WAIT_PLACES, charge_place, &slice, 0);
	return 0;
}
