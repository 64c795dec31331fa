/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * landlock_abi.h owns which version of Landlock is in use.
 */
#ifndef BOURDON_LANDLOCK_ABI_H
#define BOURDON_LANDLOCK_ABI_H

#define LANDLOCK_ABI_KNOWN 6 /* Linux 6.12 */

/* The version of Landlock in use: this kernel's, or the last that is known here. 0: none, or not enabled. */
int landlock_abi(void);

#endif
