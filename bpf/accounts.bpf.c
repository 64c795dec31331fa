/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * accounts.bpf.c owns the sums of accounts.h: `victims`, where the time of targets' threads went, and `blame`, who they waited
 * for. Both maps are allocated beforehand, because they are written under a run queue's lock. Where `blame` has no room, the
 * party that was met least recently makes some: what its victim waited for it is in `victims` still.
 */
#include "bpf/accounts.h"
#include "bpf/budget.h"
#include "bpf/interrupts.h"
#include "bpf/memory_limit.h"
#include "bpf/part.h"
#include "bpf/sample.h"
#include "bpf/system_call.h"

#define QUOTA_LEVELS 8 /* above the thread's own cgroup, that are asked whose quota is used up */
#define NOT_KNOWN (~0ULL)
/* An integral that has grown by more was read while another CPU changed it: the next switch reads it again. */
#define SLICE_NS_MAX 3600000000000LL

struct victim_name {
	char comm[ABI_COMM_BYTES];
	__u64 cgroup_id;
	__u32 tgid; /* as victim_sums.tgid */
	__u32 reserved;
};

/* Ids are never used twice. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 2 * VICTIMS_MAX);
	__type(key, struct victim_name);
	__type(value, __u32);
} victim_ids SEC(".maps");

static __u32 victims_made;

/*
 * A user other than root takes so many new places at once, and so many more in a second, because each makes what was met least
 * recently go. A party that gets no place by its name and cgroup gets one by its name.
 */
enum place { PLACE_VICTIM, PLACE_PARTY, PLACE_NAME };
#define VICTIMS_AT_ONCE (VICTIMS_MAX / 4)
#define VICTIMS_A_SECOND 8U
#define PARTIES_AT_ONCE (BLAME_MAX / 8)
#define PARTIES_A_SECOND 64U

/* By kind of place and uid. */
struct budgets_map place_budgets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, VICTIMS_MAX);
	__type(key, __u32);
	__type(value, struct victim_sums);
} victims SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, BLAME_MAX);
	__type(key, struct blame_key);
	__type(value, struct blame_sums);
} blame SEC(".maps");

/* Zeros but for the name, which each use writes: a program's stack is too small for it. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct victim_sums);
} victim_empty SEC(".maps");

static struct blame_sums blame_empty;

struct wait_cpus_map wait_cpus SEC(".maps");

/* ---- clocks ---- */

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

/* ---- sums ---- */

/* The consumer can write `control`. */
static __always_inline __u32 slot_bits(void)
{
	const struct control *shared = control_get();
	__u32 more = shared ? *(volatile const __u32 *)&shared->account_slot_more : 0;

	return ACCOUNT_SLOT_BITS + (more > ACCOUNT_SLOT_MORE_MAX ? 0 : more);
}

static __always_inline void slot_add(__u64 slots[ACCOUNT_SLOTS], __u64 number, __u64 ns)
{
	__u64 *slot = &slots[number & (ACCOUNT_SLOTS - 1)], tag = number << ACCOUNT_SLOT_NS_BITS,
	      before = *(volatile __u64 *)slot;

	/* where another CPU has begun the slot meanwhile, this adds to it */
	if (!((before ^ tag) >> ACCOUNT_SLOT_NS_BITS) ||
	    __sync_val_compare_and_swap(slot, before, tag | ns) != before)
		__sync_fetch_and_add(slot, ns);
}

static __always_inline bool may_take(enum place kind, __u32 uid, __u32 at_once, __u32 a_second)
{
	return !uid || budget_spend(&place_budgets, (__u64)kind << 32 | uid, bpf_ktime_get_ns(),
				    1000000000ULL / a_second, at_once);
}

/* Of a party that has no place yet; the current thread is of it, or has waited for it. */
static __always_inline void name_within_budget(struct blame_key *key)
{
	__u32 uid = (__u32)bpf_get_current_uid_gid();

	if (key->by != BLAME_PROCESS || may_take(PLACE_PARTY, uid, PARTIES_AT_ONCE, PARTIES_A_SECOND))
		return;
	key->cgroup_id = 0;
	if (!bpf_map_lookup_elem(&blame, key) &&
	    !may_take(PLACE_NAME, uid, PARTIES_AT_ONCE, PARTIES_A_SECOND))
		__builtin_memset(key->comm, 0, sizeof(key->comm));
}

/* Adds what the victim has waited for this party to one slot; to all of them if it is of one slot. */
__noinline int account_add_blame(const struct blame_key *key, __u64 number, __u64 ns)
{
	struct blame_sums *sums;
	struct blame_key own;

	if (!key)
		return 0;
	own = *key; /* Linux 6.1 lets the key of a map not be in memory that came as an argument */
	sums = bpf_map_lookup_elem(&blame, &own);
	if (!sums) {
		name_within_budget(&own);
		bpf_map_update_elem(&blame, &own, &blame_empty, BPF_NOEXIST);
		sums = bpf_map_lookup_elem(&blame, &own);
	}
	if (sums)
		slot_add(sums->slots, number, ns);
	else
		count(COUNTER_ACCOUNTS_LOST);
	return 0;
}

__noinline int account_add(__u32 victim, __u32 account, __u64 number, __u64 ns)
{
	struct victim_sums *sums = bpf_map_lookup_elem(&victims, &victim);

	if (sums && account < ACCOUNTS)
		slot_add(sums->slots[account], number, ns);
	else
		count(COUNTER_ACCOUNTS_LOST);
	return 0;
}

/* An interval, to be added to the slots that it covers. */
struct interval {
	struct blame_key key; /* its `by` BLAME_KINDS: nobody is to blame */
	__u64 ends_ns, ns;
	__u32 bits;
	__u32 reserved;
};

/* Adds the part that is in the last slot, and leaves the rest. */
static long add_last_part(__u32 index, struct interval *interval)
{
	__u64 number = interval->ends_ns >> interval->bits,
	      in_slot = interval->ends_ns - (number << interval->bits), ns = interval->ns;

	if (ns > in_slot)
		ns = in_slot;
	if (ns) {
		account_add(interval->key.victim, interval->key.wait, number, ns);
		if (interval->key.by < BLAME_KINDS)
			account_add_blame(&interval->key, number, ns);
	}
	interval->ns -= ns;
	interval->ends_ns = (number << interval->bits) - 1; /* in the slot before */
	return !interval->ns;
}

/* Not inlined: the record is gone from the stack when the next one is made. */
__noinline int account_add_interval(const struct accounted *thread, __u32 account, __u64 ns, __u64 ends_ns)
{
	struct interval interval = { .ns = ns, .ends_ns = ends_ns, .bits = slot_bits() };

	if (!thread || !ns)
		return 0;
	if (account == ACCOUNT_LOCK || account == ACCOUNT_PEER || account == ACCOUNT_NETWORK)
		interval.key = thread->by;
	else
		interval.key.by = account == ACCOUNT_MEMORY && thread->at_limit ? BLAME_LIMIT : BLAME_KINDS;
	if (interval.key.by == BLAME_LIMIT) {
		interval.key.then = ACCOUNTS;
		interval.key.cgroup_id = thread->limit_cgroup;
		__builtin_memcpy(interval.key.comm, thread->limit_name, sizeof(interval.key.comm));
	}
	interval.key.victim = thread->victim;
	interval.key.wait = (__u8)account;
	bpf_loop(ACCOUNT_SLOTS, add_last_part, &interval, 0);
	return 0;
}

static __always_inline void charge(struct accounted *thread, __u32 account, __u64 ns, __u64 ends_ns)
{
	account_add_interval(thread, account, ns, ends_ns);
	thread->lately[account] += ns;
}

/* ---- parties ---- */

/* A process that runs the file of the command `bourdon`. Another file of that name is none. */
static __always_inline bool is_reporter(const struct control *shared, struct task_struct *leader)
{
	static const char name[8] = "bourdon";
	const __u64 *comm = (const void *)leader->comm;
	struct inode *inode;
	__u64 wanted;

	__builtin_memcpy(&wanted, name, sizeof(wanted));
	if (*comm != wanted)
		return false;
	inode = BPF_CORE_READ(leader, mm, exe_file, f_inode);
	return BPF_CORE_READ(inode, i_ino) == *(volatile const __u64 *)&shared->reporter_inode &&
	       BPF_CORE_READ(inode, i_sb, s_dev) == *(volatile const __u32 *)&shared->reporter_device;
}

static __always_inline bool is_recorder(struct task_struct *task)
{
	const struct control *shared = control_get();
	__u32 recorder = shared ? *(volatile const __u32 *)&shared->recorder : 0;
	struct task_struct *parent = task->real_parent;

	if (!recorder)
		return false;
	return (__u32)task->tgid == recorder || (__u32)parent->tgid == recorder ||
	       (__u32)parent->real_parent->tgid == recorder || is_reporter(shared, task->group_leader) ||
	       is_reporter(shared, parent->group_leader);
}

/* Whether root's policy lets it be named. */
static __always_inline bool may_be_named(struct task_struct *task, struct task_struct *leader,
					 const char *comm)
{
	__u32 tgid = task->tgid;

	if (!policy.bystanders && !bpf_map_lookup_elem(&targets, &tgid))
		return false;
	return !policy_denies(leader, comm) && !policy_denies_thread(task);
}

static __always_inline void name_kernel_thread(struct blame_key *key)
{
	static const char worker[] = "kworker";
	__u64 *words = (void *)key->comm;
	__u64 of_worker;

	__builtin_memcpy(&of_worker, worker, sizeof(of_worker)); /* the NUL is where the slash is */
	if (key->comm[7] != '/' || (words[0] ^ of_worker) << 8)
		return;
	words[0] = of_worker;
	words[1] = 0;
}

/* Names the current thread. The members that are not about the party stay. */
__noinline int account_name(struct blame_key *key)
{
	struct task_struct *task = bpf_get_current_task_btf(), *leader = task->group_leader;

	if (!key)
		return 0;
	key->cgroup_id = 0;
	__builtin_memset(key->comm, 0, sizeof(key->comm));
	if (!task->pid) {
		key->by = BLAME_NOBODY;
		return 0;
	}
	read_comm(leader, key->comm);
	if (task->flags & PF_KTHREAD) {
		key->by = policy.kernel_threads ? BLAME_KERNEL : BLAME_DENIED;
		name_kernel_thread(key);
	} else {
		key->by = !may_be_named(task, leader, key->comm) ? BLAME_DENIED
			  : is_recorder(task)                    ? BLAME_RECORDER
								 : BLAME_PROCESS;
	}
	if (key->by == BLAME_DENIED)
		__builtin_memset(key->comm, 0, sizeof(key->comm));
	else if (key->by != BLAME_KERNEL)
		key->cgroup_id = bpf_get_current_cgroup_id();
	return 0;
}

/* 0: there is no room, or `uid` has made too many. */
static __noinline __u32 make_victim(const struct victim_name *name, __u32 uid)
{
	__u32 zero = 0, id, *there = bpf_map_lookup_elem(&victim_ids, name);
	struct victim_sums *empty = bpf_map_lookup_elem(&victim_empty, &zero);
	int failed;

	if (there && bpf_map_lookup_elem(&victims, there))
		return *there;
	if (!empty || !may_take(PLACE_VICTIM, uid, VICTIMS_AT_ONCE, VICTIMS_A_SECOND))
		return 0;
	id = there ? *there : __sync_fetch_and_add(&victims_made, 1) + 1;
	if (!there && bpf_map_update_elem(&victim_ids, name, &id, BPF_ANY))
		return 0;
	__builtin_memcpy(empty->comm, name->comm, sizeof(empty->comm));
	empty->cgroup_id = name->cgroup_id;
	empty->tgid = name->tgid;
	failed = (int)bpf_map_update_elem(&victims, &id, empty, BPF_NOEXIST);
	return !failed || failed == -EEXIST ? id : 0;
}

/* Of a target: its own id where a capture on demand wants it by that, else 0. */
static __noinline __u32 tgid_if_apart(__u32 tgid)
{
	const struct wanted_key key = { .kind = WANTED_PROCESS, .what = { tgid } };
	const struct control *shared = control_get();
	const struct wanted_until *found;
	const struct target *target;

	if (!shared || !(*(volatile const __u32 *)&shared->wanted & WANTED_IN_PROCESSES))
		return 0;
	found = bpf_map_lookup_elem(&wanted, &key);
	target = bpf_map_lookup_elem(&targets, &tgid);
	return found && target && found->started_ns == target->started_ns &&
			       found->until_ns - bpf_ktime_get_ns() <= WANTED_NS_MAX
		       ? tgid
		       : 0;
}

__noinline __u32 account_victim(__u32 known)
{
	struct task_struct *leader = bpf_get_current_task_btf()->group_leader;
	struct victim_name name = {};

	if (known && bpf_map_lookup_elem(&victims, &known))
		return known;
	name.tgid = tgid_if_apart((__u32)leader->tgid);
	read_comm(leader, name.comm);
	name.cgroup_id = cgroup_id_of(leader);
	return make_victim(&name, (__u32)bpf_get_current_uid_gid());
}

__noinline int account_target(__u32 tgid, __u64 comm_first, __u64 comm_second, __u64 cgroup_id, __u32 uid)
{
	struct target *target = bpf_map_lookup_elem(&targets, &tgid);
	struct victim_name name = { .cgroup_id = cgroup_id, .tgid = tgid_if_apart(tgid) };
	const struct victim_sums *sums;
	__u32 known;

	if (!target)
		return 0;
	known = target->victim;
	sums = known ? bpf_map_lookup_elem(&victims, &known) : NULL;
	/* what wants it may have begun or ended meanwhile */
	if (sums && sums->tgid == name.tgid)
		return 0;
	__builtin_memcpy(name.comm, &comm_first, sizeof(comm_first));
	__builtin_memcpy(name.comm + sizeof(comm_first), &comm_second, sizeof(comm_second));
	target->victim = make_victim(&name, uid);
	return 0;
}

/* ---- waits for a CPU ---- */

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

/* No wait is left out, seen or not. now_ns is of the run queue, monotonic_ns the same moment. */
static __always_inline void settle(struct accounted *thread, __u64 now_ns, __u64 delay_ns, __u64 monotonic_ns)
{
	if (thread->place) {
		account_leave_place(thread, now_ns, delay_ns);
	} else if ((__s64)(delay_ns - thread->seen_ns) > 0) {
		account_add_unseen(thread->victim, delay_ns - thread->seen_ns, monotonic_ns);
		thread->seen_ns = delay_ns;
	}
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

/* A cgroup of version 1 has an id of its own hierarchy, which may be that of another cgroup. 0: it has no id. */
static __always_inline __u64 id_of_cgroup(struct cgroup *cgroup)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return BPF_CORE_READ(cgroup, root) == BPF_CORE_READ(task, cgroups, dfl_cgrp, root)
		       ? BPF_CORE_READ(cgroup, kn, id)
		       : 0;
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

/* ---- threads ---- */

/* It has run from at_ns to now_ns. */
static __always_inline void charge_run(struct accounted *thread, __u64 now_ns, __u64 monotonic_ns)
{
	__u64 ns = now_ns - thread->at_ns, memory_ns;

	if ((__s64)ns <= 0)
		return;
	if (thread->reclaim_since) {
		thread->reclaimed_ns += monotonic_ns - thread->reclaim_since;
		thread->reclaim_since = monotonic_ns;
	}
	memory_ns = thread->reclaimed_ns < ns ? thread->reclaimed_ns : ns;
	thread->reclaimed_ns = 0;
	if (memory_ns)
		charge(thread, ACCOUNT_MEMORY, memory_ns, monotonic_ns);
	charge(thread, ACCOUNT_RAN, ns - memory_ns, monotonic_ns);
}

/*
 * Of a span in which the thread was not seen to run, what it did not wait for a CPU. It is counted by the run queue's clock, as the
 * time on CPU and the waits for one are, so that the three add up: CLOCK_MONOTONIC is read some 8 us after the queue's clock where
 * the CPU was idle. A thread that the iterator met first has no time of that clock, only CLOCK_MONOTONIC.
 */
static __always_inline __u64 blocked_ns(const struct accounted *thread, __u64 clock_ns, __u64 now_ns,
					__u64 delay_ns)
{
	__u64 span_ns = thread->at_ns ? clock_ns - thread->at_ns : now_ns - thread->at_monotonic;
	__s64 ns = (__s64)(span_ns - (delay_ns - thread->left_delay_ns));

	return ns > 0 ? (__u64)ns : 0;
}

__noinline int account_run(struct accounted *thread, __u64 now_ns)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 clock_ns = account_clock();

	if (!thread)
		return 0;
	if (thread->does == ACCOUNTED_RUNS) {
		charge_run(thread, clock_ns, now_ns);
	} else if (thread->does == ACCOUNTED_NOT) {
		thread->seen_ns = task->sched_info.run_delay;
		thread->does = ACCOUNTED_RUNS;
	} else {
		/* its return was not seen: it waits for no CPU, and its next leaving tells the rest */
		account_leave_place(thread, clock_ns, task->sched_info.run_delay);
		return 0;
	}
	thread->at_ns = clock_ns;
	thread->at_monotonic = now_ns;
	return 0;
}

__noinline int account_leave(struct accounted *thread, __u64 now_ns, __u32 is_queued, __u32 account,
			     __u64 lock)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 clock_ns = account_clock(), delay_ns = task->sched_info.run_delay;

	if (!thread)
		return 0;
	if (thread->does == ACCOUNTED_NOT)
		thread->seen_ns = delay_ns;
	settle(thread, clock_ns, delay_ns, now_ns);
	if (thread->does == ACCOUNTED_RUNS)
		charge_run(thread, clock_ns, now_ns);
	else if (thread->does != ACCOUNTED_NOT)
		charge(thread, ACCOUNT_REST, blocked_ns(thread, clock_ns, now_ns, delay_ns), now_ns);
	thread->reclaim_since = 0;
	thread->at_ns = clock_ns;
	thread->at_monotonic = now_ns;
	thread->left_delay_ns = delay_ns;
	thread->lock = lock;
	thread->account = (__u8)account;
	thread->does = is_queued ? ACCOUNTED_QUEUED : ACCOUNTED_BLOCKED;
	if (is_queued)
		account_join(thread, bpf_get_smp_processor_id(), clock_ns,
			     (__u64)BPF_CORE_READ(task, se.cfs_rq));
	return 0;
}

__noinline int account_return(struct accounted *thread, __u64 now_ns, __u64 run_delay, __u64 last_queued)
{
	__u64 clock_ns = account_clock(), delay_ns = run_delay, ns, queued_ns;
	__u32 account;

	if (!thread)
		return 0;
	if (last_queued)
		delay_ns += clock_ns - last_queued;
	/* the wait that ends now is of a target */
	if (thread->does == ACCOUNTED_NOT)
		thread->seen_ns = run_delay;
	settle(thread, clock_ns, delay_ns, now_ns);
	if (thread->does != ACCOUNTED_NOT) {
		ns = blocked_ns(thread, clock_ns, now_ns, delay_ns);
		queued_ns = delay_ns - thread->left_delay_ns;
		account = thread->does == ACCOUNTED_BLOCKED ? thread->account : ACCOUNT_REST;
		if (account < ACCOUNTS)
			charge(thread, account, ns, now_ns - queued_ns);
		if (account == ACCOUNT_LOCK)
			__builtin_memset(thread->lately, 0, sizeof(thread->lately));
		thread->lately[ACCOUNT_QUEUED] += queued_ns;
	}
	thread->does = ACCOUNTED_RUNS;
	thread->at_ns = clock_ns;
	thread->at_monotonic = now_ns;
	thread->left_delay_ns = delay_ns;
	return 0;
}

__noinline int account_queue(struct accounted *thread, __u32 cpu, __u64 run_delay, __u64 last_queued,
			     __u64 queue)
{
	if (!thread || !last_queued || thread->place ||
	    (thread->does != ACCOUNTED_BLOCKED && thread->does != ACCOUNTED_QUEUED))
		return 0;
	settle(thread, last_queued, run_delay, bpf_ktime_get_ns());
	account_join(thread, cpu, last_queued, queue);
	return 0;
}

__noinline int account_migrate(struct accounted *thread, __u32 cpu, __u64 run_delay, __u64 now_ns,
			       __u64 queue)
{
	if (!thread || !thread->place)
		return 0;
	account_leave_place(thread, now_ns, run_delay);
	account_join(thread, cpu, now_ns, queue);
	return 0;
}

/* Of a thread that an interrupt wakes. */
static __always_inline __u8 account_of_interrupt(__u32 interrupt, struct task_struct *task)
{
	if (interrupt != IN_NET_RX)
		return ACCOUNT_SLEEP;
	/* who sends to its own host runs the receiver's side itself, in a soft interrupt, before it goes on */
	return task->pid && !(task->flags & PF_KTHREAD) && may_send(task) ? ACCOUNT_PEER : ACCOUNT_NETWORK;
}

__noinline int account_waking(struct accounted *thread, __u32 then)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 interrupt = interrupts_now();

	if (!thread || thread->does != ACCOUNTED_BLOCKED || thread->account != ACCOUNT_SLEEP)
		return 0;
	thread->by = (struct blame_key){ .by = BLAME_UNSEEN, .then = ACCOUNTS };
	if (interrupt != IN_NO_INTERRUPT)
		thread->account = account_of_interrupt(interrupt, task);
	else if (!task->pid)
		return 0;
	else if (thread->lock && !(task->flags & PF_KTHREAD) &&
		 lock_is_released(task, task->group_leader->start_boottime, thread->lock, thread->expects))
		thread->account = ACCOUNT_LOCK;
	else
		thread->account = ACCOUNT_PEER;
	if (thread->account == ACCOUNT_PEER || thread->account == ACCOUNT_LOCK)
		account_name(&thread->by);
	if (thread->account == ACCOUNT_LOCK)
		thread->by.then = then < ACCOUNTS ? (__u8)then : ACCOUNTS;
	return 0;
}

__noinline int account_meets_limit(struct accounted *thread)
{
	struct mem_cgroup *group = full_cgroup(bpf_get_current_task_btf(), true);
	struct cgroup *cgroup;

	if (!thread)
		return 0;
	thread->at_limit = 1;
	thread->limit_cgroup = 0;
	__builtin_memset(thread->limit_name, 0, sizeof(thread->limit_name));
	if (!group)
		return 0;
	cgroup = BPF_CORE_READ(group, css.cgroup);
	thread->limit_cgroup = id_of_cgroup(cgroup);
	bpf_probe_read_kernel_str(thread->limit_name, sizeof(thread->limit_name),
				  BPF_CORE_READ(cgroup, kn, name));
	return 0;
}

__noinline __u32 account_longest(struct accounted *thread)
{
	__u64 clock_ns = account_clock(), ran_ns = 0, most_ns = 0;
	__u32 longest = ACCOUNTS;

	if (!thread)
		return ACCOUNTS;
	if (thread->does == ACCOUNTED_RUNS && clock_ns > thread->at_ns)
		ran_ns = clock_ns - thread->at_ns;
	thread->lately[ACCOUNT_RAN] += ran_ns;
	for (__u32 i = 0; i < ACCOUNTS; i++) {
		if (thread->lately[i] > most_ns) {
			most_ns = thread->lately[i];
			longest = i;
		}
		thread->lately[i] = 0;
	}
	thread->lately[ACCOUNT_RAN] = -ran_ns; /* which is yet to be charged */
	return longest;
}

__noinline int account_stop(struct accounted *thread)
{
	__u64 now_ns = account_clock();

	if (!thread)
		return 0;
	/* what was charged until now stays */
	if (thread->place)
		account_leave_place(thread, now_ns, thread->seen_ns + now_ns - thread->joined_ns);
	thread->does = ACCOUNTED_NOT;
	return 0;
}
