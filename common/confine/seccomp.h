/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * seccomp.h installs the last step of confinement: a filter of system calls, which was compiled from policy/NAME.seccomp.
 * Room: giving up rights, for good. main() calls it, once, before the first input.
 */
#ifndef BOURDON_COMMON_CONFINE_SECCOMP_H
#define BOURDON_COMMON_CONFINE_SECCOMP_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>

struct seccomp_policy {
	const char *name;
	const char *otherwise; /* action for calls that the policy does not list: "kill" or "log" */
	const struct sock_filter *code;
	size_t length;
};

/*
 * Puts the calling thread, or with `all_threads` every thread of the process, under the policy, for good and
 * in addition to filters already in force. The caller must have set no_new_privs. Returns 0, -EBUSY if a
 * thread has a filter of its own and could not be synchronized (then no thread is changed), or -errno.
 *
 * There are two implementations: seccomp.c, and seccomp_log.c for `make SECCOMP_LOG=1`, which logs and allows
 * each call that a policy does not list.
 */
int seccomp_install(const struct seccomp_policy *policy, bool all_threads);

#endif
