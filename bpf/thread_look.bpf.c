/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * thread_look.bpf.c holds those parts of a look at a thread that the verifier checks as separate functions. What it knows of a
 * state or a key at a call would multiply its work: of their results it knows nothing.
 */
#include "bpf/thread_look.h"

extern const volatile __u64 lock_secret[2];

static __always_inline __u64 rotate(__u64 word, __u32 bits)
{
	return word << bits | word >> (64 - bits);
}

static __always_inline void sip_round(__u64 v[4])
{
	v[0] += v[1];
	v[1] = rotate(v[1], 13) ^ v[0];
	v[0] = rotate(v[0], 32);
	v[2] += v[3];
	v[3] = rotate(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = rotate(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = rotate(v[1], 17) ^ v[2];
	v[2] = rotate(v[2], 32);
}

__noinline __u64 lock_hash(__u64 first, __u64 second, __u64 third)
{
	__u64 v[4] = { lock_secret[0] ^ 0x736f6d6570736575ULL, lock_secret[1] ^ 0x646f72616e646f6dULL,
		       lock_secret[0] ^ 0x6c7967656e657261ULL, lock_secret[1] ^ 0x7465646279746573ULL };

	v[3] ^= first;
	sip_round(v);
	v[0] ^= first;
	v[3] ^= second;
	sip_round(v);
	v[0] ^= second;
	v[3] ^= third;
	sip_round(v);
	v[0] ^= third;
	v[3] ^= 24ULL << 56;
	sip_round(v);
	v[0] ^= 24ULL << 56;
	v[2] ^= 0xff;
	for (int i = 0; i < 3; i++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* As ps(1) has it (fs/proc/array.c), but a thread that runs is told from one that waits for a CPU. */
__noinline __u32 thread_state(__u32 state, __u32 exit_state, __u32 on_cpu, __u32 queued)
{
	if (exit_state & EXIT_ZOMBIE)
		return THREAD_ZOMBIE;
	if (exit_state & EXIT_DEAD)
		return THREAD_DEAD;
	if (on_cpu)
		return THREAD_RUNNING;
	if (queued) /* also one that was about to sleep when another took its CPU */
		return THREAD_QUEUED;
	if (state & TASK_PARKED)
		return THREAD_PARKED;
	if (state & TASK_TRACED_OF_KERNEL)
		return THREAD_TRACED;
	if (state & TASK_STOPPED_OF_KERNEL)
		return THREAD_STOPPED;
	if ((state & TASK_UNINTERRUPTIBLE) && (state & TASK_NOLOAD))
		return THREAD_IDLE;
	if (state & (TASK_UNINTERRUPTIBLE | TASK_RTLOCK_WAIT | TASK_FROZEN))
		return THREAD_DISK;
	if (state & TASK_INTERRUPTIBLE)
		return THREAD_SLEEPING;
	return THREAD_QUEUED; /* it is being woken */
}

__noinline int rebase_look(struct look_frames *frames, __u32 depth)
{
	__s32 *rebased = (__s32 *)frames;

	if (!frames)
		return 0;
	for (__u32 i = 0; i < LOOK_FRAMES && i < depth; i++)
		rebased[i] = rebase(frames->words[i]);
	return 0;
}
