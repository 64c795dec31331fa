/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * policy.h enforces root's policy on which processes may be observed. The loader freezes the map before it
 * loads the programs, so its values are constants to the verifier: an unset limit costs nothing, and no one,
 * root included, can change a limit without loading again.
 *
 * A process is judged by the credentials and the name of its first thread; a sample also by the credentials
 * of its own thread. The objective credentials count (cred(7), real_cred): a system call does not change them
 * temporarily.
 */
#ifndef BOURDON_BPF_POLICY_H
#define BOURDON_BPF_POLICY_H

#include "bpf/maps.h"
#include "common/policy_denial.h"

extern const volatile struct policy policy SEC(".rodata.policy");

/*
 * A process that can act as a uid can hold that uid's secrets: one denied uid among the four denies the
 * process.
 */
static __noinline bool policy_denies_creds(struct task_struct *task)
{
	const struct cred *cred = BPF_CORE_READ(task, real_cred);

	return policy_denies_uid(&policy, BPF_CORE_READ(cred, uid.val)) ||
	       policy_denies_uid(&policy, BPF_CORE_READ(cred, euid.val)) ||
	       policy_denies_uid(&policy, BPF_CORE_READ(cred, suid.val)) ||
	       policy_denies_uid(&policy, BPF_CORE_READ(cred, fsuid.val));
}

static __noinline bool policy_denies_name(const char *comm)
{
	return policy_denies_comm(&policy, comm);
}

static __always_inline bool policy_has_uids(void)
{
	return policy.allowed_count || policy.denied_count;
}

/* True if policy denies the process under the name `comm` (16 bytes), which it has or is about to get. */
static __always_inline bool policy_denies(struct task_struct *leader, const char *comm)
{
	return (policy_has_uids() && policy_denies_creds(leader)) ||
	       (policy.comms_count && policy_denies_name(comm));
}

/*
 * As policy_denies(), for a process that was allowed when it became a target: credentials or name may have
 * changed.
 */
static __always_inline bool policy_denies_now(struct task_struct *leader)
{
	char comm[ABI_COMM_BYTES] = {};

	if (!policy_has_uids() && !policy.comms_count)
		return false;
	bpf_probe_read_kernel_str(comm, sizeof(comm), leader->comm);
	return policy_denies(leader, comm);
}

/* True if policy denies this thread, by its own credentials, in a process that is allowed. */
static __always_inline bool policy_denies_thread(struct task_struct *task)
{
	return policy_has_uids() && task->pid != task->tgid && policy_denies_creds(task);
}

#endif
