/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * sums.bpf.c owns the sums of accounts.h: `victims`, where the time of targets' threads went, and `blame`, who they waited
 * for. Both maps are allocated beforehand, because they are written under a run queue's lock. Where `blame` has no room, the
 * party that was met least recently makes some: what its victim waited for it is in `victims` still.
 */
#include "bpf/account_parts.h"
#include "bpf/budget.h"
#include "bpf/sample.h"

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

/* ---- sums ---- */

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
