/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * privilege.h owns the consumer's way down: from root, if it was started so, to its user with the one
 * capability that opening the pins takes, and from there to none.
 */
#ifndef BOURDON_CONSUMER_PROCESS_PRIVILEGE_H
#define BOURDON_CONSUMER_PROCESS_PRIVILEGE_H

#include <stdbool.h>

/*
 * Becomes the user and the group, with CAP_DAC_READ_SEARCH (/sys/fs/bpf is 0700 on hosts with systemd) and,
 * where root started us, CAP_IPC_LOCK until privilege_lock_future(). A process that is not root keeps what
 * it was given. Logs what failed; 0 or -errno.
 */
int privilege_become(const char *user, const char *group);

/* As many descriptors as the hard limit allows: each watch on a cgroup takes one. */
void privilege_raise_descriptors(void);

/*
 * Keep what is mapped, and what is mapped later, from being paged out, so that the recorder works while the
 * host thrashes; as far as RLIMIT_MEMLOCK allows, which is logged where it does not. The rings are mapped in
 * between: they are the kernel's own memory and never paged out, and a host with many CPUs has more of them
 * than anybody may lock (mm/mlock.c counts them all the same). False where it is not so.
 */
bool privilege_lock_present(void);
bool privilege_lock_future(void);

/* What of the daemon's memory is locked. */
enum locked_memory { LOCKED_NONE, LOCKED_PRESENT, LOCKED_ALL };
extern const char *const locked_memory_names[];
#define LOCKED_MEMORY_REMEDY                                                                                 \
	"set LimitMEMLOCK=128M in the unit, or, without one, run 'ulimit -l 131072' in the shell that starts bourdond"

/* May die first when memory is short; what it forks, too. */
void privilege_offer_to_die(void);

/*
 * Gives up every capability, for good (no_new_privs), and is closed to other processes of its user. Logs what
 * failed; 0 or -errno.
 */
int privilege_drop_all(void);

#endif
