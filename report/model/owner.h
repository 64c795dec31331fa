/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * owner.h owns dropping root before a database is read. SQLite is large, and an attacker in the daemon's
 * process can write the database; so root becomes the user who may have written it.
 */
#ifndef BOURDON_REPORT_MODEL_OWNER_H
#define BOURDON_REPORT_MODEL_OWNER_H

#include <stdbool.h>
#include <sys/types.h>

/* Used where no user but root is found: the kernel's overflow ids, which Debian calls nobody and nogroup. */
#define OWNER_NOBODY 65534

/*
 * Finds the user who could have written the file: its owner; if that is root, the first owner of a directory
 * above it who is not root; nobody if other users may write to one of these. The uid is 0 only if nobody but
 * root could have written it. `real` is absolute and has no symbolic links. Returns 0 or -errno.
 */
int owner_find(const char *real, uid_t *ret_uid, gid_t *ret_gid);

/*
 * Changes all ids, drops all capabilities and supplementary groups, and sets no_new_privs. Cannot be undone.
 * Returns 0; or -EPERM, and the reason was logged.
 */
int owner_become(uid_t uid, gid_t gid);

/*
 * Whether owner_become() has succeeded. Then a file that cannot be read now may be one that root could read.
 */
bool owner_was_root(void);

/*
 * As root: becomes the user who could have written the file at `path`, and sets *ret_real to the path without
 * symbolic links. A process that remains root must open only that path, because a link in the other one could
 * change. As another user: does nothing, and sets *ret_real to NULL. The caller frees it. Returns 0 or
 * -errno; -EPERM was logged.
 */
int owner_become_of(const char *path, char **ret_real);

#endif
