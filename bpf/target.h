/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * target.h decides whether a process is a target: it matches the group leader's comm against the live pattern
 * trie, or asks whether a capture on demand wants it, if root's policy allows the process. Process events and the task
 * iterator both use it, and only it writes the targets map.
 */
#ifndef BOURDON_BPF_TARGET_H
#define BOURDON_BPF_TARGET_H

#include "bpf/cgroup_path.h"
#include "bpf/policy.h"
#include "bpf/wanted.h"

extern const volatile __u64 quiet_after_ns;

/*
 * True if the heartbeat is too old. The age is signed because the consumer's clock may be slightly ahead of
 * this CPU's. A heartbeat far in the future counts as quiet, too: otherwise a compromised consumer could keep
 * sampling on after its end.
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

/* A name that the kernel pads with zeros (strscpy_pad() in __set_task_comm()), read without a helper. */
static __always_inline void read_comm(struct task_struct *task, char comm[ABI_COMM_BYTES])
{
	const __u64 *from = (const void *)task->comm;
	__u64 *to = (void *)comm;

	to[0] = from[0];
	to[1] = from[1];
}

/* Only a PROCESS_MATCHED carries `comm`, cgroup and uid; `comm` may be NULL for the other kinds. */
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
	event->program = 0;
	__builtin_memset(event->comm, 0, sizeof(event->comm));
	if (kind == PROCESS_MATCHED) {
		event->cgroup_id = cgroup_id_of(leader);
		event->uid = BPF_CORE_READ(leader, real_cred, uid.val);
		event->program = (__u32)BPF_CORE_READ(leader, self_exec_id);
		__builtin_memcpy(event->comm, comm, sizeof(event->comm));
	}
	bpf_ringbuf_submit(event, 0);
}

/* Returns the most specific live pattern for `comm` (16 bytes, zeroed after its NUL), or 0. */
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

/* Deletes what belongs to the program that the process has run so far. */
static __always_inline void target_forget_program(__u32 tgid)
{
	bpf_map_delete_elem(&unwind_procs, &tgid);
	bpf_map_delete_elem(&code_spans, &tgid);
	bpf_map_delete_elem(&bystanders, &tgid);
}

/* Returns 0 or a negative errno. */
static __always_inline int targets_put(__u32 tgid, const struct target *target)
{
	return put_counted(&targets, &tgid, target, &targeted[tgid % TARGETED_SLOTS]);
}

/* Its name or its cgroup changes, and with that whose time its time is. */
static __always_inline void target_forget_victim(__u32 tgid)
{
	struct target *target = bpf_map_lookup_elem(&targets, &tgid);

	if (target)
		target->victim = 0;
}

/* Returns 0, or a negative errno if it was not there. */
static __always_inline int targets_remove(__u32 tgid)
{
	int failed = (int)bpf_map_delete_elem(&targets, &tgid);

	if (!failed)
		__sync_fetch_and_sub(&targeted[tgid % TARGETED_SLOTS], 1);
	return failed;
}

/* Removes the process from the targets. Returns 0, or a negative errno if it was none. */
static __always_inline int target_forget(__u32 tgid)
{
	target_forget_program(tgid);
	return targets_remove(tgid);
}

static __always_inline void target_forget_denied(__u32 tgid)
{
	if (!target_forget(tgid))
		count(COUNTER_POLICY_DENIED);
}

/*
 * True if root's policy denies `task`, a thread of a target. If it denies the whole process, the process
 * stops being a target.
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

/* What captures on demand want is asked last: neither is it more than root's policy allows, nor does a rule lose by it. */
static __always_inline __u32 decided_pattern(const struct control *shared, struct task_struct *leader,
					     const char *comm)
{
	__u32 pattern_id;

	if (policy_denies(leader, comm))
		return 0;
	pattern_id = pattern_of(shared, comm);
	return !pattern_id && is_wanted(shared, leader, comm) ? PATTERN_WANTED : pattern_id;
}

#define REPORT_NOTHING 0
#define REPORT_CHANGES 1
#define REPORT_MATCHES 2 /* also a match that has not changed */

/*
 * Makes the process a target or not, according to `comm`, and reports the decision (REPORT_*, a compile-time
 * constant). Returns its pattern id, 0 if it is no target.
 */
static __always_inline __u32 target_decide(const struct control *shared, struct task_struct *leader,
					   const char *comm, int report)
{
	__u32 tgid = BPF_CORE_READ(leader, tgid);
	struct target *known = bpf_map_lookup_elem(&targets, &tgid);
	struct target decided = {
		.started_ns = BPF_CORE_READ(leader, start_boottime),
		.pattern_id = decided_pattern(shared, leader, comm),
	};
	bool is_known = known && known->started_ns == decided.started_ns;
	bool same = is_known && known->pattern_id == decided.pattern_id;
	int failed;

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
		failed = targets_put(tgid, &decided);
		if (failed) {
			count(COUNTER_TARGETS_FULL);
			report_error(ERROR_TARGETS_FULL, failed, tgid);
			return 0;
		}
		count(COUNTER_MATCHES);
	}
	if (report == REPORT_MATCHES || (report == REPORT_CHANGES && !same)) {
		cgroup_path_tell(leader);
		report_process(PROCESS_MATCHED, leader, comm, &decided);
	}
	return decided.pattern_id;
}

#endif
