/* SPDX-License-Identifier: GPL-2.0-only */
/* thread.h owns starting a thread whose system calls may be filtered right afterwards. */
#ifndef BOURDON_THREAD_H
#define BOURDON_THREAD_H

#include <pthread.h>
#include <stddef.h>

/*
 * Starts a thread with a stack of this size, and returns once it runs: glibc sets a new thread up in it
 * (rseq, robust list), and a filter must not come before that. 0 or -errno.
 */
int thread_start(pthread_t *ret_thread, size_t stack_bytes, void *(*run)(void *user), void *user);

#endif
