/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * roles.h owns the words of the columns `account`, `wait` and `role`: where the time of a thread goes, and what the party is
 * that a wait is charged to.
 */
#ifndef BOURDON_VERDICT_ROLES_H
#define BOURDON_VERDICT_ROLES_H

#include "common/abi/abi.h"

/* By ACCOUNT_*. */
extern const char *const account_names[ACCOUNTS];

enum blame_role {
	ROLE_OWN,    /* of the victim's program and unit */
	ROLE_OTHER,  /* another process */
	ROLE_KERNEL, /* a kernel thread */
	ROLE_RECORDER,
	ROLE_IRQ,
	ROLE_STEAL,
	ROLE_QUOTA,
	ROLE_LIMIT, /* of memory */
	ROLE_DEVICE,
	ROLE_NOBODY,
	ROLE_UNKNOWN,
	BLAME_ROLES,
};
extern const char *const blame_role_names[BLAME_ROLES];

#endif
