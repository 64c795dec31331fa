/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * confine.h owns what holds the consumer in once it has given its capabilities up: the places where it may
 * open files (Landlock), and the system calls that it may make (policy/bourdond.seccomp).
 */
#ifndef BOURDON_CONSUMER_CONFINE_H
#define BOURDON_CONSUMER_CONFINE_H

#include "consumer/process/kernel_objects.h"
#include "consumer/process/privilege.h"
#include "consumer/rules/settings.h"

struct confinement {
	int landlock_abi; /* version of Landlock in force; 0: none */
	enum locked_memory locked_memory;
	const char *filtered; /* what becomes of a call that the policy does not name: "kill" or "log" */
	char directories[INI_LINE_BYTES + 1]; /* of ELF files, in force until the process ends */
};

/*
 * While there is one thread: from then on files are opened only below the directories of `settings`, of the
 * configuration, of the pins and of the database, and where PSI, cgroups and perf maps are. Logs what failed,
 * and a kernel without Landlock; 0 or -errno.
 */
int confine_files(const struct settings *settings, const struct kernel_objects *kernel,
		  const char *cgroup_mount, struct confinement *confinement);

/* All threads. Logs what failed; 0 or -errno. */
int confine_calls(struct confinement *confinement);

/* A build for finding out what the policies lack: what they do not name is let through. */
bool confine_calls_are_only_named(const struct confinement *confinement);

#endif
