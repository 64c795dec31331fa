/* SPDX-License-Identifier: GPL-2.0-only */
/* landlock_abi.h finds out which version of Landlock is in use. */
#ifndef BOURDON_COMMON_CONFINE_LANDLOCK_ABI_H
#define BOURDON_COMMON_CONFINE_LANDLOCK_ABI_H

#define LANDLOCK_ABI_KNOWN 6 /* Linux 6.12 */

/*
 * Returns the Landlock version in use: the kernel's, or the newest known here if that is older. 0: not
 * available or not enabled.
 */
int landlock_abi(void);

#endif
