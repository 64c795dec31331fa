/* SPDX-License-Identifier: GPL-2.0-only */
/* away.bpf.c is the iterator `away`: what threads of targets do that has not ended. */
#include "bpf/target.h"
#include "bpf/thread.h"

/* What is in no sum yet, because its end will tell its account, or nothing was seen of the thread. */
SEC("iter/task")
int walk_away(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct away_record record = { .header = { RECORD_AWAY, sizeof(record) }, .account = ACCOUNTS };
	const struct target *target;
	const struct thread *thread;
	__u32 tgid;

	if (is_retired() || !task || task->flags & PF_KTHREAD || task->exit_state)
		return 0;
	tgid = task->tgid;
	target = bpf_map_lookup_elem(&targets, &tgid);
	if (!target || policy_denies_thread(task))
		return 0;
	record.victim = target->victim;
	record.tgid = tgid;
	record.cgroup_id = task->cgroups->dfl_cgrp->kn->id;
	read_comm(task->group_leader, record.comm);
	thread = thread_find(task->pid, task->start_boottime);
	if (!thread || thread->accounted.does == ACCOUNTED_NOT) {
		record.account = task->__state ? account_of_blocked(task) : ACCOUNT_REST;
		record.since_ns = target->since_ns;
	} else if (thread->accounted.does == ACCOUNTED_BLOCKED) {
		record.account = thread->accounted.account;
		record.since_ns = thread->accounted.at_monotonic;
		record.until_ns = thread->woken_ns;
	}
	bpf_seq_write(ctx->meta->seq, &record, sizeof(record));
	return 0;
}
