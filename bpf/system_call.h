/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * system_call.h reads the system call in which a thread is off CPU, and which futex it waits for. The registers that a
 * thread saved when it entered the kernel are at the top of its kernel stack; they are out of date while it runs in user
 * mode.
 */
#ifndef BOURDON_BPF_SYSTEM_CALL_H
#define BOURDON_BPF_SYSTEM_CALL_H

#include "bpf/kernel.h"

#define CS_OF_64_BIT 0x33 /* __USER_CS */

/* include/uapi/linux/futex.h, and the system calls of x86-64 */
#define FUTEX_OPERATION 0x7fU
#define FUTEX_WAIT 0U
#define FUTEX_WAKE 1U
#define FUTEX_REQUEUE 3U
#define FUTEX_CMP_REQUEUE 4U
#define FUTEX_WAKE_OP 5U
#define FUTEX_LOCK_PI 6U
#define FUTEX_UNLOCK_PI 7U
#define FUTEX_WAIT_BITSET 9U
#define FUTEX_WAKE_BITSET 10U
#define FUTEX_WAIT_REQUEUE_PI 11U
#define FUTEX_CMP_REQUEUE_PI 12U
#define FUTEX_LOCK_PI2 13U
#define CALL_EXIT 60U
#define CALL_FUTEX 202U
#define CALL_EXIT_GROUP 231U
#define CALL_SPLICE 275U
#define CALL_SENDMMSG 307U
/* read, write, close, readv, writev, sendfile, connect, sendto, recvfrom, sendmsg, recvmsg, shutdown, exit */
#define CALLS_THAT_SEND                                                                                      \
	(1ULL << 0 | 1ULL << 1 | 1ULL << 3 | 1ULL << 19 | 1ULL << 20 | 1ULL << 40 | 1ULL << 42 |             \
	 1ULL << 44 | 1ULL << 45 | 1ULL << 46 | 1ULL << 47 | 1ULL << 48 | 1ULL << 60)
#define CALL_FUTEX_WAKE 454U /* since Linux 6.7 */
#define CALL_FUTEX_WAIT 455U

/* How a waiter finds a lock that is taken and waited for, in user space: U. Drepper, Futexes Are Tricky, section 6; futex(2) */
#define FUTEX_IS_CONTENDED 2U
#define FUTEX_WAITERS 0x80000000U
#define FUTEX_TID_MASK 0x3fffffffU

#define BIT_OF(number) (1U << (number))
#define FUTEX_WAITS                                                                                          \
	(BIT_OF(FUTEX_WAIT) | BIT_OF(FUTEX_LOCK_PI) | BIT_OF(FUTEX_WAIT_BITSET) |                            \
	 BIT_OF(FUTEX_WAIT_REQUEUE_PI) | BIT_OF(FUTEX_LOCK_PI2))
#define FUTEX_RELEASES                                                                                       \
	(BIT_OF(FUTEX_WAKE) | BIT_OF(FUTEX_REQUEUE) | BIT_OF(FUTEX_CMP_REQUEUE) | BIT_OF(FUTEX_WAKE_OP) |    \
	 BIT_OF(FUTEX_UNLOCK_PI) | BIT_OF(FUTEX_WAKE_BITSET) | BIT_OF(FUTEX_CMP_REQUEUE_PI))

/*
 * SipHash-1-3 of three words, as in common/base/hash.c. Without the secret, a key tells nothing of what it is made of. In
 * bpf/thread_look.bpf.c.
 */
__u64 lock_hash(__u64 first, __u64 second, __u64 third);

/* The system call in which a thread is; number -1: none, or one of a 32-bit program, whose calls have other numbers. */
struct system_call {
	__s64 number;
	__u64 first; /* its first argument */
};

#if defined(__TARGET_ARCH_x86)

/* The number of the system call in which the task is, or -1. Of a 32-bit program, whose calls have other numbers: -1. */
static __always_inline __s64 system_call_of(const struct pt_regs___kernel *registers)
{
	return (__u16)registers->cs == CS_OF_64_BIT ? (__s64)registers->orig_ax : -1;
}

/*
 * Of a thread that is off CPU and not a kernel thread. A thread that the kernel runs for a process (io_uring) has a copy of
 * its maker's registers, without a stack pointer.
 */
static __always_inline struct system_call system_call_read(struct task_struct *task)
{
	const struct pt_regs___kernel *registers = (const struct pt_regs___kernel *)bpf_task_pt_regs(task);

	if (!registers->sp)
		return (struct system_call){ .number = -1 };
	return (struct system_call){ system_call_of(registers), registers->di };
}

/* Of a thread that is off CPU: it came to the kernel by a page fault or another exception. */
static __always_inline bool is_in_exception(struct task_struct *task)
{
	const struct pt_regs___kernel *registers = (const struct pt_regs___kernel *)bpf_task_pt_regs(task);

	return registers->sp && registers->orig_ax == ~0UL;
}

/*
 * An opaque key of the futex that the thread waits for, or is about to, 0 if it is none. It is the
 * same for all threads of a process, and as long as the programs are loaded.
 */
static __always_inline __u64 lock_awaited(struct task_struct *task, __u64 started_ns)
{
	const struct pt_regs___kernel *registers = (const struct pt_regs___kernel *)bpf_task_pt_regs(task);
	__s64 call = system_call_of(registers);

	if (call == CALL_FUTEX) {
		__u32 operation = (__u32)registers->si & FUTEX_OPERATION;

		if (operation > FUTEX_LOCK_PI2 || !(FUTEX_WAITS & BIT_OF(operation)))
			return 0;
	} else if (call != CALL_FUTEX_WAIT) {
		return 0;
	}
	return lock_hash((__u32)task->tgid, started_ns, registers->di);
}

/*
 * As lock_awaited(), of a futex that is a lock: the value that the thread expects there says that a lock is taken and waited
 * for, or the kernel keeps its owner (FUTEX_LOCK_PI). Semaphores, and threads that are parked, expect other values; so do most
 * condition variables, at most times. Stores that value.
 */
static __always_inline __u64 lock_contended(struct task_struct *task, __u64 started_ns, __u32 *ret_expects)
{
	const struct pt_regs___kernel *registers = (const struct pt_regs___kernel *)bpf_task_pt_regs(task);
	__s64 call = system_call_of(registers);
	__u32 operation = (__u32)registers->si & FUTEX_OPERATION, value;

	if (call != CALL_FUTEX && call != CALL_FUTEX_WAIT)
		return 0;
	value = (__u32)(call == CALL_FUTEX ? registers->dx : registers->si);
	if (value != FUTEX_IS_CONTENDED &&
	    !(value & FUTEX_WAITERS && (value & FUTEX_TID_MASK) != FUTEX_TID_MASK) &&
	    !(call == CALL_FUTEX && (operation == FUTEX_LOCK_PI || operation == FUTEX_LOCK_PI2)))
		return 0;
	*ret_expects = value;
	return lock_awaited(task, started_ns);
}

/* System calls in which a thread may send to its own host, or acknowledge what it has received from there. */
static __always_inline bool may_send(struct task_struct *task)
{
	struct system_call call = system_call_read(task);

	return call.number >= 0 &&
	       (call.number < 64 ? CALLS_THAT_SEND >> call.number & 1
				 : call.number == CALL_EXIT_GROUP || call.number == CALL_SPLICE ||
					   call.number == CALL_SENDMMSG);
}

/* True if the current thread gives a futex free: in futex(2), or at its end, which wakes those that join it. */
static __always_inline bool releases_lock(struct task_struct *task)
{
	const struct pt_regs___kernel *registers = (const struct pt_regs___kernel *)bpf_task_pt_regs(task);
	__s64 call = system_call_of(registers);

	if (call == CALL_FUTEX) {
		__u32 operation = (__u32)registers->si & FUTEX_OPERATION;

		return operation <= FUTEX_LOCK_PI2 && FUTEX_RELEASES & BIT_OF(operation);
	}
	return call == CALL_FUTEX_WAKE || call == CALL_EXIT || call == CALL_EXIT_GROUP;
}

/*
 * True if the current thread gives this lock free, in futex(2). The word of one that others wait for is 0 then, or another thread
 * has taken it. The number at which threads wait for a condition (glibc since 2.41, Rust) is once the one that they would expect
 * there of a lock, and has grown when they are woken.
 */
static __always_inline bool lock_is_released(struct task_struct *task, __u64 started_ns, __u64 lock,
					     __u32 expects)
{
	const struct pt_regs___kernel *registers = (const struct pt_regs___kernel *)bpf_task_pt_regs(task);
	__u32 word = 0;

	if (!releases_lock(task) || lock_hash((__u32)task->tgid, started_ns, registers->di) != lock)
		return false;
	bpf_probe_read_user(&word, sizeof(word), (const void *)registers->di);
	return expects != FUTEX_IS_CONTENDED || word <= FUTEX_IS_CONTENDED;
}

#else

static __always_inline bool is_in_exception(struct task_struct *task)
{
	return false;
}

static __always_inline struct system_call system_call_read(struct task_struct *task)
{
	return (struct system_call){ .number = -1 };
}

static __always_inline __u64 lock_awaited(struct task_struct *task, __u64 started_ns)
{
	return 0;
}

static __always_inline __u64 lock_contended(struct task_struct *task, __u64 started_ns, __u32 *ret_expects)
{
	return 0;
}

static __always_inline bool releases_lock(struct task_struct *task)
{
	return false;
}

static __always_inline bool lock_is_released(struct task_struct *task, __u64 started_ns, __u64 lock,
					     __u32 expects)
{
	return false;
}

static __always_inline bool may_send(struct task_struct *task)
{
	return false;
}

#endif

#endif
