/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * policy.h owns root's word on who may be observed. The map is frozen before the programs are loaded: to the
 * verifier its numbers are constants, so that a limit which is not set costs nothing, and nobody, root
 * included, changes it but by another load.
 *
 * A process is judged by the credentials and the name of its first thread, a sample by those of its own
 * thread as well. Credentials are the objective ones (cred(7), real_cred), which a system call does not
 * change for a moment.
 */
#ifndef BOURDON_BPF_POLICY_H
#define BOURDON_BPF_POLICY_H

#include "bpf/maps.h"
#include "common/policy_denial.h"

extern const volatile struct policy policy SEC(".rodata.policy");

/* Whoever may act as a uid has its secrets: one that is denied among the four denies. */
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

/* The process, which is called `comm` (16 bytes) or about to be. */
static __always_inline bool policy_denies(struct task_struct *leader, const char *comm)
{
	return (policy_has_uids() && policy_denies_creds(leader)) ||
	       (policy.comms_count && policy_denies_name(comm));
}

/* A process that was allowed when it became a target: it may have other credentials, or another name. */
static __always_inline bool policy_denies_now(struct task_struct *leader)
{
	char comm[ABI_COMM_BYTES] = {};

	if (!policy_has_uids() && !policy.comms_count)
		return false;
	bpf_probe_read_kernel_str(comm, sizeof(comm), leader->comm);
	return policy_denies(leader, comm);
}

/* A thread of a process that is allowed, with credentials of its own. */
static __always_inline bool policy_denies_thread(struct task_struct *task)
{
	return policy_has_uids() && task->pid != task->tgid && policy_denies_creds(task);
}

#endif
