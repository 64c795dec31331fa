/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * tasks.bpf.c owns the walk over all processes. Each read of its iterator decides anew who is a target (so
 * that it finds who ran before the patterns did, and repairs what an event missed) and yields a record a
 * process. The record is all it says: events of ten thousand new targets at once would overflow their ring.
 */
#include "bpf/target.h"

SEC("iter/task")
int walk_tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct control *shared = control_get();
	struct task_record record = { .header = { RECORD_TASK, sizeof(record) } };

	if (!task || !shared || task->pid != task->tgid || task->flags & PF_KTHREAD)
		return 0;
	record.tgid = task->tgid;
	record.uid = BPF_CORE_READ(task, cred, uid.val);
	record.started_ns = task->start_boottime;
	record.cgroup_id = cgroup_id_of(task);
	bpf_probe_read_kernel_str(record.comm, sizeof(record.comm), task->comm);
	if (BPF_CORE_READ(task, signal, live.counter) > 0)
		record.pattern_id = target_decide(shared, task, record.comm, REPORT_NOTHING);
	/* It may have died since, and target_exit found nothing to delete yet: it counts down first. */
	if (record.pattern_id && BPF_CORE_READ(task, signal, live.counter) == 0) {
		bpf_map_delete_elem(&targets, &record.tgid);
		record.pattern_id = 0;
	}
	bpf_seq_write(ctx->meta->seq, &record, sizeof(record));
	return 0;
}
