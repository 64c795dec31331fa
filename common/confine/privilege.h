/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * privilege.h owns how the consumer drops its privileges: from root, if it was started as root, to its user
 * with the one capability that opening the pins needs, and then to none.
 */
#ifndef BOURDON_COMMON_CONFINE_PRIVILEGE_H
#define BOURDON_COMMON_CONFINE_PRIVILEGE_H

#include <stdbool.h>

/*
 * Switches to the user and the group; the only other group is that of the pins, if it is another. Keeps
 * CAP_DAC_READ_SEARCH (/sys/fs/bpf is 0700 on hosts with systemd) and, when started as root, CAP_IPC_LOCK until
 * privilege_lock_future(). A process that is not root keeps what it was given. Logs what failed; 0 or -errno.
 */
int privilege_become(const char *user, const char *group, const char *pin_dir);

/* Raises the limit of descriptors to the hard limit: each watch on a cgroup needs one. */
void privilege_raise_descriptors(void);

/*
 * Lock present and future mappings in memory, so that the recorder works while the host thrashes. Where
 * RLIMIT_MEMLOCK does not allow it, both log the remedy and go on. The rings are mapped between the two
 * calls: they are kernel memory, which is never paged out, but mm/mlock.c counts them, and on a host with
 * many CPUs they exceed any sensible limit. Each returns whether it locked them.
 */
bool privilege_lock_present(void);
bool privilege_lock_future(void);

/* What of the daemon's memory is locked. */
enum locked_memory { LOCKED_NONE, LOCKED_PRESENT, LOCKED_ALL };
extern const char *const locked_memory_names[];
#define LOCKED_MEMORY_REMEDY                                                                                 \
	"set LimitMEMLOCK=128M in the unit, or, without one, run 'ulimit -l 131072' in the shell that starts bourdond (a container may not allow it)"

/* Lets the OOM killer choose this process, and its children, first. */
void privilege_offer_to_die(void);

/*
 * Drops every capability for good (no_new_privs) and makes the process undumpable, so that other processes of
 * its user cannot inspect it. Logs what failed; 0 or -errno.
 */
int privilege_drop_all(void);

#endif
