/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * thread.h starts threads that may be put under a system-call filter at once, and lets them wait with a
 * deadline.
 */
#ifndef BOURDON_COMMON_SYSTEM_THREAD_H
#define BOURDON_COMMON_SYSTEM_THREAD_H

#include "common/base/cleanup.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Starts a thread with a stack of this size, and returns once it runs: glibc initialises a new thread with
 * system calls (rseq, robust list), so a filter must not come first. Returns 0 or -errno.
 */
int thread_start(pthread_t *ret_thread, size_t stack_bytes, void *(*run)(void *user), void *user);

static inline pthread_mutex_t *thread_lock(pthread_mutex_t *lock)
{
	pthread_mutex_lock(lock);
	return lock;
}

static inline void thread_unlock(pthread_mutex_t **lock)
{
	pthread_mutex_unlock(*lock);
}

/* Holds the lock until the end of the scope, on every path out of it. */
#define HOLD_LOCK(lock)                                                                                      \
	__attribute__((unused)) _cleanup_(thread_unlock) pthread_mutex_t *held_ = thread_lock(lock)

/* Initialises a condition variable whose deadlines use clock_monotonic_ns(). */
void thread_condition_init(pthread_cond_t *ret_condition);

/* As pthread_cond_wait(3), but at most until `until_ns`. Returns 0 or -ETIMEDOUT. */
int thread_condition_wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t until_ns);

#endif
