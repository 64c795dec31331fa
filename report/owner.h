/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * owner.h owns giving root up for whoever may have written what is read: a database is parsed by SQLite,
 * which is large, and an attacker who owns the daemon writes it.
 */
#ifndef BOURDON_REPORT_OWNER_H
#define BOURDON_REPORT_OWNER_H

#include <stdbool.h>
#include <sys/types.h>

/* Where nobody but root is meant: the kernel's overflow ids, which Debian calls nobody and nogroup. */
#define OWNER_NOBODY 65534

/*
 * Who could have written the file, or put it there: its owner, else the first owner on the way up from it who
 * is not root, else nobody where others may write to its directory. 0 only where root alone could. `real` is
 * absolute and without symbolic links. 0 or -errno.
 */
int owner_find(const char *real, uid_t *ret_uid, gid_t *ret_gid);

/*
 * There is no way back: all ids, no group but this, no capability, no new privileges. 0, or -EPERM, logged.
 */
int owner_become(uid_t uid, gid_t gid);

/* Whether owner_become() has been gone through: what cannot be read now, root could have. */
bool owner_was_root(void);

/*
 * As root, becomes who could have written the file at `path`; anybody else stays as they are. *ret_real is
 * the path without links, and NULL for anybody else: who is still root opens no other path, because a link
 * could lead elsewhere by then. The caller frees. 0 or -errno, of which -EPERM is logged.
 */
int owner_become_of(const char *path, char **ret_real);

#endif
