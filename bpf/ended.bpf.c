/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ended.bpf.c notes what a process that ends has used, and by whom it was begun, while that is still to be had.
 * bpf/ended.h accounts for it.
 */
#include "bpf/ended.h"
#include "bpf/target.h"
#include "bpf/usage.h"

static __always_inline bool ends_denied(struct task_struct *leader, struct task_struct *task,
					const char *comm)
{
	__u32 tgid = BPF_CORE_READ(leader, tgid);
	struct mm_struct *mm;
	__u64 *started_ns;

	if (policy_denies_identity(leader, comm))
		return true;
	if (!policy.deny_undumpable)
		return false;
	/* since Linux 6.16 the tracepoint comes before the thread gives up its memory */
	mm = BPF_CORE_READ(task, mm);
	if (mm)
		return policy_denies_memory(mm);
	started_ns = bpf_map_lookup_elem(&undumpable, &tgid);
	return started_ns && *started_ns == BPF_CORE_READ(leader, start_boottime);
}

/* The parent is not named where policy denies it. */
static __always_inline void name_parent(struct ended_key *key, struct task_struct *leader,
					__u64 walk_began_ns)
{
	struct task_struct *parent = BPF_CORE_READ(leader, real_parent, group_leader);
	char comm[ABI_COMM_BYTES] = {};

	bpf_probe_read_kernel_str(comm, sizeof(comm), parent->comm);
	if (policy_denies(parent, comm))
		return;
	__builtin_memcpy(key->parent, comm, sizeof(key->parent));
	if (BPF_CORE_READ(parent, start_boottime) < walk_began_ns)
		key->parent_tgid = BPF_CORE_READ(parent, tgid);
}

static __always_inline void end_process(struct task_struct *task, __u64 walk_began_ns)
{
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);
	bool is_kernel = BPF_CORE_READ(task, flags) & PF_KTHREAD;
	struct task_usage of_leader = { 0 };
	struct ending ending = { 0 };
	__u32 tgid = BPF_CORE_READ(task, tgid), tid = BPF_CORE_READ(task, pid);

	read_usage(task, &ending.usage);
	ending.self_ns = ending.usage.cpu_ns;
	if (leader != task) {
		read_usage(leader, &of_leader);
		task_usage_add(&ending.usage, &of_leader);
	}
	add_ended_threads(leader, &ending.usage);
	add_reclaims(leader, &ending.usage);
	bpf_map_delete_elem(&thread_bytes, &tgid);
	ending.tgid = tgid;
	ending.started_ns = BPF_CORE_READ(leader, start_boottime);
	ending.was_met = ending.started_ns < walk_began_ns;
	bpf_probe_read_kernel_str(ending.key.comm, sizeof(ending.key.comm), leader->comm);
	if (is_kernel) {
		ending.key.flags = ENDED_KERNEL;
	} else if (ends_denied(leader, task, ending.key.comm)) {
		__builtin_memset(&ending.key, 0, sizeof(ending.key));
		ending.key.flags = ENDED_DENIED;
	} else if (!ending.was_met) {
		ending.key.cgroup_id = cgroup_id_of(task);
		name_parent(&ending.key, leader, walk_began_ns);
		cgroup_path_tell(task);
	}
	bpf_map_delete_elem(&undumpable, &tgid);
	if (bpf_map_update_elem(&endings, &tid, &ending, BPF_ANY))
		ended_account(&ending); /* without the rest of its end */
}

/* The bytes of a thread that ends before its process does. */
static __always_inline void keep_bytes(struct task_struct *task)
{
	struct task_usage usage = { 0 };
	struct thread_bytes fresh, *known;
	__u32 tgid = BPF_CORE_READ(task, tgid);

	read_usage(task, &usage);
	if (!usage.read_bytes && !usage.write_bytes)
		return;
	fresh.started_ns = BPF_CORE_READ(task, group_leader, start_boottime);
	known = bpf_map_lookup_elem(&thread_bytes, &tgid);
	if (known && known->started_ns == fresh.started_ns) {
		__sync_fetch_and_add(&known->read_bytes, usage.read_bytes);
		__sync_fetch_and_add(&known->write_bytes, usage.write_bytes);
		return;
	}
	fresh.read_bytes = usage.read_bytes;
	fresh.write_bytes = usage.write_bytes;
	bpf_map_update_elem(&thread_bytes, &tgid, &fresh, BPF_ANY);
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(account_end, struct task_struct *task)
{
	struct control *shared = control_get();

	if (is_retired() || !shared || is_quiet(shared, bpf_ktime_get_ns()))
		return 0;
	if (BPF_CORE_READ(task, signal, live.counter) == 0)
		end_process(task, *(volatile __u64 *)&shared->walk_began_ns);
	else if (BPF_CORE_READ(task, pid) != BPF_CORE_READ(task, tgid))
		keep_bytes(task);
	return 0;
}
