/* SPDX-License-Identifier: GPL-2.0-only */
#include "common/confine/landlock_abi.h"

#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CREATE_RULESET_VERSION 1U

int landlock_abi(void)
{
	long version = syscall(SYS_landlock_create_ruleset, NULL, 0, CREATE_RULESET_VERSION);

	return version < 0 ? 0 : version < LANDLOCK_ABI_KNOWN ? (int)version : LANDLOCK_ABI_KNOWN;
}
