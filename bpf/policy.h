/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * policy.h enforces root's policy on which processes may be observed. The loader freezes the map before it
 * loads the programs, so its values are constants to the verifier: an unset limit costs nothing, and no one,
 * root included, can change a limit without loading again.
 *
 * A process is judged by the credentials and the name of its first thread, and by its address space; a sample
 * also by the credentials of its own thread. The objective credentials count (cred(7), real_cred): a system
 * call does not change them temporarily.
 */
#ifndef BOURDON_BPF_POLICY_H
#define BOURDON_BPF_POLICY_H

#include "bpf/maps.h"

extern const volatile struct policy policy SEC(".rodata.policy");

/*
 * Of bpf/policy.bpf.c: the verifier follows the lists once a program, not once for each way to a question. Lists of 32 names
 * and 32 ranges of uids took it seconds otherwise.
 */
int policy_denies_one_uid(__u32 uid);
int policy_denies_comm_words(__u64 first, __u64 second);

/*
 * A process that can act as a uid can hold that uid's secrets: one denied uid among the four denies the
 * process.
 */
static __noinline bool policy_denies_creds(struct task_struct *task)
{
	const struct cred *cred = BPF_CORE_READ(task, real_cred);

	return policy_denies_one_uid(BPF_CORE_READ(cred, uid.val)) ||
	       policy_denies_one_uid(BPF_CORE_READ(cred, euid.val)) ||
	       policy_denies_one_uid(BPF_CORE_READ(cred, suid.val)) ||
	       policy_denies_one_uid(BPF_CORE_READ(cred, fsuid.val));
}

static __always_inline bool policy_denies_name(const char *comm)
{
	__u64 words[2];

	__builtin_memcpy(words, comm, sizeof(words));
	return policy_denies_comm_words(words[0], words[1]);
}

/*
 * A process is "dumpable" unless it may hold what its uids do not show: it executed a set-uid program, a
 * program with file capabilities or one that it may not read, it changed a uid and executed nothing since, or
 * it asked for this itself (prctl(2), PR_SET_DUMPABLE). Then the kernel lets no other process of the same uid
 * trace it or read its memory (ptrace(2)).
 */
static __always_inline bool policy_denies_memory(struct mm_struct *mm)
{
	struct mm_struct___since_6_18 *since_6_18 = (void *)mm;
	unsigned long flags;

	if (bpf_core_field_exists(since_6_18->flags.__mm_flags))
		flags = BPF_CORE_READ(since_6_18, flags.__mm_flags[0]);
	else
		flags = BPF_CORE_READ(mm, flags);
	return (flags & MMF_DUMPABLE_MASK) != SUID_DUMP_USER;
}

#define THREADS_ASKED 8

/*
 * Where the first thread of a process has exited, another one has the address space. Threads that exit are
 * still in the list for a moment. NULL: the process ends.
 */
static __always_inline struct mm_struct *mm_of_process(struct task_struct *leader)
{
	struct signal_struct *signal = BPF_CORE_READ(leader, signal);
	struct mm_struct *mm = BPF_CORE_READ(leader, mm);
	struct list_head *node = &leader->thread_node;

	for (int i = 0; i < THREADS_ASKED && !mm; i++) {
		struct task_struct *thread;

		node = BPF_CORE_READ(node, next);
		if (!node || node == &signal->thread_head)
			break;
		thread = (void *)node - bpf_core_field_offset(struct task_struct, thread_node);
		mm = BPF_CORE_READ(thread, mm);
	}
	return mm;
}

/* `ends` is the answer for a process that has given up its address space. */
static __noinline bool policy_denies_process_memory(struct task_struct *leader, bool ends)
{
	struct mm_struct *mm = mm_of_process(leader);

	return mm ? policy_denies_memory(mm) : ends;
}

static __always_inline bool policy_has_uids(void)
{
	return policy.allowed_count || policy.denied_count;
}

static __always_inline bool policy_denies_identity(struct task_struct *leader, const char *comm)
{
	return (policy_has_uids() && policy_denies_creds(leader)) ||
	       (policy.comms_count && policy_denies_name(comm));
}

/* True if policy denies a process because of its memory, or because it has none any more. */
static __always_inline bool policy_denies_undumpable(struct task_struct *leader)
{
	return policy.deny_undumpable && policy_denies_process_memory(leader, true);
}

/* True if policy denies the process under the name `comm` (16 bytes), which it has or is about to get. */
static __always_inline bool policy_denies(struct task_struct *leader, const char *comm)
{
	return policy_denies_identity(leader, comm) || policy_denies_undumpable(leader);
}

/*
 * As policy_denies(), for a process that was allowed when it became a target: all that it is judged by may
 * have changed. It remains allowed while it ends.
 */
static __always_inline bool policy_denies_now(struct task_struct *leader)
{
	char comm[ABI_COMM_BYTES] = {};

	if (policy.deny_undumpable && policy_denies_process_memory(leader, false))
		return true;
	if (!policy_has_uids() && !policy.comms_count)
		return false;
	bpf_probe_read_kernel_str(comm, sizeof(comm), leader->comm);
	return policy_denies_identity(leader, comm);
}

/* True if policy denies this thread, by its own credentials, in a process that is allowed. */
static __always_inline bool policy_denies_thread(struct task_struct *task)
{
	return policy_has_uids() && task->pid != task->tgid && policy_denies_creds(task);
}

#endif
