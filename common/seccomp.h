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

struct seccomp_policy {
	const char *name;
	const char *otherwise; /* what becomes of a call that it does not name: "kill" or "log" */
	const struct sock_filter *code;
	size_t length;
};

/*
 * Puts the calling thread, or with `all_threads` every thread of the process, under the policy, for good and
 * on top of those that are in force already. The caller has set no_new_privs. 0, -EBUSY where a thread is
 * under a filter of its own and could not follow (then none is changed), or -errno.
 *
 * There are two: seccomp.c, and seccomp_log.c of `make SECCOMP_LOG=1`, where each call that a policy does not
 * name is let pass, and logged by its name.
 */
int seccomp_install(const struct seccomp_policy *policy, bool all_threads);

#endif
