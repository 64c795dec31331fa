/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * privilege.h owns the consumer's way down: from root, if it was started so, to its user with the one
 * capability that opening the pins takes, and from there to none.
 */
#ifndef BOURDON_CONSUMER_PRIVILEGE_H
#define BOURDON_CONSUMER_PRIVILEGE_H

#include <stdbool.h>

/*
 * Becomes the user and the group, with CAP_DAC_READ_SEARCH (/sys/fs/bpf is 0700 on hosts with systemd) and,
 * where root started us, CAP_IPC_LOCK until privilege_lock_memory(). A process that is not root keeps what
 * it was given. Logs what failed; 0 or -errno.
 */
int privilege_become(const char *user, const char *group);

/* As many descriptors as the hard limit allows: each watch on a cgroup takes one. */
void privilege_raise_descriptors(void);

/*
 * Keeps what is mapped from being paged out, so that the recorder works while the host thrashes. Where
 * RLIMIT_MEMLOCK allows, what is mapped later, too. False, with a warning logged, where it may not.
 */
bool privilege_lock_memory(void);

/* Gives up every capability, for good (no_new_privs). Logs what failed; 0 or -errno. */
int privilege_drop_all(void);

#endif
