/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * thread_look.h looks at a thread that may be in any state: whether root's policy lets it be shown, in which state it is,
 * and where in the kernel it is off CPU. bpf/system_call.h reads its system call.
 */
#ifndef BOURDON_BPF_THREAD_LOOK_H
#define BOURDON_BPF_THREAD_LOOK_H

#include "bpf/rebase.h"
#include "bpf/system_call.h"
#include "bpf/target.h"

#include <asm/unistd.h>

/* System calls whose first argument is a descriptor. */
static const __u8 takes_fd[] = {
#define FD(name) [__NR_##name] = 1
	FD(read),
	FD(write),
	FD(close),
	FD(fstat),
	FD(lseek),
	FD(ioctl),
	FD(pread64),
	FD(pwrite64),
	FD(readv),
	FD(writev),
	FD(dup),
	FD(dup3),
	FD(sendfile),
	FD(connect),
	FD(accept),
	FD(accept4),
	FD(sendto),
	FD(recvfrom),
	FD(sendmsg),
	FD(recvmsg),
	FD(sendmmsg),
	FD(recvmmsg),
	FD(shutdown),
	FD(bind),
	FD(listen),
	FD(getsockname),
	FD(getpeername),
	FD(setsockopt),
	FD(getsockopt),
	FD(fcntl),
	FD(flock),
	FD(fsync),
	FD(fdatasync),
	FD(syncfs),
	FD(sync_file_range),
	FD(ftruncate),
	FD(fallocate),
	FD(fadvise64),
	FD(readahead),
	FD(getdents64),
	FD(fchdir),
	FD(fchmod),
	FD(fchown),
	FD(fstatfs),
	FD(fsetxattr),
	FD(fgetxattr),
	FD(flistxattr),
	FD(fremovexattr),
	FD(epoll_ctl),
	FD(epoll_pwait),
	FD(epoll_pwait2),
	FD(inotify_add_watch),
	FD(inotify_rm_watch),
	FD(timerfd_settime),
	FD(timerfd_gettime),
	FD(signalfd4),
	FD(splice),
	FD(tee),
	FD(vmsplice),
	FD(copy_file_range),
	FD(preadv),
	FD(pwritev),
	FD(preadv2),
	FD(pwritev2),
	FD(mq_timedsend),
	FD(mq_timedreceive),
	FD(mq_notify),
	FD(io_uring_enter),
	FD(io_uring_register),
	FD(pidfd_send_signal),
	FD(pidfd_getfd),
#ifdef __NR_epoll_wait
	FD(epoll_wait),
	FD(getdents),
	FD(dup2),
	FD(signalfd),
#endif
#undef FD
};

static __always_inline bool is_target(struct task_struct *task)
{
	__u32 tgid = task->tgid;
	const struct target *target = bpf_map_lookup_elem(&targets, &tgid);

	return target && target->started_ns == BPF_CORE_READ(task, group_leader, start_boottime);
}

/* As policy_denies_undumpable(), but read without helpers where the first thread lives: the kernel knows what `leader` is. */
static __always_inline bool is_undumpable(struct task_struct *leader)
{
	struct mm_struct *mm = leader->mm;
	struct mm_struct___since_6_18 *since_6_18 = (void *)mm;
	unsigned long flags;

	if (!policy.deny_undumpable)
		return false;
	if (!mm)
		return policy_denies_process_memory(leader, true);
	flags = bpf_core_field_exists(since_6_18->flags.__mm_flags) ? since_6_18->flags.__mm_flags[0]
								    : mm->flags;
	return (flags & MMF_DUMPABLE_MASK) != SUID_DUMP_USER;
}

/* What root does not let be sampled does not appear here, either. */
static __noinline __attribute__((unused)) bool is_hidden(struct task_struct *task)
{
	struct task_struct *leader = task->group_leader;
	char comm[ABI_COMM_BYTES] = {};

	if (task->flags & PF_KTHREAD)
		return !policy.kernel_threads;
	if (policy.comms_count)
		bpf_probe_read_kernel_str(comm, sizeof(comm), leader->comm);
	return policy_denies_identity(leader, comm) || is_undumpable(leader) || policy_denies_thread(task) ||
	       (!policy.bystanders && !is_target(task));
}

/*
 * Of bpf/thread_look.bpf.c: THREAD_*, from task_struct.__state and .exit_state, whether the thread is on a CPU, and whether
 * it is in a run queue and not about to leave it.
 */
__u32 thread_state(__u32 state, __u32 exit_state, __u32 on_cpu, __u32 queued);

static __always_inline __u32 state_of(struct task_struct *task)
{
	bool delayed = bpf_core_field_exists(task->se.sched_delayed) && task->se.sched_delayed;

	return thread_state(task->__state, (__u32)task->exit_state,
			    bpf_core_field_exists(task->on_cpu) ? task->on_cpu
								: task == (void *)bpf_get_current_task_btf(),
			    task->on_rq && !delayed);
}

struct look_frames {
	__u64 words[LOOK_FRAMES];
};

/*
 * Of bpf/thread_look.bpf.c: rebases the first `depth` frames, at most LOOK_FRAMES. Each becomes an __s32, which takes the
 * place of one that has been read.
 */
int rebase_look(struct look_frames *frames, __u32 depth);

/* Its kernel stack stays as it is, and so do the registers that it saved. */
static __always_inline bool is_off_cpu(__u32 state)
{
	return state != THREAD_RUNNING && state != THREAD_ZOMBIE && state != THREAD_DEAD;
}

/*
 * The first function of the kernel stack, 0 if it is not known. Of another task the kernel leaves out those by which every
 * thread waits (stack_trace_save_tsk() in kernel/stacktrace.c), as it does for /proc/PID/wchan.
 */
static __noinline __attribute__((unused)) __u64 find_function(struct task_struct *task)
{
	__u64 function;

	if (bpf_get_task_stack(task, &function, sizeof(function), 0) != sizeof(function))
		return 0;
	return rebase(function) == KERNEL_FRAME_UNKNOWN ? 0 : function;
}

#endif
