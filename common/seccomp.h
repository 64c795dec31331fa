/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * seccomp.h owns the last step of confinement: a system-call filter that was compiled at build time from
 * policy/NAME.seccomp into policy/NAME.h. Nothing that parses or generates filters runs in a daemon.
 */
#ifndef BOURDON_SECCOMP_H
#define BOURDON_SECCOMP_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Puts the calling thread, or with `all_threads` every thread of the process, under `filter`, for good and on
 * top of those that are in force already. The caller has set no_new_privs. 0, -EBUSY where a thread is
 * under a filter of its own and could not follow (then none is changed), or -errno.
 */
int seccomp_install(const struct sock_filter *filter, size_t length, bool all_threads);

#endif
