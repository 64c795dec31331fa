/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * target.h owns the decision whether a process is a target: its group leader's comm against the live
 * pattern trie, if root's policy allows it. The process events and the task iterator both decide through it,
 * and only here is the targets map written.
 */
#ifndef BOURDON_BPF_TARGET_H
#define BOURDON_BPF_TARGET_H

#include "bpf/policy.h"

extern const volatile __u64 quiet_after_ns;

/* How often a process became a target: who remembers that one is none has to look again when it has grown. */
extern __u64 targets_made;

/*
 * The consumer's clock may be a hair ahead of this CPU's reading of it: signed. One that is far ahead comes
 * from somebody who wants sampling to go on without a consumer.
 */
static __always_inline bool is_quiet(const struct control *shared, __u64 now_ns)
{
	__s64 age_ns = (__s64)(now_ns - *(volatile const __u64 *)&shared->heartbeat_ns);

	return age_ns > (__s64)quiet_after_ns || age_ns < -(__s64)quiet_after_ns;
}

static __always_inline void report_error(__u32 code, __s32 error, __u32 tgid)
{
	struct error_event *event = bpf_ringbuf_reserve(&errors, sizeof(*event), 0);

	if (!event) {
		count(COUNTER_ERRORS_LOST);
		return;
	}
	event->header.type = RECORD_ERROR;
	event->header.bytes = sizeof(*event);
	event->code = code;
	event->tgid = tgid;
	event->error = error;
	event->time_ns = bpf_ktime_get_ns();
	bpf_get_current_comm(event->comm, sizeof(event->comm));
	bpf_ringbuf_submit(event, 0);
}

static __always_inline __u64 cgroup_id_of(struct task_struct *task)
{
	return BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, id);
}

/* `comm` of a PROCESS_MATCHED, which alone says who it is. */
static __always_inline void report_process(__u32 kind, struct task_struct *leader, const char *comm,
					   const struct target *target)
{
	struct process_event *event = bpf_ringbuf_reserve(&events, sizeof(*event), 0);

	if (!event) {
		count(COUNTER_EVENTS_LOST);
		report_error(ERROR_EVENTS_FULL, 0, BPF_CORE_READ(leader, tgid));
		return;
	}
	event->header.type = RECORD_PROCESS;
	event->header.bytes = sizeof(*event);
	event->kind = kind;
	event->tgid = BPF_CORE_READ(leader, tgid);
	event->pattern_id = target->pattern_id;
	event->started_ns = target->started_ns;
	event->cgroup_id = 0;
	event->uid = 0;
	event->reserved = 0;
	__builtin_memset(event->comm, 0, sizeof(event->comm));
	if (kind == PROCESS_MATCHED) {
		event->cgroup_id = cgroup_id_of(leader);
		event->uid = BPF_CORE_READ(leader, real_cred, uid.val);
		__builtin_memcpy(event->comm, comm, sizeof(event->comm));
	}
	bpf_ringbuf_submit(event, 0);
}

/* The most specific live pattern for `comm` (16 bytes, zeroed behind its NUL), or 0. */
static __always_inline __u32 pattern_of(const struct control *shared, const char *comm)
{
	struct pattern_key key = { .prefix_bits = sizeof(key.comm) * 8 };
	__u32 *pattern_id;

	__builtin_memcpy(key.comm, comm, sizeof(key.comm));
	if (*(volatile const __u32 *)&shared->live_patterns & 1)
		pattern_id = bpf_map_lookup_elem(&patterns_b, &key);
	else
		pattern_id = bpf_map_lookup_elem(&patterns_a, &key);
	return pattern_id ? *pattern_id : 0;
}

/* What was made for the program that it runs. */
static __always_inline void target_forget_program(__u32 tgid)
{
	bpf_map_delete_elem(&unwind_procs, &tgid);
	bpf_map_delete_elem(&code_spans, &tgid);
}

/* A target no more. */
static __always_inline long target_forget(__u32 tgid)
{
	target_forget_program(tgid);
	return bpf_map_delete_elem(&targets, &tgid);
}

static __always_inline void target_forget_denied(__u32 tgid)
{
	if (!target_forget(tgid))
		count(COUNTER_POLICY_DENIED);
}

/*
 * True where root's policy lets nobody see `task`, a thread of a target, any more. The process ceases to be a
 * target if it is the process that is denied.
 */
static __always_inline bool target_is_denied(struct task_struct *task)
{
	struct task_struct *leader = task->group_leader;

	if (policy_denies_now(leader)) {
		target_forget_denied(task->tgid);
		return true;
	}
	return policy_denies_thread(task);
}

#define REPORT_NOTHING 0
#define REPORT_CHANGES 1
#define REPORT_MATCHES 2 /* also one that is not new */

/*
 * Makes the process a target, or no target, as `comm` says, and reports that (REPORT_*, a constant). Returns
 * its pattern id, 0 for none.
 */
static __always_inline __u32 target_decide(const struct control *shared, struct task_struct *leader,
					   const char *comm, int report)
{
	__u32 tgid = BPF_CORE_READ(leader, tgid);
	struct target *known = bpf_map_lookup_elem(&targets, &tgid);
	struct target decided = {
		.started_ns = BPF_CORE_READ(leader, start_boottime),
		.pattern_id = policy_denies(leader, comm) ? 0 : pattern_of(shared, comm),
	};
	bool is_known = known && known->started_ns == decided.started_ns;
	bool same = is_known && known->pattern_id == decided.pattern_id;
	long failed;

	if (!decided.pattern_id) {
		if (known) {
			decided.pattern_id = known->pattern_id;
			target_forget(tgid);
			if (report != REPORT_NOTHING)
				report_process(PROCESS_UNMATCHED, leader, NULL, &decided);
		}
		return 0;
	}
	if (!same) {
		decided.since_ns = is_known ? known->since_ns : bpf_ktime_get_ns();
		failed = bpf_map_update_elem(&targets, &tgid, &decided, BPF_ANY);
		if (failed) {
			count(COUNTER_TARGETS_FULL);
			report_error(ERROR_TARGETS_FULL, (__s32)failed, tgid);
			return 0;
		}
		count(COUNTER_MATCHES);
		__sync_fetch_and_add(&targets_made, 1);
	}
	if (report == REPORT_MATCHES || (report == REPORT_CHANGES && !same))
		report_process(PROCESS_MATCHED, leader, comm, &decided);
	return decided.pattern_id;
}

#endif
