/* SPDX-License-Identifier: GPL-2.0-only */
/* thread.h owns starting a thread whose system calls may be filtered right afterwards, and how it waits. */
#ifndef BOURDON_THREAD_H
#define BOURDON_THREAD_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Starts a thread with a stack of this size, and returns once it runs: glibc sets a new thread up in it
 * (rseq, robust list), and a filter must not come before that. 0 or -errno.
 */
int thread_start(pthread_t *ret_thread, size_t stack_bytes, void *(*run)(void *user), void *user);

/* A condition variable whose waits may end at a time of clock_monotonic_ns(). */
void thread_condition_init(pthread_cond_t *ret_condition);

/* As pthread_cond_wait(3), until that time at most. 0, or -ETIMEDOUT. */
int thread_condition_wait_until(pthread_cond_t *condition, pthread_mutex_t *lock, uint64_t until_ns);

#endif
